//! A directory to work in, and the program run in it.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

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

    /// The program as somebody who may write nothing here but into `out`, and read what
    /// everybody may. (Whoever runs the tests as root becomes somebody else for it; a
    /// user's own directory is made read-only.)
    #[cfg(unix)]
    pub(crate) fn unprivileged(&self) -> Command {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        use std::os::unix::process::CommandExt;
        let chmod = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
        };
        let dir = self.dir.path();
        let out = self.path("out");
        if !out.exists() {
            fs::create_dir(&out).expect("a directory");
            // The program itself may lie where only root may look.
            fs::copy(env!("CARGO_BIN_EXE_pageseal"), out.join("pageseal")).expect("a copy");
            chmod(&out, 0o777);
        }
        let mut command = Command::new(out.join("pageseal"));
        command.current_dir(dir).stdin(Stdio::null());
        if fs::metadata(dir).expect("the directory").uid() == 0 {
            chmod(dir, 0o755);
            command.uid(65534).gid(65534);
        } else {
            chmod(dir, 0o555);
        }
        command
    }

    /// Ends what [`Session::unprivileged`] began: the directory can be written to.
    #[cfg(unix)]
    pub(crate) fn privileged_again(&self) {
        use std::os::unix::fs::PermissionsExt;
        let dir = self.dir.path();
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).expect("permissions");
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
    pub(crate) fn everything(&self) -> Vec<(OsString, Bytes)> {
        let mut files: Vec<_> = fs::read_dir(self.dir.path())
            .expect("the directory")
            .map(|entry| entry.expect("an entry"))
            .map(|entry| {
                (
                    entry.file_name(),
                    Bytes(fs::read(entry.path()).unwrap_or_default()),
                )
            })
            .collect();
        files.sort();
        files
    }
}

/// The bytes of a file, which nobody wants to read in a failure's report.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bytes(Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hash = DefaultHasher::new();
        self.0.hash(&mut hash);
        write!(f, "{} bytes, hash {:x}", self.0.len(), hash.finish())
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
        } = loop {
            match command.output() {
                // Another thread is just starting a process, which has inherited a
                // program's copy that is open for writing.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                output => break output.expect("the program runs"),
            }
        };
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
#[allow(dead_code)] // for the manifest, which the tests here ask for no connection
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
