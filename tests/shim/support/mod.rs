//! What the tests share: opening databases, error codes, what lies on disk.

pub(crate) mod disk;
pub(crate) mod journal;
pub(crate) mod layouts;
pub(crate) mod manifest;
pub(crate) mod noise;
pub(crate) mod open;
pub(crate) mod plaintext;
pub(crate) mod tap;
pub(crate) mod wal;

#[path = "../../support/content_hash.rs"]
pub(crate) mod content_hash;
