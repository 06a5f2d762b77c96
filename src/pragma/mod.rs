//! Pragmas, URI parameters and `ATTACH … KEY`: from text to typed commands.
//!
//! ```text
//! name, value    -> command::parse      -> Command  \
//! URI parameters -> uri::parse          -> UriOptions > applied by a session
//! ATTACH's text  -> attach::attach_key  -> AttachKey /
//! ```
//!
//! Nothing here knows SQLite or touches a file. Error texts name the setting and
//! what it needs, never the value that was given: it may be key material.

mod apply;
pub mod attach;
pub mod command;
pub mod error;
pub mod log;
pub mod log_output;
pub mod settings;
pub mod sql;
pub mod uri;
mod value;

pub use apply::{Facts, Reply, configure_from_uri, done, key_attached, run};
pub use attach::{AttachKey, attach_key};
pub use command::Command;
pub use error::PragmaError;
pub use settings::{PageSize, Setting, SettingName};
pub use uri::UriOptions;
