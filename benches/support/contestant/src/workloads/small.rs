//! Small transactions and shared files: what an application does all day, and where a
//! shim's cost a transaction (not a page) would show.

use rusqlite::Connection;

use crate::Result;
use crate::answer::Answer;
use crate::env::Env;
use crate::plan::{Outcome, Plan};
use crate::protocol::{Job, Unit};
use crate::random::Random;

/// Some 200 pages, well inside the cache.
const ROWS: i64 = 8_000;
const POOL: usize = 8;

fn setup(env: &mut Env) -> Result<()> {
    let db = env.db()?;
    db.execute_batch("BEGIN; CREATE TABLE notes(id INTEGER PRIMARY KEY, n INTEGER, text TEXT)")?;
    let mut insert = db.prepare("INSERT INTO notes VALUES (?, ?, ?)")?;
    let mut random = Random::new(0x5a);
    for id in 1..=ROWS {
        let text = format!(
            "{:016x} a short note that somebody wrote some time ago",
            random.next_u64()
        );
        insert.execute((id, id % 100, text))?;
    }
    drop(insert);
    db.execute_batch("COMMIT")?;
    Ok(())
}

fn change_one(db: &Connection, turn: u64) -> Result<()> {
    let id = i64::try_from(turn * 37)? % ROWS + 1;
    db.execute("UPDATE notes SET n = n + 1 WHERE id = ?", [id])?;
    Ok(())
}

fn read_all(db: &Connection, answer: &mut Answer) -> Result<()> {
    answer.query(db, "SELECT sum(n), total(length(text)) FROM notes", ())
}

pub(super) fn plan(job: &Job) -> Plan {
    let lookups: u64 = job.scale.pick(1_000, 50_000, 100_000);
    let turns: u64 = job.scale.pick(5, 100, 200);

    let mut plan =
        Plan::new("Small transactions, and connections that share a file (rollback mode)")
            .setup(setup);

    plan.step(
        format!("{lookups} lookups of a cached row, autocommit"),
        Unit::Lookups,
        move |env| {
            let mut watch = env.stopwatch();
            let mut answer = Answer::new();
            let settings = env.settings().clone();
            let db = env.reopen(&settings)?;
            let mut select = db.prepare("SELECT n, text FROM notes WHERE id = ?")?;
            select.query_row([1], |row| answer.add_row(row, 2))?;
            watch.time(|| -> Result<()> {
                for _ in 0..lookups {
                    select.query_row([1], |row| answer.add_row(row, 2))?;
                }
                Ok(())
            })?;
            Ok(Outcome::new(&watch, lookups, &answer))
        },
    );

    plan.step(
        format!("{turns} commits of one row, autocommit"),
        Unit::Commits,
        move |env| {
            let mut watch = env.stopwatch();
            let mut answer = Answer::new();
            let settings = env.settings().clone();
            let db = env.reopen(&settings)?;
            watch.time(|| (0..turns).try_for_each(|turn| change_one(db, turn)))?;
            read_all(db, &mut answer)?;
            Ok(Outcome::new(&watch, turns, &answer))
        },
    );

    plan.step(
        "two connections: one commits, the other reads its tables again",
        Unit::Commits,
        move |env| {
            let mut watch = env.stopwatch();
            let mut answer = Answer::new();
            let settings = env.settings().clone();
            let reader = env.connect(&settings)?;
            let writer = env.reopen(&settings)?;
            read_all(&reader, &mut answer)?;
            watch.time(|| -> Result<()> {
                for turn in 0..turns {
                    change_one(writer, turn)?;
                    read_all(&reader, &mut answer)?;
                }
                Ok(())
            })?;
            Ok(Outcome::new(&watch, turns, &answer))
        },
    );

    plan.step(
        format!("pool of {POOL}: each reads its tables after a commit"),
        Unit::Commits,
        move |env| {
            let mut watch = env.stopwatch();
            let mut answer = Answer::new();
            let settings = env.settings().clone();
            let pool = (0..POOL)
                .map(|_| env.connect(&settings))
                .collect::<Result<Vec<_>>>()?;
            let writer = env.reopen(&settings)?;
            let turns = turns.div_ceil(POOL as u64);
            watch.time(|| -> Result<()> {
                for turn in 0..turns {
                    change_one(writer, turn)?;
                    for reader in &pool {
                        read_all(reader, &mut answer)?;
                    }
                }
                Ok(())
            })?;
            Ok(Outcome::new(&watch, turns, &answer))
        },
    );
    plan
}
