//! The commands, one a file.

pub(crate) mod decrypt;
pub(crate) mod encrypt;
pub(crate) mod info;
pub(crate) mod probe;
pub(crate) mod verify;
