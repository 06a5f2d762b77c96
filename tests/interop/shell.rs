//! The shell `sqlcipher` of Debian: a real SQLCipher 3.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rusqlite::Connection;

use crate::configuration::Configuration;
use crate::content_hash::content_hash;
use crate::database::{Database, Side};
use crate::peer::{PeerError, Rows, Value};

/// A running shell with one database.
pub(crate) struct Shell {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

/// The row behind the rows of an answer.
const END: &str = "end of the answer";

impl Shell {
    /// Opens `path`, creating it if need be, and keys it by pragma.
    pub(crate) fn open(path: &Path, how: &Configuration) -> Self {
        let mut shell = Self::spawn(path);
        shell.exec(&how.key_pragma());
        shell.exec(&how.settings_of_version_3());
        shell
    }

    /// Ends the process at once, as a crash would.
    pub(crate) fn kill(mut self) {
        self.process.kill().expect("it can be killed");
        self.process.wait().expect("it can be killed");
    }

    fn spawn(path: &Path) -> Self {
        // Lines must come as soon as they are written, errors among them.
        let mut process = Command::new("sh")
            .args(["-c", "exec stdbuf -oL sqlcipher -batch \"$1\" 2>&1", "sh"])
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let input = process.stdin.take().expect("piped");
        let output = BufReader::new(process.stdout.take().expect("piped"));
        let mut shell = Self {
            process,
            input,
            output: output.lines(),
        };
        let version = shell.ask("PRAGMA cipher_version;");
        assert!(
            version.len() == 1 && version[0].starts_with("3."),
            "this needs the shell of a SQLCipher 3 as `sqlcipher` (on Debian: \
             `apt-get install sqlcipher`), and got: {version:?}"
        );
        shell
    }

    /// The lines of the answer.
    fn ask(&mut self, script: &str) -> Vec<String> {
        // It may not be there to read them.
        let _ = writeln!(self.input, "{script}\nSELECT '{END}';");
        let lines = self.output.by_ref().map(|line| line.expect("text"));
        lines.take_while(|line| line != END).collect()
    }
}

impl Database for Shell {
    fn side(&self) -> Side {
        Side::Shell
    }

    fn try_query(&mut self, sql: &str) -> Result<Rows, PeerError> {
        // The last statement may have been left open.
        let lines = self.ask(&format!("{sql};"));
        match lines.iter().find(|line| line.starts_with("Error: ")) {
            None => Ok(lines.into_iter().map(|t| vec![Value::Text(t)]).collect()),
            Some(error) => Err(PeerError {
                code: 1,
                extended: 1,
                message: error.clone(),
            }),
        }
    }

    /// That of a copy, made from the shell's `.dump`.
    fn content_hash(&mut self) -> String {
        let script = self.ask(".dump").join("\n");
        let copy = Connection::open_in_memory().expect("opens");
        copy.execute_batch(&script)
            .unwrap_or_else(|e| panic!("{e}\nin: {script:.2000}"));
        content_hash(&copy, "main").expect("a hash").sha256
    }

    fn close(self: Box<Self>) {
        let Shell {
            mut process, input, ..
        } = *self;
        drop(input);
        let status = process.wait().expect("a process");
        assert!(status.success(), "sqlcipher: {status}");
    }
}
