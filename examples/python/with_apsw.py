"""Encrypted databases with apsw, which brings an SQLite of its own.

    pip install -r examples/python/requirements.txt
    python3 examples/python/with_apsw.py target/release/libpageseal.so [DIRECTORY]

Makes DIRECTORY/notes-apsw.db, checks what it did, and prints "ok" as its last line.
"""

import os
import sys
import tempfile

import apsw

library = os.path.abspath(sys.argv[1])
os.chdir(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp())

# Once a process; the VFS stays when this connection is closed.
first = apsw.Connection(":memory:")
first.enable_load_extension(True)
first.load_extension(library)
first.close()
assert "pageseal" in apsw.vfs_names()


def connect(path, key):
    """Opens a database through pageseal; the key is checked by reading."""
    db = apsw.Connection(path, vfs="pageseal")
    quoted = key.replace("'", "''")
    db.execute(f"PRAGMA key = '{quoted}'")
    db.execute("SELECT count(*) FROM sqlite_schema")
    return db


db = connect("notes-apsw.db", "correct horse")
assert db.execute("PRAGMA journal_mode = WAL").get == "wal"
with db:
    db.execute("CREATE TABLE note(text)")
    db.execute("INSERT INTO note VALUES(?)", ["attack at dawn"])
db.execute("ATTACH ? AS archive KEY ?", ["archive-apsw.db", "battery staple"])
with db:
    db.execute("CREATE TABLE archive.note AS SELECT * FROM main.note")
assert db.execute("SELECT text FROM archive.note").get == "attack at dawn"
assert db.execute("SELECT * FROM cipher_integrity_check").fetchall() == []

# apsw's own surface works on top: incremental blobs and online backup.
with db.blob_open("main", "note", "text", 1, False) as blob:
    assert blob.read() == b"attack at dawn"
copy = connect("backup-apsw.db", "correct horse")
with copy.backup("main", db, "main") as backup:
    backup.step()
assert copy.execute("SELECT text FROM note").get == "attack at dawn"

with open("notes-apsw.db-wal", "rb") as file:
    log = file.read()
copy.close()
db.close()

try:
    connect("notes-apsw.db", "wrong")
except apsw.NotADBError:
    pass
else:
    sys.exit("a wrong key opened the database")

for path in ["notes-apsw.db", "archive-apsw.db", "backup-apsw.db"]:
    with open(path, "rb") as file:
        content = file.read()
    assert len(content) > 4096, f"{path} is empty"
    for text in [b"attack at dawn", b"SQLite format 3"]:
        assert text not in content and text not in log, f"{text} is in the clear"
print("SQLite", apsw.sqlite_lib_version())
print("ok")
