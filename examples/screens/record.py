#!/usr/bin/env python3
"""Records what `pageseal` shows at a terminal, as SVG pictures beside this file.

    cargo build --release --features cli
    examples/screens/record.py target/release/pageseal [MEBIBYTES]

Nothing is drawn by hand: each command runs in a pseudo-terminal, and a picture is the
screen as it was at a moment. `info` and `probe` look at compatibility vectors, which
SQLCipher wrote; `verify` at a database that is made for it, of as many mebibytes as
keep it busy for some seconds, in which three pages are damaged.
"""

import fcntl
import os
import pty
import re
import shutil
import struct
import sys
import tempfile
import termios
from html import escape

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, "..", "..", "compat-vectors")
COLUMNS, ROWS = 100, 40
# A character cell, and the margin around all of them.
WIDTH, HEIGHT, MARGIN = 8.4, 18, 16


class Screen:
    """As much of a terminal as a progress bar and plain text need."""

    def __init__(self):
        self.lines, self.row, self.column = [""], 0, 0

    def feed(self, text):
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+", text):
            if part == "\r":
                self.column = 0
            elif part == "\n":
                self.row += 1
                while self.row >= len(self.lines):
                    self.lines.append("")
            elif part.startswith("\x1b["):
                self.control(part[2:-1], part[-1])
            else:
                line = self.lines[self.row].ljust(self.column)
                end = self.column + len(part)
                self.lines[self.row] = line[: self.column] + part + line[end:]
                self.column = end

    def control(self, number, letter):
        count = int(number) if number.isdigit() else 0
        line = self.lines[self.row]
        if letter == "K":
            self.lines[self.row] = "" if count == 2 else line[: self.column]
        elif letter == "A":
            self.row = max(0, self.row - max(count, 1))
        elif letter not in "mhlJG":
            raise SystemExit(f"no such control sequence here: {number}{letter}")

    def text(self):
        return [line.rstrip() for line in self.lines]


def run(program, arguments, directory):
    """Runs the program at a terminal; yields the screen whenever it has changed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(directory)
        os.environ["TERM"] = "xterm"
        os.execv(program, ["pageseal", *arguments])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    screen, rest = Screen(), b""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        # A character may come in two pieces.
        data = rest + data
        text = data.decode(errors="ignore")
        rest = data[len(text.encode()):]
        screen.feed(text)
        yield screen.text()
    os.close(terminal)
    os.waitpid(pid, 0)


def picture(name, arguments, lines):
    """Draws a command and what it showed."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    lines = ["$ pageseal " + " ".join(arguments), *lines]
    columns = max(len(line) for line in lines)
    width, height = columns * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">',
        '<rect width="100%" height="100%" rx="6" fill="#16191f"/>',
        '<g font-family="ui-monospace, \'DejaVu Sans Mono\', Menlo, Consolas, monospace" '
        'font-size="14" fill="#d7dce4" xml:space="preserve">',
    ]
    for row, line in enumerate(lines):
        if line:
            y = MARGIN + (row + 0.75) * HEIGHT
            colour = ' fill="#7fd6b5"' if row == 0 else ""
            # Whatever the font, columns stay under each other.
            out.append(
                f'<text x="{MARGIN}" y="{y:.1f}"{colour} textLength="{len(line) * WIDTH:.1f}" '
                f'lengthAdjust="spacingAndGlyphs">{escape(line)}</text>'
            )
    path = os.path.join(HERE, f"{name}.svg")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*out, "</g>", "</svg>", ""]))
    print(f"{path}: {len(lines)} lines")


def last(screens):
    """The screen at the end."""
    end = []
    for end in screens:
        pass
    return end


def damage(path, pages, page_size=4096):
    with open(path, "r+b") as file:
        for page in pages:
            file.seek((page - 1) * page_size + 1000)
            file.write(b"damaged")


def main():
    program = os.path.abspath(sys.argv[1])
    mebibytes = int(sys.argv[2]) if len(sys.argv) > 2 else 4096
    with tempfile.TemporaryDirectory() as directory:
        place = lambda name: os.path.join(directory, name)
        with open(place("key.txt"), "w") as file:
            file.write("correct horse\n")
        key = ["--key-file", "key.txt"]

        shutil.copy(os.path.join(VECTORS, "wal-tail-v4.db"), place("notes.db"))
        shutil.copy(os.path.join(VECTORS, "wal-tail-v4.db-wal"), place("notes.db-wal"))
        info = ["info", "notes.db", "--kdf-iter", "1000", *key]
        picture("info", info, last(run(program, info, directory)))

        shutil.copy(os.path.join(VECTORS, "v1-page-4096.db"), place("old.db"))
        probe = ["probe", "old.db", *key]
        picture("probe", probe, last(run(program, probe, directory)))

        fill = (
            "PRAGMA journal_mode = OFF; CREATE TABLE t(a); "
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
            f"WHERE i < {mebibytes}) INSERT INTO t SELECT zeroblob(1040000) FROM n"
        )
        last(run(program, ["sql", "--create", "big.db", fill, *key], directory))
        damage(place("big.db"), [4711, 4712, 90000])
        verify = ["verify", "big.db", *key]
        moments = []
        end = []
        for end in run(program, verify, directory):
            bar = [line for line in end if line.startswith("verifying")]
            if bar:
                percent = re.search(r"(\d+)%", bar[0])
                moments.append((abs(int(percent[1]) - 62), end))
        if not moments:
            raise SystemExit("no bar was seen: verify was faster than a second; give more mebibytes")
        picture("verify-running", verify, min(moments, key=lambda moment: moment[0])[1])
        picture("verify", verify, end)


if __name__ == "__main__":
    main()
