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
