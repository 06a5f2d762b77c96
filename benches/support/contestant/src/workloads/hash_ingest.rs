//! A corpus of password hashes: loaded in large transactions, indexed, looked up.

use std::time::Instant;

use crate::Result;
use crate::answer::Answer;
use crate::plan::{Outcome, Plan};
use crate::protocol::{Job, Unit};
use crate::random::Random;

const SEED: u64 = 0x5a1;
const TRANSACTION: u64 = 100_000;

/// Forty hexadecimal digits, and how often the password was seen.
fn entry(random: &mut Random) -> (String, i64) {
    let (a, b, c) = (random.next_u64(), random.next_u64(), random.next_u64());
    let count = i64::try_from(c >> 40).expect("24 bits");
    (format!("{a:016X}{b:016X}{:08X}", c & 0xffff_ffff), count)
}

/// The hash of every `step`-th row, in another order.
fn some_hashes(rows: u64, step: u64) -> Vec<String> {
    let mut random = Random::new(SEED);
    let mut hashes = Vec::new();
    for row in 0..rows {
        let (hash, _) = entry(&mut random);
        if row % step == 0 {
            hashes.push(hash);
        }
    }
    Random::new(1).shuffle(&mut hashes);
    hashes
}

pub(super) fn plan(job: &Job) -> Plan {
    let rows: u64 = job.scale.pick(2_000, 200_000, 500_000);
    let transaction = TRANSACTION.min(rows);

    let mut plan = Plan::new(
        "Password hashes loaded in transactions of 100 000 rows, indexed, then looked up",
    );
    plan.step(format!("load {rows} rows"), Unit::Rows, move |env| {
        let mut watch = env.stopwatch();
        let db = env.db()?;
        db.execute_batch("CREATE TABLE hashes(hash TEXT NOT NULL, count INTEGER NOT NULL)")?;
        let mut random = Random::new(SEED);
        for _ in 0..rows / transaction {
            let batch: Vec<_> = (0..transaction).map(|_| entry(&mut random)).collect();
            watch.time(|| -> Result<()> {
                db.execute_batch("BEGIN")?;
                let mut statement = db.prepare("INSERT INTO hashes VALUES (?, ?)")?;
                for (hash, count) in &batch {
                    statement.execute((hash, count))?;
                }
                drop(statement);
                db.execute_batch("COMMIT")?;
                Ok(())
            })?;
        }
        let mut answer = Answer::new();
        answer.query(db, "SELECT count(*), sum(count) FROM hashes", ())?;
        Ok(Outcome::new(&watch, rows, &answer))
    });

    let mut index = |name: &str, temp_store: &'static str| {
        plan.step(name, Unit::Rows, move |env| {
            let mut watch = env.stopwatch();
            let mut settings = env.settings().clone();
            settings.temp_store = temp_store.into();
            let db = env.reopen(&settings)?;
            db.execute_batch("DROP INDEX IF EXISTS by_hash")?;
            watch.time(|| db.execute_batch("CREATE INDEX by_hash ON hashes(hash)"))?;
            let mut answer = Answer::new();
            answer.query(
                db,
                "SELECT min(hash), max(hash), count(*) FROM hashes INDEXED BY by_hash
                 WHERE hash > 'F'",
                (),
            )?;
            Ok(Outcome::new(&watch, rows, &answer))
        });
    };
    index("index, sorted in memory", "MEMORY");
    index("index, sorted in temporary files", "FILE");

    plan.step("random lookups", Unit::Lookups, move |env| {
        let hashes = some_hashes(rows, 25);
        let settings = env.settings().clone();
        let db = env.reopen(&settings)?;
        let mut statement = db.prepare("SELECT count FROM hashes WHERE hash = ?")?;
        let mut times = Vec::with_capacity(hashes.len());
        let mut answer = Answer::new();
        let mut watch = crate::clock::Stopwatch::new(0);
        watch.time(|| -> Result<()> {
            for hash in &hashes {
                let start = Instant::now();
                let count: i64 = statement.query_row([hash], |row| row.get(0))?;
                times.push(start.elapsed());
                answer.add(count);
            }
            Ok(())
        })?;
        times.sort_unstable();
        let micros = |d: std::time::Duration| d.as_secs_f64() * 1e6;
        Ok(Outcome::new(&watch, hashes.len() as u64, &answer)
            .with("median_us", micros(times[times.len() / 2]))
            .with("p99_us", micros(times[times.len() * 99 / 100])))
    });
    plan
}
