//! Are two databases the same, page by page, once decrypted?

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use zeroize::Zeroizing;

use super::error::Result;
use super::lanes;
use super::progress::Progress;
use super::snapshot::Snapshot;

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// Whether pages can be compared at all: both page sizes, and what is reserved
    /// of a page, are the same.
    pub comparable: bool,
    /// The pages that differ, or that only one of the two has.
    pub differing: Vec<u32>,
    /// Whether page 1 differs in its counters (of changes, of the schema's versions) or
    /// in the SQLite version that every transaction writes. A backup changes them; they
    /// are not held against it.
    pub counters: bool,
}

impl Comparison {
    /// Whether both hold the same.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.comparable && self.differing.is_empty()
    }
}

/// Compares two snapshots.
///
/// # Errors
/// A page is bad, something can't be read, or somebody wrote meanwhile.
pub fn compare(
    a: &Snapshot,
    b: &Snapshot,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Comparison> {
    let reserve = |snapshot: &Snapshot| snapshot.header().map(|header| header.reserve);
    let mut result = Comparison {
        comparable: a.page_size() == b.page_size() && reserve(a) == reserve(b),
        differing: Vec::new(),
        counters: false,
    };
    if !result.comparable {
        return Ok(result);
    }
    let page_size = a.page_size() as usize;
    let common = a.pages().min(b.pages());
    progress.begin(u64::from(common) * page_size as u64);
    let found = Mutex::new((Vec::new(), false));
    let done = lanes::work(
        threads,
        (1, common.into()),
        page_size,
        progress,
        || (Zeroizing::new(Vec::new()), Zeroizing::new(Vec::new())),
        |(left, right), piece| {
            let first = piece.first as u32;
            for (snapshot, buf) in [(a, &mut *left), (b, &mut *right)] {
                buf.resize(piece.count * page_size, 0);
                let mut bad = None;
                snapshot.load(first, buf, |page| {
                    bad.get_or_insert(page);
                })?;
                if let Some(bad) = bad {
                    return Err(snapshot.damaged(bad));
                }
            }
            let mut counters = false;
            if first == 1 {
                counters = take_counters(left) != take_counters(right);
            }
            let pages = left
                .chunks_exact(page_size)
                .zip(right.chunks_exact(page_size));
            let differing = pages
                .enumerate()
                .filter(|(_, (left, right))| left != right)
                .map(|(index, _)| first + index as u32);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.0.extend(differing);
            found.1 |= counters;
            Ok(())
        },
    );
    let done = a.files().unless_changed(done);
    b.files().unless_changed(done)?;
    a.files().check_unchanged()?;
    b.files().check_unchanged()?;
    let (mut differing, counters) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    differing.sort_unstable();
    differing.extend(common + 1..=a.pages().max(b.pages()));
    result.differing = differing;
    result.counters = counters;
    Ok(result)
}

/// Where page 1 holds what says how often something was changed, and not what is
/// there: the change counter, the schema's version (which SQLite's backup counts up in
/// the copy), and the change for which the page count is valid, with the SQLite that
/// wrote it.
const COUNTERS: [Range<usize>; 3] = [24..28, 40..44, 92..100];

/// Blanks the counters of page 1, and returns what they were.
fn take_counters(page: &mut [u8]) -> Vec<u8> {
    let taken = COUNTERS.map(|range| page[range].to_vec()).concat();
    for range in COUNTERS {
        page[range].fill(0);
    }
    taken
}
