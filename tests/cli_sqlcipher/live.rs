//! `copy` of a database that SQLCipher is writing to.

use crate::configuration::Configuration;
use crate::peer::{Peer, Value};
use crate::program::Program;

/// Money only moves: every copy must hold all of it, and be sound.
const ACCOUNTS: u64 = 200;
const BALANCE: u64 = 100;

#[test]
fn consistent_under_load() {
    let how = Configuration::new("version 4");
    for mode in ["WAL", "DELETE"] {
        let program = Program::empty(&how);
        let path = program.session.path("a.db");
        let mut writer = Peer::spawn();
        writer.open("db", &path, Some(&how.key)).expect("opens");
        writer.exec("db", &how.settings()).expect("runs");
        writer
            .exec("db", &format!("PRAGMA busy_timeout = 10000; PRAGMA synchronous = OFF; PRAGMA journal_mode = {mode}"))
            .expect("runs");
        writer
            .bank_setup("db", ACCOUNTS, BALANCE, 500)
            .expect("a bank");
        writer.start_bank("db", 0, &program.session.path("log"), &[]);
        for round in 0..8 {
            let out = format!("copy-{round}.db");
            // With its own settings, or laid out anew.
            let more: &[&str] = match round % 2 {
                0 => &[],
                _ => &["--new-page-size", "8192"],
            };
            program
                .run(&[&["copy", "@a.db", &out], more].concat())
                .fine();
            let as_copied = match round % 2 {
                0 => how.clone(),
                _ => how.clone().with_page_size(8192),
            };
            let mut reader = Peer::spawn();
            reader
                .open("db", program.session.path(&out), Some(&how.key))
                .expect("opens");
            reader.exec("db", &as_copied.settings()).expect("runs");
            let sum = reader
                .query("db", "SELECT sum(balance) FROM account")
                .expect("a sum");
            let all = Value::Integer((ACCOUNTS * BALANCE).cast_signed());
            assert_eq!(sum, [[all]], "{mode}, round {round}");
            let check = reader
                .query(
                    "db",
                    "PRAGMA cipher_integrity_check; PRAGMA integrity_check",
                )
                .expect("a check");
            assert_eq!(check, [[Value::Text("ok".to_owned())]]);
        }
        let log = std::fs::read_to_string(program.session.path("log")).expect("the log");
        assert!(
            log.lines().count() > 10,
            "{mode}: nothing was written meanwhile"
        );
        writer.kill();
    }
}
