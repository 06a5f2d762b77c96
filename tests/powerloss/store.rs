//! The store: files in memory behind a VFS.

use std::collections::HashMap;
use std::io::{Error, ErrorKind, Result};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use sqlite_vfs::wip::{WalIndex, WalIndexLock};
use sqlite_vfs::{DatabaseHandle, LockKind, OpenAccess, OpenOptions, Vfs};

use crate::trace::Op;

/// The store's VFS, for plaintext databases.
pub(crate) const PLAIN: &str = "powerloss";
/// pageseal over it.
pub(crate) const SEALED: &str = "sealed-powerloss";

/// Kinds of calls that can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    Read,
    Write,
    Sync,
    Truncate,
    Delete,
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum How {
    /// An I/O error.
    Io,
    /// The disk is full.
    Full,
    /// The disk is full after half of the bytes.
    Short,
}

/// What is to fail.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) call: Call,
    pub(crate) how: How,
    /// How many calls of that kind go well before.
    pub(crate) after: u64,
    /// All later ones fail too.
    pub(crate) for_good: bool,
    /// Only files whose names end like this count.
    pub(crate) file: &'static str,
}

#[derive(Default)]
struct Inner {
    files: HashMap<String, Vec<u8>>,
    /// Shared indexes of logs, by region.
    indexes: HashMap<(String, u32), Box<[u8; 32768]>>,
    /// What happened, while that is being recorded.
    log: Option<Vec<Op>>,
    fault: Option<Fault>,
    fired: u64,
    next_name: u64,
}

/// One disk.
#[derive(Clone, Default)]
pub(crate) struct Disk(Arc<Mutex<Inner>>);

/// A test has a disk of its own: a database's path starts with its name.
static DISKS: Mutex<Vec<(String, Disk)>> = Mutex::new(Vec::new());

fn disk_of(path: &str) -> Option<Disk> {
    let disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
    let name = path.trim_start_matches('/').split('/').next()?;
    let found = disks.iter().find(|(disk, _)| disk == name);
    found.map(|(_, disk)| disk.clone())
}

impl Disk {
    /// A new disk, whose databases lie under `/name/`.
    pub(crate) fn mount(name: &str) -> Self {
        static REGISTER: Once = Once::new();
        REGISTER.call_once(|| {
            sqlite_vfs::register(PLAIN, Store, false).expect("the store's VFS");
            crate::switches::apply();
            pageseal::Registration::new()
                .over(PLAIN)
                .name(SEALED)
                .register()
                .expect("pageseal over the store");
        });
        let disk = Self::default();
        let mut disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
        disks.retain(|(other, _)| other != name);
        disks.push((name.to_owned(), disk.clone()));
        disk
    }

    /// Where temporary files are: a disk of their own.
    pub(crate) fn temporary() -> Self {
        static TEMPORARY: Once = Once::new();
        TEMPORARY.call_once(|| {
            let mut disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
            disks.push(("temporary".to_owned(), Disk::default()));
        });
        disk_of("/temporary/").expect("just mounted")
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts writing down what happens.
    pub(crate) fn record(&self) {
        self.inner().log = Some(Vec::new());
    }

    /// Notes that something has been promised.
    pub(crate) fn mark(&self) {
        self.inner().note(Op::Mark);
    }

    /// What has happened since [`Disk::record`].
    pub(crate) fn recorded(&self) -> Vec<Op> {
        self.inner().log.take().unwrap_or_default()
    }

    /// All files.
    pub(crate) fn files(&self) -> HashMap<String, Vec<u8>> {
        self.inner().files.clone()
    }

    /// Replaces all files; shared indexes, which are memory, are gone.
    pub(crate) fn load(&self, files: HashMap<String, Vec<u8>>) {
        let mut inner = self.inner();
        inner.files = files;
        inner.indexes.clear();
    }

    /// Makes a call fail, or no longer.
    pub(crate) fn break_at(&self, fault: Option<Fault>) {
        let mut inner = self.inner();
        inner.fault = fault;
        inner.fired = 0;
    }

    /// How many calls have failed.
    pub(crate) fn fired(&self) -> u64 {
        self.inner().fired
    }
}

impl Inner {
    fn note(&mut self, op: Op) {
        if let Some(log) = &mut self.log {
            log.push(op);
        }
    }

    /// Fails if that call is to fail now.
    fn may(&mut self, call: Call, file: &str) -> core::result::Result<(), How> {
        let Some(fault) = &mut self.fault else {
            return Ok(());
        };
        if fault.call != call || !file.ends_with(fault.file) {
            return Ok(());
        }
        if fault.after > 0 {
            fault.after -= 1;
            return Ok(());
        }
        let how = fault.how;
        if !fault.for_good {
            self.fault = None;
        }
        self.fired += 1;
        Err(how)
    }
}

fn error(how: How) -> Error {
    match how {
        How::Io => Error::other("the disk fails"),
        // What sqlite-vfs makes SQLITE_FULL of.
        How::Full | How::Short => Error::from(ErrorKind::WriteZero),
    }
}

/// An open file.
pub(crate) struct File {
    disk: Disk,
    name: String,
    lock: LockKind,
}

impl File {
    fn with<T>(&self, f: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        f(self
            .disk
            .inner()
            .files
            .entry(self.name.clone())
            .or_default())
    }
}

/// Writes into a file's bytes; a gap becomes zeros.
pub(crate) fn write_into(bytes: &mut Vec<u8>, data: &[u8], offset: u64) {
    let start = usize::try_from(offset).expect("a small file");
    let end = start + data.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[start..end].copy_from_slice(data);
}

impl DatabaseHandle for File {
    type WalIndex = Index;

    fn size(&self) -> Result<u64> {
        Ok(self.with(|bytes| bytes.len() as u64))
    }

    fn read_exact_at(&mut self, buf: &mut [u8], offset: u64) -> Result<()> {
        self.disk
            .inner()
            .may(Call::Read, &self.name)
            .map_err(error)?;
        self.with(|bytes| {
            let start = usize::try_from(offset).map_or(bytes.len(), |at| at.min(bytes.len()));
            let n = buf.len().min(bytes.len() - start);
            buf[..n].copy_from_slice(&bytes[start..start + n]);
            buf[n..].fill(0);
            if n == buf.len() {
                Ok(())
            } else {
                Err(ErrorKind::UnexpectedEof.into())
            }
        })
    }

    fn write_all_at(&mut self, buf: &[u8], offset: u64) -> Result<()> {
        let may = self.disk.inner().may(Call::Write, &self.name);
        if let Err(how) = may {
            if how == How::Short {
                self.with(|bytes| write_into(bytes, &buf[..buf.len() / 2], offset));
            }
            return Err(error(how));
        }
        self.with(|bytes| write_into(bytes, buf, offset));
        self.disk.inner().note(Op::Write {
            file: self.name.clone(),
            offset,
            data: buf.to_vec(),
        });
        Ok(())
    }

    fn sync(&mut self, _data_only: bool) -> Result<()> {
        let mut inner = self.disk.inner();
        inner.may(Call::Sync, &self.name).map_err(error)?;
        inner.note(Op::Sync {
            file: self.name.clone(),
        });
        Ok(())
    }

    fn set_len(&mut self, size: u64) -> Result<()> {
        self.disk
            .inner()
            .may(Call::Truncate, &self.name)
            .map_err(error)?;
        let len = usize::try_from(size).expect("a small file");
        self.with(|bytes| bytes.resize(len, 0));
        self.disk.inner().note(Op::SetLen {
            file: self.name.clone(),
            len: size,
        });
        Ok(())
    }

    fn lock(&mut self, lock: LockKind) -> Result<bool> {
        self.lock = lock;
        Ok(true)
    }

    fn reserved(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn current_lock(&self) -> Result<LockKind> {
        Ok(self.lock)
    }

    fn wal_index(&self, _readonly: bool) -> Result<Index> {
        Ok(Index {
            disk: self.disk.clone(),
            name: self.name.clone(),
        })
    }
}

/// A log's shared index. One connection at a time has it, so every lock is free.
pub(crate) struct Index {
    disk: Disk,
    name: String,
}

impl WalIndex for Index {
    fn map(&mut self, region: u32) -> Result<[u8; 32768]> {
        let inner = self.disk.inner();
        let found = inner.indexes.get(&(self.name.clone(), region));
        Ok(found.map_or([0; 32768], |bytes| **bytes))
    }

    fn lock(&mut self, _locks: core::ops::Range<u8>, _lock: WalIndexLock) -> Result<bool> {
        Ok(true)
    }

    fn delete(self) -> Result<()> {
        let name = self.name;
        self.disk.inner().indexes.retain(|(of, _), _| *of != name);
        Ok(())
    }

    fn pull(&mut self, region: u32, data: &mut [u8; 32768]) -> Result<()> {
        *data = self.map(region)?;
        Ok(())
    }

    fn push(&mut self, region: u32, data: &[u8; 32768]) -> Result<()> {
        let mut inner = self.disk.inner();
        inner
            .indexes
            .insert((self.name.clone(), region), Box::new(*data));
        Ok(())
    }
}

struct Store;

impl Store {
    fn with<T>(&self, path: &str, f: impl FnOnce(&mut Inner) -> Result<T>) -> Result<T> {
        let disk = disk_of(path).ok_or(ErrorKind::NotFound)?;
        let mut inner = disk.inner();
        f(&mut inner)
    }
}

impl Vfs for Store {
    type Handle = File;

    fn open(&self, path: &str, opts: OpenOptions) -> Result<File> {
        let disk = disk_of(path).ok_or(ErrorKind::NotFound)?;
        {
            let mut inner = disk.inner();
            if !inner.files.contains_key(path) {
                if !matches!(opts.access, OpenAccess::Create | OpenAccess::CreateNew) {
                    return Err(ErrorKind::NotFound.into());
                }
                inner.files.insert(path.to_owned(), Vec::new());
                inner.note(Op::Create {
                    file: path.to_owned(),
                });
            }
        }
        Ok(File {
            disk,
            name: path.to_owned(),
            lock: LockKind::None,
        })
    }

    fn delete(&self, path: &str) -> Result<()> {
        self.with(path, |inner| {
            inner.may(Call::Delete, path).map_err(error)?;
            if inner.files.remove(path).is_none() {
                return Err(ErrorKind::NotFound.into());
            }
            inner.note(Op::Delete {
                file: path.to_owned(),
            });
            Ok(())
        })
    }

    fn exists(&self, path: &str) -> Result<bool> {
        self.with(path, |inner| Ok(inner.files.contains_key(path)))
    }

    fn temporary_name(&self) -> String {
        let disk = Disk::temporary();
        let mut inner = disk.inner();
        inner.next_name += 1;
        format!("/temporary/{}", inner.next_name)
    }

    fn random(&self, buffer: &mut [i8]) {
        let mut bytes = vec![0; buffer.len()];
        pageseal::crypto::random::fill(&mut bytes).expect("random bytes");
        for (to, from) in buffer.iter_mut().zip(bytes) {
            *to = from.cast_signed();
        }
    }

    fn sleep(&self, duration: Duration) -> Duration {
        duration
    }
}
