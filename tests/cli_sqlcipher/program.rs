//! The program, with key and settings of a configuration.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::configuration::Configuration;
use crate::content::create;
use crate::content_hash::content_hash;
use crate::database::{Side, check};
use crate::session::{Answer, Session};

/// A directory with a database `a.db` in it, and the program with its key.
pub(crate) struct Program<'a> {
    pub(crate) session: Session,
    how: &'a Configuration,
}

impl<'a> Program<'a> {
    /// Has SQLCipher create the database.
    pub(crate) fn with_database_of(side: Side, how: &'a Configuration) -> Self {
        let program = Self::empty(how);
        let mut database = side.create(&program.session.path("a.db"), how);
        database.exec("PRAGMA synchronous = OFF");
        database.exec(&create(how));
        database.close();
        program
    }

    /// Without a database.
    pub(crate) fn empty(how: &'a Configuration) -> Self {
        let session = Session::new();
        // The one line end behind it is no part of the key.
        fs::write(session.path("key"), [&how.key[..], b"\n"].concat()).expect("a key");
        Self { session, how }
    }

    /// A file here with the configuration's settings, as a URI.
    pub(crate) fn uri(&self, file: &str) -> String {
        format!("file:{file}?{}", &self.how.uri_settings()[1..])
    }

    /// Runs the program: `@a.db` stands for the URI of `a.db` with the settings.
    pub(crate) fn run(&self, args: &[&str]) -> Answer {
        Answer::of(
            self.session
                .pageseal()
                .args(self.args(args))
                .args(["--key-file", "key"]),
        )
    }

    fn args(&self, args: &[&str]) -> Vec<String> {
        let arg = |arg: &&str| match arg.strip_prefix('@') {
            Some(file) => self.uri(file),
            None => (*arg).to_owned(),
        };
        args.iter().map(arg).collect()
    }

    /// As [`Program::run`], by somebody who may only read.
    #[cfg(unix)]
    pub(crate) fn run_unprivileged(&self, args: &[&str]) -> Answer {
        let mut command = self.session.unprivileged();
        let answer = Answer::of(command.args(self.args(args)).args(["--key-file", "key"]));
        self.session.privileged_again();
        answer
    }

    /// That SQLCipher finds a file sound and with this content.
    pub(crate) fn judge(&self, side: Side, file: &str, content: &str) {
        judge(side, &self.session.path(file), self.how, content);
    }

    /// That stock SQLite finds a file sound and with this content.
    pub(crate) fn judge_plain(&self, file: &str, content: &str) -> Connection {
        let db = Connection::open(self.session.path(file)).expect("stock SQLite opens it");
        let hash = content_hash(&db, "main").expect("stock SQLite reads it");
        assert_eq!(hash.sha256, content, "content of {file}");
        let check: String = db
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .expect("a check");
        assert_eq!(check, "ok", "{file}");
        db
    }
}

/// That SQLCipher finds a file sound and with this content.
pub(crate) fn judge(side: Side, path: &Path, how: &Configuration, content: &str) {
    let mut database = side.open(path, how);
    check(&mut *database, how, content);
    database.close();
}
