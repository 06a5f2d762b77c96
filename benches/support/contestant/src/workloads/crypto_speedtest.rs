//! The fifteen classic tests: SQLite's speed comparison of 2003, which SQLCipher's
//! `crypto_speedtest` took over. Literal SQL text, one statement at a time, as then.

use rusqlite::Connection;

use crate::Result;
use crate::answer::{Answer, contents};
use crate::plan::{Outcome, Plan};
use crate::protocol::{Job, Unit};
use crate::random::Random;
use crate::words::in_words;

/// Each test draws its numbers from its own sequence.
fn random(test: u64) -> Random {
    Random::new(0x5eed_0000 + test)
}

fn value(random: &mut Random) -> u64 {
    random.below(500_000)
}

fn inserts(table: &str, count: u64, test: u64) -> Vec<String> {
    let mut random = random(test);
    (1..=count)
        .map(|i| {
            let r = value(&mut random);
            format!("INSERT INTO {table} VALUES({i}, {r}, '{}')", in_words(r))
        })
        .collect()
}

fn in_transaction(statements: Vec<String>) -> Vec<String> {
    let mut all = vec!["BEGIN".to_owned()];
    all.extend(statements);
    all.push("COMMIT".to_owned());
    all
}

fn run(db: &Connection, statements: &[String], answer: &mut Answer) -> Result<()> {
    for sql in statements {
        answer.query(db, sql, ())?;
    }
    Ok(())
}

pub(super) fn plan(job: &Job) -> Plan {
    let big = job.scale.pick(1_000, 25_000, 25_000);
    let ranges = job.scale.pick(10, 100, 100);
    let lookups = big / 5;

    let mut plan = Plan::new("The fifteen classic SQL tests, in rollback mode").with_total();
    let mut test = |name: String, statements: Vec<String>| {
        plan.step(name, Unit::Statements, move |env| {
            let mut watch = env.stopwatch();
            let mut answer = Answer::new();
            let db = env.db()?;
            watch.time(|| run(db, &statements, &mut answer))?;
            Ok(Outcome::new(&watch, statements.len() as u64, &answer))
        });
    };

    let mut first = vec!["CREATE TABLE t1(a INTEGER, b INTEGER, c VARCHAR(100))".to_owned()];
    first.extend(inserts("t1", 1_000, 1));
    test("1: 1 000 INSERTs, a transaction each".into(), first);

    let mut second = vec!["CREATE TABLE t2(a INTEGER, b INTEGER, c VARCHAR(100))".to_owned()];
    second.extend(inserts("t2", big, 2));
    test(
        format!("2: {big} INSERTs in a transaction"),
        in_transaction(second),
    );

    test(
        format!("3: {ranges} SELECTs without an index"),
        (0..ranges)
            .map(|i| {
                format!(
                    "SELECT count(*), avg(b) FROM t2 WHERE b >= {} AND b < {}",
                    i * 100,
                    i * 100 + 1_000
                )
            })
            .collect(),
    );
    test(
        format!("4: {ranges} SELECTs on a string comparison"),
        (1..=ranges)
            .map(|i| {
                format!(
                    "SELECT count(*), avg(b) FROM t2 WHERE c LIKE '%{}%'",
                    in_words(i)
                )
            })
            .collect(),
    );
    test(
        "5: CREATE INDEX, twice".into(),
        vec![
            "CREATE INDEX i2a ON t2(a)".into(),
            "CREATE INDEX i2b ON t2(b)".into(),
        ],
    );
    test(
        format!("6: {lookups} SELECTs with an index"),
        (0..lookups)
            .map(|i| {
                format!(
                    "SELECT count(*), avg(b) FROM t2 WHERE b >= {} AND b < {}",
                    i * 100,
                    i * 100 + 100
                )
            })
            .collect(),
    );
    test(
        "7: 1 000 UPDATEs without an index".into(),
        in_transaction(
            (0..1_000)
                .map(|i| {
                    format!(
                        "UPDATE t1 SET b = b * 2 WHERE a >= {} AND a < {}",
                        i * 10,
                        i * 10 + 10
                    )
                })
                .collect(),
        ),
    );

    let mut numbers = random(8);
    test(
        format!("8: {big} UPDATEs with an index"),
        in_transaction(
            (1..=big)
                .map(|i| format!("UPDATE t2 SET b = {} WHERE a = {i}", value(&mut numbers)))
                .collect(),
        ),
    );
    let mut numbers = random(9);
    test(
        format!("9: {big} text UPDATEs with an index"),
        in_transaction(
            (1..=big)
                .map(|i| {
                    let words = in_words(value(&mut numbers));
                    format!("UPDATE t2 SET c = '{words}' WHERE a = {i}")
                })
                .collect(),
        ),
    );
    test(
        "10: INSERT from a SELECT, twice".into(),
        in_transaction(vec![
            "INSERT INTO t1 SELECT b, a, c FROM t2".into(),
            "INSERT INTO t2 SELECT b, a, c FROM t1".into(),
        ]),
    );
    test(
        "11: DELETE without an index".into(),
        vec!["DELETE FROM t2 WHERE c LIKE '%fifty%'".into()],
    );
    test(
        "12: DELETE with an index".into(),
        vec!["DELETE FROM t2 WHERE a > 10 AND a < 20000".into()],
    );
    test(
        "13: a big INSERT after a big DELETE".into(),
        vec!["INSERT INTO t2 SELECT * FROM t1".into()],
    );
    let mut last = vec!["DELETE FROM t1".to_owned()];
    last.extend(inserts("t1", big / 2, 14));
    test(
        format!("14: a big DELETE and {} small INSERTs", big / 2),
        in_transaction(last),
    );

    plan.step("15: DROP TABLE, twice", Unit::Statements, |env| {
        let mut watch = env.stopwatch();
        let mut answer = Answer::new();
        // The last chance to see that all did the same; not through the connection that
        // is measured, whose cache it would fill.
        let settings = env.settings().clone();
        answer.add(contents(&env.connect(&settings)?)?);
        let drops = ["DROP TABLE t1".to_owned(), "DROP TABLE t2".to_owned()];
        let db = env.db()?;
        watch.time(|| run(db, &drops, &mut answer))?;
        Ok(Outcome::new(&watch, 2, &answer))
    });
    plan
}
