//! `sqlcipher_export` beside genuine SQLCipher's: each reads what the other has
//! exported, and both export the same.

#[path = "../support/content_hash.rs"]
mod content_hash;
mod fixture;
#[path = "../support/peer.rs"]
mod peer;

use std::path::Path;

use pageseal::{Key, OpenOptions};
use rusqlite::Connection;
use tempfile::{TempDir, tempdir};

use fixture::{EVERYTHING, contents, open, schema};
use peer::{Peer, PeerError, Value};

const KEY: &[u8] = b"correct horse";
const SCHEMA: &str = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";

/// One of everything, encrypted by SQLCipher.
fn made_by_peer(peer: &mut Peer, dir: &TempDir) -> std::path::PathBuf {
    let path = dir.path().join("source.db");
    peer.open("source", &path, Some(KEY)).unwrap();
    peer.exec("source", EVERYTHING).unwrap();
    path
}

fn open_sealed(path: &Path) -> Connection {
    let db = OpenOptions::new(Key::passphrase(KEY)).open(path).unwrap();
    pageseal::functions::register(&db).unwrap();
    db
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

/// The schema as SQLCipher reads it, in the form of [`schema`].
fn peer_schema(peer: &mut Peer, name: &str) -> fixture::Schema {
    let rows = peer.query(name, SCHEMA).unwrap();
    let rows = rows.iter().map(|row| {
        let [kind, name, table] = [0, 1, 2].map(|i| text(&row[i]).unwrap());
        (kind, name, table, text(&row[3]))
    });
    rows.collect()
}

#[test]
fn sqlcipher_reads_what_we_export() {
    let dir = tempdir().unwrap();
    let mut peer = Peer::spawn();
    let db = open_sealed(&made_by_peer(&mut peer, &dir));
    let path = dir.path().join("ours.db");
    db.execute("ATTACH ?1 AS target KEY 'new'", [path.to_str()])
        .unwrap();
    fixture::export(&db, "target", "main").unwrap();

    peer.open("ours", &path, Some(b"new")).unwrap();
    let source = peer.content_hash("source").unwrap();
    assert_eq!(peer.content_hash("ours").unwrap(), source);
    assert_eq!(
        peer_schema(&mut peer, "ours"),
        peer_schema(&mut peer, "source")
    );
    for sql in [
        "PRAGMA integrity_check",
        "PRAGMA cipher_integrity_check",
        "PRAGMA user_version",
        "PRAGMA application_id",
        "SELECT rowid, * FROM plain ORDER BY rowid",
        "SELECT _rowid_, * FROM hiding ORDER BY _rowid_",
        "SELECT rowid, body FROM search WHERE search MATCH 'walrus'",
        "SELECT rowid, b FROM outside WHERE outside MATCH 'hidden'",
        "SELECT id FROM area WHERE left >= 2",
        "SELECT * FROM both ORDER BY 1",
        "SELECT * FROM sqlite_sequence ORDER BY name",
    ] {
        let wanted = peer.query("source", sql).unwrap();
        assert_eq!(peer.query("ours", sql).unwrap(), wanted, "{sql}");
    }
    // And goes on with it.
    peer.exec(
        "ours",
        "INSERT INTO plain(a) VALUES ('more'); INSERT INTO search(body) VALUES ('more')",
    )
    .unwrap();
    let logged = peer.query("ours", "SELECT line FROM log").unwrap();
    assert_eq!(logged, [[Value::Text("in more".to_owned())]]);
}

#[test]
fn we_export_what_sqlcipher_has_made_to_plaintext() {
    let dir = tempdir().unwrap();
    let mut peer = Peer::spawn();
    let db = open_sealed(&made_by_peer(&mut peer, &dir));
    let path = dir.path().join("plain.db");
    db.execute("ATTACH DATABASE ?1 AS plaintext KEY ''", [path.to_str()])
        .unwrap();
    fixture::export(&db, "plaintext", "main").unwrap();
    let copy = open(&path);
    assert_eq!(contents(&copy, "main"), contents(&db, "main"));
    let (hash, _) = peer.content_hash("source").unwrap();
    assert_eq!(
        content_hash::content_hash(&copy, "main").unwrap().sha256,
        hash
    );
}

#[test]
fn both_export_the_same() {
    let dir = tempdir().unwrap();
    let mut peer = Peer::spawn();
    let db = open_sealed(&made_by_peer(&mut peer, &dir));
    let [ours, theirs] = ["ours.db", "theirs.db"].map(|name| dir.path().join(name));
    db.execute("ATTACH DATABASE ?1 AS plaintext KEY ''", [ours.to_str()])
        .unwrap();
    fixture::export(&db, "plaintext", "main").unwrap();
    let attach = format!("ATTACH DATABASE '{}' AS plaintext KEY ''", theirs.display());
    peer.exec("source", &attach).unwrap();
    let answer = peer
        .query("source", "SELECT sqlcipher_export('plaintext')")
        .unwrap();
    assert_eq!(answer, [[Value::Null]]);
    let [ours, theirs] = [open(&ours), open(&theirs)];
    assert_eq!(schema(&ours, "main"), schema(&theirs, "main"));
    let hash = |db| content_hash::content_hash(db, "main").unwrap();
    assert_eq!(hash(&ours), hash(&theirs));
    // Better on purpose: SQLCipher leaves these at zero, and numbers the rows of a
    // table without any index anew.
    let numbers = |db: &Connection| {
        [
            "PRAGMA user_version",
            "PRAGMA application_id",
            "SELECT max(_rowid_) FROM hiding",
        ]
        .map(|sql| fixture::value::<i64>(db, sql))
    };
    assert_eq!(numbers(&theirs), [0, 0, 3]);
    assert_eq!(numbers(&ours), [4711, -17, 20]);
}

#[test]
fn both_say_the_same_of_bad_arguments() {
    let mut peer = Peer::spawn();
    peer.open("db", ":memory:", None).unwrap();
    let db = open(":memory:");
    for call in [
        "",
        "1, 2, 3",
        "NULL",
        "'main', NULL",
        "'nowhere'",
        "'temp', 'nowhere'",
        "'x', 'y'",
    ] {
        let sql = format!("SELECT sqlcipher_export({call})");
        let PeerError { code, message, .. } = peer.query("db", &sql).unwrap_err();
        let ours = db.query_row(&sql, [], |_| Ok(())).unwrap_err();
        let Some(error) = ours.sqlite_error() else {
            panic!("{ours}")
        };
        assert_eq!(
            (error.extended_code, ours.to_string()),
            (code, message),
            "{call}"
        );
    }
}
