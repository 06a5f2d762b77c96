//! The workloads. Each is a list of steps; nothing in them knows which contestant it
//! runs in.

mod budget_app;
mod crypto_speedtest;
mod hash_ingest;
mod integrity;
mod open;
mod rekey;
mod small;
mod streaming;
mod wal;

use crate::Result;
use crate::plan::Plan;
use crate::protocol::Job;

/// The workload of this name.
pub fn plan(job: &Job) -> Result<Plan> {
    Ok(match job.workload.as_str() {
        "crypto_speedtest" => crypto_speedtest::plan(job),
        "budget_app" => budget_app::plan(job),
        "hash_ingest" => hash_ingest::plan(job),
        "streaming" => streaming::plan(job),
        "wal" => wal::plan(job),
        "small" => small::plan(job),
        "open" => open::plan(job),
        "integrity" => integrity::plan(job),
        "rekey" => rekey::plan(job),
        other => return Err(format!("no workload is called {other}").into()),
    })
}
