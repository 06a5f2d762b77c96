//! A rekey is killed at a random moment: exactly one of the two keys opens the
//! database, all rows are there, and both sides say so.
//!
//! The database goes on with the key that opens it, to the next rekey. Three of
//! four are pageseal's, one is SQLCipher's own; whoever recovers alternates.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::kills::scratch;
use crate::process::{Answer, Process, Side};
use crate::random::Random;
use crate::tally::Tally;
use crate::wire::{Value, to_hex};

/// 4096-byte pages of the database, unless `pages=` says otherwise. (Of 100 MB
/// there are 25 600.)
const PAGES: u64 = 1000;

const COLUMNS: [&str; 8] = [
    "by us", "by SQLC", "hot", "old key", "new key", "finished", "us first", "SQLC 1st",
];

/// One row fills a page.
const SCHEMA: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, pad TEXT NOT NULL);
    CREATE TABLE turn(n INTEGER NOT NULL); INSERT INTO turn VALUES(0);";
const PADDING: &str = "printf('%03500d', id * 7)";

/// Rekeys and kills `count` times, half of them in WAL mode. Returns whether all
/// went well.
pub(crate) fn run(count: u64, pages: Option<u64>, seed: u64) -> bool {
    let start = Instant::now();
    let pages = pages.unwrap_or(PAGES);
    let mut tally = Tally::new(&COLUMNS);
    let mut random = Random::new(seed);
    for (mode, share) in [("DELETE", count - count / 2), ("WAL", count / 2)] {
        let result = Database::create(mode, pages, &mut random).and_then(|mut database| {
            for _ in 0..share {
                database.kill_once(&mut random, &mut tally)?;
            }
            Ok(())
        });
        if let Err(error) = result {
            println!("FAILED (seed {seed}, {mode}): {error}");
            tally.print();
            return false;
        }
    }
    println!(
        "{count} kills while a database of {pages} pages was rekeyed, in {:.0} s (seed {seed}):",
        start.elapsed().as_secs_f64()
    );
    tally.print();
    println!(
        "by: whose rekey it was; hot: with a journal or log left behind; old, new: the key that \
         opened it; finished: rekeyed before it was killed; first: who recovered"
    );
    true
}

/// A raw key, so that nothing is derived slowly.
fn key(n: u64) -> String {
    format!("x'{:064x}'", 0x5ea1 + n)
}

struct Database {
    dir: tempfile::TempDir,
    mode: &'static str,
    pages: u64,
    /// The key that opens it, and the next one.
    key: u64,
    turn: i64,
    /// How long a rekey takes, at most.
    time: Duration,
}

impl Database {
    /// Makes one, and says what a rekey of it takes, on either side.
    fn create(mode: &'static str, pages: u64, random: &mut Random) -> Result<Self, String> {
        let dir = scratch();
        let mut database = Self {
            dir,
            mode,
            pages,
            key: 0,
            turn: 0,
            time: Duration::ZERO,
        };
        let mut process = database.open(random.pick(&Side::BOTH), 0)?;
        let sql = format!(
            "PRAGMA journal_mode = {mode}; PRAGMA synchronous = OFF; BEGIN; {SCHEMA}
             WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {pages})
             INSERT INTO t SELECT id, {PADDING} FROM n; COMMIT"
        );
        expect(process.ask(&["exec", "db", &sql]), &sql)?;
        expect(process.ask(&["close", "db"]), "close")?;
        for side in Side::BOTH {
            let mut process = database.open(side, database.key)?;
            let sql = rekey(database.key + 1);
            let start = Instant::now();
            expect(process.ask(&["exec", "db", &sql]), &sql)?;
            let took = start.elapsed();
            database.key += 1;
            database.time = database.time.max(took);
            println!(
                "{mode}: {} rekeys {pages} pages in {:.0} ms, {:.1} us a page{}",
                side.name(),
                took.as_secs_f64() * 1e3,
                took.as_secs_f64() * 1e6 / pages as f64,
                match side {
                    Side::Pageseal if cfg!(debug_assertions) => " (not an optimised build)",
                    _ => "",
                }
            );
        }
        Ok(database)
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("rekey.db")
    }

    fn open(&self, side: Side, key: u64) -> Result<Process, String> {
        open(side, &self.path(), key)
    }

    fn kill_once(&mut self, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
        let side = if random.one_in(4) {
            Side::Sqlcipher
        } else {
            Side::Pageseal
        };
        let mut process = self.open(side, self.key)?;
        // In WAL mode this is still in the log when the rekey starts.
        self.turn += 1;
        let sql = format!(
            "PRAGMA journal_mode = {}; UPDATE turn SET n = {}",
            self.mode, self.turn
        );
        expect(process.ask(&["exec", "db", &sql]), &sql)?;
        // The rekey begins behind the first answer.
        let words = |sql: &str| vec!["exec".to_owned(), "db".to_owned(), sql.to_owned()];
        let requests = [words("SELECT 1"), words(&rekey(self.key + 1))];
        let delay = Duration::from_micros(random.below(self.time.as_micros() as u64 * 11 / 10));
        let answers = process.run_and_kill(&requests, delay, false);
        let finished = answers.len() == 2;
        for answer in answers {
            expect(Some(answer), "rekey")?;
        }
        tally.count(
            self.mode,
            match side {
                Side::Pageseal => "by us",
                Side::Sqlcipher => "by SQLC",
            },
        );
        if self.side_file_left() {
            tally.count(self.mode, "hot");
        }
        if finished {
            tally.count(self.mode, "finished");
        }
        let first = random.pick(&Side::BOTH);
        tally.count(
            self.mode,
            match first {
                Side::Pageseal => "us first",
                Side::Sqlcipher => "SQLC 1st",
            },
        );
        let order = if random.one_in(2) {
            [self.key, self.key + 1]
        } else {
            [self.key + 1, self.key]
        };
        let mut found = Vec::new();
        let sides = if first == Side::Pageseal {
            Side::BOTH
        } else {
            [Side::Sqlcipher, Side::Pageseal]
        };
        for side in sides {
            found.push(self.the_key(side, order)?);
        }
        if found[0] != found[1] {
            return Err(format!("{sides:?} open it with different keys: {found:?}"));
        }
        if finished && found[0] != self.key + 1 {
            return Err("the rekey had been answered, but the old key opens it".to_owned());
        }
        let which = if found[0] == self.key {
            "old key"
        } else {
            "new key"
        };
        tally.count(self.mode, which);
        self.key = found[0];
        Ok(())
    }

    /// The one of two keys that opens the database, which is whole.
    fn the_key(&self, side: Side, order: [u64; 2]) -> Result<u64, String> {
        let mut opened = Vec::new();
        for n in order {
            let mut process = self.open(side, n)?;
            match process.ask(&["query", "db", "SELECT n FROM turn"]) {
                Some(Ok(rows)) => {
                    if rows != [[Value::Integer(self.turn)]] {
                        return Err(format!("turn {} is lost: {rows:?}", self.turn));
                    }
                    self.check(side, &mut process)?;
                    opened.push(n);
                }
                // SQLITE_NOTADB
                Some(Err((26, _))) => {}
                other => return Err(format!("{} with a key: {other:?}", side.name())),
            }
            expect(process.ask(&["close", "db"]), "close")?;
        }
        match opened[..] {
            [n] => Ok(n),
            _ => Err(format!("{} keys open it in {}", opened.len(), side.name())),
        }
    }

    fn check(&self, side: Side, process: &mut Process) -> Result<(), String> {
        let pages = self.pages;
        let whole = format!(
            "SELECT count(*), sum(id), sum(pad = {PADDING}) FROM t; PRAGMA integrity_check; \
             PRAGMA wal_checkpoint(TRUNCATE)"
        );
        let rows = expect(process.ask(&["query", "db", &whole]), &whole)?;
        let n = |n: u64| Value::Integer(n as i64);
        let expected = [
            vec![n(pages), n(pages * (pages + 1) / 2), n(pages)],
            vec![Value::Text("ok".into())],
        ];
        if rows[..2] != expected {
            return Err(format!("{}: rows are lost: {rows:?}", side.name()));
        }
        let sql = "PRAGMA cipher_integrity_check";
        let faults = expect(process.ask(&["query", "db", sql]), sql)?;
        if faults.is_empty() {
            Ok(())
        } else {
            Err(format!("{}: {faults:?}", side.name()))
        }
    }

    fn side_file_left(&self) -> bool {
        ["-journal", "-wal"].iter().any(|end| {
            let path = self.dir.path().join(format!("rekey.db{end}"));
            std::fs::read(path).is_ok_and(|bytes| bytes.iter().take(12).any(|&byte| byte != 0))
        })
    }
}

fn open(side: Side, path: &Path, n: u64) -> Result<Process, String> {
    let mut process = Process::start(side);
    let path = path.to_str().ok_or("a path that is not UTF-8")?;
    let words = ["open", "db", path, &to_hex(key(n).as_bytes())];
    expect(process.ask(&words), "open")?;
    Ok(process)
}

fn rekey(n: u64) -> String {
    format!("PRAGMA rekey = \"{}\"", key(n))
}

pub(crate) fn expect(answer: Option<Answer>, what: &str) -> Result<Vec<Vec<Value>>, String> {
    match answer {
        Some(Ok(rows)) => Ok(rows),
        Some(Err((code, text))) => Err(format!("{code} {text}: {what}")),
        None => Err(format!("the process has ended: {what}")),
    }
}
