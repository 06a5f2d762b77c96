//! A directory to work in, and the program run in it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rusqlite::Connection;
use tempfile::TempDir;

/// A scratch directory with keys in it: `key` (of most vectors), `wrong`, `new`.
pub(crate) struct Session {
    dir: TempDir,
}

impl Session {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, text) in [
            ("key", "correct horse\n"),
            ("wrong", "no\n"),
            ("new", "new\n"),
            ("query.sql", "SELECT a FROM t;\n"),
        ] {
            fs::write(dir.path().join(name), text).expect("a key file");
        }
        Self { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The program, about to be run here: no terminal, and no key in its
    /// environment.
    pub(crate) fn pageseal(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pageseal"));
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Answer {
        Answer::of(self.pageseal().args(args))
    }

    /// Copies a vector and its side files here.
    pub(crate) fn vector(&self, name: &str) -> PathBuf {
        let mut found = false;
        for suffix in ["", "-wal", "-journal"] {
            let from = vectors().join(format!("{name}.db{suffix}"));
            if from.exists() {
                found = true;
                fs::copy(from, self.path(&format!("{name}.db{suffix}"))).expect("a copy");
            }
        }
        assert!(found, "no vector {name}");
        self.path(&format!("{name}.db"))
    }

    /// Whether a vector's files here are as they were, and nothing lies beside them.
    pub(crate) fn is_unchanged(&self, name: &str) -> bool {
        ["", "-wal", "-journal", "-shm"].iter().all(|suffix| {
            let file = format!("{name}.db{suffix}");
            fs::read(vectors().join(&file)).ok() == fs::read(self.path(&file)).ok()
        })
    }

    /// Every file here, with its bytes.
    pub(crate) fn everything(&self) -> Vec<(OsString, Vec<u8>)> {
        let mut files: Vec<_> = fs::read_dir(self.dir.path())
            .expect("the directory")
            .map(|entry| entry.expect("an entry"))
            .map(|entry| {
                (
                    entry.file_name(),
                    fs::read(entry.path()).unwrap_or_default(),
                )
            })
            .collect();
        files.sort();
        files
    }
}

/// What a run printed, and how it ended.
pub(crate) struct Answer {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Answer {
    pub(crate) fn of(command: &mut Command) -> Self {
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().expect("the program runs");
        Self {
            stdout: String::from_utf8(stdout).expect("UTF-8"),
            stderr: String::from_utf8(stderr).expect("UTF-8"),
            code: status.code(),
        }
    }

    /// As it is, if it ended well.
    pub(crate) fn fine(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }

    /// The JSON that it printed.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }
}

pub(crate) fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("compat-vectors")
}

/// The name of a side file.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    pageseal::offline::side_path(path, suffix)
}

/// Opens a database through the VFS, without a key.
pub(crate) fn open(path: impl AsRef<Path>) -> rusqlite::Result<Connection> {
    pageseal::register().expect("the VFS");
    let flags = rusqlite::OpenFlags::default();
    Connection::open_with_flags_and_vfs(path, flags, pageseal::VFS_NAME)
}

/// Destroys a page: one byte in its middle.
pub(crate) fn damage(path: &Path, page_size: usize, pgno: usize) {
    let mut bytes = fs::read(path).expect("the database");
    bytes[(pgno - 1) * page_size + page_size / 2] ^= 0x80;
    fs::write(path, bytes).expect("the database");
}
