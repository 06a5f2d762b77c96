//! Either side as another process, which can be killed at any moment.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::wire::{self, Value};

/// Who is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Pageseal,
    Sqlcipher,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Pageseal, Self::Sqlcipher];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pageseal => "pageseal",
            Self::Sqlcipher => "SQLCipher",
        }
    }
}

/// Rows, or a result code (extended) and its text.
pub(crate) type Answer = Result<Vec<Vec<Value>>, (i32, String)>;

/// A running process, killed when dropped.
pub(crate) struct Process {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// The program that is genuine SQLCipher.
fn peer() -> PathBuf {
    std::env::var_os("PAGESEAL_PEER").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/target/release/pageseal-peer"),
        PathBuf::from,
    )
}

impl Process {
    /// Starts one.
    ///
    /// # Panics
    /// If the program is not there: a test that needs genuine SQLCipher must not
    /// pass without it.
    pub(crate) fn start(side: Side) -> Self {
        let mut command = match side {
            Side::Pageseal => {
                let program = std::env::current_exe().expect("this program has a path");
                let mut command = Command::new(program);
                command.arg("worker");
                command
            }
            Side::Sqlcipher => Command::new(peer()),
        };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                panic!(
                    "cannot run {}: {error}\nbuild it with `cargo build --release \
                     --manifest-path tests/peer/Cargo.toml` (needs OpenSSL's headers: \
                     libssl-dev), or name it in PAGESEAL_PEER",
                    command.get_program().display()
                )
            });
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("piped"));
        Self {
            child,
            requests,
            answers,
        }
    }

    /// Sends a request and waits for its answer; `None` if the process has ended.
    pub(crate) fn ask(&mut self, words: &[&str]) -> Option<Answer> {
        let requests = self.requests.as_mut()?;
        writeln!(requests, "{}", line(words)).ok()?;
        self.receive()
    }

    /// The next answer; `None` if the process has ended.
    fn receive(&mut self) -> Option<Answer> {
        let mut rows = Vec::new();
        loop {
            let mut line = String::new();
            if self.answers.read_line(&mut line).ok()? == 0 || !line.ends_with('\n') {
                return None;
            }
            let words: Vec<&str> = line.trim_end_matches('\n').split(' ').collect();
            match words[..] {
                ["row", ref values @ ..] => {
                    rows.push(
                        values
                            .iter()
                            .map(|v| Value::decode(v))
                            .collect::<Option<_>>()?,
                    );
                }
                ["ok", ..] => return Some(Ok(rows)),
                ["err", _, extended, message] => {
                    let text = wire::unescape(message)?;
                    let text = String::from_utf8_lossy(&text).into_owned();
                    return Some(Err((extended.parse().ok()?, text)));
                }
                _ => panic!("cannot understand the answer: {line}"),
            }
        }
    }

    /// Sends all these requests without waiting for answers, kills the process
    /// `delay` after the first answer (or after sending starts, if `at_once`), and
    /// returns the answers that had come until then.
    pub(crate) fn run_and_kill(
        mut self,
        requests: &[Vec<String>],
        delay: Duration,
        at_once: bool,
    ) -> Vec<Answer> {
        // Open to the end: the end of its input would end the process in order.
        let mut stdin = self.requests.take().expect("not taken before");
        let mut answers = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for request in requests {
                    let words: Vec<&str> = request.iter().map(String::as_str).collect();
                    // It fails once the process has been killed.
                    if writeln!(stdin, "{}", line(&words)).is_err() {
                        break;
                    }
                }
            });
            if !at_once {
                answers.extend(self.receive());
            }
            std::thread::sleep(delay);
            self.end();
            while let Some(answer) = self.receive() {
                answers.push(answer);
            }
        });
        answers
    }

    /// SIGKILL.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn line(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|w| wire::escape(w.as_bytes())).collect();
    words.join(" ")
}
