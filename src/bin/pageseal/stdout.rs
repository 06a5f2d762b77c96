//! Standard output. Results that did not arrive must not look as if they had; but
//! whoever reads from a pipe may stop when they have seen enough (`pageseal info | head`).

use std::io::{self, Write};
use std::path::Path;

use crate::error::{CliError, Result};

/// Prints bytes, all the way: what stays in a buffer would be lost without a word.
pub(crate) fn print(bytes: &[u8]) -> Result {
    let mut out = io::stdout().lock();
    arrived(out.write_all(bytes).and_then(|()| out.flush()))
}

/// What a result of writing to standard output means; a closed pipe is no failure.
pub(crate) fn arrived(result: io::Result<()>) -> Result {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(failed(&error)),
        _ => Ok(()),
    }
}

/// The failure to write there.
pub(crate) fn failed(error: &io::Error) -> CliError {
    CliError::io("write", Path::new("standard output"), error)
}
