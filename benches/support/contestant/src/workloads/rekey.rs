//! `PRAGMA rekey`: every page is sealed anew, there and back, in a rollback journal's
//! mode and in WAL mode. Raw keys, so that no derivation is in it. There is nothing to
//! do without a key.

use crate::Result;
use crate::answer::Answer;
use crate::engine;
use crate::env::Env;
use crate::plan::{Outcome, Plan};
use crate::protocol::{Job, Unit};

const OTHER: &str = "x'98483C6EB40B6C31A448C22A66DED3B5E5E8D5119CAC8327B655C8B5C4836481'";

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
    let encrypts = job.variant.encrypts();
    let megabytes: u64 = if encrypts {
        job.scale.pick(2, 20, 100)
    } else {
        0
    };
    let mut plan = Plan::new("Giving a database another key, and its own again")
        .setup(move |env| fill(env, megabytes));
    for mode in ["DELETE", "WAL"] {
        let settings = job.settings.with_journal(mode, "FULL");
        plan.step(
            // The same name for all contestants.
            format!("rekey of {} MB, twice, {mode}", job.scale.pick(2, 20, 100)),
            Unit::Bytes,
            move |env| {
                let (mut watch, mut answer) = (env.stopwatch(), Answer::new());
                let own = env.variant().key.clone().unwrap_or_default();
                let db = env.reopen(&settings)?;
                answer.query(db, "SELECT count(*) FROM t", ())?;
                for key in [OTHER, &own] {
                    watch.time(|| engine::run_pragma(db, &format!("PRAGMA rekey = \"{key}\"")))?;
                }
                answer.query(db, "SELECT count(*), sum(length(data)) FROM t", ())?;
                let bytes = std::fs::metadata(env.path())?.len();
                Ok(Outcome::new(&watch, 2 * bytes, &answer))
            },
        );
        if !encrypts {
            plan.skip_last("no key to change");
        }
    }
    plan
}
