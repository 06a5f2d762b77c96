//! Registering the VFS.

use std::ffi::{CStr, CString};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sys as ffi;

use super::super::lower::LowerVfs;
use super::vfs;

/// Why the VFS could not be registered.
#[derive(Debug)]
pub(crate) enum RegisterError {
    /// No VFS of that name is registered.
    NoSuchVfs(CString),
    /// There is no default VFS to wrap.
    NoDefault,
    /// The name is in use, by another VFS or over another base.
    NameTaken(CString),
    /// SQLite refused, with this code.
    Sqlite(i32),
}

/// A VFS of ours, never freed: SQLite may use it until the process ends.
struct Registered {
    base: &'static LowerVfs,
    vfs: *mut ffi::sqlite3_vfs,
    name: &'static CStr,
}

// SAFETY: what the pointer leads to is SQLite's, which locks it itself.
unsafe impl Send for Registered {}

static REGISTERED: Mutex<Vec<Registered>> = Mutex::new(Vec::new());

fn registered() -> MutexGuard<'static, Vec<Registered>> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a VFS named `name` over the one named `base`, or over the default one.
/// Doing so again changes nothing, except that it becomes the default if that is
/// asked for now.
pub(crate) fn register(
    base: Option<&CStr>,
    name: CString,
    make_default: bool,
) -> Result<(), RegisterError> {
    let mut registered = registered();
    check(ffi::initialize())?;
    let found = LowerVfs::find(base).ok_or_else(|| match base {
        Some(base) => RegisterError::NoSuchVfs(base.to_owned()),
        None => RegisterError::NoDefault,
    })?;
    if let Some(ours) = registered.iter().find(|ours| *ours.name == *name) {
        // A default that changed since is no reason to refuse: the first
        // registration stands.
        if base.is_some() && *ours.base != found {
            return Err(RegisterError::NameTaken(name));
        }
        let missing = LowerVfs::find(Some(ours.name)).is_none();
        return if make_default || missing {
            add(ours.vfs, make_default)
        } else {
            Ok(())
        };
    }
    if LowerVfs::find(Some(&name)).is_some() {
        return Err(RegisterError::NameTaken(name));
    }
    // Never a page sealed twice: over ourselves means over what we are over.
    let below = registered
        .iter()
        .find(|ours| ours.vfs == found.as_ptr())
        .map_or(found, |ours| *ours.base);
    let base: &'static LowerVfs = Box::leak(Box::new(below));
    let name: &'static CStr = Box::leak(name.into_boxed_c_str());
    let vfs = Box::into_raw(Box::new(vfs::table(base, name)));
    add(vfs, make_default)?;
    registered.push(Registered { base, vfs, name });
    Ok(())
}

/// Whether the VFS that our VFS `name` wraps is the default one, as it is before
/// ours is made that, and again after `sqlite3_shutdown`; a VFS that has been made
/// the default since is none of these.
#[cfg(feature = "loadable-extension")]
pub(crate) fn base_is_default(name: &CStr) -> bool {
    let default = LowerVfs::find(None);
    registered()
        .iter()
        .any(|ours| ours.name == name && Some(*ours.base) == default)
}

fn add(vfs: *mut ffi::sqlite3_vfs, make_default: bool) -> Result<(), RegisterError> {
    // SAFETY: the table and all it points to live forever.
    check(unsafe { ffi::sqlite3_vfs_register(vfs, make_default.into()) })
}

fn check(code: i32) -> Result<(), RegisterError> {
    if code == ffi::SQLITE_OK {
        Ok(())
    } else {
        Err(RegisterError::Sqlite(code))
    }
}
