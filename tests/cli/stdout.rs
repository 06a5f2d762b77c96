//! Standard output that takes nothing: an error where the disk is full, but none where
//! the reader of a pipe has gone.

use std::process::{Command, Stdio};

use crate::everywhere::COMMANDS;
use crate::session::{Answer, Session};

fn command(session: &Session, args: &[&str], more: &[&str]) -> Command {
    let mut command = session.pageseal();
    command.args(args).args(more);
    command
}

/// Whatever prints something, with what else it needs.
fn all() -> Vec<(&'static [&'static str], Vec<&'static str>)> {
    let on_databases = ["--compat", "3", "--key-file", "key"];
    let others: [&[&str]; 5] = [
        &["man"],
        &["completions", "bash"],
        &["--help"],
        &["verify", "--help"],
        &["--version"],
    ];
    COMMANDS
        .into_iter()
        .flat_map(|args| {
            let json = [&on_databases[..], &["--json"]].concat();
            [(args, on_databases.to_vec()), (args, json)]
        })
        .chain(others.into_iter().map(|args| (args, Vec::new())))
        .collect()
}

fn new_session() -> Session {
    let session = Session::new();
    session.vector("preset-3");
    session.vector("plaintext");
    session
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    for (args, more) in all() {
        let session = new_session();
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = command(&session, args, &more);
        // `Command::output` leaves a standard output alone that was chosen before.
        let answer = Answer::of(command.stdout(full.expect("/dev/full")));
        assert_eq!(answer.code, Some(6), "{args:?} {more:?}: {}", answer.stderr);
        assert_eq!(
            answer.stderr,
            "pageseal: can't write standard output: No space left on device (os error 28); \
             free some space or write to another disk\n",
            "{args:?} {more:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_gone_is_none() {
    for (args, more) in all() {
        let session = new_session();
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = command(&session, args, &more);
        let answer = Answer::of(command.stdout(Stdio::from(writer)));
        assert_eq!(answer.code, Some(0), "{args:?} {more:?}: {}", answer.stderr);
        assert_eq!(answer.stderr, "", "{args:?} {more:?}");
    }
}
