//! A sign of life to SQLite, in the middle of long work inside a pragma, by which the
//! work can be stopped.

use core::ffi::c_int;
use core::ptr::{self, NonNull};

use crate::sys as ffi;

use super::super::code::{Code, Result};
use super::host::Host;

/// A statement of the connection that never ends. As long as it is there SQLite keeps
/// an interrupt that comes in (it forgets one when nothing runs), and each of its
/// steps sees the interrupt, and counts for the progress handler.
pub(super) struct Pulse(NonNull<ffi::sqlite3_stmt>);

/// Touches no database.
const ENDLESS: &[u8] =
    b"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT i FROM n";

/// Steps at each beat, so that a progress handler that is to be called every 1 000
/// instructions is called every few megabytes.
const STEPS: usize = 16;

impl Pulse {
    /// Starts it; `None` where the connection does not let us (an authorizer).
    pub(super) fn start(host: Host) -> Option<Self> {
        let db = host.db()?;
        let mut statement = ptr::null_mut();
        // SAFETY: an open connection, and as many bytes of text as said.
        let code = unsafe {
            ffi::sqlite3_prepare_v2(
                db.as_ptr(),
                ENDLESS.as_ptr().cast(),
                ENDLESS.len() as c_int,
                &mut statement,
                ptr::null_mut(),
            )
        };
        let pulse = Self(NonNull::new(statement)?);
        (code == ffi::SQLITE_OK).then_some(pulse)
    }

    /// # Errors
    /// `SQLITE_INTERRUPT`, where the work is to stop.
    pub(super) fn beat(&self) -> Result {
        for _ in 0..STEPS {
            // SAFETY: a statement of an open connection.
            match unsafe { ffi::sqlite3_step(self.0.as_ptr()) } {
                ffi::SQLITE_ROW => {}
                code => return Err(Code(code)),
            }
        }
        Ok(())
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        // SAFETY: prepared by `start`, and not used after this.
        unsafe { ffi::sqlite3_finalize(self.0.as_ptr()) };
    }
}
