//! What `recover` makes of a database of 200 pages with some of them destroyed. Which
//! rows were on them is known from SQLite's own `dbstat`, over a plaintext copy whose
//! content SQLCipher has vouched for.

use std::collections::BTreeSet;
use std::fs;

use rusqlite::Connection;

use crate::configuration::Configuration;
use crate::peer::{Peer, Rows, Value};
use crate::program::Program;
use crate::random::Random;

const PAGE: usize = 4096;
/// Rows of the large table.
const ROWS: i64 = 1150;

fn fill() -> String {
    format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, data BLOB);
         CREATE TABLE few(name TEXT PRIMARY KEY, n) WITHOUT ROWID;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
             INSERT INTO t SELECT i, 'row ' || i, zeroblob(600) FROM n;
         CREATE INDEX t_name ON t(name);
         INSERT INTO few VALUES('a', 1), ('b', 2), ('c', 3);"
    )
}

/// A database of SQLCipher's with a little over 200 pages, and a plaintext copy.
struct Sample<'a> {
    program: Program<'a>,
    plain: Connection,
    salt: String,
}

impl<'a> Sample<'a> {
    fn new(how: &'a Configuration) -> Self {
        let program = Program::empty(how);
        let path = program.session.path("a.db");
        let mut peer = Peer::spawn();
        peer.open("db", &path, Some(&how.key)).expect("opens");
        peer.exec("db", &how.settings()).expect("runs");
        peer.exec("db", &fill()).expect("runs");
        let (hash, _) = peer.content_hash("db").expect("a hash");
        peer.close("db").expect("closes");
        program.run(&["decrypt", "@a.db", "plain.db"]).fine();
        let plain = program.judge_plain("plain.db", &hash);
        let pages: i64 = plain
            .query_row("PRAGMA page_count", [], |row| row.get(0))
            .expect("a number");
        assert!((200..240).contains(&pages), "{pages} pages");
        let salt = hex::encode(&fs::read(path).expect("the database")[..16]);
        Self {
            program,
            plain,
            salt,
        }
    }

    /// The leaves of the large table in the order of its rows: page, and rows on it.
    fn leaves(&self) -> Vec<(usize, i64)> {
        let sql =
            "SELECT pageno, ncell FROM dbstat WHERE name = 't' AND pagetype = 'leaf' ORDER BY path";
        let mut statement = self.plain.prepare(sql).expect("dbstat");
        let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)? as usize, row.get(1)?)));
        rows.expect("rows").map(|row| row.expect("a row")).collect()
    }

    /// Overwrites a page, from its byte `from` on, with random bytes.
    fn destroy(&self, pgno: usize, from: usize) {
        let path = self.program.session.path("a.db");
        let mut bytes = fs::read(&path).expect("the database");
        let mut random = Random::new(pgno as u64);
        bytes[(pgno - 1) * PAGE + from..pgno * PAGE].fill_with(|| random.below(256) as u8);
        fs::write(path, bytes).expect("the database");
    }

    /// Rows of a recovered database, as SQLCipher reads them.
    fn sqlcipher_reads(&self, file: &str, how: &Configuration, sql: &str) -> Rows {
        let mut peer = Peer::spawn();
        let path = self.program.session.path(file);
        peer.open("db", path, Some(&how.key)).expect("opens");
        peer.exec("db", &how.settings()).expect("runs");
        let check = peer
            .query("db", "PRAGMA cipher_integrity_check")
            .expect("a check");
        assert_eq!(check, Rows::new(), "cipher_integrity_check");
        peer.query("db", sql).expect("rows")
    }
}

#[test]
fn three_of_200_pages() {
    let how = Configuration::new("version 4");
    let sample = Sample::new(&how);
    let leaves = sample.leaves();
    assert_eq!(leaves.iter().map(|(_, rows)| rows).sum::<i64>(), ROWS);
    // The rows on each leaf: ids are given in order.
    let mut next = 1;
    let mut rows = Vec::new();
    for &(pgno, count) in &leaves {
        rows.push((pgno, next..next + count));
        next += count;
    }
    let mut lost = BTreeSet::new();
    let mut lost_pages = Vec::new();
    for at in [7, 8, leaves.len() - 3] {
        let (pgno, ids) = rows[at].clone();
        sample.destroy(pgno, 0);
        lost.extend(ids);
        lost_pages.push(pgno);
    }
    lost_pages.sort_unstable();
    let before = sample.program.session.everything();
    let answer = sample
        .program
        .run(&["recover", "@a.db", "saved.db", "--json"]);
    assert_eq!(answer.code, Some(4), "{}", answer.stderr);
    let json = answer.json();
    let told: Vec<usize> = json["lost_pages"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|page| {
            assert_eq!(page["was"], "of table t", "{json}");
            page["page"].as_u64().expect("a number") as usize
        })
        .collect();
    assert_eq!(told, lost_pages);

    // Every row of every other page, and no other row.
    let saved = sample.sqlcipher_reads("saved.db", &how, "SELECT id, name, length(data) FROM t");
    let expected: Rows = (1..=ROWS)
        .filter(|id| !lost.contains(id))
        .map(|id| {
            vec![
                Value::Integer(id),
                Value::Text(format!("row {id}")),
                Value::Integer(600),
            ]
        })
        .collect();
    assert!(
        saved == expected,
        "{} rows, and {} expected",
        saved.len(),
        expected.len()
    );
    let few = sample.sqlcipher_reads("saved.db", &how, "SELECT group_concat(name || n) FROM few");
    assert_eq!(few, [[Value::Text("a1,b2,c3".to_owned())]]);
    // For people, with the pages named, and the source as it was.
    let text = sample
        .program
        .run(&["recover", "@a.db", "saved.db", "--force"]);
    assert_eq!(text.code, Some(4));
    for page in lost_pages {
        let line = format!("  page {page} lost (its HMAC does not verify): of table t\n");
        assert!(text.stdout.contains(&line), "{}", text.stdout);
    }
    for (name, bytes) in before {
        let now = sample.program.session.everything();
        let now = now.into_iter().find(|(other, _)| *other == name);
        assert_eq!(now, Some((name, bytes)));
    }
}

#[test]
fn page_1() {
    let how = Configuration::new("version 4");
    let sample = Sample::new(&how);
    // First all but the salt: the key is still known to be right.
    sample.destroy(1, 16);
    let answer = sample.program.run(&["recover", "@a.db", "saved.db"]);
    lost_schema(&sample, &how, &answer);
    assert_eq!(answer.code, Some(4));
    // Without the salt there is no key, and it is said where to take it from.
    sample.destroy(1, 0);
    let answer = sample.program.run(&["recover", "@a.db", "none.db"]);
    assert_eq!(answer.code, Some(3));
    assert!(
        answer
            .stderr
            .contains("give them from an older copy with --salt"),
        "{}",
        answer.stderr
    );
    assert!(!sample.program.session.path("none.db").exists());
    let answer = sample.program.run(&[
        "recover",
        "@a.db",
        "saved.db",
        "--force",
        "--salt",
        &sample.salt,
    ]);
    lost_schema(&sample, &how, &answer);
}

/// All rows are there, without their tables' names.
fn lost_schema(sample: &Sample<'_>, how: &Configuration, answer: &crate::session::Answer) {
    assert_eq!(answer.code, Some(4), "{}", answer.stderr);
    for part in [
        "page 1 lost (its HMAC does not verify): the schema and the header",
        "the schema is lost: there are no tables to put rows into",
    ] {
        assert!(answer.stdout.contains(part), "{}", answer.stdout);
    }
    let sql = "SELECT count(*), sum(id), count(DISTINCT rootpgno) FROM lost_and_found WHERE c1 = 'row ' || id AND length(c2) = 600";
    let read = sample.sqlcipher_reads("saved.db", how, sql);
    let all = [ROWS, ROWS * (ROWS + 1) / 2, 1].map(Value::Integer);
    assert_eq!(read, [all]);
}
