//! Registering the VFS and the SQL functions.

use std::ffi::CString;

use thiserror::Error;

use crate::functions;
use crate::vfs;

/// The name under which [`register`] registers the VFS.
pub const VFS_NAME: &str = "pageseal";

/// The same for C.
#[cfg(feature = "loadable-extension")]
pub(crate) const VFS_NAME_C: &core::ffi::CStr = c"pageseal";

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

impl From<vfs::RegisterError> for RegisterError {
    fn from(error: vfs::RegisterError) -> Self {
        let text = |name: CString| name.to_string_lossy().into_owned();
        match error {
            vfs::RegisterError::NoSuchVfs(name) => Self::NoSuchVfs(text(name)),
            vfs::RegisterError::NoDefault => Self::NoDefault,
            vfs::RegisterError::NameTaken(name) => Self::NameTaken(text(name)),
            vfs::RegisterError::Sqlite(code) => Self::Sqlite(code),
        }
    }
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
    no_functions: bool,
}

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

    /// Leaves the SQL functions out: [`crate::functions`] are otherwise provided on
    /// every connection that is opened later in the process, whatever its VFS.
    #[must_use]
    pub fn without_functions(mut self) -> Self {
        self.no_functions = true;
        self
    }

    /// Registers the VFS and the SQL functions. Doing so again changes nothing,
    /// except that it becomes the default if that is asked for now.
    ///
    /// # Errors
    /// The VFS to wrap does not exist, the name is taken, or SQLite refuses.
    pub fn register(self) -> Result<(), RegisterError> {
        let c_string = |text: String| CString::new(text).map_err(|_| RegisterError::Name);
        let name = c_string(self.name.unwrap_or_else(|| VFS_NAME.to_owned()))?;
        let base = self.base.map(c_string).transpose()?;
        vfs::register(base.as_deref(), name, self.default)?;
        if !self.no_functions {
            functions::on_every_connection();
        }
        Ok(())
    }
}

/// Registers the VFS `pageseal` over SQLite's default one, and the SQL functions.
/// Doing so again is harmless.
///
/// # Errors
/// See [`Registration::register`].
pub fn register() -> Result<(), RegisterError> {
    Registration::new().register()
}
