//! Write-ahead logging: small commits, the checkpoint after them, readers beside a
//! writer.

use std::thread;

use rusqlite::{Connection, params};

use crate::Result;
use crate::answer::Answer;
use crate::engine::{self, Settings};
use crate::env::Env;
use crate::plan::{Outcome, Plan};
use crate::protocol::{Job, Unit};
use crate::random::Random;

const ROWS: u64 = 20_000;
/// Never checkpoint by itself: the checkpoint is a step of its own.
const NO_CHECKPOINT: &str = "PRAGMA wal_autocheckpoint = 0";

fn random_id(random: &mut Random) -> i64 {
    i64::try_from(1 + random.below(ROWS)).expect("small")
}

/// Moves one cent between two accounts, so that the sum of all never changes.
fn commits(db: &Connection, count: u64, seed: u64) -> Result<()> {
    let mut random = Random::new(seed);
    let mut begin = db.prepare("BEGIN IMMEDIATE")?;
    let mut take = db.prepare("UPDATE accounts SET cents = cents - 1 WHERE id = ?")?;
    let mut give = db.prepare("UPDATE accounts SET cents = cents + 1 WHERE id = ?")?;
    let mut commit = db.prepare("COMMIT")?;
    for _ in 0..count {
        begin.execute(())?;
        take.execute([random_id(&mut random)])?;
        give.execute([random_id(&mut random)])?;
        commit.execute(())?;
    }
    Ok(())
}

/// Looks rows up one at a time; the names never change.
fn lookups(db: &Connection, count: u64, seed: u64, answer: &mut Answer) -> Result<()> {
    let mut random = Random::new(seed);
    let mut select = db.prepare("SELECT name, cents IS NOT NULL FROM accounts WHERE id = ?")?;
    for _ in 0..count {
        select.query_row([random_id(&mut random)], |row| answer.add_row(row, 2))?;
    }
    Ok(())
}

fn sums(db: &Connection, answer: &mut Answer) -> Result<()> {
    answer.query(db, "SELECT count(*), sum(cents) FROM accounts", ())
}

fn setup(env: &mut Env) -> Result<()> {
    let settings = env.settings().with_journal("WAL", "NORMAL");
    let db = env.reopen(&settings)?;
    db.execute_batch(
        "BEGIN; CREATE TABLE accounts(id INTEGER PRIMARY KEY, name TEXT, cents INTEGER)",
    )?;
    let mut insert = db.prepare("INSERT INTO accounts VALUES (?, ?, 100000)")?;
    for id in 1..=ROWS {
        let name = format!("account number {id} of a customer with a long name and address");
        insert.execute(params![i64::try_from(id)?, name])?;
    }
    drop(insert);
    db.execute_batch("COMMIT")?;
    Ok(())
}

fn settings(job: &Job, synchronous: &str) -> Settings {
    job.settings.with_journal("WAL", synchronous)
}

pub(super) fn plan(job: &Job) -> Plan {
    let count: u64 = job.scale.pick(100, 4_000, 20_000);
    let mut plan = Plan::new("Write-ahead log: small commits, checkpoint, readers beside a writer")
        .setup(setup);

    for synchronous in ["NORMAL", "FULL"] {
        let settings = settings(job, synchronous);
        plan.step(
            format!("{count} small commits, synchronous {synchronous}"),
            Unit::Commits,
            move |env| {
                let mut watch = env.stopwatch();
                let db = env.reopen(&settings)?;
                engine::run_pragma(db, NO_CHECKPOINT)?;
                watch.time(|| commits(db, count, 1))?;
                let mut answer = Answer::new();
                sums(db, &mut answer)?;
                Ok(Outcome::new(&watch, count, &answer))
            },
        );
        if synchronous == "NORMAL" {
            plan.step("checkpoint of that log", Unit::Bytes, |env| {
                let mut watch = env.stopwatch();
                let bytes = std::fs::metadata(env.file("bench.db-wal"))?.len();
                let mut answer = Answer::new();
                let db = env.db()?;
                watch.time(|| answer.query(db, "PRAGMA wal_checkpoint(TRUNCATE)", ()))?;
                Ok(Outcome::new(&watch, bytes, &answer))
            });
        }
    }

    let usual = settings(job, "NORMAL");
    plan.step(
        format!("{count} small commits, checkpoints every 1000 pages"),
        Unit::Commits,
        move |env| {
            let mut watch = env.stopwatch();
            let db = env.reopen(&usual)?;
            watch.time(|| commits(db, count, 2))?;
            let mut answer = Answer::new();
            sums(db, &mut answer)?;
            Ok(Outcome::new(&watch, count, &answer))
        },
    );

    // Few commits among many reads, on a second connection of the same thread.
    let usual = settings(job, "NORMAL");
    let turns = count / 20;
    plan.step(
        "1 thread: a commit, then 50 lookups on a second connection",
        Unit::Lookups,
        move |env| {
            let mut watch = env.stopwatch();
            let mut answer = Answer::new();
            let reader = env.connect(&usual)?;
            let writer = env.reopen(&usual)?;
            watch.time(|| -> Result<()> {
                for turn in 0..turns {
                    commits(writer, 1, turn)?;
                    lookups(&reader, 50, turn, &mut answer)?;
                }
                Ok(())
            })?;
            sums(&reader, &mut answer)?;
            Ok(Outcome::new(&watch, turns * 50, &answer))
        },
    );

    let usual = settings(job, "NORMAL");
    plan.step(
        "2 threads: lookups under a writer",
        Unit::Lookups,
        move |env| {
            let mut watch = env.stopwatch();
            let mut answer = Answer::new();
            let reader = env.connect(&usual)?;
            let writer = env.connect(&usual)?;
            watch.time(|| -> Result<()> {
                thread::scope(|scope| {
                    let writing = scope.spawn(move || commits(&writer, count / 4, 3));
                    lookups(&reader, count * 4, 4, &mut answer)?;
                    writing.join().map_err(|_| "the writer panicked")?
                })
            })?;
            sums(&reader, &mut answer)?;
            Ok(Outcome::new(&watch, count * 4, &answer))
        },
    );

    let usual = settings(job, "NORMAL");
    plan.step(
        "2 threads: lookups beside lookups",
        Unit::Lookups,
        move |env| {
            let mut watch = env.stopwatch();
            let mut answer = Answer::new();
            let first = env.connect(&usual)?;
            let second = env.connect(&usual)?;
            watch.time(|| -> Result<()> {
                thread::scope(|scope| {
                    let reading = scope.spawn(move || -> Result<String> {
                        let mut other = Answer::new();
                        lookups(&second, count * 2, 5, &mut other)?;
                        Ok(other.finish())
                    });
                    lookups(&first, count * 2, 6, &mut answer)?;
                    answer.add(reading.join().map_err(|_| "the reader panicked")??);
                    Ok(())
                })
            })?;
            Ok(Outcome::new(&watch, count * 4, &answer))
        },
    );
    plan
}
