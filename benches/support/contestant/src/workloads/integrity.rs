//! `PRAGMA cipher_integrity_check`: every page's MAC. Nothing to do without MACs.

use crate::Result;
use crate::answer::Answer;
use crate::env::Env;
use crate::plan::{Outcome, Plan};
use crate::protocol::{Job, Unit};

fn fill(env: &mut Env, megabytes: u64) -> Result<()> {
    let settings = env.settings().with_journal("OFF", "OFF");
    let db = env.reopen(&settings)?;
    db.execute_batch("CREATE TABLE t(data BLOB); BEGIN")?;
    let mut insert = db.prepare("INSERT INTO t VALUES (zeroblob(1000000))")?;
    for _ in 0..megabytes {
        insert.execute(())?;
    }
    drop(insert);
    db.execute_batch("COMMIT")?;
    Ok(())
}

pub(super) fn plan(job: &Job) -> Plan {
    let megabytes: u64 = job.scale.pick(2, 100, 1_000);
    let has_macs = job.variant.encrypts()
        && !job
            .variant
            .pragmas
            .iter()
            .any(|p| p.to_ascii_lowercase().contains("cipher_use_hmac"));

    let mut plan = Plan::new("Checking the MAC of every page").setup_once();
    if has_macs {
        plan = plan.setup(move |env| fill(env, megabytes));
    } else {
        plan = plan.setup(move |env| {
            env.db()?
                .execute_batch("CREATE TABLE t(a)")
                .map_err(Into::into)
        });
    }
    plan.step(
        format!("cipher_integrity_check of {megabytes} MB"),
        Unit::Bytes,
        move |env| {
            let (mut watch, mut answer) = (env.stopwatch(), Answer::new());
            let bytes = std::fs::metadata(env.path())?.len();
            let db = env.db()?;
            watch.time(|| answer.query(db, "PRAGMA cipher_integrity_check", ()))?;
            Ok(Outcome::new(&watch, bytes, &answer))
        },
    );
    if !has_macs {
        plan.skip_last("no MACs to check");
    }
    plan
}
