//! Every wrong input gets its message and exit code, and changes nothing.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;

use crate::session::{Answer, Session, damage};

/// What is done with a file.
const READING: [&[&str]; 5] = [
    &["verify", "IN"],
    &["decrypt", "IN", "OUT"],
    &["copy", "IN", "OUT"],
    &["recover", "IN", "OUT"],
    &["sql", "IN", "SELECT 1"],
];
const WRITING: [&[&str]; 2] = [
    &["rekey", "IN", "--new-key-file", "new"],
    &["migrate", "IN"],
];

/// Runs a command on a file, with the right key and settings of version 3.
fn run(session: &Session, command: &[&str], file: &str, more: &[&str]) -> Answer {
    let mut args: Vec<&str> = command
        .iter()
        .map(|&word| match word {
            "IN" => file,
            "OUT" => "out.db",
            word => word,
        })
        .collect();
    args.extend(more);
    session.run(&args)
}

/// Every command on that file ends with that code and a message of one line, and
/// nothing has changed.
fn check(session: &Session, file: &str, more: &[&str], code: i32, part: &str) {
    let before = session.everything();
    for command in READING.iter().chain(&WRITING) {
        let answer = run(session, command, file, more);
        let said = format!("{command:?} on {file}: {}{}", answer.stdout, answer.stderr);
        assert_eq!(answer.code, Some(code), "{said}");
        assert_eq!(answer.stderr.lines().count(), 1, "{said}");
        assert!(answer.stderr.starts_with("pageseal: "), "{said}");
        assert!(answer.stderr.contains(part), "{said}");
        assert_eq!(session.everything(), before, "{said}");
    }
}

const V3: [&str; 4] = ["--compat", "3", "--key-file", "key"];

#[test]
fn missing_file() {
    check(&Session::new(), "none.db", &V3, 6, "check the path");
}

#[test]
fn directory() {
    let session = Session::new();
    fs::create_dir(session.path("dir")).expect("a directory");
    check(&session, "dir", &V3, 6, "not a regular file");
}

#[test]
fn empty_file() {
    let session = Session::new();
    fs::write(session.path("empty.db"), "").expect("a file");
    let before = session.everything();
    for command in [
        READING[0], READING[1], READING[2], READING[3], WRITING[0], WRITING[1],
    ] {
        let answer = run(&session, command, "empty.db", &V3);
        assert_eq!(answer.code, Some(5), "{command:?}: {}", answer.stderr);
        assert_eq!(session.everything(), before);
    }
}

#[test]
fn wrong_key() {
    let session = Session::new();
    session.vector("preset-3");
    let wrong = ["--compat", "3", "--key-file", "wrong"];
    let before = session.everything();
    for command in READING.iter().chain(&WRITING) {
        let answer = run(&session, command, "preset-3.db", &wrong);
        assert_eq!(answer.code, Some(3), "{command:?}: {}", answer.stderr);
        assert!(answer.stderr.contains("probe"), "{}", answer.stderr);
        assert_eq!(session.everything(), before, "{command:?}");
    }
}

#[test]
fn no_database_at_all() {
    let session = Session::new();
    let text = "Lorem ipsum dolor sit amet. ".repeat(500);
    fs::write(session.path("text.db"), text).expect("a file");
    let before = session.everything();
    for command in READING.iter().chain(&WRITING) {
        let answer = run(&session, command, "text.db", &V3);
        assert_eq!(answer.code, Some(3), "{command:?}: {}", answer.stderr);
        assert_eq!(session.everything(), before, "{command:?}");
    }
}

#[test]
fn damaged_and_truncated_files_are_never_copied_as_if_whole() {
    for change in ["damage", "truncate"] {
        let session = Session::new();
        let path = session.vector("preset-3");
        match change {
            "damage" => damage(&path, 1024, 3),
            _ => {
                let file = fs::OpenOptions::new()
                    .write(true)
                    .open(&path)
                    .expect("the file");
                file.set_len(2500).expect("shorter");
            }
        }
        let before = session.everything();
        for command in [READING[0], READING[1], READING[2], WRITING[0], WRITING[1]] {
            let answer = run(&session, command, "preset-3.db", &V3);
            assert_eq!(
                answer.code,
                Some(4),
                "{change}, {command:?}: {}",
                answer.stderr
            );
            assert_eq!(session.everything(), before, "{change}, {command:?}");
        }
    }
}

#[test]
fn output_exists() {
    let session = Session::new();
    session.vector("preset-3");
    fs::write(session.path("out.db"), "mine").expect("a file");
    let before = session.everything();
    for command in &READING[1..4] {
        let answer = run(&session, command, "preset-3.db", &V3);
        assert_eq!(answer.code, Some(7), "{command:?}: {}", answer.stderr);
        assert!(answer.stderr.contains("--force"), "{}", answer.stderr);
        assert_eq!(session.everything(), before);
        let forced: Vec<_> = V3.iter().copied().chain(["--force"]).collect();
        run(&session, command, "preset-3.db", &forced).fine();
        fs::write(session.path("out.db"), "mine").expect("a file");
        // A wrong key does not cost the old file, force or not.
        let wrong = ["--compat", "3", "--key-file", "wrong", "--force"];
        assert_eq!(run(&session, command, "preset-3.db", &wrong).code, Some(3));
        assert_eq!(session.everything(), before);
    }
}

#[test]
fn output_is_the_source_or_has_side_files_or_no_directory() {
    let session = Session::new();
    session.vector("preset-3");
    fs::write(session.path("other.db-wal"), "left over").expect("a file");
    fs::create_dir(session.path("dir")).expect("a directory");
    let before = session.everything();
    for (out, code) in [
        ("preset-3.db", 2),
        ("./preset-3.db", 2),
        ("other.db", 7),
        ("dir", 7),
        ("none/out.db", 6),
    ] {
        for command in ["decrypt", "copy", "recover"] {
            let mut args = vec![command, "preset-3.db", out, "--force"];
            args.extend(V3);
            let answer = session.run(&args);
            assert_eq!(
                answer.code,
                Some(code),
                "{command} {out}: {}",
                answer.stderr
            );
            assert_eq!(session.everything(), before, "{command} {out}");
        }
    }
}

#[test]
fn the_wrong_kind_of_file() {
    let session = Session::new();
    session.vector("plaintext");
    session.vector("preset-3");
    let before = session.everything();
    for args in [
        &["decrypt", "plaintext.db", "out.db"][..],
        &["verify", "plaintext.db"],
        &["copy", "plaintext.db", "out.db"],
        &["rekey", "plaintext.db", "--new-key-file", "new"],
        &["migrate", "plaintext.db"],
        &["probe", "plaintext.db"],
        &["sql", "plaintext.db", "SELECT 1"],
        &["encrypt", "preset-3.db", "out.db"],
    ] {
        let args: Vec<_> = args.iter().copied().chain(["--key-file", "key"]).collect();
        let answer = session.run(&args);
        assert_eq!(answer.code, Some(5), "{args:?}: {}", answer.stderr);
        assert_eq!(session.everything(), before, "{args:?}");
    }
}

/// As a user that may not write beside the file, and then not read it.
#[cfg(unix)]
#[test]
fn no_permission() {
    let session = Session::new();
    let path = session.vector("preset-3");
    drop(session.unprivileged());
    let before = session.everything();
    let run = |args: &[&str]| Answer::of(session.unprivileged().args(args).args(V3));
    let refused = |args: &[&str]| {
        let answer = run(args);
        assert_eq!(answer.code, Some(6), "{args:?}: {}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
        answer.stderr
    };
    for command in ["decrypt", "copy", "recover"] {
        let said = refused(&[command, "preset-3.db", "out.db"]);
        assert!(said.contains("check the permissions"), "{said}");
    }
    // Reading needs no more than that the file can be read.
    assert_eq!(run(&["verify", "preset-3.db"]).code, Some(0));
    for command in ["rekey", "migrate"] {
        let new = ["--new-key-file", "new"];
        let new = if command == "rekey" { &new[..] } else { &[] };
        refused(&[&[command, "preset-3.db"], new].concat());
    }
    let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode));
    mode(0o000).expect("permissions");
    for args in [
        &["info", "preset-3.db"][..],
        &["verify", "preset-3.db"],
        &["decrypt", "preset-3.db", "out/out.db"],
        &["sql", "preset-3.db", "SELECT 1"],
        &["rekey", "preset-3.db", "--new-key-file", "new"],
    ] {
        let said = refused(args);
        assert!(said.contains("check the permissions"), "{said}");
    }
    mode(0o644).expect("permissions");
    session.privileged_again();
    assert_eq!(session.everything(), before);
}

const WRITERS: [&str; 6] = [
    "decrypt rich-v4.db out.db",
    "encrypt plaintext.db out.db --page-size 65536",
    "copy rich-v4.db out.db",
    "recover rich-v4.db out.db",
    "rekey rich-v4.db --new-key-file new",
    "migrate rich-v4.db --compat 4 --new-page-size 8192",
];

/// A disk that is full, in the way of a limit on the size of files.
#[cfg(unix)]
#[test]
fn file_too_large() {
    let session = Session::new();
    session.vector("rich-v4");
    session.vector("plaintext");
    let program = env!("CARGO_BIN_EXE_pageseal");
    let before = session.everything();
    for command in WRITERS {
        // In blocks of 512 bytes or 1024, as the shell likes: less than any output.
        let limit = if command.starts_with("encrypt") {
            8
        } else {
            32
        };
        let script = format!(
            "trap '' XFSZ; ulimit -f {limit}; exec {program} {command} --kdf-iter 1000 --key-file key"
        );
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).current_dir(session.path(""));
        let answer = Answer::of(&mut shell);
        assert_eq!(answer.code, Some(6), "{command}: {}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
        assert_eq!(session.everything(), before, "{command}");
    }
}

/// A disk that is full, where the system lets the test mount one of its own.
#[cfg(target_os = "linux")]
#[test]
fn full_disk() {
    let session = Session::new();
    session.vector("rich-v4");
    session.vector("plaintext");
    let program = env!("CARGO_BIN_EXE_pageseal");
    fs::create_dir(session.path("disk")).expect("a directory");
    let before = session.everything();
    for command in WRITERS {
        // The files fit; nothing as large as they are fits beside them.
        let script = format!(
            "mount -t tmpfs -o size=124k tmpfs disk || exit 99
             cp *.db key new disk && cd disk && sha256sum * > ../before
             {program} {command} --kdf-iter 1000 --key-file key
             code=$?; sha256sum * | cmp - ../before || code=98; exit $code"
        );
        let mut unshare = std::process::Command::new("unshare");
        unshare.args(["--mount", "--map-root-user", "sh", "-c", &script]);
        let answer = match unshare.current_dir(session.path("")).output() {
            Ok(_) => Answer::of(&mut unshare),
            Err(error) => return eprintln!("not tested: unshare: {error}"),
        };
        if answer.code == Some(99) || answer.stderr.starts_with("unshare:") {
            return eprintln!("not tested: {}", answer.stderr);
        }
        assert_eq!(answer.code, Some(6), "{command}: {}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
        assert!(
            answer.stderr.contains("free some space"),
            "{command}: {}",
            answer.stderr
        );
        fs::remove_file(session.path("before")).expect("the sums");
        assert_eq!(session.everything(), before, "{command}");
    }
}

/// SIGINT in the middle: nothing is left behind.
#[cfg(unix)]
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
#[cfg(unix)]
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
