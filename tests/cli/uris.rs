//! `file:` URIs: what they say is kept or refused by name, never overlooked; and what
//! `sql` may create.

use rusqlite::Connection;

use crate::everywhere::COMMANDS;
use crate::session::Session;

#[test]
fn what_cannot_be_kept_is_refused_by_name() {
    let session = Session::new();
    session.vector("preset-3");
    session.vector("plaintext");
    let before = session.everything();
    for command in COMMANDS {
        for parameter in [
            "vfs=unix",
            "cache=shared",
            "immutable=1",
            "nolock=1",
            "psow=0",
            "mode=memory",
            "mode=ro&mode=ro",
            "frobnicate=1",
            "mode=ro",
            "cipher_shared_wal=on",
        ] {
            let name = parameter.split('=').next().expect("a name");
            let kept = ["mode=ro", "cipher_shared_wal=on"].contains(&parameter);
            if command[0] == "sql" && kept {
                continue;
            }
            let uri = format!("file:{}?{parameter}", command[1]);
            let mut args = command.to_vec();
            args[1] = &uri;
            args.extend(["--compat", "3", "--key-file", "key"]);
            let answer = session.run(&args);
            assert_eq!(answer.code, Some(2), "{args:?}: {}", answer.stderr);
            assert!(answer.stderr.contains(name), "{args:?}: {}", answer.stderr);
            assert_eq!(session.everything(), before, "{args:?}");
        }
    }
}

#[test]
fn sql_takes_mode() {
    let session = Session::new();
    session.vector("preset-4");
    let before = session.everything();
    let sql = |uri: &str, sql: &str, more: &[&str]| {
        session.run(&[&["sql", uri, sql, "--key-file", "key"], more].concat())
    };
    let make = "CREATE TABLE made (a)";
    assert_eq!(sql("file:preset-4.db?mode=ro", make, &[]).code, Some(6));
    for (uri, more) in [
        ("file:preset-4.db?mode=ro", "--create"),
        ("file:preset-4.db?mode=rw", "--create"),
        ("file:preset-4.db?mode=rw", "--readonly"),
        ("file:preset-4.db?mode=rwc", "--readonly"),
    ] {
        assert_eq!(sql(uri, make, &[more]).code, Some(2), "{uri} {more}");
    }
    for uri in ["file:new.db", "file:new.db?mode=rw", "file:new.db?mode=ro"] {
        assert_eq!(sql(uri, make, &[]).code, Some(6), "{uri}");
    }
    assert_eq!(session.everything(), before);
    sql("file:preset-4.db?mode=rw&cipher_shared_wal=on", make, &[]).fine();
    sql("file:new.db?mode=rwc", make, &[]).fine();
    session
        .run(&["verify", "new.db", "--key-file", "key"])
        .fine();
}

/// Names as SQLite itself reads them: only whole escapes are resolved.
#[test]
fn escapes_in_paths() {
    let session = Session::new();
    let vector = session.vector("preset-4");
    for (uri, name) in [
        ("file:a%20b.db", "a b.db"),
        ("file:100%25.db", "100%.db"),
        ("file:a%+1.db", "a%+1.db"),
        ("file:a%4.db", "a%4.db"),
        ("file:%C3%A9.db", "\u{e9}.db"),
    ] {
        std::fs::copy(&vector, session.path(name)).expect("a copy");
        let key = ["--key-file", "key"];
        session.run(&[&["verify", uri][..], &key].concat()).fine();
    }
    for uri in ["file:", "file:?page_size=4096", "file:a%00.db"] {
        assert_eq!(session.run(&["info", uri]).code, Some(2), "{uri}");
    }
    let salt = "+f".repeat(16);
    let args = [
        "verify",
        "preset-4.db",
        "--salt",
        &salt,
        "--key-file",
        "key",
    ];
    assert_eq!(session.run(&args).code, Some(2), "signs are no digits");
}

/// Linux takes any bytes for a name.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_text() {
    use std::os::unix::ffi::OsStrExt;
    let session = Session::new();
    let vector = session.vector("preset-4");
    let name = std::ffi::OsStr::from_bytes(b"\xff.db");
    std::fs::copy(vector, session.path("").join(name)).expect("a copy");
    let key = ["--key-file", "key"];
    session
        .run(&[&["verify", "file:%FF.db"][..], &key].concat())
        .fine();
}

/// As in SQLite's shell, what is attached may be new, but not to a reader.
#[test]
fn sql_attaches_new_files() {
    let session = Session::new();
    session.vector("plaintext");
    session.vector("preset-4");
    let before = session.everything();
    let attach = "ATTACH 'file:more.db?key=new' AS more; CREATE TABLE more.t (a);\
                  INSERT INTO more.t VALUES (7)";
    for main in [&["plaintext.db"][..], &["preset-4.db", "--key-file", "key"]] {
        let args = [&["sql"], main, &["--readonly", attach]].concat();
        assert_ne!(session.run(&args).code, Some(0), "{args:?}");
        assert_eq!(session.everything(), before, "{args:?}");
        session.run(&[&["sql"], main, &[attach]].concat()).fine();
        let args = ["decrypt", "more.db", "seen.db", "--key-file", "new"];
        session.run(&args).fine();
        let seen = Connection::open(session.path("seen.db")).expect("stock SQLite opens it");
        let a: i64 = seen
            .query_row("SELECT a FROM t", [], |row| row.get(0))
            .expect("the row");
        assert_eq!(a, 7);
        drop(seen);
        for made in ["more.db", "seen.db"] {
            std::fs::remove_file(session.path(made)).expect("it was made");
        }
    }
    let plain = "ATTACH 'plain.db' AS p; CREATE TABLE p.t AS SELECT 8 AS a";
    session.run(&["sql", "plaintext.db", plain]).fine();
    let seen = Connection::open(session.path("plain.db")).expect("stock SQLite opens it");
    let a = seen.query_row("SELECT a FROM t", [], |row| row.get::<_, i64>(0));
    assert_eq!(a.expect("the row"), 8);
}

#[test]
fn a_reader_leaves_an_empty_file_empty() {
    let session = Session::new();
    std::fs::write(session.path("empty.db"), "").expect("a file");
    let before = session.everything();
    let make = "CREATE TABLE t (a)";
    let args = ["sql", "empty.db", make, "--readonly", "--key-file", "key"];
    assert_eq!(session.run(&args).code, Some(5));
    assert_eq!(session.everything(), before);
}
