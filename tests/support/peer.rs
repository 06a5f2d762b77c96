//! Genuine SQLCipher as another process: the client of `pageseal-peer`.
//!
//! ```no_run
//! let mut peer = Peer::spawn();
//! peer.open("db", "/tmp/x.db", Some(b"secret")).unwrap();
//! peer.exec("db", "CREATE TABLE t(a); INSERT INTO t VALUES(1)").unwrap();
//! assert_eq!(peer.query("db", "SELECT a FROM t").unwrap(), [[Value::Integer(1)]]);
//! peer.kill(); // as a crash would
//! ```
#![allow(dead_code, unreachable_pub)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

#[path = "wire.rs"]
mod wire;

#[allow(unused_imports)] // not every test uses all of them
pub use wire::{Value, from_hex, to_hex};

/// An error that SQLCipher reported (or, with code 0, a request that the peer
/// could not carry out).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerError {
    /// Primary result code, such as 26 for NOTADB.
    pub code: i32,
    /// Extended result code.
    pub extended: i32,
    /// The text that goes with it.
    pub message: String,
}

impl std::fmt::Display for PeerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.code, self.extended, self.message)
    }
}

impl std::error::Error for PeerError {}

/// Rows of values.
pub type Rows = Vec<Vec<Value>>;

/// A running peer; killed when dropped.
pub struct Peer {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts the peer.
    ///
    /// # Panics
    ///
    /// When the program has not been built: a test that needs genuine
    /// SQLCipher must not pass without it.
    pub fn spawn() -> Self {
        Self::spawn_program(&Self::program())
    }

    fn program() -> PathBuf {
        std::env::var_os("PAGESEAL_PEER").map_or_else(
            || {
                Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("tests/peer/target/release/pageseal-peer")
            },
            PathBuf::from,
        )
    }

    /// As [`Peer::spawn`], with `dir` as its working directory: names in SQL are then
    /// of files in it.
    pub fn spawn_in(dir: &Path) -> Self {
        Self::spawn_command(Command::new(Self::program()).current_dir(dir))
    }

    /// Starts the peer that lies at `program`.
    pub fn spawn_program(program: &Path) -> Self {
        Self::spawn_command(&mut Command::new(program))
    }

    fn spawn_command(command: &mut Command) -> Self {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| {
                panic!(
                    "cannot run {}: {e}\nbuild it with `cargo build --release \
                     --manifest-path tests/peer/Cargo.toml` (needs OpenSSL's headers: \
                     libssl-dev), or name it in PAGESEAL_PEER",
                    command.get_program().display()
                )
            });
        let requests = process.stdin.take().expect("piped");
        let answers = BufReader::new(process.stdout.take().expect("piped"));
        Self {
            process,
            requests,
            answers,
        }
    }

    /// Opens `path` (or a `file:` URI) as `name`, keyed through the library
    /// with any bytes, or not keyed.
    pub fn open(
        &mut self,
        name: &str,
        path: impl AsRef<Path>,
        key: Option<&[u8]>,
    ) -> Result<(), PeerError> {
        let key = key.map_or("-".to_owned(), to_hex);
        self.call(&["open", name, utf8(path.as_ref()), &key])
            .map(drop)
    }

    /// As [`Peer::open`], read-only.
    pub fn open_read_only(
        &mut self,
        name: &str,
        path: impl AsRef<Path>,
        key: Option<&[u8]>,
    ) -> Result<(), PeerError> {
        let key = key.map_or("-".to_owned(), to_hex);
        self.call(&["open", name, utf8(path.as_ref()), &key, "ro"])
            .map(drop)
    }

    /// Keys an open connection through the library.
    pub fn key(&mut self, name: &str, key: &[u8]) -> Result<(), PeerError> {
        self.call(&["key", name, &to_hex(key)]).map(drop)
    }

    /// Changes the key through the library.
    pub fn rekey(&mut self, name: &str, key: &[u8]) -> Result<(), PeerError> {
        self.call(&["rekey", name, &to_hex(key)]).map(drop)
    }

    /// Runs one or more statements, dropping their rows.
    pub fn exec(&mut self, name: &str, sql: &str) -> Result<(), PeerError> {
        self.call(&["exec", name, sql]).map(drop)
    }

    /// Runs one or more statements and returns all their rows.
    pub fn query(&mut self, name: &str, sql: &str) -> Result<Rows, PeerError> {
        self.call(&["query", name, sql]).map(|answer| answer.0)
    }

    /// The content hash of `main` and the row count of each table; see
    /// `content_hash.rs`.
    pub fn content_hash(&mut self, name: &str) -> Result<(String, Vec<(String, u64)>), PeerError> {
        let (rows, hash) = self.call(&["content_hash", name])?;
        let tables = rows.into_iter().map(|row| match &row[..] {
            [Value::Text(table), Value::Integer(n)] => (table.clone(), n.cast_unsigned()),
            other => panic!("not a table and its row count: {other:?}"),
        });
        Ok((hash, tables.collect()))
    }

    /// Creates the bank: `accounts` rows with `balance` each and `pad` bytes.
    pub fn bank_setup(
        &mut self,
        name: &str,
        accounts: u64,
        balance: u64,
        pad: u64,
    ) -> Result<(), PeerError> {
        let numbers = [accounts, balance, pad].map(|n| n.to_string());
        self.call(&["bank_setup", name, &numbers[0], &numbers[1], &numbers[2]])
            .map(drop)
    }

    /// Starts `count` transactions (0: endless) and returns at once; the file
    /// `log` gets a line for each one committed. [`Peer::wait`] for the end, or
    /// [`Peer::kill`]. For the knobs (`"cache_size=5"`) see `tests/peer/src/bank.rs`.
    pub fn start_bank(&mut self, name: &str, count: u64, log: &Path, knobs: &[&str]) {
        let count = count.to_string();
        let mut words = vec!["bank", name, &count, utf8(log)];
        words.extend(knobs);
        self.send(&words);
    }

    /// Waits for the bank's end and returns the last transaction's number.
    pub fn wait(&mut self) -> Result<u64, PeerError> {
        let (_, last) = self.receive()?;
        Ok(last.parse().expect("a transaction number"))
    }

    /// Runs the bank to its end.
    pub fn bank(
        &mut self,
        name: &str,
        count: u64,
        log: &Path,
        knobs: &[&str],
    ) -> Result<u64, PeerError> {
        self.start_bank(name, count, log, knobs);
        self.wait()
    }

    /// Closes a connection.
    pub fn close(&mut self, name: &str) -> Result<(), PeerError> {
        self.call(&["close", name]).map(drop)
    }

    /// The process identifier.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Ends the process at once, as a crash would (SIGKILL).
    pub fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    fn call(&mut self, words: &[&str]) -> Result<(Rows, String), PeerError> {
        self.send(words);
        self.receive()
    }

    fn send(&mut self, words: &[&str]) {
        let words: Vec<_> = words.iter().map(|w| wire::escape(w.as_bytes())).collect();
        writeln!(self.requests, "{}", words.join(" ")).expect("the peer has ended");
    }

    fn receive(&mut self) -> Result<(Rows, String), PeerError> {
        let mut rows = Vec::new();
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.answers.read_line(&mut line);
            assert!(read.is_ok_and(|n| n > 0), "the peer has ended");
            let words: Vec<&str> = line.trim_end_matches('\n').split(' ').collect();
            match words[..] {
                ["row", ref values @ ..] => {
                    let row = values.iter().map(|v| Value::decode(v));
                    rows.push(row.collect::<Option<_>>().expect("a row"));
                }
                ["ok", ref word @ ..] => return Ok((rows, text(word.first().unwrap_or(&"")))),
                ["err", code, extended, message] => {
                    return Err(PeerError {
                        code: code.parse().expect("a code"),
                        extended: extended.parse().expect("a code"),
                        message: text(message),
                    });
                }
                _ => panic!("cannot understand the peer's answer: {line}"),
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.end();
    }
}

fn text(word: &str) -> String {
    String::from_utf8(wire::unescape(word).expect("an escaped word")).expect("UTF-8")
}

fn utf8(path: &Path) -> &str {
    path.to_str().expect("a UTF-8 path")
}
