//! What a step has at hand.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::Result;
use crate::clock::Stopwatch;
use crate::engine::{self, Settings, Variant};
use crate::protocol::Job;

/// The contestant's place and its connection.
#[derive(Debug)]
pub struct Env {
    job: Job,
    db: Option<Connection>,
}

impl Env {
    /// Nothing is opened yet.
    #[must_use]
    pub fn new(job: Job) -> Self {
        Self { job, db: None }
    }

    /// The workload's main database file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.file("bench.db")
    }

    /// Another file of this contestant.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.job.dir.join(name)
    }

    /// How this contestant opens databases.
    #[must_use]
    pub fn variant(&self) -> &Variant {
        &self.job.variant
    }

    /// What every side sets alike.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.job.settings
    }

    /// A further connection to the main database.
    pub fn connect(&self, settings: &Settings) -> Result<Connection> {
        self.open(&self.path(), settings)
    }

    /// A connection to any of this contestant's files.
    pub fn open(&self, path: &Path, settings: &Settings) -> Result<Connection> {
        engine::open(self.variant(), path, settings)
    }

    /// Closes the connection if there is one and opens the main database anew: SQLite's
    /// cache is empty then, and so is the contestant's.
    pub fn reopen(&mut self, settings: &Settings) -> Result<&Connection> {
        self.close()?;
        let db = self.connect(settings)?;
        Ok(self.db.insert(db))
    }

    /// The connection, opened with the common settings if there is none yet.
    pub fn db(&mut self) -> Result<&Connection> {
        if self.db.is_none() {
            let settings = self.settings().clone();
            self.reopen(&settings)?;
        }
        Ok(self.db.as_ref().expect("just opened"))
    }

    /// Closes the connection if there is one.
    pub fn close(&mut self) -> Result<()> {
        if let Some(db) = self.db.take() {
            db.close().map_err(|(_, error)| error)?;
        }
        Ok(())
    }

    /// A stopwatch for one step.
    #[must_use]
    pub fn stopwatch(&self) -> Stopwatch {
        Stopwatch::new(self.variant().slow_percent)
    }
}
