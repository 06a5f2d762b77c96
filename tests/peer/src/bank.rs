//! A workload whose consistency is easy to check after a crash.
//!
//! `bank_setup NAME ACCOUNTS BALANCE PAD` creates
//!
//! - `account(id INTEGER PRIMARY KEY, balance INTEGER, pad BLOB)`: ACCOUNTS
//!   rows with BALANCE each and PAD bytes of padding (so that they fill pages);
//! - `ledger(txn INTEGER PRIMARY KEY, moves INTEGER)`: one row a transaction.
//!
//! `bank NAME COUNT LOG [KNOB=VALUE…]` commits COUNT transactions (0: until
//! killed), each moving money between random accounts and adding the next
//! number to `ledger`. Once COMMIT has returned, the line `n\n` is appended to
//! the file LOG with a single write. Answers `ok LAST`.
//!
//! Whatever happens: the balances add up to ACCOUNTS * BALANCE, the ledger has
//! no gaps, and it ends with the last logged number or the one behind it.
//!
//! Knobs: `journal_mode`, `synchronous`, `cache_size`, `cache_spill`,
//! `wal_autocheckpoint` (set by the pragma of that name); `moves` (transfers a
//! transaction, 3), `savepoints` (`1`: each transaction also makes changes that
//! it rolls back to a savepoint, 0), `seed` (1).

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use rusqlite::{Connection, params};

use crate::database;
use crate::error::Error;

/// How the transactions are run.
pub(crate) struct Knobs {
    pragmas: Vec<String>,
    moves: u64,
    savepoints: bool,
    seed: u64,
}

impl Knobs {
    /// Parses `KNOB=VALUE` words.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, Error> {
        let mut knobs = Knobs {
            pragmas: Vec::new(),
            moves: 3,
            savepoints: false,
            seed: 1,
        };
        for word in words {
            let bad = || Error::request(format!("bad knob: {word}"));
            let (name, value) = word.split_once('=').ok_or_else(bad)?;
            match name {
                "journal_mode" | "synchronous" | "cache_size" | "cache_spill"
                | "wal_autocheckpoint" => {
                    knobs.pragmas.push(format!("PRAGMA {name} = {value}"));
                }
                "moves" => knobs.moves = value.parse().map_err(|_| bad())?,
                "savepoints" => knobs.savepoints = value == "1",
                "seed" => knobs.seed = value.parse().map_err(|_| bad())?,
                _ => return Err(bad()),
            }
        }
        Ok(knobs)
    }
}

/// Creates the tables and the accounts.
pub(crate) fn set_up(
    conn: &Connection,
    accounts: i64,
    balance: i64,
    pad: i64,
) -> Result<(), Error> {
    database::run(
        conn,
        "BEGIN;
         CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER NOT NULL, pad BLOB);
         CREATE TABLE ledger(txn INTEGER PRIMARY KEY, moves INTEGER NOT NULL);",
        |_| Ok(()),
    )?;
    let mut insert = conn.prepare("INSERT INTO account VALUES(?1, ?2, zeroblob(?3))")?;
    for id in 1..=accounts {
        insert.execute(params![id, balance, pad])?;
    }
    Ok(conn.execute_batch("COMMIT")?)
}

/// Runs the transactions and returns the number of the last one.
pub(crate) fn run(
    conn: &Connection,
    count: i64,
    log: &Path,
    knobs: &Knobs,
) -> Result<String, Error> {
    for pragma in &knobs.pragmas {
        database::run(conn, pragma, |_| Ok(()))?;
    }
    let mut log = OpenOptions::new().create(true).append(true).open(log)?;
    let accounts = conn.query_row("SELECT max(id) FROM account", [], |row| row.get(0))?;
    let mut random = Random(knobs.seed | 1);
    let mut done = 0;
    loop {
        let txn = transaction(conn, accounts, knobs, &mut random)?;
        log.write_all(format!("{txn}\n").as_bytes())?;
        done += 1;
        if done == count {
            return Ok(txn.to_string());
        }
    }
}

fn transaction(
    conn: &Connection,
    accounts: i64,
    knobs: &Knobs,
    random: &mut Random,
) -> Result<i64, Error> {
    conn.execute_batch("BEGIN IMMEDIATE")?;
    let mut change =
        conn.prepare_cached("UPDATE account SET balance = balance + ?2 WHERE id = ?1")?;
    for _ in 0..knobs.moves {
        let (from, to) = (random.below(accounts) + 1, random.below(accounts) + 1);
        let amount = random.below(100);
        change.execute(params![from, -amount])?;
        if knobs.savepoints {
            conn.execute_batch(
                "SAVEPOINT lost;
                 UPDATE account SET balance = 0, pad = randomblob(length(pad));
                 DELETE FROM ledger;
                 ROLLBACK TO lost; RELEASE lost;",
            )?;
        }
        change.execute(params![to, amount])?;
    }
    let txn = conn
        .prepare_cached(
            "INSERT INTO ledger SELECT ifnull(max(txn), 0) + 1, ?1 FROM ledger RETURNING txn",
        )?
        .query_row([knobs.moves.cast_signed()], |row| row.get(0))?;
    conn.execute_batch("COMMIT")?;
    Ok(txn)
}

/// Marsaglia's xorshift64: repeatable, and good enough to spread transfers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.unsigned_abs().max(1)).cast_signed()
    }
}
