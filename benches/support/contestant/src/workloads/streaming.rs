//! Much data through a small cache: every page comes from the file, so this is where
//! each page's price shows.

use std::io::{Read as _, Write as _};

use rusqlite::{Connection, MAIN_DB};

use crate::Result;
use crate::answer::Answer;
use crate::plan::{Outcome, Plan};
use crate::protocol::{Job, Unit};
use crate::random::Random;

const SEED: u64 = 0x57;
/// Pages. Far less than any table here.
const SMALL_CACHE: u32 = 100;
/// Bytes of a row: four to a page.
const ROW: u64 = 900;
const BLOB_CHUNK: usize = 64 * 1024;

fn bytes(random: &mut Random, length: u64) -> Vec<u8> {
    let mut data = vec![0; usize::try_from(length).expect("memory")];
    random.fill(&mut data);
    data
}

/// Rows as most tables have them, some forty to a page.
fn fill_short(db: &Connection, rows: u64) -> Result<()> {
    db.execute_batch(
        "BEGIN; CREATE TABLE short(id INTEGER PRIMARY KEY, n INTEGER, date TEXT, text TEXT)",
    )?;
    let mut insert = db.prepare("INSERT INTO short(n, date, text) VALUES (?, ?, ?)")?;
    let mut random = Random::new(SEED + 4);
    for row in 0..rows {
        let number = i64::try_from(random.below(1_000_000))?;
        let date = format!("2026-{:02}-{:02}", 1 + row % 12, 1 + row % 28);
        insert.execute((
            number,
            date,
            "one line about what happened on this day, and whom it was with",
        ))?;
    }
    drop(insert);
    db.execute_batch("COMMIT")?;
    Ok(())
}

pub(super) fn plan(job: &Job) -> Plan {
    let megabytes: u64 = job.scale.pick(1, 32, 64);
    let rows = megabytes * 1_000_000 / ROW;
    let short = megabytes * 1_000_000 / 200;
    let lookups = job.scale.pick(500, 10_000, 20_000_u64);
    let blob = megabytes * 1_000_000 / 4;
    let files = job.scale.pick(100, 2_000, 4_000_u64);
    let small = job.settings.with_cache(SMALL_CACHE);

    let mut plan = Plan::new(&format!(
        "Sequential and random access, cold connections, a cache of {SMALL_CACHE} pages"
    ));

    let settings = small.clone();
    plan.step(
        format!("write {megabytes} MB of rows"),
        Unit::Bytes,
        move |env| {
            let mut watch = env.stopwatch();
            let db = env.reopen(&settings)?;
            db.execute_batch("CREATE TABLE rows(id INTEGER PRIMARY KEY, n INTEGER, data BLOB)")?;
            let mut random = Random::new(SEED);
            let pool = bytes(&mut random, ROW * 64);
            watch.time(|| -> Result<()> {
                db.execute_batch("BEGIN")?;
                let mut statement = db.prepare("INSERT INTO rows(n, data) VALUES (?, ?)")?;
                let length = usize::try_from(ROW)?;
                for row in 0..rows {
                    let start = usize::try_from(random.below(ROW * 63))?;
                    statement.execute((i64::try_from(row % 977)?, &pool[start..start + length]))?;
                }
                drop(statement);
                db.execute_batch("COMMIT")?;
                Ok(())
            })?;
            let mut answer = Answer::new();
            answer.query(db, "SELECT count(*), max(id) FROM rows", ())?;
            Ok(Outcome::new(&watch, rows * ROW, &answer))
        },
    );

    let settings = small.clone();
    plan.step("read the rows in order", Unit::Bytes, move |env| {
        let mut watch = env.stopwatch();
        let mut answer = Answer::new();
        let db = env.reopen(&settings)?;
        let mut select = db.prepare("SELECT n, data FROM rows ORDER BY id")?;
        watch.time(|| -> Result<()> {
            let mut found = select.query(())?;
            while let Some(row) = found.next()? {
                // Not all of it: hashing it would cost more than decrypting it.
                let data = row.get_ref(1)?.as_blob()?;
                answer.add((row.get::<_, i64>(0)?, data.len(), data[0], data[450]));
            }
            Ok(())
        })?;
        Ok(Outcome::new(&watch, rows * ROW, &answer))
    });

    let settings = small.clone();
    plan.step("full scan of short rows", Unit::Rows, move |env| {
        let mut watch = env.stopwatch();
        let mut answer = Answer::new();
        fill_short(env.db()?, short)?;
        let db = env.reopen(&settings)?;
        let sql = "SELECT count(*), sum(n), max(date) FROM short WHERE n % 10 <> 3";
        watch.time(|| answer.query(db, sql, ()))?;
        Ok(Outcome::new(&watch, short, &answer))
    });

    let settings = small.clone();
    plan.step("random point lookups", Unit::Lookups, move |env| {
        let mut watch = env.stopwatch();
        let mut answer = Answer::new();
        let db = env.reopen(&settings)?;
        let mut statement = db.prepare("SELECT n, length(data) FROM rows WHERE id = ?")?;
        let mut random = Random::new(SEED + 1);
        watch.time(|| -> Result<()> {
            for _ in 0..lookups {
                let id = i64::try_from(1 + random.below(rows))?;
                let found: (i64, i64) =
                    statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
                answer.add(found);
            }
            Ok(())
        })?;
        Ok(Outcome::new(&watch, lookups, &answer))
    });

    let settings = small.clone();
    plan.step("blob write", Unit::Bytes, move |env| {
        let mut watch = env.stopwatch();
        let db = env.reopen(&settings)?;
        db.execute_batch("CREATE TABLE blobs(id INTEGER PRIMARY KEY, data BLOB)")?;
        let chunk = bytes(&mut Random::new(SEED + 2), BLOB_CHUNK as u64);
        watch.time(|| -> Result<()> {
            db.execute_batch("BEGIN")?;
            db.execute(
                "INSERT INTO blobs VALUES (1, zeroblob(?))",
                [i64::try_from(blob)?],
            )?;
            let mut handle = db.blob_open(MAIN_DB, "blobs", "data", 1, false)?;
            let mut left = usize::try_from(blob)?;
            while left > 0 {
                let length = left.min(chunk.len());
                handle.write_all(&chunk[..length])?;
                left -= length;
            }
            handle.close()?;
            db.execute_batch("COMMIT")?;
            Ok(())
        })?;
        let mut answer = Answer::new();
        answer.query(db, "SELECT id, length(data) FROM blobs", ())?;
        Ok(Outcome::new(&watch, blob, &answer))
    });

    let settings = small.clone();
    plan.step("blob read", Unit::Bytes, move |env| {
        let mut watch = env.stopwatch();
        let mut answer = Answer::new();
        let db = env.reopen(&settings)?;
        let mut chunk = vec![0; BLOB_CHUNK];
        watch.time(|| -> Result<()> {
            let mut handle = db.blob_open(MAIN_DB, "blobs", "data", 1, true)?;
            loop {
                let length = handle.read(&mut chunk)?;
                if length == 0 {
                    break Ok(());
                }
                // Not the whole chunk: hashing it would cost more than decrypting it.
                answer.add((length, chunk[0], chunk[length - 1], chunk[length / 2]));
            }
        })?;
        Ok(Outcome::new(&watch, blob, &answer))
    });

    let settings = small.clone();
    plan.step(
        format!("store {files} small files"),
        Unit::Rows,
        move |env| {
            let mut watch = env.stopwatch();
            let db = env.reopen(&settings)?;
            db.execute_batch(
                "CREATE TABLE files(path TEXT PRIMARY KEY, mode INTEGER, data BLOB) WITHOUT ROWID",
            )?;
            let mut random = Random::new(SEED + 3);
            let pool = bytes(&mut random, 16_384);
            watch.time(|| -> Result<()> {
                db.execute_batch("BEGIN")?;
                let mut statement = db.prepare("INSERT INTO files VALUES (?, ?, ?)")?;
                for file in 0..files {
                    let length = usize::try_from(random.below(8_000))?;
                    let path = format!("/home/user/documents/{:02}/{file:06}.txt", file % 50);
                    statement.execute((path, 0o644, &pool[..length]))?;
                }
                drop(statement);
                db.execute_batch("COMMIT")?;
                Ok(())
            })?;
            let mut answer = Answer::new();
            answer.query(db, "SELECT count(*), sum(length(data)) FROM files", ())?;
            Ok(Outcome::new(&watch, files, &answer))
        },
    );

    let settings = small.clone();
    plan.step("list the small files", Unit::Rows, move |env| {
        let mut watch = env.stopwatch();
        let mut answer = Answer::new();
        let db = env.reopen(&settings)?;
        let sql = "SELECT path, mode, length(data) FROM files ORDER BY path";
        watch.time(|| answer.query(db, sql, ()))?;
        Ok(Outcome::new(&watch, files, &answer))
    });

    let settings = small;
    plan.step("remove the small files", Unit::Rows, move |env| {
        let mut watch = env.stopwatch();
        let db = env.reopen(&settings)?;
        let paths: Vec<String> = db
            .prepare("SELECT path FROM files ORDER BY mode, length(data), path")?
            .query_map((), |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        watch.time(|| -> Result<()> {
            // In transactions of a hundred, as a tool that shows progress would.
            for hundred in paths.chunks(100) {
                db.execute_batch("BEGIN")?;
                let mut statement = db.prepare("DELETE FROM files WHERE path = ?")?;
                for path in hundred {
                    statement.execute([path])?;
                }
                drop(statement);
                db.execute_batch("COMMIT")?;
            }
            Ok(())
        })?;
        let mut answer = Answer::new();
        answer.query(db, "SELECT count(*) FROM files", ())?;
        Ok(Outcome::new(&watch, files, &answer))
    });
    plan
}
