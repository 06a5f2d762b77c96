//! What holds for every command: `--json`, help with examples and exit codes, shell
//! completions and man pages.

use std::fs;

use rusqlite::Connection;
use serde_json::Value;

use crate::session::Session;

/// Every command that works on databases, with what it needs; the second says whether it
/// prints rows instead of a result.
pub(crate) const COMMANDS: [&[&str]; 11] = [
    &["info", "preset-3.db"],
    &["probe", "preset-3.db"],
    &["verify", "preset-3.db"],
    &["decrypt", "preset-3.db", "plain.db"],
    &["encrypt", "plaintext.db", "sealed.db"],
    &["copy", "preset-3.db", "copy.db"],
    &["rekey", "preset-3.db", "--new-key-file", "key"],
    &["migrate", "preset-3.db", "--new-compat", "3"],
    &["recover", "preset-3.db", "recovered.db"],
    &["sql", "preset-3.db", "SELECT 1 AS one"],
    &["diff", "preset-3.db", "preset-3.db"],
];

/// Commands that need no database.
const OTHERS: [&str; 2] = ["completions", "man"];

/// The codes that the help documents.
const CODES: [i32; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 130];

fn with<'a>(command: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    command.iter().chain(more).copied().collect()
}

#[test]
fn json_from_every_command_and_nothing_beside_it() {
    let session = Session::new();
    session.vector("preset-3");
    session.vector("plaintext");
    for command in COMMANDS {
        let args = with(command, &["--compat", "3", "--key-file", "key", "--json"]);
        let answer = session.run(&args).fine();
        let json = answer.json();
        assert_eq!(answer.stderr, "", "{command:?}");
        match command[0] {
            "sql" => assert_eq!(json[0]["one"], 1),
            _ => assert_eq!(json["file"], command[1], "{command:?}"),
        }
    }
}

#[test]
fn json_of_every_failure_tells_kind_and_code() {
    let session = Session::new();
    session.vector("preset-3");
    session.vector("plaintext");
    for command in COMMANDS {
        // Each fails in a way of its own: no such file, wrong kind of file, wrong key.
        let mut missing = command.to_vec();
        missing[1] = "none.db";
        let (wrong, code) = match command[0] {
            "encrypt" => (&["encrypt", "preset-3.db", "x.db"][..], 5),
            _ => (command, 3),
        };
        for (command, code) in [(&missing[..], 6), (wrong, code)] {
            let args = with(command, &["--compat", "3", "--key-file", "wrong", "--json"]);
            let answer = session.run(&args);
            assert_eq!(answer.code, Some(code), "{args:?}: {}", answer.stderr);
            let error = &answer.json()["error"];
            assert_eq!(error["exit_code"], code, "{args:?}");
            let message = error["message"].as_str().expect("a message");
            assert_eq!(answer.stderr, format!("pageseal: {message}\n"), "{args:?}");
            let kind = match code {
                3 => "wrong_key_or_settings",
                5 => "wrong_kind_of_file",
                _ => "io",
            };
            assert_eq!(error["kind"], kind, "{args:?}");
        }
    }
}

/// Also where the arguments can't be understood.
#[test]
fn json_of_wrong_usage() {
    let session = Session::new();
    for (args, part) in [
        (&["verify", "--json"][..], "<FILE>"),
        (&["--json", "frobnicate"], "'frobnicate'"),
        (&["info", "x.db", "--jsn", "--json"], "'--jsn'"),
        (&["info", "x.db", "--json", "--threads", "0"], "1..=65535"),
        (&["--json"], "subcommand"),
    ] {
        let answer = session.run(args);
        assert_eq!(answer.code, Some(2), "{args:?}: {}", answer.stderr);
        let error = &answer.json()["error"];
        assert_eq!(error["kind"], "usage", "{args:?}");
        assert_eq!(error["exit_code"], 2, "{args:?}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(part), "{args:?}: {message}");
        assert_eq!(answer.stderr, format!("pageseal: {message}\n"), "{args:?}");
        assert_eq!(answer.stderr.lines().count(), 1, "{args:?}");
    }
    // Behind `--` it is the name of a file; and help is no error.
    let answer = session.run(&["info", "--jsn", "--", "--json"]);
    assert_eq!((answer.stdout.as_str(), answer.code), ("", Some(2)));
    let help = session.run(&["verify", "--json", "--help"]).fine();
    assert!(help.stdout.contains("Usage:"), "{}", help.stdout);
}

#[test]
fn quiet_commands_say_nothing() {
    let session = Session::new();
    session.vector("preset-3");
    session.vector("plaintext");
    for command in COMMANDS.into_iter().filter(|command| command[0] != "sql") {
        let args = with(command, &["--compat", "3", "--key-file", "key", "--quiet"]);
        let answer = session.run(&args).fine();
        assert_eq!(answer.stdout + &answer.stderr, "", "{command:?}");
    }
}

#[test]
fn help_has_examples_and_all_exit_codes() {
    let session = Session::new();
    for command in COMMANDS.map(|command| command[0]).iter().chain(&OTHERS) {
        let help = session.run(&[command, "--help"]).fine().stdout;
        let example = format!("\n  pageseal {command} ");
        assert!(help.contains(&example), "{command}: {help}");
        assert!(help.contains("--json"), "{command}: {help}");
    }
    let help = session.run(&["--help"]).fine().stdout;
    let (_, table) = help.split_once("Exit codes:\n").expect("the exit codes");
    let codes: Vec<i32> = table
        .lines()
        .map(|line| line.split_whitespace().next().expect("a code"))
        .map(|code| code.parse().expect("a number"))
        .collect();
    assert_eq!(codes, CODES);
}

#[test]
fn completions_of_every_shell_know_every_command() {
    let session = Session::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = session.run(&["completions", shell]).fine().stdout;
        for command in COMMANDS.map(|command| command[0]).iter().chain(&OTHERS) {
            assert!(script.contains(command), "{shell} does not know {command}");
        }
        assert!(script.contains("key-hex-file"), "{shell}");
    }
    assert_eq!(session.run(&["completions", "cobol"]).code, Some(2));
}

/// Bash itself takes the script and completes with it.
#[cfg(unix)]
#[test]
fn bash_completes() {
    let session = Session::new();
    let script = session.run(&["completions", "bash"]).fine().stdout;
    fs::write(session.path("complete.bash"), script).expect("a script");
    let ask = "source ./complete.bash; COMP_WORDS=(pageseal ver); COMP_CWORD=1; \
               _pageseal pageseal ver pageseal; echo \"${COMPREPLY[@]}\"";
    let mut bash = std::process::Command::new("bash");
    bash.args(["--norc", "-c", ask])
        .current_dir(session.path(""));
    let answer = crate::session::Answer::of(&mut bash).fine();
    assert_eq!(answer.stdout, "verify\n", "{}", answer.stderr);
}

#[test]
fn a_man_page_for_each_command() {
    let session = Session::new();
    let page = session.run(&["man"]).fine().stdout;
    assert!(page.contains(".TH pageseal 1"), "{page}");
    for code in CODES {
        assert!(page.contains(&format!("{code}  ")), "code {code}: {page}");
    }
    fs::create_dir(session.path("man1")).expect("a directory");
    session.run(&["man", "--dir", "man1"]).fine();
    for command in COMMANDS.map(|command| command[0]).iter().chain(&OTHERS) {
        let page = session.path(&format!("man1/pageseal-{command}.1"));
        let page = fs::read_to_string(page).expect("a page");
        assert!(
            page.contains(&format!(".TH pageseal-{command} 1")),
            "{page}"
        );
        assert!(
            page.contains("EXTRA") && page.contains("pageseal"),
            "{page}"
        );
    }
    assert_eq!(session.run(&["man", "--dir", "none"]).code, Some(6));
}

/// Another program holds the lock: that is told apart from every other failure.
#[test]
fn a_locked_database_is_busy() {
    let session = Session::new();
    let path = session.vector("plaintext");
    // Before the lock: a process that closes a file gives its locks back.
    let before = session.everything();
    let other = Connection::open(path).expect("stock SQLite opens it");
    other
        .execute_batch("BEGIN EXCLUSIVE")
        .expect("the exclusive lock");
    let answer = session.run(&["sql", "plaintext.db", "DELETE FROM item", "--json"]);
    assert_eq!(answer.code, Some(8), "{}", answer.stderr);
    let json: Value = answer.json();
    assert_eq!(json["error"]["kind"], "busy");
    assert!(answer.stderr.contains("try again"), "{}", answer.stderr);
    assert_eq!(session.everything(), before);
}
