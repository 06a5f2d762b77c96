//! AES-CBC, HMAC, PBKDF2 and random bytes over slices. Knows no pages and no
//! SQLite.

pub mod cbc;
pub mod ctr;
pub mod hash;
pub mod hmac;
pub mod pbkdf2;
pub mod random;

pub use cbc::Aes256Cbc;
pub use ctr::Aes256Ctr;
pub use hash::HashAlgorithm;
pub use hmac::{MacKey, Tag};
