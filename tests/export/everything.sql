PRAGMA user_version = 4711;
PRAGMA application_id = -17;

-- Rowids that no column holds, with gaps and below zero.
CREATE TABLE plain(a, b TEXT, c REAL DEFAULT 1.5);
INSERT INTO plain(rowid, a, b, c) VALUES
  (-5, 1, 'the hidden one', 2), (7, x'00ff', char(0) || 'nul', -0.0),
  (9000000000, NULL, '', 9e99), (9223372036854775807, -9223372036854775808, 'größe', 0.1);
CREATE TABLE hiding("rowid" TEXT, OID INT);
INSERT INTO hiding(_rowid_, "rowid", OID) VALUES (3, 'c', 30), (1, 'a', 10), (20, 'z', 0);
CREATE TABLE three("rowid", "_ROWID_", oid UNIQUE);
INSERT INTO three VALUES (1, 2, 3), (4, 5, 6);
DELETE FROM three WHERE oid = 3;
-- A key of this kind is not the rowid, by an old mistake that is kept.
CREATE TABLE descending(id INTEGER PRIMARY KEY DESC, v);
INSERT INTO descending(rowid, id, v) VALUES (10, 1, 'one'), (5, 2, 'two');
CREATE TABLE keyed(name TEXT COLLATE NOCASE PRIMARY KEY, v ANY, UNIQUE(v, name));
INSERT INTO keyed(rowid, name, v) VALUES (8, 'b', 1), (2, 'A', NULL), (99, NULL, 3);

CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT, v);
INSERT INTO counted(v) VALUES ('x'), ('y'), ('z');
DELETE FROM counted WHERE v = 'z';
CREATE TABLE counted_empty(id INTEGER PRIMARY KEY AUTOINCREMENT);
INSERT INTO counted_empty VALUES (41);
DELETE FROM counted_empty;

CREATE TABLE without(a TEXT, b INT, c, PRIMARY KEY(b DESC, a)) WITHOUT ROWID;
INSERT INTO without VALUES ('p', 1, 'x'), ('q', 1, NULL), ('p', 2, x'');
CREATE TABLE exact(i INT, r REAL, t TEXT, b BLOB, x ANY) STRICT;
INSERT INTO exact VALUES (1, 1, '1', x'31', 1), (2, 2.5, '2', x'', '2');
CREATE TABLE exact_without(k TEXT PRIMARY KEY, v ANY NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO exact_without VALUES ('k', 3.0);

CREATE TABLE computed(a INT, twice INT GENERATED ALWAYS AS (2 * a) STORED, b TEXT,
  label TEXT AS (a || b) VIRTUAL, c);
INSERT INTO computed(rowid, a, b, c) VALUES (4, 21, 'x', 1), (2, -1, NULL, 2);
CREATE TABLE computed_key(a INT AS (b + 1) STORED, b INTEGER PRIMARY KEY);
INSERT INTO computed_key(b) VALUES (5), (3);
CREATE TABLE computed_without(a, b AS (a * 2), PRIMARY KEY(a)) WITHOUT ROWID;
INSERT INTO computed_without VALUES (1.5), ('t');

-- Children before their parents, a circle, and a row without its parent.
PRAGMA foreign_keys = OFF;
CREATE TABLE child(id INTEGER PRIMARY KEY, parent INT REFERENCES parent ON DELETE CASCADE);
CREATE TABLE parent(id INTEGER PRIMARY KEY, best INT REFERENCES child(id) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO child VALUES (1, 1), (2, 1), (3, 77);
INSERT INTO parent VALUES (1, 2);
PRAGMA foreign_keys = ON;

CREATE TABLE checked(a INT CHECK(a > 0), b CHECK(b IN ("yes", "no")));
INSERT INTO checked VALUES (1, 'yes');
PRAGMA ignore_check_constraints = ON;
INSERT INTO checked VALUES (-1, 'yes');
PRAGMA ignore_check_constraints = OFF;

CREATE TABLE grown(a);
INSERT INTO grown VALUES (1);
ALTER TABLE grown ADD COLUMN b NOT NULL DEFAULT 'late';
INSERT INTO grown VALUES (2, 'new');
ALTER TABLE grown RENAME TO "grown up";
CREATE TABLE "odd ""name"("col ""umn", [x y], `z``z`, 'text' DEFAULT '/* ) */' -- ) "
);
INSERT INTO "odd ""name"(rowid, [x y]) VALUES (12, 'it''s');
CREATE TABLE [in brackets](a, PRIMARY KEY(a)) /* a comment */ WITHOUT ROWID;
CREATE TABLE "if"("select" INT);
CREATE TABLE selected AS SELECT 1 AS one, 'two' AS two;
CREATE TABLE large(id INTEGER PRIMARY KEY, body);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
  INSERT INTO large SELECT i * 3, printf('row %d ', i) || hex(zeroblob(i * i / 20)) FROM n;

CREATE INDEX plain_b ON plain(b COLLATE NOCASE DESC, c);
CREATE UNIQUE INDEX "plain "" part" ON plain(a) WHERE a IS NOT NULL;
CREATE INDEX by_length ON large(length(body), id % 7);
CREATE INDEX label ON computed(label, twice);

CREATE VIRTUAL TABLE search USING fts5(title, body, prefix = '2 3');
INSERT INTO search(rowid, title, body) VALUES (7, 'one', 'the walrus spoke'), (3, 'two', 'oysters');
CREATE VIRTUAL TABLE outside USING fts5(b, content = 'plain');
INSERT INTO outside(outside) VALUES ('rebuild');
CREATE VIRTUAL TABLE old_search USING fts4(body);
INSERT INTO old_search(docid, body) VALUES (5, 'a walrus'), (6, 'a carpenter');
CREATE VIRTUAL TABLE area USING rtree(id, left, right);
INSERT INTO area VALUES (1, 0, 1), (2, 3, 4);

CREATE VIEW both AS SELECT a FROM plain UNION ALL SELECT twice FROM computed;
CREATE VIEW "over ""both"(x) AS SELECT count(*) FROM both;
CREATE VIEW broken AS SELECT missing FROM nowhere;
CREATE TABLE log(line);
-- Copying rows must not fire this.
CREATE TRIGGER plain_in AFTER INSERT ON plain BEGIN
  INSERT INTO log VALUES ('in ' || new.a);
END;
CREATE TRIGGER plain BEFORE DELETE ON large WHEN old.id > 5 BEGIN
  SELECT raise(ABORT, 'no');
END;
CREATE TRIGGER "both ""in" INSTEAD OF INSERT ON both BEGIN INSERT INTO plain(a) VALUES (new.a); END;

ANALYZE;
