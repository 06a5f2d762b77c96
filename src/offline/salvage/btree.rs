//! One b-tree page (SQLite file format, section 1.6), read with distrust: a page
//! that authenticates may still be no b-tree page, or an old one.

use super::record::varint;

/// What a b-tree page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    TableLeaf,
    TableInterior,
    IndexLeaf,
    IndexInterior,
}

impl Kind {
    fn is_leaf(self) -> bool {
        matches!(self, Self::TableLeaf | Self::IndexLeaf)
    }

    fn is_table(self) -> bool {
        matches!(self, Self::TableLeaf | Self::TableInterior)
    }
}

/// A b-tree page.
pub(super) struct Node<'a> {
    pub(super) kind: Kind,
    page: &'a [u8],
    header: usize,
    cells: usize,
    usable: usize,
}

/// A cell of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell<'a> {
    /// The page with what comes before this cell, on interior pages.
    pub(super) child: Option<u32>,
    /// The rowid, in tables.
    pub(super) rowid: Option<i64>,
    /// The payload, except on interior pages of tables.
    pub(super) payload: Option<Payload<'a>>,
}

/// A payload, as far as it lies on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Payload<'a> {
    /// Bytes of all of it.
    pub(super) len: u64,
    /// What lies on the page.
    pub(super) local: &'a [u8],
    /// The first page with the rest.
    pub(super) overflow: Option<u32>,
    /// Offset of its end in the page, the overflow page's number included.
    pub(super) end: usize,
}

impl<'a> Node<'a> {
    /// Reads the page's header; `None` where it is no b-tree page.
    pub(super) fn parse(pgno: u32, page: &'a [u8], usable: usize) -> Option<Self> {
        let header = if pgno == 1 { 100 } else { 0 };
        let kind = match page[header] {
            2 => Kind::IndexInterior,
            5 => Kind::TableInterior,
            10 => Kind::IndexLeaf,
            13 => Kind::TableLeaf,
            _ => return None,
        };
        let node = Self {
            kind,
            page,
            header,
            cells: half(page, header + 3),
            usable,
        };
        let pointers_end = node.pointers() + 2 * node.cells;
        let content = match half(page, header + 5) {
            0 => 65536,
            start => start,
        };
        let fine = pointers_end <= content
            && content <= usable
            && page[header + 7] <= 60
            && (0..node.cells).all(|index| {
                let at = node.pointer(index);
                at >= content && at + 4 <= usable
            });
        fine.then_some(node)
    }

    fn pointers(&self) -> usize {
        self.header + if self.kind.is_leaf() { 8 } else { 12 }
    }

    fn pointer(&self, index: usize) -> usize {
        half(self.page, self.pointers() + 2 * index)
    }

    /// The page behind all cells, on interior pages.
    pub(super) fn right_child(&self) -> Option<u32> {
        (!self.kind.is_leaf()).then(|| word(self.page, self.header + 8))
    }

    /// The cells in order; those that make no sense are `None`.
    pub(super) fn cells(&self) -> impl Iterator<Item = Option<Cell<'a>>> + '_ {
        (0..self.cells).map(|index| self.cell(self.pointer(index)))
    }

    /// Every page that this one points down to.
    pub(super) fn children(&self) -> Vec<u32> {
        let cells = self.cells().flatten().filter_map(|cell| cell.child);
        cells.chain(self.right_child()).collect()
    }

    fn cell(&self, mut at: usize) -> Option<Cell<'a>> {
        let page = self.page.get(..self.usable)?;
        let mut cell = Cell {
            child: None,
            rowid: None,
            payload: None,
        };
        if !self.kind.is_leaf() {
            cell.child = Some(word(page.get(at..at + 4)?, 0));
            at += 4;
        }
        let mut len = None;
        if self.kind != Kind::TableInterior {
            let (value, n) = varint(page.get(at..)?)?;
            len = Some(value);
            at += n;
        }
        if self.kind.is_table() {
            let (rowid, n) = varint(page.get(at..)?)?;
            cell.rowid = Some(rowid.cast_signed());
            at += n;
        }
        if let Some(len) = len {
            let local = self.local_len(len);
            let bytes = page.get(at..at + local)?;
            let mut end = at + local;
            let mut overflow = None;
            if (local as u64) < len {
                overflow = Some(word(page.get(end..end + 4)?, 0));
                end += 4;
            }
            cell.payload = Some(Payload {
                len,
                local: bytes,
                overflow,
                end,
            });
        }
        Some(cell)
    }

    /// Bytes of a payload that lie on the page.
    fn local_len(&self, len: u64) -> usize {
        let usable = self.usable as u64;
        let most = match self.kind.is_table() {
            true => usable - 35,
            false => (usable - 12) * 64 / 255 - 23,
        };
        if len <= most {
            return len as usize;
        }
        let least = (usable - 12) * 32 / 255 - 23;
        let rest = least + (len - least) % (usable - 4);
        (if rest <= most { rest } else { least }) as usize
    }
}

fn half(page: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes([page[at], page[at + 1]]))
}

/// Four bytes, big endian.
pub(super) fn word(page: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]])
}
