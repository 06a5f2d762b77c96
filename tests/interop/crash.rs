//! Either side in a process that is killed while it has the database open.

use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::configuration::Configuration;
use crate::database::{Database, Side};
use crate::ours::Ours;
use crate::theirs::Theirs;

/// What a process does until it is killed.
pub(crate) struct Work<'a> {
    pub(crate) path: &'a Path,
    pub(crate) how: &'a Configuration,
    pub(crate) script: &'a str,
    pub(crate) end: End<'a>,
}

/// How the process ends.
#[derive(Clone, Copy)]
pub(crate) enum End<'a> {
    /// It is killed when the script has ended.
    Killed,
    /// By the system (SIGXFSZ), when a file of its gets larger than so many bytes
    /// in this last statement.
    TooLarge(u64, &'a str),
}

impl Work<'_> {
    /// Does the work on one side, in a process that does not outlive it.
    pub(crate) fn crash(&self, side: Side) {
        match side {
            Side::Pageseal => self.crash_ours(),
            Side::SqlCipher => self.crash_theirs(),
        }
    }

    fn crash_theirs(&self) {
        let mut theirs = Theirs::open(self.path, self.how);
        theirs.exec(&self.how.settings());
        theirs.exec(self.script);
        if let End::TooLarge(bytes, statement) = self.end {
            limit(theirs.id(), bytes);
            let ended = catch_unwind(AssertUnwindSafe(|| theirs.try_query(statement)));
            assert!(ended.is_err(), "SQLCipher survived: {ended:?}");
        }
        theirs.kill();
    }

    /// Ours runs in another process of this program, as the test [`child`].
    fn crash_ours(&self) {
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "crash::child", "--ignored", "--nocapture"])
            .env(CHILD, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program starts");
        let last = match self.end {
            End::Killed => "",
            End::TooLarge(_, statement) => statement,
        };
        let mut input = process.stdin.take().expect("piped");
        let uri = self.how.uri(self.path);
        writeln!(input, "{uri}\0{}\0{last}\0", self.script).expect("it reads");
        let mut output = BufReader::new(process.stdout.take().expect("piped")).lines();
        let scripted = output.any(|line| line.expect("text") == SCRIPTED);
        assert!(scripted, "the process ended early; its error is above");
        if let End::TooLarge(bytes, _) = self.end {
            limit(process.id(), bytes);
            writeln!(input).expect("it reads");
            process.wait().expect("a process");
            assert_eq!(output.count(), 0, "pageseal survived");
        }
        // It has ended, or ends now.
        let _ = process.kill();
        process.wait().expect("a process");
    }
}

/// Sets the largest size that a process may give to a file.
fn limit(process: u32, bytes: u64) {
    let (size, id) = (format!("--fsize={bytes}"), process.to_string());
    let status = Command::new("prlimit").args([&size, "--pid", &id]).status();
    assert!(status.expect("prlimit (of util-linux)").success());
}

/// The environment variable by which [`child`] knows that it is meant.
const CHILD: &str = "PAGESEAL_INTEROP_CHILD";

/// The line that it writes when its script has ended.
const SCRIPTED: &str = "the script has ended";

/// Not a test: the process that [`Work::crash`] puts an end to.
#[test]
#[ignore = "started and killed by other tests"]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let mut input = std::io::stdin().lock();
    let [uri, script, last] = std::array::from_fn(|_| {
        let mut part = Vec::new();
        input.read_until(0, &mut part).expect("readable");
        assert_eq!(part.pop(), Some(0));
        String::from_utf8(part).expect("text")
    });
    input.read_line(&mut String::new()).expect("readable");
    let mut ours = Ours::open_unkeyed(Path::new(&uri));
    ours.exec(&script);
    println!("\n{SCRIPTED}");
    // The rest is asked for, or the end comes.
    input.read_line(&mut String::new()).expect("readable");
    println!("{:?}", ours.try_query(&last));
}
