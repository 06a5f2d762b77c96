//! The power is cut behind every operation of every workload.

use std::collections::BTreeMap;

use crate::database::{checked_digest, digest, open, run};
use crate::random::Random;
use crate::store::Disk;
use crate::trace::{Loss, Moment, Op};
use crate::workload::{ALL, Promise, Workload};

/// How often a disk that may lose anything is tried at each place.
const TRIES: u64 = 3;

#[test]
fn power_cuts() {
    let mut total = BTreeMap::new();
    let mut failures = Vec::new();
    for (n, workload) in ALL.iter().enumerate() {
        let counts = cut_everywhere(n, workload, &mut failures);
        let line: Vec<_> = counts
            .iter()
            .map(|(loss, n)| format!("{n} {loss}"))
            .collect();
        println!("power cuts, {:28} {}", workload.name, line.join(", "));
        for (loss, n) in counts {
            *total.entry(loss).or_insert(0) += n;
        }
    }
    let line: Vec<_> = total
        .iter()
        .map(|(loss, n)| format!("{n} {loss}"))
        .collect();
    println!(
        "power cuts, all                          {}",
        line.join(", ")
    );
    for failure in failures.iter().take(20) {
        println!("FAILED: {failure}");
    }
    assert!(
        failures.is_empty(),
        "{} cuts lost something",
        failures.len()
    );
}

fn cut_everywhere(
    number: usize,
    workload: &Workload,
    failures: &mut Vec<String>,
) -> BTreeMap<&'static str, u64> {
    let name = format!("cut{number}");
    let disk = Disk::mount(&name);
    let conn = open(&name, workload).expect("opening");
    run(&conn, workload.tuning).expect("tuning");
    run(&conn, workload.setup).expect("setting up");
    let before = disk.files();
    disk.record();
    let mut states = vec![digest(&conn).expect("reading")];
    for step in workload.steps {
        run(&conn, step).unwrap_or_else(|error| panic!("{}: {step}: {error}", workload.name));
        disk.mark();
        states.push(digest(&conn).expect("reading"));
    }
    drop(conn);
    let log = disk.recorded();

    let mut losses = vec![Loss::Nothing, Loss::Everything, Loss::HalfOfTheLast];
    losses.extend([Loss::Any; TRIES as usize]);
    if workload.uri.contains("psow=0") {
        losses.push(Loss::Sectors);
    }
    let mut random = Random::new(number as u64 + 1);
    let mut counts = BTreeMap::new();
    let mut moment = Moment::new(&before);
    let mut returned = 0usize;
    for (at, op) in log.iter().enumerate() {
        moment.apply(op);
        if matches!(op, Op::Mark) {
            returned += 1;
        }
        for &loss in &losses {
            disk.load(moment.cut(loss, &mut random));
            let least = match (loss, workload.promise) {
                (Loss::Nothing, _) | (_, Promise::Durable) => returned,
                (_, Promise::AllButTheLast) => returned.saturating_sub(1),
                (_, Promise::Consistent) => 0,
            };
            let allowed = &states[least..=(returned + 1).min(states.len() - 1)];
            match reopen(&name, workload) {
                Ok(found) if allowed.contains(&found) => {}
                result => failures.push(format!(
                    "{}, {}, behind operation {at} ({}): {} steps had returned, found {}",
                    workload.name,
                    loss.name(),
                    brief(op),
                    returned,
                    match result {
                        Ok(found) => states.iter().position(|&state| state == found).map_or_else(
                            || "something else".to_owned(),
                            |n| format!("the state after {n}")
                        ),
                        Err(error) => error,
                    }
                )),
            }
            *counts.entry(loss.name()).or_insert(0) += 1;
        }
    }
    counts
}

fn reopen(name: &str, workload: &Workload) -> Result<u64, String> {
    let conn = open(name, workload).map_err(|error| error.to_string())?;
    let found = checked_digest(&conn)?;
    // It can be written to again.
    run(&conn, "CREATE TABLE again(x); DROP TABLE again").map_err(|error| error.to_string())?;
    conn.close().map_err(|(_, error)| error.to_string())?;
    Ok(found)
}

fn brief(op: &Op) -> String {
    match op {
        Op::Create { file } => format!("creation of {file}"),
        Op::Write { file, offset, data } => {
            format!("write of {} bytes at {offset} to {file}", data.len())
        }
        Op::SetLen { file, len } => format!("truncation of {file} to {len}"),
        Op::Sync { file } => format!("sync of {file}"),
        Op::Delete { file } => format!("deletion of {file}"),
        Op::Mark => "a step's end".to_owned(),
    }
}
