// Encrypted databases in Node, with better-sqlite3, which brings an SQLite of its own.
//
//   npm ci --prefix examples/node
//   node examples/node/notes.js target/release/libpageseal.so [DIRECTORY]
//
// Makes DIRECTORY/notes-node.db, checks what it did, and prints "ok" as its last line.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';

const library = path.resolve(process.argv[2]);
process.chdir(process.argv[3] ?? fs.mkdtempSync(path.join(os.tmpdir(), 'notes-')));

// Once a process: makes the VFS the default one, since better-sqlite3 takes no URI.
const first = new Database(':memory:');
first.loadExtension(library);
first.close();

function open(file, key) {
  const db = new Database(file);
  // Where there is no pageseal, PRAGMA key does nothing: never go on without it.
  assert.match(db.pragma('cipher_version', { simple: true }) ?? '', /^4\./);
  db.pragma(`key = '${key.replaceAll("'", "''")}'`);
  return db;
}

let db = open('notes-node.db', 'correct horse');
db.exec('CREATE TABLE note(text)');
db.prepare('INSERT INTO note VALUES(?)').run('attack at dawn');
db.prepare('ATTACH ? AS archive KEY ?').run('archive-node.db', 'battery staple');
db.exec('CREATE TABLE archive.note AS SELECT * FROM main.note');
assert.deepEqual(db.prepare('SELECT text FROM archive.note').all(), [{ text: 'attack at dawn' }]);
assert.equal(db.prepare('SELECT * FROM cipher_settings').all().length, 6);
assert.deepEqual(db.prepare('SELECT * FROM cipher_integrity_check').all(), []);
// A failed transaction leaves nothing behind.
assert.throws(db.transaction(() => {
  db.exec("DELETE FROM note");
  throw new Error('on purpose');
}), /on purpose/);
db.close();

db = open('notes-node.db', 'correct horse');
assert.equal(db.prepare('SELECT text FROM note').pluck().get(), 'attack at dawn');
const version = db.prepare('SELECT sqlite_version()').pluck().get();
db.close();

db = open('notes-node.db', 'wrong');
assert.throws(() => db.prepare('SELECT * FROM note'), { code: 'SQLITE_NOTADB' });
db.close();

for (const file of ['notes-node.db', 'archive-node.db']) {
  const content = fs.readFileSync(file);
  assert.ok(content.length > 4096, `${file} is empty`);
  for (const text of ['attack at dawn', 'SQLite format 3']) {
    assert.ok(!content.includes(text), `${text} is in ${file} in the clear`);
  }
}
console.log('SQLite', version);
console.log('ok');
