//! SQLCipher's bytes: settings and presets, layout, key text, derived keys and
//! the page codec. Slices in, slices out: no files, no SQLite, no `unsafe`.

pub mod codec;
pub mod key_text;
pub mod keys;
pub mod known;
pub mod layout;
pub mod page1;
pub mod scratch;
pub mod settings;

pub use codec::{PageCodec, PageRef};
pub use keys::{DerivedKeys, derive};
pub use known::{KnownPages, set_known_pages};
pub use layout::Layout;
pub use scratch::ScratchCipher;
pub use settings::{Choice, HashAlgorithm, PgnoOrder, Preset, Settings};
