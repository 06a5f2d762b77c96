//! `verify` beside SQLCipher's `PRAGMA cipher_integrity_check`, on one file of a
//! gigabyte. A measurement, not a test: it wants an optimised build and an idle machine.
//!
//! ```sh
//! cargo test --release --features interop,cli --test cli_sqlcipher -- --ignored --nocapture speed
//! ```

use std::time::{Duration, Instant};

use crate::configuration::Configuration;
use crate::each::scratch;
use crate::peer::{Peer, Rows};
use crate::session::{Answer, Session};

const ROUNDS: usize = 5;

#[test]
#[ignore = "measures, for a minute, on a file of a gigabyte"]
fn verify_beside_cipher_integrity_check() {
    for (how, options) in [
        (Configuration::new("version 4"), &["--compat", "4"][..]),
        (
            Configuration::preset("version 3", 3, 1024).few_iterations(),
            &["--compat", "3"],
        ),
    ] {
        beside(&how, options);
    }
}

fn beside(how: &Configuration, options: &[&str]) {
    let directory = scratch();
    let path = directory.path().join("a.db");
    let mut peer = Peer::spawn();
    peer.open("db", &path, Some(&how.key)).expect("opens");
    peer.exec("db", &how.settings()).expect("runs");
    let fill = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE t(a);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
             INSERT INTO t SELECT zeroblob(1048576) FROM n";
    peer.exec("db", fill).expect("runs");
    let bytes = path.metadata().expect("the database").len();
    assert!(bytes > 1_000_000_000);

    let session = Session::new();
    std::fs::write(session.path("key"), &how.key).expect("a key");
    let verify = |threads: &str| {
        let mut command = session.pageseal();
        command.arg("verify").arg(&path).args(options);
        command.args([
            "--kdf-iter",
            "10",
            "--key-file",
            "key",
            "--threads",
            threads,
        ]);
        let start = Instant::now();
        Answer::of(&mut command).fine();
        start.elapsed()
    };
    let cores = pageseal::offline::available_threads().to_string();
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let faults = peer
            .query("db", "PRAGMA cipher_integrity_check")
            .expect("a check");
        times[0].push(start.elapsed());
        assert_eq!(faults, Rows::new());
        times[1].push(verify("1"));
        times[2].push(verify(&cores));
    }
    let [theirs, one, all] = times.map(median);
    let speed = |time: Duration| bytes as f64 / time.as_secs_f64() / f64::from(1 << 20);
    let ratio = |time: Duration| theirs.as_secs_f64() / time.as_secs_f64();
    eprintln!(
        "{}, {bytes} bytes, medians of {ROUNDS}:
  cipher_integrity_check      {theirs:.2?}  {:.0} MiB/s
  pageseal verify, 1 thread   {one:.2?}  {:.0} MiB/s  {:.1} times as fast
  pageseal verify, {cores} threads  {all:.2?}  {:.0} MiB/s  {:.1} times as fast",
        how.name,
        speed(theirs),
        speed(one),
        ratio(one),
        speed(all),
        ratio(all),
    );
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
