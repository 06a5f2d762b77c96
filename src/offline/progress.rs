//! What a long operation tells its caller, and asks it.

/// Receives the progress of an operation, from any of its threads.
pub trait Progress: Sync {
    /// `bytes` are about to be worked through.
    fn begin(&self, bytes: u64) {
        let _ = bytes;
    }

    /// So many more bytes have been.
    fn advance(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Whether to stop: the operation then ends with
    /// [`super::OfflineError::Cancelled`].
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Nobody listens.
impl Progress for () {}
