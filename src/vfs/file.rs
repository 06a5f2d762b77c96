//! An open file of any kind, and where its calls go.

use std::sync::Arc;

use crate::session::Session;

use super::caps;
use super::code::Result;
use super::database::{Database, Shape};
use super::journal::Journal;
use super::log::Log;
use super::lower::LowerFile;
use super::scratch::Scratch;

/// An open file.
pub(crate) enum File {
    Database(Database),
    Journal(Journal),
    Log(Log),
    Scratch(Scratch),
    /// Passed through: super-journals, which hold file names only, and journals
    /// of databases that are not ours.
    Raw(LowerFile),
}

/// Passes a call on to whatever the file is.
macro_rules! dispatch {
    ($self:expr, $file:ident => $call:expr) => {
        match $self {
            File::Database($file) => $call,
            File::Journal($file) => $call,
            File::Log($file) => $call,
            File::Scratch($file) => $call,
            File::Raw($file) => $call,
        }
    };
}

impl File {
    pub(crate) fn lower(&self) -> &LowerFile {
        match self {
            Self::Database(file) => file.lower(),
            Self::Journal(file) => file.lower(),
            Self::Log(file) => file.lower(),
            Self::Scratch(file) => file.lower(),
            Self::Raw(file) => file,
        }
    }

    pub(crate) fn database(&mut self) -> Option<&mut Database> {
        match self {
            Self::Database(file) => Some(file),
            _ => None,
        }
    }

    pub(crate) fn session(&self) -> Option<&Arc<Session>> {
        match self {
            Self::Database(file) => Some(file.session()),
            _ => None,
        }
    }

    pub(crate) fn close(self) -> Result {
        match self {
            Self::Database(file) => file.into_lower(),
            Self::Journal(file) => file.into_lower(),
            Self::Log(file) => file.into_lower(),
            Self::Scratch(file) => file.into_lower(),
            Self::Raw(file) => file,
        }
        .close()
    }

    pub(crate) fn read(&mut self, buf: &mut [u8], offset: u64) -> Result {
        dispatch!(self, file => file.read(buf, offset))
    }

    pub(crate) fn write(&mut self, data: &[u8], offset: u64) -> Result {
        dispatch!(self, file => file.write(data, offset))
    }

    pub(crate) fn truncate(&mut self, size: i64) -> Result {
        match self {
            Self::Database(file) => file.truncate(size),
            Self::Log(file) => file.truncate(size),
            Self::Scratch(file) => file.truncate(size),
            Self::Journal(_) | Self::Raw(_) => self.lower().truncate(size),
        }
    }

    pub(crate) fn sync(&mut self, flags: i32) -> Result {
        match self {
            Self::Database(file) => file.sync(flags),
            Self::Log(file) => file.sync(flags),
            Self::Scratch(file) => file.sync(flags),
            Self::Journal(_) | Self::Raw(_) => self.lower().sync(flags),
        }
    }

    pub(crate) fn size(&mut self) -> Result<u64> {
        match self {
            Self::Database(file) => file.size(),
            Self::Log(file) => file.size(),
            Self::Scratch(file) => Ok(file.size()),
            _ => self.lower().size(),
        }
    }

    pub(crate) fn lock(&mut self, level: i32) -> Result<Option<Shape>> {
        match self {
            Self::Database(file) => file.lock(level),
            _ => self.lower().lock(level).map(|()| None),
        }
    }

    pub(crate) fn unlock(&mut self, level: i32) -> Result {
        match self {
            Self::Database(file) => file.unlock(level),
            _ => self.lower().unlock(level),
        }
    }

    /// Writes what waits to be written.
    pub(crate) fn flush(&mut self) -> Result {
        match self {
            Self::Database(file) => file.flush(),
            Self::Log(file) => file.flush(),
            Self::Journal(_) | Self::Scratch(_) | Self::Raw(_) => Ok(()),
        }
    }

    pub(crate) fn capabilities(&self) -> i32 {
        caps::allowed(self.lower().capabilities())
    }
}
