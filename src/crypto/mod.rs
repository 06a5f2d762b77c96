//! AES-CBC, HMAC, PBKDF2 and random bytes over slices. Knows no pages and no
//! SQLite.

pub mod cbc;
pub mod ctr;
pub mod dispatch;
mod engine;
pub mod hash;
pub mod hmac;
mod kernels;
pub mod pbkdf2;
pub mod random;

pub use cbc::Aes256Cbc;
pub use ctr::Aes256Ctr;
pub use dispatch::Backend;
pub use hash::HashAlgorithm;
pub use hmac::{MacKey, Message, Tag};
