//! Mixed load: threads, pageseal processes and SQLCipher processes use one
//! database at the same time, in every journal mode.
//!
//! Writers move money, readers check that each of their transactions sees one
//! consistent state and never an older one than before, housekeepers checkpoint
//! and vacuum. Half of the clients wait for locks and must never be told
//! `SQLITE_BUSY` where waiting helps; the other half is told at once and tries
//! again. In the end every acknowledged transfer is there and no other, both
//! sides find the database sound, and nothing is left beside it.
//!
//! Nobody is killed here. (In WAL mode a log that both sides have written by turns
//! is not safe against the death of all of them at once: see the README.)

mod bank;
mod client;
mod roles;

use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::kills::scratch;
use crate::random::Random;
use crate::scenario::KEY;
use crate::tally::Tally;
use crate::wire::to_hex;

use client::{Client, Place};
use roles::{Done, Role, Work};

/// Journal modes, and their shares of the time.
const MODES: [(&str, u32); 4] = [("DELETE", 1), ("TRUNCATE", 1), ("PERSIST", 1), ("WAL", 3)];

/// Who there is in each place.
const STAFF: [Role; 4] = [Role::Writer, Role::Writer, Role::Reader, Role::Housekeeper];

/// How long those wait who wait: longer than the run, so that a lock that is never
/// given back ends it.
const PATIENCE: Duration = Duration::from_secs(300);

const WRITES: [&str; 3] = ["by threads", "by processes", "by SQLCipher"];
const COLUMNS: [&str; 8] = [
    "ms",
    WRITES[0],
    WRITES[1],
    WRITES[2],
    "snapshots",
    "checkpoints",
    "vacuums",
    "busy",
];

/// Runs for about `seconds` in all. Returns whether all went well.
pub(crate) fn run(seconds: u64, seed: u64) -> bool {
    // For the threads.
    crate::switches::apply();
    if let Err(error) = pageseal::register() {
        println!("FAILED: {error}");
        return false;
    }
    let mut tally = Tally::new(&COLUMNS);
    let shares: u32 = MODES.iter().map(|(_, share)| share).sum();
    for (n, (mode, share)) in MODES.into_iter().enumerate() {
        let time = Duration::from_secs(seconds) * share / shares;
        let random = Random::new(seed * MODES.len() as u64 + n as u64);
        if let Err(error) = one_mode(mode, time, random, &mut tally) {
            println!("FAILED (seed {seed}, {mode}): {error}");
            return false;
        }
    }
    println!("mixed load, {seconds} s (seed {seed}): transfers and what else was done");
    tally.print();
    println!(
        "each mode: 4 threads, 4 pageseal processes, 4 SQLCipher processes; snapshots: read \
         transactions that were checked; busy: transactions begun anew, and checkpoints and \
         vacuums that found someone in their way"
    );
    true
}

/// What each client runs first.
fn tuning(mode: &str, role: Role, patient: bool, random: &mut Random) -> String {
    let timeout = match role {
        // A checkpoint that waits keeps all other checkpoints out.
        Role::Housekeeper => 100,
        _ if patient => PATIENCE.as_millis(),
        _ => 0,
    };
    format!(
        "PRAGMA busy_timeout = {timeout}; PRAGMA cache_size = {}; PRAGMA synchronous = {};
         PRAGMA wal_autocheckpoint = {}; PRAGMA journal_mode = {mode};",
        random.pick(&[5, 50, 500]),
        random.pick(&["OFF", "NORMAL", "FULL"]),
        random.pick(&[0, 10, 100, 1000]),
    )
}

fn open(place: Place, number: u64, path: &Path) -> Result<Client, String> {
    let mut client = Client::start(place, number);
    let path = path.to_str().ok_or("a path that is not UTF-8")?;
    client.ask(&["open", "db", path, &to_hex(KEY.as_bytes())])?;
    client.ask(&["exec", "db", "PRAGMA busy_timeout = 10000"])?;
    Ok(client)
}

struct Hired {
    client: Client,
    place: Place,
    role: Role,
    number: u64,
    patient: bool,
    random: Random,
}

fn one_mode(
    mode: &str,
    time: Duration,
    mut random: Random,
    tally: &mut Tally,
) -> Result<(), String> {
    let dir = scratch();
    let path = dir.path().join("load.db");
    // Either side creates it.
    let mut creator = open(random.pick(&Place::ALL), 0, &path)?;
    creator.ask(&["exec", "db", &format!("PRAGMA journal_mode = {mode}")])?;
    creator.ask(&["exec", "db", &bank::create()])?;

    let mut staff = Vec::new();
    for role in STAFF {
        for place in Place::ALL {
            let number = staff.len() as u64 + 1;
            // The two writers of a place differ in it, and the readers.
            let patient = number.is_multiple_of(2);
            let mut client = open(place, number, &path)?;
            client.ask(&["exec", "db", &tuning(mode, role, patient, &mut random)])?;
            staff.push(Hired {
                client,
                place,
                role,
                number,
                patient,
                random: Random::new(random.below(u64::MAX >> 12)),
            });
        }
    }
    creator.ask(&["close", "db"])?;

    let start = Instant::now();
    let results = work(&mut staff, mode == "WAL", time);
    tally.add(mode, "ms", start.elapsed().as_millis() as u64);
    let mut acknowledged = Vec::new();
    for (hired, result) in staff.iter().zip(results) {
        let done = result?;
        tally.add(mode, WRITES[hired.place as usize], done.transfers);
        tally.add(mode, "snapshots", done.snapshots);
        tally.add(mode, "checkpoints", done.checkpoints);
        tally.add(mode, "vacuums", done.vacuums);
        tally.add(mode, "busy", done.retries);
        acknowledged.push((hired.number, done.transfers));
    }

    // While all have it open; the log is folded in first, where there is one,
    // since MACs are checked in the database file alone.
    let patience = format!("PRAGMA busy_timeout = {}", PATIENCE.as_millis());
    for hired in &mut staff {
        hired.client.ask(&["exec", "db", &patience])?;
    }
    staff[0]
        .client
        .ask(&["exec", "db", "PRAGMA wal_checkpoint(TRUNCATE)"])?;
    for hired in &mut staff {
        bank::check_all(&mut hired.client, &acknowledged)?;
    }
    while !staff.is_empty() {
        let mut last = staff.swap_remove(random.below(staff.len() as u64) as usize);
        last.client.ask(&["close", "db"])?;
    }
    let left: Vec<_> = std::fs::read_dir(dir.path())
        .map_err(|error| error.to_string())?
        .flatten()
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "load.db")
        .collect();
    // TRUNCATE and PERSIST keep their journal, which is no hot one.
    if left
        .iter()
        .any(|name| mode == "WAL" || mode == "DELETE" || !name.ends_with("-journal"))
    {
        return Err(format!("left beside the database: {left:?}"));
    }
    for place in [Place::Theirs, Place::Ours] {
        let mut client = open(place, 0, &path)?;
        bank::check_all(&mut client, &acknowledged)?;
        client.ask(&["close", "db"])?;
    }
    Ok(())
}

/// Lets all of them work at once. The first that finds a fault ends it.
fn work(staff: &mut [Hired], wal: bool, time: Duration) -> Vec<Result<Done, String>> {
    let stop = AtomicBool::new(false);
    let begin = Barrier::new(staff.len() + 1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = staff
            .iter_mut()
            .map(|hired| {
                let (stop, begin) = (&stop, &begin);
                scope.spawn(move || {
                    let work = Work {
                        client: &mut hired.client,
                        number: hired.number,
                        patient: hired.patient,
                        wal,
                        random: Random::new(hired.random.below(u64::MAX >> 12)),
                        stop,
                    };
                    begin.wait();
                    work.run(hired.role)
                        .inspect_err(|_| stop.store(true, Ordering::Relaxed))
                })
            })
            .collect();
        begin.wait();
        let start = Instant::now();
        while start.elapsed() < time && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20).min(time));
        }
        stop.store(true, Ordering::Relaxed);
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err("a client panicked".into()))
            })
            .collect()
    })
}
