//! Ctrl-C while something is written.

use std::fs;

use crate::session::Session;

/// SIGINT in the middle: nothing is left behind.
#[test]
fn interrupted() {
    let session = Session::new();
    session.vector("preset-4");
    let big = session.path("big.db");
    let fill = "CREATE TABLE t(a); WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n \
                WHERE x<40000) INSERT INTO t SELECT randomblob(1000) FROM n;";
    let new = [
        "sql",
        "--create",
        "big.db",
        fill,
        "--kdf-iter",
        "1000",
        "--key-file",
        "key",
    ];
    session.run(&new).fine();
    assert!(fs::metadata(&big).expect("the file").len() > 40_000_000);
    let before = session.everything();
    for command in [
        &["decrypt", "big.db", "out.db"][..],
        &["copy", "big.db", "out.db", "--new-page-size", "1024"],
    ] {
        let mut interrupted = false;
        for wait in [40, 80, 120, 160, 240] {
            let mut program = session.pageseal();
            program
                .args(command)
                .args(["--kdf-iter", "1000", "--key-file", "key"]);
            program.args(["--threads", "1"]);
            let mut child = program
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .expect("the program runs");
            std::thread::sleep(std::time::Duration::from_millis(wait));
            let id = child.id().to_string();
            let sent = std::process::Command::new("kill")
                .args(["-INT", &id])
                .status();
            assert!(sent.is_ok());
            let status = child.wait().expect("it ends");
            if status.code() == Some(0) {
                fs::remove_file(session.path("out.db")).expect("it was done");
            }
            interrupted |= status.code() == Some(130);
            assert_eq!(session.everything(), before, "{command:?} after {wait} ms");
        }
        assert!(interrupted, "{command:?} is faster than this test");
    }
}

/// SIGINT while a database is rewritten in place: one of the two keys opens it, and
/// what it holds is whole.
#[test]
fn interrupted_in_place() {
    let session = Session::new();
    let fill = "CREATE TABLE t(a); WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n \
                WHERE x<20000) INSERT INTO t SELECT hex(randomblob(500)) FROM n;";
    let settings = ["--kdf-iter", "1000", "--key-file"];
    let sql = |key, sql| {
        let args = [&["sql", "big.db", sql][..], &settings, &[key]].concat();
        session.run(&args)
    };
    let create = [
        &["sql", "--create", "big.db", fill][..],
        &settings,
        &["key"],
    ]
    .concat();
    session.run(&create).fine();
    let sum = "SELECT count(*), sum(length(a)), max(a), min(a) FROM t; PRAGMA integrity_check";
    let expected = sql("key", sum).fine().stdout;
    let mut interrupted = 0;
    for wait in [10, 30, 60, 100, 150, 200] {
        for command in [
            &["rekey", "big.db", "--new-key-file", "new"][..],
            &[
                "migrate",
                "big.db",
                "--compat",
                "4",
                "--new-kdf-iter",
                "1000",
                "--new-page-size",
                "8192",
            ],
        ] {
            let keep = fs::read(session.path("big.db")).expect("the database");
            let mut program = session.pageseal();
            program.args(command).args(settings).arg("key");
            let child = program
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .expect("the program runs");
            std::thread::sleep(std::time::Duration::from_millis(wait));
            let id = child.id().to_string();
            let sent = std::process::Command::new("kill")
                .args(["-INT", &id])
                .status();
            assert!(sent.is_ok());
            let output = child.wait_with_output().expect("it ends");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                !session.path("big.db-migrate").exists(),
                "{command:?}: {said}"
            );
            if output.status.code() == Some(130) {
                interrupted += 1;
                assert!(said.contains("OLD"), "{said}");
            }
            if output.status.code() == Some(0) {
                let new = match command[0] {
                    "rekey" => sql("new", sum),
                    _ => session.run(
                        &[
                            &["sql", "big.db", sum, "--page-size", "8192"][..],
                            &settings,
                            &["key"],
                        ]
                        .concat(),
                    ),
                };
                assert_eq!(new.fine().stdout, expected, "{command:?}");
            } else {
                assert_eq!(
                    sql("key", sum).fine().stdout,
                    expected,
                    "{command:?} after {wait} ms"
                );
            }
            assert!(!session.path("big.db-journal").exists(), "{command:?}");
            fs::write(session.path("big.db"), keep).expect("the database");
        }
    }
    assert!(interrupted > 0, "both are faster than this test");
}
