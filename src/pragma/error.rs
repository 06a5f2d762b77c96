//! Why a pragma or a URI parameter is refused.

use thiserror::Error;

use crate::error::{KeyError, SettingsError};

/// A pragma or URI parameter that is ours and makes no sense.
///
/// The text says what is needed and never repeats the value.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PragmaError {
    /// A key that can't be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A setting that can't be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}
