//! Looks for the marker in what is written below.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use super::workload::Phase;
use crate::support::tap::{Event, Kind, Tap};

type Seen = BTreeSet<(Phase, Kind)>;

#[derive(Default)]
struct State {
    phase: Phase,
    leaks: Seen,
    written: Seen,
}

/// A search under way.
pub(super) struct Search {
    marker: [u8; 12],
    state: Arc<Mutex<State>>,
}

impl Search {
    /// Starts to look at everything that `tap` sees.
    pub(super) fn start(tap: &Tap) -> Self {
        // Each search has a marker of its own: the tests run side by side in one
        // process, and all its files are read.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut marker = *b"MaRk@0000#Kr";
        let digits = format!("{number:04}");
        marker[5..9].copy_from_slice(digits.as_bytes());

        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        tap.watch(move |file, event| {
            let Event::Write { offset, len } = event else {
                return;
            };
            // A little on both sides: the marker may arrive in two pieces.
            let start = offset.saturating_sub(marker.len());
            let end = (offset + len + marker.len()).min(file.bytes.len());
            let mut state = shared.lock().expect("a watcher never panics");
            let what = (state.phase, file.kind);
            state.written.insert(what);
            if contains(&file.bytes[start..end], &marker) {
                state.leaks.insert(what);
            }
        });
        Self { marker, state }
    }

    pub(super) fn marker(&self) -> &str {
        std::str::from_utf8(&self.marker).expect("ASCII")
    }

    /// What happens from now on belongs to this phase.
    pub(super) fn enter(&self, phase: Phase) {
        self.state.lock().expect("not poisoned").phase = phase;
    }

    /// Leaks, and writes at all.
    pub(super) fn finish(self) -> (Seen, Seen) {
        let mut state = self.state.lock().expect("not poisoned");
        (
            std::mem::take(&mut state.leaks),
            std::mem::take(&mut state.written),
        )
    }
}

/// Whether `text` stands somewhere in `bytes`.
pub(super) fn contains(bytes: &[u8], text: &[u8]) -> bool {
    let first = text[0];
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| byte == first) {
        rest = &rest[at..];
        if rest.starts_with(text) {
            return true;
        }
        rest = &rest[1..];
    }
    false
}

#[test]
fn finds_what_is_there() {
    assert!(contains(b"xxMaMarkxx", b"Mark"));
    assert!(contains(b"Mark", b"Mark"));
    assert!(!contains(b"MarMar", b"Mark"));
    assert!(!contains(b"", b"Mark"));
}
