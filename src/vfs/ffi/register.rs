//! Registering the VFS.

use std::ffi::{CStr, CString};
use std::sync::{Mutex, PoisonError};

use thiserror::Error;

use crate::sys as ffi;

use super::super::code::Code;
use super::super::lower::LowerVfs;
use super::vfs;

/// The name under which [`register`] registers the VFS.
pub const VFS_NAME: &str = "pageseal";

/// Why the VFS could not be registered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// No VFS of that name is registered.
    #[error("there is no VFS named {0:?} to wrap")]
    NoSuchVfs(String),
    /// There is no default VFS to wrap.
    #[error("SQLite has no default VFS to wrap")]
    NoDefault,
    /// The name is in use, by another VFS or over another base.
    #[error("a VFS named {0:?} is registered already, over another one")]
    NameTaken(String),
    /// A name with a NUL in it.
    #[error("a VFS name can't hold a NUL byte")]
    Name,
    /// SQLite refused.
    #[error("SQLite refused to register the VFS (code {0})")]
    Sqlite(i32),
}

/// How to register the VFS, where [`register`] does not suit.
///
/// ```
/// # fn main() -> Result<(), pageseal::RegisterError> {
/// pageseal::Registration::new()
///     .over("unix-excl")
///     .name("pageseal-excl")
///     .register()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Registration {
    base: Option<String>,
    name: Option<String>,
    default: bool,
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

impl Registration {
    /// The VFS `pageseal` over SQLite's default one, not the default itself.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Wraps the VFS of this name instead of the default one.
    #[must_use]
    pub fn over(mut self, base: impl Into<String>) -> Self {
        self.base = Some(base.into());
        self
    }

    /// Registers under this name instead of `pageseal`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Makes it the default VFS, which connections use that name none.
    #[must_use]
    pub fn make_default(mut self) -> Self {
        self.default = true;
        self
    }

    /// Registers the VFS. Doing so again changes nothing, except that it becomes
    /// the default if that is asked for now.
    ///
    /// # Errors
    /// The VFS to wrap does not exist, the name is taken, or SQLite refuses.
    pub fn register(self) -> Result<(), RegisterError> {
        let c_string = |text: String| CString::new(text).map_err(|_| RegisterError::Name);
        let name = c_string(self.name.unwrap_or_else(|| VFS_NAME.to_owned()))?;
        let base = self.base.map(c_string).transpose()?;
        let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
        initialize()?;
        let found = LowerVfs::find(base.as_deref()).ok_or_else(|| match &base {
            Some(base) => RegisterError::NoSuchVfs(base.to_string_lossy().into_owned()),
            None => RegisterError::NoDefault,
        })?;
        let taken = || RegisterError::NameTaken(name.to_string_lossy().into_owned());
        if let Some(ours) = registered.iter().find(|ours| *ours.name == *name) {
            // Asked for the default VFS once we are it: that is what we wrap.
            if *ours.base != found && !(base.is_none() && found.as_ptr() == ours.vfs) {
                // A default that changed since is no reason to refuse: the first
                // registration stands.
                if base.is_some() {
                    return Err(taken());
                }
            }
            let missing = LowerVfs::find(Some(ours.name)).is_none();
            return if self.default || missing {
                add(ours.vfs, self.default)
            } else {
                Ok(())
            };
        }
        if LowerVfs::find(Some(&name)).is_some() {
            return Err(taken());
        }
        // Never a page sealed twice: over ourselves means over what we are over.
        let below = registered
            .iter()
            .find(|ours| ours.vfs == found.as_ptr())
            .map_or(found, |ours| *ours.base);
        let base: &'static LowerVfs = Box::leak(Box::new(below));
        let name: &'static CStr = Box::leak(name.into_boxed_c_str());
        let vfs = Box::into_raw(Box::new(vfs::table(base, name)));
        add(vfs, self.default)?;
        registered.push(Registered { base, vfs, name });
        Ok(())
    }
}

fn initialize() -> Result<(), RegisterError> {
    Code::check(ffi::initialize()).map_err(|Code(code)| RegisterError::Sqlite(code))
}

fn add(vfs: *mut ffi::sqlite3_vfs, default: bool) -> Result<(), RegisterError> {
    // SAFETY: the table and all it points to live forever.
    Code::check(unsafe { ffi::sqlite3_vfs_register(vfs, default.into()) })
        .map_err(|Code(code)| RegisterError::Sqlite(code))
}

/// Registers the VFS `pageseal` over SQLite's default one. Doing so again is
/// harmless.
///
/// # Errors
/// See [`Registration::register`].
pub fn register() -> Result<(), RegisterError> {
    Registration::new().register()
}
