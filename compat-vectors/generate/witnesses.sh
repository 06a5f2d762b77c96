#!/bin/sh
# Writes databases with other builds of SQLCipher than the one in tests/peer:
#
#   sqlcipher        the command-line shell of Debian 12 (SQLCipher 3.4.1)
#   sqlcipher3       the Python package sqlcipher3-binary
#
# Usage: witnesses.sh DIRECTORY, which holds content.sql. For each database
# NAME.db there it also writes NAME.version, what `PRAGMA cipher_version` says.
set -eu
cd "$1"

# shell NAME PRAGMAS
shell() {
    { printf "PRAGMA key = 'correct horse';\n%s\n" "$2"; cat content.sql; } |
        sqlcipher -batch "$1.db" > "$1.out"
    echo "PRAGMA cipher_version;" | sqlcipher -batch :memory: > "$1.version"
}
shell witness-shell-v3 ''
shell witness-shell-v2 'PRAGMA kdf_iter = 4000;'
shell witness-shell-v1 'PRAGMA kdf_iter = 4000; PRAGMA cipher_use_hmac = OFF;'

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check sqlcipher3-binary==0.6.0
venv/bin/python - <<'PYTHON'
from sqlcipher3 import dbapi2

content = open("content.sql").read()
for name, pragmas in [
    ("witness-python-v4", ""),
    ("witness-python-v3", "PRAGMA cipher_compatibility = 3"),
]:
    connection = dbapi2.connect(name + ".db", isolation_level=None)
    connection.execute("PRAGMA key = 'correct horse'")
    connection.execute(pragmas)
    connection.executescript(content)
    (version,) = connection.execute("PRAGMA cipher_version").fetchone()
    connection.close()
    open(name + ".version", "w").write(version)
PYTHON
