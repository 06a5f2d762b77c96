//! Files read and written at an offset, from several threads at once.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::error::{OfflineError, Result, io_error};

/// A file that is only ever read.
#[derive(Debug)]
pub struct ReadFile {
    file: File,
    path: PathBuf,
    stamp: Stamp,
}

/// What changes when somebody writes to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            len: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }
}

/// No coarser are the clocks by which file systems stamp writes (but FAT's, of two
/// seconds).
const TICK: Duration = Duration::from_millis(20);

/// How often a file that is just being written to is looked at again.
const PATIENCE: usize = 5;

/// The stamp of a file, taken when its last write lies a tick back: another write in
/// the same tick would leave the stamp as it is.
fn settled(file: &File) -> io::Result<Stamp> {
    let mut stamp = Stamp::of(&file.metadata()?);
    for _ in 0..PATIENCE {
        let age = stamp.modified.and_then(|time| time.elapsed().ok());
        if age.is_none_or(|age| age > TICK) {
            break;
        }
        std::thread::sleep(TICK);
        stamp = Stamp::of(&file.metadata()?);
    }
    Ok(stamp)
}

impl ReadFile {
    /// Opens a regular file.
    ///
    /// # Errors
    /// It can't be opened, or it is a directory or a device.
    pub fn open(path: &Path) -> Result<Self> {
        // Before it is opened: to open a named pipe is to wait for its writer.
        let metadata = std::fs::metadata(path).map_err(io_error("open", path))?;
        if !metadata.is_file() {
            return Err(OfflineError::NotAFile(path.to_owned()));
        }
        let file = File::open(path).map_err(io_error("open", path))?;
        let stamp = settled(&file).map_err(io_error("read", path))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            stamp,
        })
    }

    /// As [`ReadFile::open`]; `None` where there is no such file.
    ///
    /// # Errors
    /// As [`ReadFile::open`].
    pub fn open_if_there(path: &Path) -> Result<Option<Self>> {
        match Self::open(path) {
            Ok(file) => Ok(Some(file)),
            Err(OfflineError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its length when it was opened.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.stamp.len
    }

    /// Whether there was nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is as it was when it was opened: same length and time, and
    /// still the file of that name.
    ///
    /// # Errors
    /// It can't be looked at any more.
    pub fn is_unchanged(&self) -> Result<bool> {
        let here = self.file.metadata().map_err(io_error("read", &self.path))?;
        let named = std::fs::metadata(&self.path);
        Ok(Stamp::of(&here) == self.stamp
            && named.is_ok_and(|metadata| Stamp::of(&metadata) == self.stamp))
    }

    /// Fills `buf` from `offset`, as far as the file goes; returns how far.
    ///
    /// # Errors
    /// The operating system's.
    pub fn read_some(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        let mut done = 0;
        while done < buf.len() {
            match read_at(&self.file, &mut buf[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io_error("read", &self.path)(error)),
            }
        }
        Ok(done)
    }

    /// Fills `buf` from `offset`; `false` where the file ends before that.
    ///
    /// # Errors
    /// The operating system's.
    pub fn read(&self, buf: &mut [u8], offset: u64) -> Result<bool> {
        Ok(self.read_some(buf, offset)? == buf.len())
    }
}

/// Writes to a file at an offset, from any thread.
#[derive(Debug)]
pub struct WriteFile<'a> {
    file: &'a File,
    path: &'a Path,
}

impl<'a> WriteFile<'a> {
    /// Writes to `file`, which errors call `path`.
    #[must_use]
    pub fn new(file: &'a File, path: &'a Path) -> Self {
        Self { file, path }
    }

    /// Gives the file its length at once.
    ///
    /// # Errors
    /// The operating system's.
    pub fn set_len(&self, len: u64) -> Result<()> {
        self.file.set_len(len).map_err(io_error("write", self.path))
    }

    /// Writes all of `data`.
    ///
    /// # Errors
    /// The operating system's.
    pub fn write(&self, data: &[u8], offset: u64) -> Result<()> {
        let mut done = 0;
        while done < data.len() {
            match write_at(self.file, &data[done..], offset + done as u64) {
                Ok(0) => {
                    return Err(io_error("write", self.path)(
                        io::ErrorKind::WriteZero.into(),
                    ));
                }
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io_error("write", self.path)(error)),
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
use std::os::unix::fs::FileExt;
#[cfg(windows)]
use std::os::windows::fs::FileExt;

#[cfg(unix)]
fn read_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buf, offset)
}

#[cfg(unix)]
fn write_at(file: &File, data: &[u8], offset: u64) -> io::Result<usize> {
    file.write_at(data, offset)
}

// The file pointer, which these move, is never used.
#[cfg(windows)]
fn read_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(buf, offset)
}

#[cfg(windows)]
fn write_at(file: &File, data: &[u8], offset: u64) -> io::Result<usize> {
    file.seek_write(data, offset)
}
