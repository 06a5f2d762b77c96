//! Every way to give a key, and none of them leaves it where others can read it.

use std::fs::{self, File};
use std::io::Write;
use std::process::Stdio;

use crate::session::{Answer, Session};

/// Raw key of the vectors `raw-…`: AES key, HMAC key, salt.
const CIPHER: &str = "2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99";
const MAC: &str = "abababababababababababababababababababababababababababababababab";
const SALT: &str = "000102030405060708090a0b0c0d0e0f";

fn forms() -> [(&'static str, String); 3] {
    [
        ("raw-64", CIPHER.to_owned()),
        ("raw-96", format!("{CIPHER}{SALT}")),
        ("raw-160", format!("{CIPHER}{MAC}{SALT}")),
    ]
}

#[test]
fn raw_keys_in_bytes_digits_and_sql() {
    let session = Session::new();
    for (name, digits) in forms() {
        session.vector(name);
        let db = format!("{name}.db");
        fs::write(session.path("raw"), hex::decode(&digits).expect("digits")).expect("a file");
        fs::write(session.path("hex"), format!("{digits}\n")).expect("a file");
        fs::write(session.path("sql"), format!("x'{digits}'\n")).expect("a file");
        for args in [
            ["--key-raw-file", "raw"],
            ["--key-hex-file", "hex"],
            ["--key-hex-file", "sql"],
            ["--key-file", "sql"],
        ] {
            session.run(&["verify", &db, args[0], args[1]]).fine();
        }
        let digits = digits.to_ascii_uppercase();
        let mut command = session.pageseal();
        command.args(["verify", &db, "--key-hex-env", "K"]);
        Answer::of(command.env("K", digits)).fine();
    }
}

#[test]
fn passphrases_from_environment_standard_input_and_descriptor() {
    let session = Session::new();
    session.vector("preset-3");
    let verify = ["verify", "preset-3.db", "--compat", "3"];
    let mut command = session.pageseal();
    command.args(verify).args(["--key-env", "K"]);
    Answer::of(command.env("K", "correct horse")).fine();

    let mut command = session.pageseal();
    command.args(verify).args(["--key-file", "-"]);
    command.stdin(File::open(session.path("key")).expect("the key"));
    Answer::of(&mut command).fine();

    // Descriptor 0 is one that a caller has opened.
    #[cfg(unix)]
    {
        let mut command = session.pageseal();
        command.args(verify).args(["--key-fd", "0"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().expect("the program runs");
        let mut pipe = child.stdin.take().expect("a pipe");
        pipe.write_all(b"correct horse").expect("it reads");
        drop(pipe);
        assert!(child.wait().expect("it ends").success());
    }
}

#[test]
fn one_line_end_is_no_part_of_a_passphrase() {
    let session = Session::new();
    session.vector("preset-3");
    for (text, code) in [
        ("correct horse", 0),
        ("correct horse\n", 0),
        ("correct horse\r\n", 0),
        ("correct horse\n\n", 3),
        (" correct horse", 3),
        ("correct horse ", 3),
    ] {
        fs::write(session.path("key"), text).expect("the key");
        let answer = session.run(&[
            "verify",
            "preset-3.db",
            "--compat",
            "3",
            "--key-file",
            "key",
        ]);
        assert_eq!(answer.code, Some(code), "{text:?}: {}", answer.stderr);
    }
}

#[test]
fn a_key_on_the_command_line_works_and_warns() {
    let session = Session::new();
    session.vector("preset-3");
    let args = [
        "verify",
        "preset-3.db",
        "--compat",
        "3",
        "--insecure-key",
        "correct horse",
    ];
    let answer = session.run(&args).fine();
    assert!(answer.stderr.contains("warning"), "{}", answer.stderr);
}

#[test]
fn no_error_repeats_a_key() {
    let session = Session::new();
    session.vector("preset-3");
    let secret = "0123456789abcdefs3cr3t";
    fs::write(session.path("key"), secret).expect("the key");
    let cases: [&[&str]; 6] = [
        &["verify", "preset-3.db", "--key-file", "key"],
        &["verify", "preset-3.db", "--key-hex-file", "key"],
        &["verify", "preset-3.db", "--key-raw-file", "key"],
        &["verify", "preset-3.db", "--insecure-key", secret],
        &["verify", "file:preset-3.db?key=0123456789abcdefs3cr3t"],
        &["probe", "--json", "preset-3.db", "--key-file", "key"],
    ];
    for args in cases {
        let answer = session.run(args);
        assert_ne!(answer.code, Some(0));
        let said = format!("{}{}", answer.stdout, answer.stderr);
        assert!(!said.contains("s3cr3t"), "{args:?}: {said}");
    }
}

#[test]
fn without_key_and_terminal_nobody_is_asked() {
    let session = Session::new();
    session.vector("preset-3");
    let answer = session.run(&["verify", "preset-3.db"]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.stderr.contains("--key-file"), "{}", answer.stderr);
}

#[test]
fn two_sources_of_one_key_are_refused() {
    let session = Session::new();
    session.vector("preset-3");
    let args = [
        "verify",
        "preset-3.db",
        "--key-file",
        "key",
        "--key-env",
        "K",
    ];
    assert_eq!(session.run(&args).code, Some(2));
}
