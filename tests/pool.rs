//! A pool of connections with the same passphrase derives once. The counters are the
//! process's, so this program has one test.
#![allow(missing_docs)]

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use pageseal::{Key, OpenOptions, key_cache, stats};

const CONNECTIONS: usize = 8;

fn derivations() -> u64 {
    stats::process().derivations
}

#[test]
fn a_pool_derives_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    // As many rounds as SQLCipher 4 has: this is what a pool would pay.
    let options = OpenOptions::new(Key::passphrase("correct horse"));
    options
        .open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES(7)")
        .unwrap();
    assert_eq!(derivations(), 1, "the counter counts");

    // All at once, with nothing remembered.
    key_cache::clear();
    let (before, start) = (derivations(), Instant::now());
    let together = Barrier::new(CONNECTIONS);
    let open = || {
        together.wait();
        let start = Instant::now();
        let db = options.open(&path).unwrap();
        let sum: i64 = db
            .query_row("SELECT sum(a) FROM t", [], |row| row.get(0))
            .unwrap();
        assert_eq!(sum, 7);
        start.elapsed()
    };
    let slowest: Duration = thread::scope(|scope| {
        let all: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(open)).collect();
        all.into_iter().map(|it| it.join().unwrap()).max().unwrap()
    });
    let made = derivations() - before;
    // At most 1.3 derivations for all of them: of whole ones, that is one.
    assert_eq!(made, 1, "{CONNECTIONS} connections made {made} derivations");
    let all = start.elapsed();

    // And again, one after the other.
    let reopened: Vec<Duration> = (0..20)
        .map(|_| {
            let start = Instant::now();
            let db = options.open(&path).unwrap();
            let took = start.elapsed();
            drop(db);
            took
        })
        .collect();
    assert_eq!(derivations() - before, 1);
    let median = {
        let mut sorted = reopened.clone();
        sorted.sort();
        sorted[sorted.len() / 2]
    };
    // Told, not asserted: the clock is the machine's.
    println!(
        "{CONNECTIONS} connections in {all:?} (the slowest {slowest:?}) with {made} derivation; \
         reopening with the remembered key: median {median:?}"
    );

    // Without the memory each derives: the test would notice.
    key_cache::set_capacity(0);
    let before = derivations();
    for _ in 0..2 {
        drop(options.open(&path).unwrap());
    }
    assert_eq!(derivations() - before, 2);
}
