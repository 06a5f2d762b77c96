//! Temporary files: sealed with a random key that lives and dies with the file
//! handle, as the file does.
//!
//! SQLite writes them in pieces of any length at any offset. They are kept in
//! 4096-byte blocks, each encrypted in counter mode under the number of its last
//! write, which no other write of this file shares; the numbers stay in memory.
//! The file below is as long as the one that SQLite sees, in whole blocks.
//!
//! The block in hand is written when another block is touched, on a sync and on a
//! truncation, and dropped on close, since nobody reads the file after that. An
//! error then reaches whichever of SQLite's calls needed the block out: each
//! belongs to the statement that uses the file, and fails it. The block stays in
//! hand, since a rollback may need what SQLite had been told was written (a
//! temporary database's journal lies here, too).

use crate::format::scratch::ScratchCipher;
use crate::secret::PageBuffer;

use super::code::{Code, Result};
use super::lower::LowerFile;

const BLOCK: usize = 4096;

/// The block in hand, in plaintext, whole.
struct Current {
    index: u64,
    bytes: PageBuffer,
    dirty: bool,
}

pub(crate) struct Scratch {
    lower: LowerFile,
    cipher: ScratchCipher,
    /// Number of the last write of each block; 0: never written, reads as zeros.
    numbers: Vec<u64>,
    last_number: u64,
    /// Length of the file as SQLite sees it.
    size: u64,
    current: Option<Current>,
    buffer: Vec<u8>,
}

impl Scratch {
    pub(crate) fn new(lower: LowerFile) -> Result<Self> {
        // A name is only ever reused for a file that its last owner is done with.
        if lower.size()? > 0 {
            lower.truncate(0)?;
        }
        Ok(Self {
            lower,
            cipher: ScratchCipher::new().map_err(|_| Code::IOERR)?,
            numbers: Vec::new(),
            last_number: 0,
            size: 0,
            current: None,
            buffer: Vec::new(),
        })
    }

    pub(crate) fn lower(&self) -> &LowerFile {
        &self.lower
    }

    pub(crate) fn into_lower(self) -> LowerFile {
        self.lower
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn read(&mut self, buf: &mut [u8], offset: u64) -> Result {
        let available = self.size.saturating_sub(offset).min(buf.len() as u64) as usize;
        let (wanted, missing) = buf.split_at_mut(available);
        missing.fill(0);
        let mut done = 0;
        while done < wanted.len() {
            let at = offset + done as u64;
            let (index, within) = (at / BLOCK as u64, (at % BLOCK as u64) as usize);
            let n = (BLOCK - within).min(wanted.len() - done);
            let out = &mut wanted[done..done + n];
            if n == BLOCK && self.current.as_ref().is_none_or(|now| now.index != index) {
                self.load(index, out)?;
            } else {
                let block = self.fetch(index)?;
                out.copy_from_slice(&block.bytes[within..within + n]);
            }
            done += n;
        }
        if missing.is_empty() {
            Ok(())
        } else {
            Err(Code::SHORT_READ)
        }
    }

    pub(crate) fn write(&mut self, data: &[u8], offset: u64) -> Result {
        if offset > self.size {
            // The rest of the last block becomes part of the file, as zeros.
            self.touch_end()?;
        }
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let (index, within) = (at / BLOCK as u64, (at % BLOCK as u64) as usize);
            let n = (BLOCK - within).min(data.len() - done);
            let piece = &data[done..done + n];
            if n == BLOCK {
                self.store(index, piece)?;
                if self.current.as_ref().is_some_and(|now| now.index == index) {
                    self.current = None;
                }
            } else {
                let block = self.fetch(index)?;
                block.bytes[within..within + n].copy_from_slice(piece);
                block.dirty = true;
            }
            done += n;
            self.size = self.size.max(at + n as u64);
        }
        Ok(())
    }

    pub(crate) fn truncate(&mut self, size: i64) -> Result {
        let size = u64::try_from(size).map_err(|_| Code::IOERR)?;
        self.flush()?;
        self.current = None;
        self.lower.truncate(size as i64)?;
        if size > self.size {
            self.touch_end()?;
            self.flush()?;
        }
        self.size = size;
        self.numbers.truncate(size.div_ceil(BLOCK as u64) as usize);
        Ok(())
    }

    pub(crate) fn sync(&mut self, flags: i32) -> Result {
        self.flush()?;
        self.lower.sync(flags)
    }

    /// Makes the block that holds the file's end current and dirty, so that it is
    /// written whole, with zeros behind the end.
    fn touch_end(&mut self) -> Result {
        if !self.size.is_multiple_of(BLOCK as u64) {
            let index = self.size / BLOCK as u64;
            self.fetch(index)?.dirty = true;
        }
        Ok(())
    }

    /// The block `index`, made current.
    fn fetch(&mut self, index: u64) -> Result<&mut Current> {
        if self.current.as_ref().is_none_or(|now| now.index != index) {
            self.flush()?;
            let mut bytes = match self.current.take() {
                Some(old) => old.bytes,
                None => PageBuffer::zeros(BLOCK),
            };
            self.load(index, &mut bytes)?;
            self.current = Some(Current {
                index,
                bytes,
                dirty: false,
            });
        }
        self.current.as_mut().ok_or(Code::IOERR)
    }

    fn flush(&mut self) -> Result {
        let Some(mut now) = self.current.take() else {
            return Ok(());
        };
        let result = if now.dirty {
            self.store(now.index, &now.bytes)
        } else {
            Ok(())
        };
        now.dirty &= result.is_err();
        self.current = Some(now);
        result
    }

    /// Reads a block from below; what is past the file's end reads as zeros.
    fn load(&self, index: u64, out: &mut [u8]) -> Result {
        out.fill(0);
        let number = usize::try_from(index)
            .ok()
            .and_then(|index| self.numbers.get(index))
            .copied()
            .unwrap_or(0);
        let start = index * BLOCK as u64;
        let len = self.size.saturating_sub(start).min(BLOCK as u64) as usize;
        if number == 0 || len == 0 {
            return Ok(());
        }
        let out = &mut out[..len];
        // Never short: the block was written at least up to the file's end.
        self.lower.read(out, start)?;
        self.cipher.apply(number, 0, out);
        Ok(())
    }

    fn store(&mut self, index: u64, plain: &[u8]) -> Result {
        let slot = usize::try_from(index).map_err(|_| Code::IOERR)?;
        if slot >= self.numbers.len() {
            self.numbers.resize(slot + 1, 0);
        }
        self.last_number += 1;
        self.buffer.clear();
        self.buffer.extend_from_slice(plain);
        self.cipher.apply(self.last_number, 0, &mut self.buffer);
        self.lower.write(&self.buffer, index * BLOCK as u64)?;
        self.numbers[slot] = self.last_number;
        Ok(())
    }
}
