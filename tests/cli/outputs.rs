//! Where nothing may be written, with or without `--force`.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::session::{Session, vectors};

/// The commands that write a file, from `IN` to `OUT`.
const COMMANDS: [&[&str]; 4] = [
    &["decrypt", "--key-file", "key"],
    &["copy", "--key-file", "key"],
    &["recover", "--key-file", "key"],
    &["encrypt", "--key-file", "key"],
];

/// Each command, without and with `--force`, ends with that code and a message with
/// that part, and nothing has changed.
fn refused(session: &Session, source: &str, out: &str, code: i32, part: &str) {
    let before = session.everything();
    for command in COMMANDS {
        for force in [&[][..], &["--force"]] {
            let args = [command, &[source, out], force].concat();
            let answer = session.run(&args);
            assert_eq!(answer.code, Some(code), "{args:?}: {}", answer.stderr);
            assert!(answer.stderr.contains(part), "{args:?}: {}", answer.stderr);
            assert_eq!(session.everything(), before, "{args:?}");
        }
    }
}

#[test]
fn side_files_of_the_source() {
    let session = Session::new();
    fs::copy(vectors().join("preset-4.db"), session.path("w.db")).expect("a copy");
    fs::write(session.path("w.db-wal"), "commits").expect("a file");
    fs::create_dir(session.path("dir")).expect("a directory");
    for out in [
        "w.db-wal",
        "./w.db-wal",
        "dir/../w.db-wal",
        "w.db-journal",
        "w.db-shm",
    ] {
        refused(&session, "w.db", out, 2, "is a side file of the source");
    }
    let absolute = session.path("w.db-journal");
    let absolute = absolute.to_str().expect("UTF-8");
    refused(&session, "w.db", absolute, 2, "side file of the source");
    // The other way about: the output's own side file.
    refused(&session, "w.db-wal", "w.db", 2, "side file of the output");
    fs::rename(session.path("w.db"), session.path("x-journal")).expect("renamed");
    refused(&session, "x-journal", "x", 2, "side file of the output");
}

/// A database is not written in order, and a file of that name is hardly meant.
#[test]
fn standard_output() {
    let session = Session::new();
    session.vector("preset-4");
    refused(&session, "preset-4.db", "-", 2, "can't be standard output");
    session
        .run(&["decrypt", "--key-file", "key", "preset-4.db", "./-"])
        .fine();
    assert!(count_of_tables(&session.path("-")) > 0);
}

/// A link's side files stand beside what it leads to; beside the link there are none.
#[cfg(unix)]
#[test]
fn side_files_of_a_linked_source() {
    let session = Session::new();
    fs::create_dir(session.path("real")).expect("a directory");
    let real = session.path("real/w.db");
    fs::copy(vectors().join("preset-4.db"), &real).expect("a copy");
    std::os::unix::fs::symlink("real/w.db", session.path("link.db")).expect("a link");
    let out = "real/w.db-journal";
    refused(&session, "link.db", out, 2, "side file of the source");
    assert!(!session.path(out).exists());
    let args = ["decrypt", "--key-file", "key", "link.db", "link.db-journal"];
    session.run(&args).fine();
    let rows = count_of_tables(&session.path("link.db-journal"));
    assert!(rows > 0);
}

fn count_of_tables(path: &Path) -> u32 {
    let db = Connection::open(path).expect("stock SQLite opens it");
    let sql = "SELECT count(*) FROM sqlite_schema";
    db.query_row(sql, [], |row| row.get(0)).expect("tables")
}

/// `--force` replaces files. It never makes one of a device or a pipe.
#[cfg(unix)]
#[test]
fn pipes_and_links_to_them() {
    use std::os::unix::fs::FileTypeExt;
    let session = Session::new();
    session.vector("preset-4");
    let fifo = session.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo runs").success());
    std::os::unix::fs::symlink("fifo", session.path("link")).expect("a link");
    for out in ["fifo", "link"] {
        for command in COMMANDS {
            for force in [&[][..], &["--force"]] {
                let args = [command, &["preset-4.db", out], force].concat();
                let answer = session.run(&args);
                assert_eq!(answer.code, Some(7), "{args:?}: {}", answer.stderr);
                let part = "is not a regular file";
                assert!(answer.stderr.contains(part), "{args:?}: {}", answer.stderr);
            }
        }
    }
    let kind = |path: &Path| fs::symlink_metadata(path).expect("it is there").file_type();
    assert!(kind(&fifo).is_fifo());
    assert!(kind(&session.path("link")).is_symlink());
}
