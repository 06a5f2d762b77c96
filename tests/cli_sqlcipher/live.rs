//! `copy` and `decrypt` of a database that SQLCipher is writing to.

use rusqlite::Connection;

use crate::configuration::Configuration;
use crate::peer::{Peer, Value};
use crate::program::Program;

/// Money only moves: every copy must hold all of it, and be sound.
const ACCOUNTS: u64 = 200;
const BALANCE: u64 = 100;

/// A bank that SQLCipher keeps writing to until it is dropped.
struct Bank<'a> {
    program: Program<'a>,
    _writer: Peer,
}

impl<'a> Bank<'a> {
    fn open(how: &'a Configuration, mode: &str) -> Self {
        let program = Program::empty(how);
        let path = program.session.path("a.db");
        let mut writer = Peer::spawn();
        writer.open("db", &path, Some(&how.key)).expect("opens");
        writer.exec("db", &how.settings()).expect("runs");
        let pragmas = format!(
            "PRAGMA busy_timeout = 10000; PRAGMA synchronous = OFF; PRAGMA journal_mode = {mode}"
        );
        writer.exec("db", &pragmas).expect("runs");
        writer
            .bank_setup("db", ACCOUNTS, BALANCE, 500)
            .expect("a bank");
        writer.start_bank("db", 0, &program.session.path("log"), &["cache_size=5"]);
        Self {
            program,
            _writer: writer,
        }
    }

    /// How many transactions have been committed.
    fn committed(&self) -> usize {
        let log = std::fs::read_to_string(self.program.session.path("log"));
        log.map_or(0, |log| log.lines().count())
    }
}

impl Drop for Bank<'_> {
    fn drop(&mut self) {
        // It was written to all the time, or nothing was shown.
        if !std::thread::panicking() {
            assert!(self.committed() > 10, "nothing was written meanwhile");
        }
    }
}

const SUM: &str = "SELECT sum(balance) FROM account";
const ALL: i64 = (ACCOUNTS * BALANCE).cast_signed();

#[test]
fn copies_are_consistent_under_load() {
    let how = Configuration::new("version 4");
    for mode in ["WAL", "DELETE"] {
        let bank = Bank::open(&how, mode);
        for round in 0..8 {
            let out = format!("copy-{round}.db");
            // With its own settings, or laid out anew.
            let (more, as_copied): (&[&str], _) = match round % 2 {
                0 => (&[], how.clone()),
                _ => (
                    &["--new-page-size", "8192"],
                    how.clone().with_page_size(8192),
                ),
            };
            bank.program
                .run(&[&["copy", "@a.db", &out], more].concat())
                .fine();
            let mut reader = Peer::spawn();
            reader
                .open("db", bank.program.session.path(&out), Some(&how.key))
                .expect("opens");
            reader.exec("db", &as_copied.settings()).expect("runs");
            let sum = reader.query("db", SUM).expect("a sum");
            assert_eq!(sum, [[Value::Integer(ALL)]], "{mode}, round {round}");
            let check = "PRAGMA cipher_integrity_check; PRAGMA integrity_check";
            let check = reader.query("db", check).expect("a check");
            assert_eq!(check, [[Value::Text("ok".to_owned())]]);
        }
    }
}

/// What reads without a lock gives one commit, or says that it could not.
#[test]
fn what_changes_while_it_is_read_is_never_taken_for_whole() {
    let how = Configuration::new("version 4");
    for mode in ["WAL", "DELETE", "TRUNCATE", "PERSIST"] {
        let bank = Bank::open(&how, mode);
        let mut refused = 0;
        for round in 0..25 {
            let answer = bank
                .program
                .run(&["decrypt", "@a.db", "plain.db", "--force"]);
            if answer.code != Some(0) {
                assert_eq!(answer.code, Some(8), "{mode}: {}", answer.stderr);
                assert!(answer.stderr.contains("pageseal copy"), "{}", answer.stderr);
                refused += 1;
                continue;
            }
            let db = Connection::open(bank.program.session.path("plain.db")).expect("opens");
            let number: i64 = db.query_row(SUM, [], |row| row.get(0)).expect("a sum");
            assert_eq!(number, ALL, "{mode}, round {round}");
            let check = db.query_row("PRAGMA integrity_check", [], |row| row.get(0));
            assert_eq!(check, Ok("ok".to_owned()), "{mode}, round {round}");
        }
        assert!(refused > 0, "{mode}: nothing was written while it was read");
    }
}
