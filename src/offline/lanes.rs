//! Work in large pieces, on every core.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::error::{OfflineError, Result};
use super::progress::Progress;

/// Bytes of a piece: large enough that a read costs little beside its cryptography,
/// small enough that every core has some and memory stays flat.
const PIECE: usize = 1 << 20;

/// A run of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// Number of the first, counted from 0 or 1 as the caller likes.
    pub(super) first: u64,
    /// How many.
    pub(super) count: usize,
}

/// Cores to work on.
#[must_use]
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Divides the `count` units of `unit` bytes that start with number `first` into
/// pieces and works through them in threads, each with a state of its own. Stops
/// at the first error.
pub(super) fn work<S>(
    threads: usize,
    (first, count): (u64, u64),
    unit: usize,
    progress: &dyn Progress,
    state: impl Fn() -> S + Sync,
    job: impl Fn(&mut S, Piece) -> Result<()> + Sync,
) -> Result<()> {
    let per_piece = (PIECE / unit).max(1) as u64;
    let pieces = count.div_ceil(per_piece);
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let failed: Mutex<Option<OfflineError>> = Mutex::new(None);
    let run = || {
        let mut state = state();
        while !stop.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= pieces {
                return;
            }
            let start = index * per_piece;
            let piece = Piece {
                first: first + start,
                count: per_piece.min(count - start) as usize,
            };
            let result = match progress.is_cancelled() {
                true => Err(OfflineError::Cancelled),
                false => job(&mut state, piece),
            };
            match result {
                Ok(()) => progress.advance((piece.count * unit) as u64),
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    failed.get_or_insert(error);
                    return;
                }
            }
        }
    };
    let threads = threads.clamp(1, usize::try_from(pieces).unwrap_or(usize::MAX).max(1));
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_in_one_piece() {
        for (unit, count) in [(512, 0), (512, 1), (512, 5000), (65536, 33), (4 << 20, 3)] {
            let seen = Mutex::new(Vec::new());
            work(
                3,
                (7, count),
                unit,
                &(),
                || (),
                |(), piece| {
                    let end = piece.first + piece.count as u64;
                    seen.lock().unwrap().extend(piece.first..end);
                    Ok(())
                },
            )
            .unwrap();
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert_eq!(seen, (7..7 + count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        let done = AtomicU64::new(0);
        let result = work(
            2,
            (0, 1 << 20),
            4096,
            &(),
            || (),
            |(), piece| {
                done.fetch_add(piece.count as u64, Ordering::Relaxed);
                match piece.first {
                    0 => Err(OfflineError::Cancelled),
                    _ => Ok(()),
                }
            },
        );
        assert!(matches!(result, Err(OfflineError::Cancelled)));
        assert!(done.into_inner() < 1 << 20);
    }

    #[test]
    fn cancelling_is_an_error() {
        struct Stop;
        impl Progress for Stop {
            fn is_cancelled(&self) -> bool {
                true
            }
        }
        let result = work(2, (0, 10), 4096, &Stop, || (), |(), _| Ok(()));
        assert!(matches!(result, Err(OfflineError::Cancelled)));
    }
}
