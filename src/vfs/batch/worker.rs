//! One thread for the process, which opens pages while SQLite works on those before
//! them.
//!
//! It is a help, and nothing waits for its existence: a job that it has not begun is
//! taken back and done by whoever wants the pages. So it makes no difference whether the
//! thread could be started, is busy with another connection's pages, or did not survive
//! a fork.

use core::ops::Range;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::pages::Pages;

/// The thread ends after so long without a job.
const IDLE: Duration = Duration::from_secs(5);

static QUEUE: Mutex<Option<Sender<Arc<Shared>>>> = Mutex::new(None);

/// Pages that the thread has been given to open. Dropped, they are forgotten.
pub(super) struct Job {
    shared: Arc<Shared>,
    numbers: Range<u32>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

enum State {
    Waiting(Pages),
    Begun,
    Opened(Pages),
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has these pages opened; `None` where that can't be.
pub(super) fn open(pages: Pages) -> Option<Job> {
    let numbers = pages.numbers();
    let shared = Arc::new(Shared {
        state: Mutex::new(State::Waiting(pages)),
        changed: Condvar::new(),
    });
    // Held for a moment only; or for ever, where a process forked in that moment.
    let mut queue = QUEUE.try_lock().ok()?;
    let sent = |queue: &Option<Sender<_>>| {
        let sender = queue.as_ref();
        sender.is_some_and(|sender| sender.send(Arc::clone(&shared)).is_ok())
    };
    if !sent(&queue) {
        *queue = Some(start()?);
        if !sent(&queue) {
            return None;
        }
    }
    Some(Job { shared, numbers })
}

impl Job {
    /// The pages' numbers.
    pub(super) fn numbers(&self) -> Range<u32> {
        self.numbers.clone()
    }

    /// Whether somebody is at it.
    pub(super) fn is_begun(&self) -> bool {
        matches!(*self.shared.state(), State::Begun)
    }

    /// Opens the pages, if nobody has begun.
    pub(super) fn open(&self) {
        work(&self.shared);
    }

    /// The pages, opened.
    pub(super) fn opened(self) -> Pages {
        let mut state = self.shared.state();
        loop {
            match core::mem::replace(&mut *state, State::Begun) {
                State::Waiting(mut pages) => {
                    pages.open();
                    return pages;
                }
                State::Opened(pages) => return pages,
                State::Begun => {
                    state = self
                        .shared
                        .changed
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

/// Starts the thread.
fn start() -> Option<Sender<Arc<Shared>>> {
    let (sender, jobs) = mpsc::channel::<Arc<Shared>>();
    let run = move || {
        loop {
            match jobs.recv_timeout(IDLE) {
                // Nobody waits for it any more.
                Ok(job) if Arc::strong_count(&job) == 1 => {}
                Ok(job) => work(&job),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    };
    let name = "pageseal read-ahead".to_owned();
    thread::Builder::new().name(name).spawn(run).ok()?;
    Some(sender)
}

fn work(job: &Shared) {
    let waiting = |state: &mut State| match core::mem::replace(state, State::Begun) {
        State::Waiting(pages) => Some(pages),
        other => {
            *state = other;
            None
        }
    };
    let Some(mut pages) = waiting(&mut job.state()) else {
        return;
    };
    // Whatever a panic leaves opened is not marked as good.
    let _ = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| pages.open()));
    *job.state() = State::Opened(pages);
    job.changed.notify_one();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{DerivedKeys, PageCodec, PageRef, Settings};
    use crate::secret::SecretKey;

    fn codec() -> Arc<PageCodec> {
        let keys = DerivedKeys {
            cipher: SecretKey::new([1; 32]),
            mac: SecretKey::new([2; 32]),
            salt: [3; 16],
        };
        Arc::new(PageCodec::new(&Settings::default(), &keys).unwrap())
    }

    /// Eight pages from number 100 on, each filled with its number; 103 is tampered with.
    fn sealed(codec: &Arc<PageCodec>) -> Pages {
        let page_size = codec.layout().page_size();
        let mut bytes = vec![0; 8 * page_size];
        for (pgno, page) in (100..).zip(bytes.chunks_exact_mut(page_size)) {
            page[..codec.layout().body_end()].fill(pgno as u8);
            codec
                .seal_batch(&mut [PageRef { pgno, bytes: page }])
                .unwrap();
        }
        bytes[3 * page_size + 5] ^= 1;
        Pages::of(codec, 100, bytes)
    }

    fn check(codec: &Arc<PageCodec>, pages: &Pages) {
        let mut out = vec![0; codec.layout().page_size()];
        for pgno in 99..109 {
            let good = (100..108).contains(&pgno) && pgno != 103;
            assert_eq!(pages.copy(codec, pgno, &mut out), good, "{pgno}");
            if good {
                let body = &out[..codec.layout().body_end()];
                assert!(body.iter().all(|&byte| byte == pgno as u8), "{pgno}");
            }
        }
    }

    #[test]
    fn the_thread_opens_pages_and_what_it_has_not_begun_is_taken_back() {
        let codec = codec();
        let jobs: Vec<Job> = (0..50).filter_map(|_| open(sealed(&codec))).collect();
        assert_eq!(jobs.len(), 50);
        assert_eq!(jobs[0].numbers(), 100..108);
        // From the last one on: the thread works through them from the first one on.
        for job in jobs.into_iter().rev() {
            check(&codec, &job.opened());
        }
        // And one that nobody takes back.
        let job = open(sealed(&codec)).unwrap();
        while !matches!(*job.shared.state(), State::Opened(_)) {
            thread::yield_now();
        }
        check(&codec, &job.opened());
    }
}
