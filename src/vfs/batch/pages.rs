//! Pages that follow one another, read in one piece and opened together.

use core::ops::Range;
use std::sync::Arc;

use crate::format::{PageCodec, PageRef};
use crate::secret::PageBuffer;

use super::super::code::{Code, Result};
use super::super::lower::LowerFile;

#[derive(Default)]
pub(super) struct Pages {
    first: u32,
    bytes: PageBuffer,
    /// Which of them opened and have not been written since; none before they have been
    /// opened.
    good: Vec<bool>,
    /// What they are opened with.
    codec: Option<Arc<PageCodec>>,
}

impl Pages {
    /// These, as they are in a file.
    #[cfg(test)]
    pub(super) fn of(codec: &Arc<PageCodec>, first: u32, bytes: Vec<u8>) -> Self {
        Self {
            first,
            bytes: bytes.into(),
            good: Vec::new(),
            codec: Some(Arc::clone(codec)),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        let page_size = self.codec.as_ref().map(|codec| codec.layout().page_size());
        page_size.map_or(0, |page_size| self.bytes.len() / page_size)
    }

    /// Their numbers.
    pub(super) fn numbers(&self) -> Range<u32> {
        self.first..self.first.saturating_add(self.len() as u32)
    }

    pub(super) fn clear(&mut self) {
        self.good.clear();
        self.codec = None;
    }

    /// That page is not to be handed out.
    pub(super) fn forget(&mut self, pgno: u32) {
        if let Some(index) = pgno.checked_sub(self.first)
            && let Some(good) = self.good.get_mut(index as usize)
        {
            *good = false;
        }
    }

    /// Reads up to `count` pages from `pgno` on, as they are in the file.
    pub(super) fn read(
        &mut self,
        lower: &LowerFile,
        codec: &Arc<PageCodec>,
        pgno: u32,
        count: u32,
    ) -> Result {
        self.clear();
        let layout = codec.layout();
        let page_size = layout.page_size();
        let mut count = count as usize;
        if pgno <= layout.lock_page() {
            // Nothing is behind the lock page that a run would not find again.
            count = count.min((layout.lock_page() - pgno) as usize);
        }
        self.bytes.resize(count * page_size, 0);
        match lower.read(&mut self.bytes, layout.offset(pgno)) {
            Ok(()) => {}
            Err(Code::SHORT_READ) => {
                let there = lower.size()?.saturating_sub(layout.offset(pgno));
                count = count.min((there / page_size as u64) as usize);
            }
            Err(code) => return Err(code),
        }
        self.bytes.truncate(count * page_size);
        self.first = pgno;
        self.codec = Some(Arc::clone(codec));
        Ok(())
    }

    /// Opens them.
    pub(super) fn open(&mut self) {
        let Some(codec) = &self.codec else {
            return;
        };
        let mut pages: Vec<PageRef<'_>> = (self.first..)
            .zip(self.bytes.chunks_exact_mut(codec.layout().page_size()))
            .map(|(pgno, bytes)| PageRef { pgno, bytes })
            .collect();
        let mut results = Vec::new();
        codec.open_batch(&mut pages, &mut results);
        self.good = results.iter().map(core::result::Result::is_ok).collect();
    }

    /// Copies a page that this codec has opened into `out`; `false` where there is none.
    pub(super) fn copy(&self, codec: &Arc<PageCodec>, pgno: u32, out: &mut [u8]) -> bool {
        let Some(index) = pgno.checked_sub(self.first).map(|index| index as usize) else {
            return false;
        };
        let good = self.good.get(index).is_some_and(|&good| good);
        let same = |with: &Arc<PageCodec>| Arc::ptr_eq(with, codec);
        if !good || !self.codec.as_ref().is_some_and(same) {
            return false;
        }
        out.copy_from_slice(&self.bytes[index * out.len()..][..out.len()]);
        true
    }
}
