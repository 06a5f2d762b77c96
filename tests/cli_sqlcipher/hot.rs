//! Files that a killed SQLCipher left, with a log or a journal beside them: what is
//! committed is there, what is not is not, and whoever only reads changes no byte.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::commands::shells;
use crate::configuration::Configuration;
use crate::content::{CHANGE, create, hashes};
use crate::database::{Database, Side};
use crate::program::Program;
use crate::shell::Shell;
use crate::theirs::Theirs;

/// What must not be seen afterwards.
const UNCOMMITTED: &str = "
    BEGIN; UPDATE item SET data = zeroblob(3000), name = 'lost ' || id;
    CREATE TABLE lost(a); INSERT INTO lost SELECT data FROM item;";

fn presets() -> Vec<Configuration> {
    let mut list = crate::configurations::presets();
    list.truncate(4);
    list.extend([
        // The smallest page, without HMAC.
        crate::configurations::page_sizes().remove(0),
        Configuration::new("page 65536").with_page_size(65536),
        Configuration::new("plaintext header of 32")
            .with("cipher_salt", "\"x'000102030405060708090a0b0c0d0e0f'\"")
            .with("cipher_plaintext_header_size", 32),
    ]);
    list
}

/// Runs a script on `a.db` and kills the process.
fn killed(side: Side, path: &Path, how: &Configuration, script: &str) {
    match side {
        Side::Shell => {
            let mut shell = Shell::open(path, how);
            shell.exec(script);
            shell.kill();
        }
        _ => {
            let mut theirs = Theirs::open(path, how);
            theirs.exec(script);
            theirs.kill();
        }
    }
}

#[test]
fn logs_of_sqlcipher_4() {
    crate::each::each(presets(), |how, _| log(Side::SqlCipher, how));
}

#[test]
fn logs_of_sqlcipher_3() {
    crate::each::each(shells(), |how, _| log(Side::Shell, how));
}

#[test]
fn journals_of_sqlcipher_4() {
    crate::each::each(presets(), |how, _| journal(Side::SqlCipher, how));
}

#[test]
fn journals_of_sqlcipher_3() {
    crate::each::each(shells(), |how, _| journal(Side::Shell, how));
}

fn log(side: Side, how: &Configuration) {
    let hashes = hashes(how);
    let program = Program::with_database_of(side, how);
    let script = format!(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 5;
         {CHANGE} {UNCOMMITTED}"
    );
    killed(side, &program.session.path("a.db"), how, &script);
    let info = program.run(&["info", "@a.db", "--json"]).fine().json();
    let wal = &info["wal"];
    let count = |field: &str| wal[field].as_u64().expect("a number");
    assert!(count("committed_frames") > 0, "{wal}");
    // What is not committed lies behind it, with checksums that are right or not.
    assert!(count("frames") > count("committed_frames"), "{wal}");
    every_reader(side, &program, "-wal", &hashes.changed);
}

fn journal(side: Side, how: &Configuration) {
    let hashes = hashes(how);
    let program = Program::with_database_of(side, how);
    let path = program.session.path("a.db");
    let before = fs::read(&path).expect("the database");
    let script = format!("PRAGMA journal_mode = PERSIST; PRAGMA cache_size = 2; {UNCOMMITTED}");
    killed(side, &path, how, &script);
    assert_ne!(fs::read(&path).expect("the database"), before);
    let info = program.run(&["info", "@a.db", "--json"]).fine().json();
    assert_eq!(info["journal"]["state"], "hot");
    every_reader(side, &program, "-journal", &hashes.created);
}

/// The files of the database.
fn files(program: &Program<'_>) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let names = ["a.db", "a.db-wal", "a.db-shm", "a.db-journal"];
    let read = |name| {
        let path = program.session.path(name);
        let bytes = fs::read(&path).ok();
        (path, bytes)
    };
    names.map(read).to_vec()
}

fn every_reader(side: Side, program: &Program<'_>, suffix: &str, content: &str) {
    let before = files(program);
    let unchanged = |what: &str| {
        for ((path, now), (_, then)) in files(program).iter().zip(&before) {
            assert!(now == then, "{what} has changed {}", path.display());
        }
    };
    let side_file = program.session.path(&format!("a.db{suffix}"));
    assert!(side_file.metadata().expect("a side file").len() > 512);

    program.run(&["verify", "@a.db"]).fine();
    unchanged("verify");
    program.run(&["decrypt", "@a.db", "plain.db"]).fine();
    unchanged("decrypt");
    program.judge_plain("plain.db", content);
    // Where nothing can be written beside it, and by somebody who could not write to it.
    #[cfg(unix)]
    {
        // The directory as it is with the program in it.
        drop(program.session.unprivileged());
        program.session.privileged_again();
        let all = program.session.everything();
        for args in [
            &["verify", "@a.db"][..],
            &["decrypt", "@a.db", "out/plain.db"],
            &["recover", "@a.db", "out/recovered.db"],
        ] {
            program.run_unprivileged(args).fine();
            unchanged(args[0]);
            assert_eq!(program.session.everything(), all, "{args:?}");
        }
        program.judge_plain("out/plain.db", content);
    }
    program.run(&["diff", "@a.db", "plain.db"]).fine();
    let recovered = program
        .run(&["recover", "@a.db", "recovered.db", "--json"])
        .fine();
    unchanged("recover");
    assert_eq!(recovered.json()["lossless"], true);
    program.judge(side, "recovered.db", content);

    // A copy goes through SQLite, which recovers the source as any reader does.
    program.run(&["copy", "@a.db", "copy.db"]).fine();
    program.judge(side, "copy.db", content);
    program.judge(side, "a.db", content);

    // In place, from the same hot files.
    for command in [
        &["rekey", "@a.db", "--new-key-file", "key"][..],
        &["sql", "@a.db", "VACUUM"],
    ] {
        for (path, bytes) in &before {
            match bytes {
                Some(bytes) => fs::write(path, bytes).expect("the file"),
                None => drop(fs::remove_file(path)),
            }
        }
        program.run(command).fine();
        program.judge(side, "a.db", content);
    }
}

/// Plaintext databases of stock SQLite's, whose last user has not tidied up.
#[test]
fn plaintext() {
    let how = Configuration::new("version 4");
    let hashes = hashes(&how);
    for (suffix, script, content) in [
        (
            "-wal",
            format!(
                "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; {CHANGE} {UNCOMMITTED}"
            ),
            &hashes.changed,
        ),
        (
            "-journal",
            format!("PRAGMA cache_size = 2; {UNCOMMITTED}"),
            &hashes.created,
        ),
    ] {
        let program = Program::empty(&how);
        let path = |name: &str| program.session.path(name);
        let db = Connection::open(path("live.db")).expect("opens");
        db.execute_batch(&create(&how)).expect("runs");
        db.execute_batch(&script).expect("runs");
        // As a crash would leave them.
        let crashed = || {
            for suffix in ["", suffix] {
                let [from, to] =
                    ["live.db", "plain.db"].map(|name| path(&format!("{name}{suffix}")));
                fs::copy(from, to).expect("a copy");
            }
        };
        crashed();
        let info = program
            .session
            .run(&["info", "plain.db", "--json"])
            .fine()
            .json();
        assert_eq!(info["looks"], "plaintext");
        program.run(&["encrypt", "plain.db", "@sealed.db"]).fine();
        program.judge(Side::SqlCipher, "sealed.db", content);
        crashed();
        let args = [
            "sql",
            "plain.db",
            "SELECT name FROM sqlite_schema WHERE name = 'lost'",
        ];
        assert_eq!(program.session.run(&args).fine().stdout, "");
        program.judge_plain("plain.db", content);
    }
}
