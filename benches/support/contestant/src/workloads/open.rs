//! Opening: from nothing to the first row. Here, and only here, key derivation is
//! measured: 256 000 rounds of PBKDF2-HMAC-SHA512 in version 4, 64 000 of
//! PBKDF2-HMAC-SHA1 in version 3.

use crate::Result;
use crate::answer::Answer;
use crate::engine::{self, Variant};
use crate::env::Env;
use crate::plan::{Outcome, Plan};
use crate::protocol::{Job, Unit};

const PASSPHRASE: &str = "correct horse battery staple";
const RAW: &str = "x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'";
const V3: &[&str] = &["PRAGMA cipher_compatibility = 3"];
const POOL: u64 = 8;

/// Every file has a salt of its own, so every first open derives a key of its own.
struct Set {
    prefix: &'static str,
    key: &'static str,
    pragmas: &'static [&'static str],
    files: u64,
}

impl Set {
    fn variant(&self, env: &Env) -> Variant {
        env.variant().keyed(self.key, self.pragmas)
    }

    fn name(&self, file: u64) -> String {
        format!("{}-{file}.db", self.prefix)
    }

    fn create(&self, env: &Env) -> Result<()> {
        let variant = self.variant(env);
        for file in 0..self.files {
            let db = engine::connect(&variant, &env.file(&self.name(file)))?;
            db.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES (42)")?;
        }
        Ok(())
    }

    /// Connects, keys, reads a row; returns the connection still open.
    fn open(&self, env: &Env, file: u64, answer: &mut Answer) -> Result<rusqlite::Connection> {
        let db = engine::connect(&self.variant(env), &env.file(&self.name(file)))?;
        answer.query(&db, "SELECT a FROM t", ())?;
        Ok(db)
    }
}

pub(super) fn plan(job: &Job) -> Plan {
    let files = job.scale.pick(1, 1, 3);
    let again = job.scale.pick(1, 2, 4);
    let raw_opens = job.scale.pick(5, 200, 500);
    let set = |prefix, key, pragmas, files| Set {
        prefix,
        key,
        pragmas,
        files,
    };

    let mut plan =
        Plan::new("Opening a database, from nothing to the first row").setup(move |env| {
            env.db()?.execute_batch("CREATE TABLE t(a)")?;
            set("pass4", PASSPHRASE, &[][..], files).create(env)?;
            set("pool4", PASSPHRASE, &[][..], 1).create(env)?;
            set("raw4", RAW, &[][..], 1).create(env)?;
            set("pass3", PASSPHRASE, V3, files).create(env)?;
            set("raw3", RAW, V3, 1).create(env)
        });

    for (version, pass, raw, pragmas) in [(4, "pass4", "raw4", &[][..]), (3, "pass3", "raw3", V3)] {
        let passphrase = set(pass, PASSPHRASE, pragmas, files);
        plan.step(
            format!("version {version}: passphrase, {files} different files"),
            Unit::Opens,
            move |env| {
                let (mut watch, mut answer) = (env.stopwatch(), Answer::new());
                for file in 0..files {
                    watch.time(|| passphrase.open(env, file, &mut answer).map(drop))?;
                }
                Ok(Outcome::new(&watch, files, &answer))
            },
        );
        let passphrase = set(pass, PASSPHRASE, pragmas, files);
        plan.step(
            format!("version {version}: passphrase, a file opened before, {again} times"),
            Unit::Opens,
            move |env| {
                let (mut watch, mut answer) = (env.stopwatch(), Answer::new());
                for _ in 0..again {
                    watch.time(|| passphrase.open(env, 0, &mut answer).map(drop))?;
                }
                Ok(Outcome::new(&watch, again, &answer))
            },
        );
        let raw = set(raw, RAW, pragmas, 1);
        plan.step(
            format!("version {version}: raw key, {raw_opens} times"),
            Unit::Opens,
            move |env| {
                let (mut watch, mut answer) = (env.stopwatch(), Answer::new());
                watch.time(|| -> Result<()> {
                    for _ in 0..raw_opens {
                        raw.open(env, 0, &mut answer)?;
                    }
                    Ok(())
                })?;
                Ok(Outcome::new(&watch, raw_opens, &answer))
            },
        );
    }

    let pool = set("pool4", PASSPHRASE, &[][..], 1);
    plan.step(
        format!("version 4: a pool of {POOL} on a file not opened before"),
        Unit::Opens,
        move |env| {
            let (mut watch, mut answer) = (env.stopwatch(), Answer::new());
            watch.time(|| -> Result<()> {
                let connections = (0..POOL)
                    .map(|_| pool.open(env, 0, &mut answer))
                    .collect::<Result<Vec<_>>>()?;
                drop(connections);
                Ok(())
            })?;
            Ok(Outcome::new(&watch, POOL, &answer))
        },
    );
    plan
}
