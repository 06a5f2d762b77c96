//! SQLCipher's bytes: settings and presets, layout, key text, derived keys and
//! the page codec. Slices in, slices out: no files, no SQLite, no `unsafe`.

pub mod layout;
pub mod settings;

pub use layout::Layout;
pub use settings::{HashAlgorithm, PgnoOrder, Preset, Settings};
