//! The contestant's loop: a request, a reply.

use std::fs;
use std::io::{BufRead as _, Write as _};
use std::path::Path;

use rusqlite::Connection;

use crate::Result;
use crate::env::Env;
use crate::plan::Plan;
use crate::protocol::{Finished, Job, Reply, Request};
use crate::{answer, calibrate, engine, facts, workloads};

/// Serves the harness over stdin and stdout until it hangs up.
pub fn serve() -> Result<()> {
    let mut contestant = Contestant::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request = serde_json::from_str(&line?)?;
        let reply = contestant
            .answer(request)
            .unwrap_or_else(|error| Reply::Failed(error.to_string()));
        serde_json::to_writer(&mut out, &reply)?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}

#[derive(Default)]
struct Contestant {
    running: Option<(Plan, Env)>,
}

impl Contestant {
    fn answer(&mut self, request: Request) -> Result<Reply> {
        Ok(match request {
            Request::Facts(job) => Reply::Facts(Box::new(facts::gather(
                &job.variant,
                &job.settings,
                &job.dir,
            )?)),
            Request::Calibrate => Reply::Calibrated {
                sqlite: calibrate::sqlite()?,
                rust: calibrate::rust(),
            },
            Request::Setup(job) => {
                let mut plan = workloads::plan(&job)?;
                plan.run_setup(&mut Env::new(job))?;
                Reply::Ready
            }
            Request::Prepare(job) => {
                let plan = workloads::plan(&job)?;
                let outline = plan.outline();
                warm_up(&job)?;
                self.running = Some((plan, Env::new(job)));
                Reply::Prepared(outline)
            }
            Request::Step(index) => {
                let (plan, env) = self.running.as_mut().ok_or("not prepared")?;
                Reply::Measured(plan.run(index, env)?)
            }
            Request::Finish(look) => {
                let (_, env) = self.running.take().ok_or("not prepared")?;
                Reply::Finished(finish(env, look)?)
            }
            Request::Digest(job, path) => {
                let db = engine::open(&job.variant, &path, &job.settings)?;
                Reply::Contents(answer::contents(&db)?)
            }
        })
    }
}

/// Touches SQLite's code and the allocator, so that the first step does not pay for the
/// first use of everything. No file, no key.
fn warm_up(job: &Job) -> Result<()> {
    let db = Connection::open_in_memory()?;
    engine::run_pragma(
        &db,
        &format!("PRAGMA cache_size = {}", job.settings.cache_pages),
    )?;
    db.execute_batch(
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
         INSERT INTO t SELECT i, hex(i) FROM n;
         CREATE INDEX i ON t(b);
         UPDATE t SET b = b || a WHERE a % 2;
         DELETE FROM t WHERE a % 3;",
    )?;
    Ok(())
}

fn finish(mut env: Env, look: bool) -> Result<Finished> {
    // Before the look into the database, which holds more than any step.
    let peak_memory = peak_memory();
    env.close()?;
    let path = env.path();
    let (contents, integrity) = if look {
        let db = env.connect(&env.settings().clone())?;
        let integrity = engine::pragma_value(&db, "integrity_check")?;
        (Some(answer::contents(&db)?), integrity)
    } else {
        (None, None)
    };
    Ok(Finished {
        contents,
        integrity,
        size: fs::metadata(&path)?.len(),
        plaintext: facts::is_plaintext(&path)?,
        peak_memory,
    })
}

/// Linux: the high-water mark of the resident set.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string(Path::new("/proc/self/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
