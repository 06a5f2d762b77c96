//! pageseal is killed while it migrates a database, or gives it a key with another salt,
//! and SQLCipher opens what is left: the old way or the new one, with all rows there.
//!
//! Every kill starts from the same files. In WAL mode the last commit is only in the
//! log, whose writer was killed too.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::kills::scratch;
use crate::process::{Process, Side};
use crate::random::Random;
use crate::rekey::expect;
use crate::tally::Tally;
use crate::wire::{Value, to_hex};

/// Rows of the database; in pages of 1024 bytes each takes most of one.
const ROWS: u64 = 3000;
const PADDING: &str = "printf('%0700d', id * 7)";

const COLUMNS: [&str; 5] = ["killed", "hot", "old way", "new way", "finished"];

/// A key, and the settings to go with it.
#[derive(Clone, Copy, PartialEq)]
struct Way {
    key: &'static str,
    settings: &'static str,
}

/// What is being done when the process is killed.
struct Rewrite {
    name: &'static str,
    old: Way,
    new: Way,
    /// The settings it is done with, and how.
    by: &'static str,
    statement: &'static str,
}

const RAW: &str = "x'00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'";
const SALTED: &str = "x'00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f'";
const OTHER_SALT: &str = "x'ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100f0e0d0c0b0a090807060504030201000'";
const REKEY: &str = "PRAGMA rekey = \"x'ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100f0e0d0c0b0a090807060504030201000'\"";
const MIGRATE: &str = "PRAGMA cipher_migrate";

const V4: &str = "";
const V3: &str = "PRAGMA cipher_compatibility = 3";
const V1: &str = "PRAGMA cipher_compatibility = 1";
const FAST: &str = "PRAGMA kdf_iter = 10";

const ALL: [Rewrite; 5] = [
    Rewrite {
        name: "from version 3",
        old: Way {
            key: RAW,
            settings: V3,
        },
        new: Way {
            key: RAW,
            settings: V4,
        },
        by: V4,
        statement: MIGRATE,
    },
    Rewrite {
        name: "from version 1",
        old: Way {
            key: RAW,
            settings: V1,
        },
        new: Way {
            key: RAW,
            settings: V4,
        },
        by: V4,
        statement: MIGRATE,
    },
    Rewrite {
        name: "another salt",
        old: Way {
            key: SALTED,
            settings: V4,
        },
        new: Way {
            key: OTHER_SALT,
            settings: V4,
        },
        by: V4,
        statement: REKEY,
    },
    Rewrite {
        name: "raw, salted",
        old: Way {
            key: RAW,
            settings: V4,
        },
        new: Way {
            key: OTHER_SALT,
            settings: V4,
        },
        by: V4,
        statement: REKEY,
    },
    Rewrite {
        name: "text, salted",
        old: Way {
            key: "a passphrase",
            settings: FAST,
        },
        new: Way {
            key: OTHER_SALT,
            settings: FAST,
        },
        by: FAST,
        statement: REKEY,
    },
];

/// Kills each rewrite `count` times, half of them in WAL mode. Returns whether all went
/// well.
pub(crate) fn run(count: u64, seed: u64) -> bool {
    let start = Instant::now();
    let mut tally = Tally::new(&COLUMNS);
    let mut random = Random::new(seed);
    let mut failures = Vec::new();
    for rewrite in &ALL {
        for (mode, share) in [("DELETE", count - count / 2), ("WAL", count / 2)] {
            let row = format!("{}, {mode}", rewrite.name);
            let result = Victim::create(rewrite, mode).and_then(|victim| {
                (0..share).try_for_each(|_| victim.kill_once(&row, &mut random, &mut tally))
            });
            if let Err(error) = result {
                failures.push(format!("{row} (seed {seed}): {error}"));
            }
        }
    }
    println!(
        "{} kills while pageseal rewrote a database that SQLCipher then opened, in {:.0} s (seed {seed}):",
        tally.total("killed"),
        start.elapsed().as_secs_f64()
    );
    tally.print();
    for failure in &failures {
        println!("FAILED: {failure}");
    }
    failures.is_empty()
}

struct Victim<'a> {
    rewrite: &'a Rewrite,
    dir: tempfile::TempDir,
    /// The files that every kill starts from, by the ends of their names.
    files: BTreeMap<&'static str, Vec<u8>>,
    /// How long the rewrite takes when nobody kills it.
    time: Duration,
}

impl<'a> Victim<'a> {
    fn create(rewrite: &'a Rewrite, mode: &str) -> Result<Self, String> {
        let mut victim = Self {
            rewrite,
            dir: scratch(),
            files: BTreeMap::new(),
            time: Duration::ZERO,
        };
        let mut process = victim.open(Side::Sqlcipher, rewrite.old)?;
        let sql = format!(
            "PRAGMA journal_mode = {mode}; BEGIN;
             CREATE TABLE t(id INTEGER PRIMARY KEY, pad TEXT NOT NULL); CREATE TABLE turn(n);
             WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {ROWS})
             INSERT INTO t SELECT id, {PADDING} FROM n; COMMIT;
             PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO turn VALUES(1)"
        );
        expect(process.ask(&["exec", "db", &sql]), &sql)?;
        process.kill();
        for end in ["", "-wal"] {
            if let Ok(bytes) = fs::read(victim.path(end)) {
                victim.files.insert(end, bytes);
            }
        }
        victim.restore()?;
        let mut process = victim.open_by(Side::Pageseal)?;
        let start = Instant::now();
        expect(
            process.ask(&["exec", "db", rewrite.statement]),
            rewrite.statement,
        )?;
        victim.time = start.elapsed();
        Ok(victim)
    }

    fn path(&self, end: &str) -> PathBuf {
        self.dir.path().join(format!("rewrite.db{end}"))
    }

    /// Puts the files back from which every kill starts.
    fn restore(&self) -> Result<(), String> {
        let text = |error: std::io::Error| error.to_string();
        for entry in fs::read_dir(self.dir.path()).map_err(text)? {
            fs::remove_file(entry.map_err(text)?.path()).map_err(text)?;
        }
        for (end, bytes) in &self.files {
            fs::write(self.path(end), bytes).map_err(text)?;
        }
        Ok(())
    }

    fn open(&self, side: Side, way: Way) -> Result<Process, String> {
        open(side, &self.path(""), way)
    }

    fn open_by(&self, side: Side) -> Result<Process, String> {
        let settings = self.rewrite.by;
        self.open(
            side,
            Way {
                settings,
                ..self.rewrite.old
            },
        )
    }

    fn kill_once(&self, row: &str, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
        self.restore()?;
        let process = self.open_by(Side::Pageseal)?;
        // The rewrite begins behind the first answer.
        // (Which reads nothing: a migration must come before the first use.)
        let words = |sql: &str| vec!["exec".to_owned(), "db".to_owned(), sql.to_owned()];
        let requests = [
            words("PRAGMA cipher_version"),
            words(self.rewrite.statement),
        ];
        let delay = Duration::from_micros(random.below(self.time.as_micros() as u64 * 11 / 10));
        let answers = process.run_and_kill(&requests, delay, false);
        let finished = answers.len() == 2;
        for answer in answers {
            expect(Some(answer), "the rewrite")?;
        }
        tally.count(row, "killed");
        let hot = fs::read(self.path("-journal"))
            .is_ok_and(|bytes| bytes.iter().take(12).any(|&byte| byte != 0));
        if hot {
            tally.count(row, "hot");
        }
        if finished {
            tally.count(row, "finished");
        }
        let ways = [self.rewrite.old, self.rewrite.new];
        let order = if random.one_in(2) { [0, 1] } else { [1, 0] };
        let theirs = self.which(Side::Sqlcipher, &ways, order)?;
        let ours = self.which(Side::Pageseal, &ways, order)?;
        if theirs != ours {
            return Err(format!(
                "way {theirs} opens it in SQLCipher, {ours} in pageseal"
            ));
        }
        if finished && theirs == 0 {
            return Err("it had been answered, but the old way opens it".to_owned());
        }
        tally.count(row, ["old way", "new way"][theirs]);
        Ok(())
    }

    /// The one of both ways that opens the database, which is whole.
    fn which(&self, side: Side, ways: &[Way; 2], order: [usize; 2]) -> Result<usize, String> {
        let mut opened = Vec::new();
        for n in order {
            let mut process = self.open(side, ways[n])?;
            let whole = format!(
                "SELECT count(*), sum(id), sum(pad = {PADDING}), (SELECT n FROM turn) FROM t; \
                 PRAGMA integrity_check"
            );
            match process.ask(&["query", "db", &whole]) {
                Some(Ok(rows)) => {
                    let n_of = |n: u64| Value::Integer(n as i64);
                    let sums = [ROWS, ROWS * (ROWS + 1) / 2, ROWS, 1].map(n_of).to_vec();
                    if rows != [sums, vec![Value::Text("ok".into())]] {
                        return Err(format!("{}: rows are lost: {rows:?}", side.name()));
                    }
                    opened.push(n);
                }
                // SQLITE_NOTADB
                Some(Err((26, _))) => {}
                other => return Err(format!("{}, way {n}: {other:?}", side.name())),
            }
        }
        match opened[..] {
            [n] => Ok(n),
            _ => Err(format!(
                "{}, {order:?}: {} ways open it",
                side.name(),
                opened.len()
            )),
        }
    }
}

fn open(side: Side, path: &Path, way: Way) -> Result<Process, String> {
    let mut process = Process::start(side);
    let path = path.to_str().ok_or("a path that is not UTF-8")?;
    expect(
        process.ask(&["open", "db", path, &to_hex(way.key.as_bytes())]),
        "open",
    )?;
    if !way.settings.is_empty() {
        expect(process.ask(&["exec", "db", way.settings]), way.settings)?;
    }
    Ok(process)
}
