//! The commands, one a file.

pub(crate) mod completions;
pub(crate) mod copy;
pub(crate) mod decrypt;
pub(crate) mod diff;
pub(crate) mod encrypt;
pub(crate) mod info;
pub(crate) mod migrate;
pub(crate) mod probe;
pub(crate) mod recover;
pub(crate) mod rekey;
pub(crate) mod sql;
pub(crate) mod verify;
