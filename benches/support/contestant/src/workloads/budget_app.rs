//! A household-budget app: one small table, as most encrypted databases in the world
//! are. Each step is repeated until it is long enough to measure.

use rusqlite::Connection;

use crate::Result;
use crate::answer::Answer;
use crate::plan::{Outcome, Plan};
use crate::protocol::{Job, Unit};
use crate::random::Random;

const CATEGORIES: [&str; 8] = [
    "groceries",
    "rent",
    "transport",
    "health",
    "clothing",
    "restaurants",
    "gifts",
    "other",
];

struct Expense {
    date: String,
    category: &'static str,
    cents: i64,
    note: String,
}

fn expenses(count: u64) -> Vec<Expense> {
    let mut random = Random::new(count);
    (0..count)
        .map(|i| Expense {
            date: format!(
                "{}-{:02}-{:02}",
                2020 + random.below(6),
                1 + random.below(12),
                1 + random.below(28)
            ),
            category: CATEGORIES[usize::try_from(random.below(8)).expect("an index")],
            cents: i64::try_from(random.below(50_000)).expect("small"),
            note: format!("receipt {i}, paid by card, shared between two people"),
        })
        .collect()
}

fn insert(db: &Connection, rows: &[Expense]) -> Result<()> {
    db.execute_batch("BEGIN")?;
    let mut statement =
        db.prepare("INSERT INTO expenses(date, category, cents, note) VALUES (?, ?, ?, ?)")?;
    for row in rows {
        statement.execute((&row.date, row.category, row.cents, &row.note))?;
    }
    drop(statement);
    db.execute_batch("COMMIT")?;
    Ok(())
}

pub(super) fn plan(job: &Job) -> Plan {
    let rows_a_step = job.scale.pick(500, 10_000, 40_000);
    let cache = job.settings.cache_pages;

    let mut plan = Plan::new("A budget app's expenses table, in rollback mode");
    for count in [500, 2_000, 5_000_u64] {
        let repeats = (rows_a_step / count).max(1);

        plan.step(format!("insert, {count} rows"), Unit::Rows, move |env| {
            let rows = expenses(count);
            let mut watch = env.stopwatch();
            let db = env.db()?;
            db.execute_batch(
                "CREATE TABLE IF NOT EXISTS expenses(
                     id INTEGER PRIMARY KEY, date TEXT, category TEXT, cents INTEGER, note TEXT);
                 CREATE INDEX IF NOT EXISTS by_category ON expenses(category, date);",
            )?;
            for _ in 0..repeats {
                db.execute_batch("DELETE FROM expenses")?;
                watch.time(|| insert(db, &rows))?;
            }
            let mut answer = Answer::new();
            answer.query(db, "SELECT count(*), sum(cents) FROM expenses", ())?;
            Ok(Outcome::new(&watch, count * repeats, &answer))
        });

        // An app that was just started: nothing is in the cache.
        let mut read = |name: &str, sql: &'static str| {
            plan.step(format!("{name}, {count} rows"), Unit::Rows, move |env| {
                let settings = env.settings().with_cache(cache);
                let mut watch = env.stopwatch();
                let mut answer = Answer::new();
                for _ in 0..repeats {
                    let db = env.reopen(&settings)?;
                    watch.time(|| answer.query(db, sql, ()))?;
                }
                Ok(Outcome::new(&watch, count * repeats, &answer))
            });
        };
        read(
            "select all",
            "SELECT id, date, category, cents, note FROM expenses ORDER BY id",
        );
        read(
            "select filtered",
            "SELECT id, date, cents, note FROM expenses
             WHERE category = 'rent' AND date >= '2023-01-01' ORDER BY date, id",
        );

        plan.step(format!("update, {count} rows"), Unit::Rows, move |env| {
            let mut watch = env.stopwatch();
            let db = env.db()?;
            for _ in 0..repeats {
                watch.time(|| -> Result<()> {
                    db.execute_batch("BEGIN")?;
                    let mut statement = db.prepare(
                        "UPDATE expenses SET cents = cents + 1, date = '2026-01-01' WHERE id = ?",
                    )?;
                    for id in (1..=count).step_by(10) {
                        statement.execute([i64::try_from(id)?])?;
                    }
                    drop(statement);
                    db.execute_batch("COMMIT")?;
                    Ok(())
                })?;
            }
            let mut answer = Answer::new();
            answer.query(db, "SELECT count(*), sum(cents) FROM expenses", ())?;
            Ok(Outcome::new(&watch, count / 10 * repeats, &answer))
        });
    }
    plan
}
