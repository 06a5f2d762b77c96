//! Every wrong input gets its message and exit code, and changes nothing.

use std::fs;
#[cfg(unix)]
use std::os::unix::{fs::MetadataExt, fs::PermissionsExt, process::CommandExt};

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

/// As a user that may not read the file, or not write beside it. (Whoever runs the
/// tests as root becomes somebody else for it.)
#[cfg(unix)]
#[test]
fn no_permission() {
    let session = Session::new();
    let path = session.vector("preset-3");
    let dir = session.path("");
    let is_root = fs::metadata(&dir).expect("the directory").uid() == 0;
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).expect("permissions");
    let become_nobody = |args: &[&str]| {
        let mut command = session.pageseal();
        if is_root {
            // The program itself lies where only root may look.
            let program = std::env::temp_dir().join(format!("pageseal-{}", std::process::id()));
            if !program.exists() {
                fs::copy(env!("CARGO_BIN_EXE_pageseal"), &program).expect("a copy");
            }
            command = std::process::Command::new(program);
            command.current_dir(&dir).uid(65534).gid(65534);
        }
        Answer::of(command.args(args).args(V3))
    };
    let before = session.everything();
    // In a directory that others may not write to (a user's own is made so).
    if !is_root {
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o555)).expect("permissions");
    }
    for command in ["decrypt", "recover"] {
        let answer = become_nobody(&[command, "preset-3.db", "out.db"]);
        assert_eq!(answer.code, Some(6), "{command}: {}", answer.stderr);
        assert!(answer.stderr.contains("permissions"), "{}", answer.stderr);
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("permissions");
    for args in [
        &["verify", "preset-3.db"][..],
        &["decrypt", "preset-3.db", "out.db"],
        &["rekey", "preset-3.db", "--new-key-file", "new"],
    ] {
        let answer = become_nobody(args);
        assert_eq!(answer.code, Some(6), "{args:?}: {}", answer.stderr);
        assert!(answer.stderr.contains("permissions"), "{}", answer.stderr);
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("permissions");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).expect("permissions");
    assert_eq!(session.everything(), before);
    if is_root {
        let program = std::env::temp_dir().join(format!("pageseal-{}", std::process::id()));
        fs::remove_file(program).expect("the copy");
    }
}

/// A disk that is full, in the way of a limit on the size of files.
#[cfg(unix)]
#[test]
fn full_disk() {
    let session = Session::new();
    session.vector("rich-v4");
    let program = env!("CARGO_BIN_EXE_pageseal");
    let before = session.everything();
    for command in [
        "decrypt rich-v4.db out.db",
        "copy rich-v4.db out.db",
        "recover rich-v4.db out.db",
    ] {
        let script = format!(
            "trap '' XFSZ; ulimit -f 32; exec {program} {command} --kdf-iter 1000 --key-file key"
        );
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).current_dir(session.path(""));
        let answer = Answer::of(&mut shell);
        assert_eq!(answer.code, Some(6), "{command}: {}", answer.stderr);
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
