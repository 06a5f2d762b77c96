-- SQLCipher's documented usage, run in these words by genuine SQLCipher and by the
-- stock sqlite3 shell with the extension: see main.rs. `.open` closes the database
-- and opens another; v1.db, v2.db and v3.db were written by SQLCipher 3.4.1.
--
-- Where the answers differ on purpose, `-- pageseal:` lines before the statement say
-- what ours is, and `-- because:` names the line of tests/behaviour/behaviour.md.

-- A new database, with a passphrase.
.open app.db
PRAGMA key = 'correct horse';
CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT, size REAL);
INSERT INTO note(text, size) VALUES ('attack at dawn', 1.5), (NULL, 2), ('it''s "quoted"', -3);
SELECT * FROM note ORDER BY id;
PRAGMA user_version = 7;
PRAGMA integrity_check;
PRAGMA cipher_integrity_check;
PRAGMA cipher_version;
PRAGMA cipher_status;
PRAGMA cipher_settings;

-- Opened again: without a key, with a wrong one, with the right one.
.open app.db
SELECT count(*) FROM note;
.open app.db
PRAGMA key = 'wrong';
SELECT count(*) FROM note;
PRAGMA key = 'correct horse';
SELECT count(*) FROM note;
.open app.db
-- pageseal: error: the key is empty; give a passphrase or a raw key
-- because: `PRAGMA key = ''`
PRAGMA key = '';
PRAGMA hexkey = '636f727265637420686f727365';
SELECT count(*) FROM note;

-- The settings, and the defaults.
.open app.db
PRAGMA key = 'correct horse';
PRAGMA cipher_page_size;
PRAGMA kdf_iter;
PRAGMA cipher_use_hmac;
PRAGMA cipher_hmac_algorithm;
PRAGMA cipher_kdf_algorithm;
PRAGMA cipher_plaintext_header_size;
PRAGMA cipher_default_settings;
PRAGMA cipher;
PRAGMA cipher_memory_security;
PRAGMA cipher_fips_status;
-- pageseal: pageseal
-- because: `cipher_version`
PRAGMA cipher_provider;

-- A database with settings of its own.
.open tuned.db
PRAGMA key = 'correct horse';
PRAGMA cipher_page_size = 8192;
PRAGMA kdf_iter = 10000;
PRAGMA cipher_hmac_algorithm = HMAC_SHA256;
PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_SHA256;
CREATE TABLE t(a);
INSERT INTO t VALUES ('tuned');
PRAGMA cipher_settings;
.open tuned.db
PRAGMA key = 'correct horse';
SELECT a FROM t;
.open tuned.db
PRAGMA key = 'correct horse';
PRAGMA cipher_page_size = 8192;
PRAGMA kdf_iter = 10000;
PRAGMA cipher_hmac_algorithm = HMAC_SHA256;
PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_SHA256;
SELECT a FROM t;
.open unauthenticated.db
PRAGMA key = 'correct horse';
PRAGMA cipher_use_hmac = OFF;
CREATE TABLE t(a);
INSERT INTO t VALUES ('no HMAC');
SELECT a FROM t;
.open unauthenticated.db
PRAGMA key = 'correct horse';
SELECT a FROM t;
.open unauthenticated.db
PRAGMA key = 'correct horse';
PRAGMA cipher_use_hmac = OFF;
SELECT a FROM t;
.open defaults.db
PRAGMA cipher_default_kdf_iter = 4000;
PRAGMA cipher_default_kdf_iter;
PRAGMA key = 'correct horse';
PRAGMA kdf_iter;
CREATE TABLE t(a);
PRAGMA cipher_default_kdf_iter = 256000;
PRAGMA cipher_default_kdf_iter;

-- Raw keys: the key, and the key with a salt.
.open raw.db
PRAGMA key = "x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'";
CREATE TABLE t(a);
INSERT INTO t VALUES ('raw');
.open raw.db
PRAGMA key = "x'2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99'";
SELECT a FROM t;
.open raw.db
PRAGMA key = '2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99';
SELECT a FROM t;
.open salted.db
PRAGMA key = "x'98483C6EB40B6C31A448C22A66DED3B5E5E8D5119CAC8327B655C8B5C483648101010101010101010101010101010101'";
CREATE TABLE t(a);
INSERT INTO t VALUES ('raw with salt');
PRAGMA cipher_salt;
.open salted.db
PRAGMA key = "x'98483C6EB40B6C31A448C22A66DED3B5E5E8D5119CAC8327B655C8B5C483648101010101010101010101010101010101'";
SELECT a FROM t;

-- A new key.
.open app.db
PRAGMA key = 'correct horse';
SELECT count(*) FROM note;
PRAGMA rekey = 'battery staple';
SELECT count(*) FROM note;
PRAGMA cipher_integrity_check;
.open app.db
PRAGMA key = 'correct horse';
SELECT count(*) FROM note;
.open app.db
PRAGMA key = 'battery staple';
SELECT count(*) FROM note;
PRAGMA rekey = "x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'";
.open app.db
PRAGMA key = "x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'";
SELECT text FROM note WHERE id = 1;
PRAGMA rekey = 'correct horse';
.open inside.db
PRAGMA key = 'correct horse';
CREATE TABLE t(a);
BEGIN; INSERT INTO t VALUES ('not to be committed');
-- pageseal: error: rekey can't run inside a transaction: COMMIT or ROLLBACK first
-- because: rekey inside `BEGIN` commits the user's transaction
PRAGMA rekey = 'inside';
.open inside.db
PRAGMA key = 'correct horse';
-- pageseal: 0
-- because: rekey inside `BEGIN` commits the user's transaction
SELECT count(*) FROM t;

-- Plaintext to encrypted.
.open plain.db
CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT, a, b AS (a * 2));
CREATE INDEX counted_a ON counted(a);
CREATE VIEW doubled AS SELECT b FROM counted;
CREATE TRIGGER after_t AFTER INSERT ON t BEGIN INSERT INTO counted(a) VALUES (length(new.a)); END;
INSERT INTO t VALUES ('one'), ('three');
PRAGMA user_version = 3;
ATTACH DATABASE 'encrypted.db' AS encrypted KEY 'correct horse';
SELECT sqlcipher_export('encrypted');
-- pageseal: 3
-- because: export zeroes user_version and application_id
PRAGMA encrypted.user_version;
DETACH DATABASE encrypted;
.open encrypted.db
PRAGMA key = 'correct horse';
SELECT name FROM sqlite_schema ORDER BY name;
SELECT * FROM doubled;
INSERT INTO t VALUES ('fourteen chars');
SELECT * FROM doubled;
SELECT seq FROM sqlite_sequence;
PRAGMA integrity_check;
PRAGMA cipher_integrity_check;

-- Encrypted to plaintext.
.open app.db
PRAGMA key = 'correct horse';
ATTACH DATABASE 'plaintext.db' AS plaintext KEY '';
SELECT sqlcipher_export('plaintext');
DETACH DATABASE plaintext;
.open plaintext.db
SELECT * FROM note ORDER BY id;
PRAGMA integrity_check;

-- From one encrypted database to another, with other settings.
.open app.db
PRAGMA key = 'correct horse';
ATTACH DATABASE 'small.db' AS small KEY 'battery staple';
PRAGMA small.cipher_page_size = 1024;
PRAGMA small.kdf_iter = 4000;
SELECT sqlcipher_export('small');
DETACH DATABASE small;
.open small.db
PRAGMA key = 'battery staple';
PRAGMA cipher_page_size = 1024;
PRAGMA kdf_iter = 4000;
SELECT count(*) FROM note;

-- Attached: encrypted with a key, with main's, with a wrong one; plaintext; a number.
.open app.db
PRAGMA key = 'correct horse';
ATTACH DATABASE 'encrypted.db' AS e KEY 'correct horse';
SELECT count(*) FROM e.counted;
DETACH DATABASE e;
-- pageseal:
-- because: an `ATTACH` without KEY of an existing file with another salt is error 26, though the passphrase is the same
ATTACH DATABASE 'encrypted.db' AS e;
ATTACH DATABASE 'encrypted.db' AS w KEY 'wrong';
ATTACH DATABASE 'raw.db' AS r KEY "x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'";
SELECT a FROM r.t;
ATTACH DATABASE 'plain.db' AS p KEY '';
SELECT count(*) FROM p.t;
INSERT INTO p.t SELECT text FROM main.note WHERE id = 1;
SELECT count(*) FROM p.t;
ATTACH DATABASE 'inherits.db' AS i;
CREATE TABLE i.t(a);
INSERT INTO i.t VALUES ('as main');
DETACH DATABASE i;
.open inherits.db
PRAGMA key = 'correct horse';
SELECT a FROM t;
.open plain.db
ATTACH DATABASE 'app.db' AS app KEY 'correct horse';
SELECT count(*) FROM app.note;
SELECT count(*) FROM t;

-- Attached: a file of another version. ATTACH reads it at once, so that its settings
-- must be known before: the process's count, the main database's don't, and those that
-- come after it are too late.
.open app.db
PRAGMA key = 'correct horse';
ATTACH DATABASE 'v3.db' AS old KEY 'correct horse';
PRAGMA cipher_default_compatibility = 3;
ATTACH DATABASE 'v3.db' AS old KEY 'correct horse';
SELECT count(*) > 0 FROM old.sqlite_schema;
PRAGMA old.cipher_settings;
PRAGMA cipher_settings;
PRAGMA cipher_default_compatibility = 4;
SELECT count(*) > 0 FROM old.sqlite_schema;
SELECT count(*) FROM main.note;
ATTACH DATABASE 'encrypted.db' AS new KEY 'correct horse';
PRAGMA new.cipher_compatibility = 3;
SELECT count(*) FROM new.counted;
PRAGMA new.cipher_settings;
.open third.db
PRAGMA key = 'correct horse';
PRAGMA cipher_compatibility = 3;
CREATE TABLE t(a);
ATTACH DATABASE 'v3.db' AS old KEY 'correct horse';
ATTACH DATABASE 'fourth.db' AS new KEY 'correct horse';
PRAGMA new.cipher_settings;
-- Whose settings a new database without KEY takes; and whether the passphrase opens it.
ATTACH DATABASE 'third_too.db' AS inherits;
CREATE TABLE inherits.t(a);
-- pageseal: PRAGMA kdf_iter = 64000;
-- pageseal: PRAGMA cipher_page_size = 1024;
-- pageseal: PRAGMA cipher_use_hmac = 1;
-- pageseal: PRAGMA cipher_plaintext_header_size = 0;
-- pageseal: PRAGMA cipher_hmac_algorithm = HMAC_SHA1;
-- pageseal: PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_SHA1;
-- because: what inherits its key from a database with settings of its own (`ATTACH` without KEY, `VACUUM INTO`) is opened by no passphrase
PRAGMA inherits.cipher_settings;
VACUUM main INTO 'third_copy.db';
.open third_too.db
PRAGMA key = 'correct horse';
PRAGMA cipher_compatibility = 3;
-- pageseal: 1
-- because: what inherits its key from a database with settings of its own (`ATTACH` without KEY, `VACUUM INTO`) is opened by no passphrase
SELECT count(*) FROM sqlite_schema;
.open third_too.db
PRAGMA key = 'correct horse';
SELECT count(*) FROM sqlite_schema;
.open third_copy.db
PRAGMA key = 'correct horse';
PRAGMA cipher_compatibility = 3;
-- pageseal: 1
-- because: what inherits its key from a database with settings of its own (`ATTACH` without KEY, `VACUUM INTO`) is opened by no passphrase
SELECT count(*) FROM sqlite_schema;
.open third_copy.db
PRAGMA key = 'correct horse';
SELECT count(*) FROM sqlite_schema;

-- VACUUM, and VACUUM INTO with the same key.
.open app.db
PRAGMA key = 'correct horse';
VACUUM;
VACUUM INTO 'copy.db';
.open copy.db
PRAGMA key = 'correct horse';
SELECT count(*) FROM note;

-- Databases of SQLCipher 1, 2 and 3: opened, and migrated.
.open v3.db
PRAGMA key = 'correct horse';
SELECT count(*) > 0 FROM sqlite_schema;
.open v3.db
PRAGMA key = 'correct horse';
PRAGMA cipher_compatibility = 3;
SELECT count(*) > 0 FROM sqlite_schema;
PRAGMA cipher_settings;
.open v3.db
PRAGMA key = 'wrong';
PRAGMA cipher_migrate;
.open v3.db
PRAGMA key = 'correct horse';
PRAGMA cipher_migrate;
SELECT count(*) > 0 FROM sqlite_schema;
PRAGMA cipher_settings;
PRAGMA integrity_check;
.open v3.db
PRAGMA key = 'correct horse';
SELECT count(*) > 0 FROM sqlite_schema;
.open v2.db
PRAGMA key = 'correct horse';
PRAGMA cipher_compatibility = 2;
SELECT count(*) > 0 FROM sqlite_schema;
.open v2.db
PRAGMA key = 'correct horse';
PRAGMA cipher_migrate;
SELECT count(*) > 0 FROM sqlite_schema;
.open v2.db
PRAGMA key = 'correct horse';
SELECT count(*) > 0 FROM sqlite_schema;
.open v1.db
PRAGMA key = 'correct horse';
PRAGMA cipher_compatibility = 1;
SELECT count(*) > 0 FROM sqlite_schema;
.open v1.db
PRAGMA key = 'correct horse';
PRAGMA cipher_migrate;
SELECT count(*) > 0 FROM sqlite_schema;
PRAGMA cipher_migrate;
.open v1.db
PRAGMA key = 'correct horse';
PRAGMA cipher_migrate;
SELECT count(*) > 0 FROM sqlite_schema;

-- Migration goes from the versions' settings to the process's, whatever is set; one with
-- settings of its own is none of a version, and a new one has nothing to migrate.
.open old.db
PRAGMA key = 'correct horse';
PRAGMA cipher_compatibility = 3;
CREATE TABLE t(a);
.open old.db
PRAGMA key = 'correct horse';
PRAGMA cipher_compatibility = 3;
PRAGMA cipher_migrate;
SELECT count(*) FROM t;
PRAGMA cipher_settings;
.open old.db
PRAGMA key = 'correct horse';
SELECT count(*) FROM t;
.open old_too.db
PRAGMA key = 'correct horse';
PRAGMA cipher_compatibility = 2;
CREATE TABLE t(a);
.open old_too.db
PRAGMA key = 'correct horse';
PRAGMA cipher_page_size = 8192;
PRAGMA cipher_default_kdf_iter = 1000;
PRAGMA cipher_migrate;
PRAGMA cipher_settings;
PRAGMA cipher_default_kdf_iter = 256000;
.open old_too.db
PRAGMA key = 'correct horse';
PRAGMA kdf_iter = 1000;
PRAGMA cipher_migrate;
SELECT count(*) FROM t;
.open not_yet.db
PRAGMA key = 'correct horse';
PRAGMA cipher_page_size = 8192;
PRAGMA cipher_migrate;
CREATE TABLE t(a);
PRAGMA cipher_page_size;

-- A plaintext header, whose salt is kept elsewhere.
.open header.db
PRAGMA key = 'correct horse';
PRAGMA cipher_plaintext_header_size = 32;
PRAGMA cipher_salt = "x'01010101010101010101010101010101'";
PRAGMA user_version = 1;
CREATE TABLE t(a);
INSERT INTO t VALUES ('header');
PRAGMA cipher_salt;
.open header.db
PRAGMA key = 'correct horse';
PRAGMA cipher_plaintext_header_size = 32;
-- pageseal: error: file is not a database (26)
-- because: with a plaintext header a wrong key or salt is error 11 CORRUPT
SELECT a FROM t;
.open header.db
PRAGMA key = 'correct horse';
PRAGMA cipher_salt = "x'01010101010101010101010101010101'";
PRAGMA cipher_plaintext_header_size = 32;
SELECT a FROM t;
PRAGMA cipher_settings;
PRAGMA cipher_plaintext_header_size = 0;
UPDATE t SET a = 'header, changed';
.open header.db
PRAGMA key = 'correct horse';
PRAGMA cipher_salt = "x'01010101010101010101010101010101'";
PRAGMA cipher_plaintext_header_size = 32;
-- pageseal: header, changed
-- because: changing plaintext header size or pgno order after use destroys the file
SELECT a FROM t;

-- A salt given to a new database.
.open given.db
PRAGMA key = 'correct horse';
PRAGMA cipher_salt = "x'000102030405060708090a0b0c0d0e0f'";
CREATE TABLE t(a);
PRAGMA cipher_salt;
.open given.db
PRAGMA key = 'correct horse';
PRAGMA cipher_salt;

-- What SQLCipher no longer does, or advises against.
.open app.db
PRAGMA key = 'correct horse';
PRAGMA cipher_store_pass = 1;
PRAGMA fast_kdf_iter = 4000;
PRAGMA rekey_kdf_iter = 4000;
PRAGMA rekey_cipher = 'aes-256-cbc';
PRAGMA cipher = 'aes-256-cbc';
PRAGMA cipher_add_random = "x'deadbeef'";
PRAGMA cipher_profile = off;

-- Damage: a page that was changed on disk.
.open damaged.db
PRAGMA key = 'correct horse';
PRAGMA cipher_integrity_check;
SELECT count(a) FROM t;
-- pageseal: fine
-- because: one bad page poisons the connection for good
SELECT a FROM small;
