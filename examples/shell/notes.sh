#!/usr/bin/env bash
# Encrypted databases in the stock sqlite3 shell.
#
#   examples/shell/notes.sh target/release/libpageseal.so [DIRECTORY]
#
# Makes DIRECTORY/notes-shell.db, checks what it did, and prints "ok" as its last line.
set -euo pipefail
library=$(realpath "$1")
cd "${2:-$(mktemp -d)}"

# .load makes the VFS the default, for databases that are opened after it.
answer=$(sqlite3 -batch <<SQL
.load $library
.open notes-shell.db
PRAGMA key = 'correct horse';
CREATE TABLE note(text);
INSERT INTO note VALUES('attack at dawn');
-- A second database, with a key of its own, and a plaintext one.
ATTACH 'archive-shell.db' AS archive KEY 'battery staple';
CREATE TABLE archive.note AS SELECT * FROM main.note;
ATTACH 'plain-shell.db' AS plain KEY '';
SELECT sqlcipher_export('plain');
SELECT text FROM archive.note;
PRAGMA cipher_integrity_check;
SQL
)
[[ $answer == $'ok\n\nattack at dawn' ]] || { echo "unexpected: $answer" >&2; exit 1; }

# Without PRAGMA cipher_version answering, PRAGMA key does nothing at all: a script
# that must not write plaintext asks first.
version=$(sqlite3 -batch -cmd ".load $library" -cmd '.open notes-shell.db' '' 'PRAGMA cipher_version')
[[ $version == 4.* ]] || { echo "no pageseal: $version" >&2; exit 1; }

# A wrong key opens nothing.
if sqlite3 -batch -cmd ".load $library" -cmd '.open notes-shell.db' -cmd "PRAGMA key = 'wrong'" \
    '' 'SELECT * FROM note' >/dev/null 2>error-shell.txt; then
    echo 'a wrong key opened the database' >&2
    exit 1
fi
grep -q 'file is not a database' error-shell.txt

# What is encrypted is not in the clear, and what was exported to plaintext is.
for sealed in notes-shell.db archive-shell.db; do
    if grep -a -q -e 'attack at dawn' -e 'SQLite format 3' "$sealed"; then
        echo "plaintext in $sealed" >&2
        exit 1
    fi
done
[[ $(sqlite3 -batch plain-shell.db 'SELECT text FROM note') == 'attack at dawn' ]]
sqlite3 --version
echo ok
