"""Encrypted databases in Python's own sqlite3 module.

    python3 examples/python/notes.py target/release/libpageseal.so [DIRECTORY]

Needs a Python whose sqlite3 can load extensions (Debian's can). Makes
DIRECTORY/notes-python.db, checks what it did, and prints "ok" as its last line.
"""

import os
import sqlite3
import sys
import tempfile
from urllib.parse import quote

library = os.path.abspath(sys.argv[1])
os.chdir(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp())

# Once a process; the VFS stays when this connection is closed.
first = sqlite3.connect(":memory:")
first.enable_load_extension(True)
first.load_extension(library)
first.close()


def connect(path, key):
    """Opens a database through pageseal, and no other way: named in the URI, a VFS
    that is not there is an error."""
    uri = f"file:{quote(path)}?vfs=pageseal&key={quote(key)}"
    return sqlite3.connect(uri, uri=True)


db = connect("notes-python.db", "correct horse")
with db:
    db.execute("CREATE TABLE note(text)")
    db.execute("INSERT INTO note VALUES(?)", ["attack at dawn"])
# Keys can be bound values: they are then in no SQL text.
db.execute("ATTACH ? AS archive KEY ?", ["archive-python.db", "battery staple"])
with db:
    db.execute("CREATE TABLE archive.note AS SELECT * FROM main.note")
assert db.execute("SELECT text FROM archive.note").fetchall() == [("attack at dawn",)]
assert len(db.execute("SELECT * FROM cipher_settings").fetchall()) == 6
assert db.execute("SELECT * FROM cipher_integrity_check").fetchall() == []
db.close()

db = connect("notes-python.db", "correct horse")
assert db.execute("SELECT text FROM note").fetchall() == [("attack at dawn",)]
db.close()

try:
    connect("notes-python.db", "wrong").execute("SELECT * FROM note")
except sqlite3.DatabaseError as error:
    assert str(error) == "file is not a database", error
else:
    sys.exit("a wrong key opened the database")

for path in ["notes-python.db", "archive-python.db"]:
    with open(path, "rb") as file:
        content = file.read()
    assert len(content) > 4096, f"{path} is empty"
    for text in [b"attack at dawn", b"SQLite format 3"]:
        assert text not in content, f"{text} is in {path} in the clear"
print("SQLite", sqlite3.sqlite_version)
print("ok")
