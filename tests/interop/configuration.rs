//! One way to make a database: key, settings, page layout.

use std::fmt::{Display, Write};
use std::iter;
use std::path::Path;

use crate::database::Side;
use crate::peer::to_hex;

/// Iterations where derivation itself is not what is tested.
pub(crate) const FEW: u32 = 10;

/// Key and settings of a database, as both sides understand them.
#[derive(Clone, Debug)]
pub(crate) struct Configuration {
    /// What a failure is reported under.
    pub(crate) name: String,
    /// The key's bytes, raw forms included.
    pub(crate) key: Vec<u8>,
    /// What every connection says after the key, in this order.
    settings: Vec<(&'static str, String)>,
    /// What SQLCipher is told before the key, where telling it afterwards does not do.
    pub(crate) peer_defaults: String,
    /// What the one that creates the database says besides.
    pub(crate) creation: String,
    /// The full-text module that the content uses.
    pub(crate) full_text: &'static str,
    /// Bytes of a page.
    pub(crate) page_size: u32,
    /// Whether pages carry a MAC.
    hmac: bool,
    /// Whether page 1 is in the clear as far as its reserve.
    page1_in_clear: bool,
}

impl Configuration {
    /// SQLCipher 4's settings, but few iterations.
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self::preset(name, 4, 4096).few_iterations()
    }

    /// A preset as it is.
    pub(crate) fn preset(name: impl Into<String>, version: u32, page_size: u32) -> Self {
        Self {
            name: name.into(),
            key: b"correct horse battery staple".to_vec(),
            settings: Vec::new(),
            peer_defaults: String::new(),
            creation: String::new(),
            full_text: "fts5",
            page_size,
            hmac: version > 1,
            page1_in_clear: false,
        }
        .with("cipher_compatibility", version)
    }

    /// Adds a setting, or changes it.
    pub(crate) fn with(mut self, name: &'static str, value: impl Display) -> Self {
        self.settings.retain(|(other, _)| *other != name);
        self.settings.push((name, value.to_string()));
        self
    }

    /// Adds a pragma that the database remembers by itself.
    pub(crate) fn created_with(mut self, pragma: &str) -> Self {
        write!(self.creation, "PRAGMA {pragma};").expect("a string");
        self
    }

    /// Adds a `cipher_default_` pragma for SQLCipher.
    pub(crate) fn with_peer_default(mut self, pragma: &str) -> Self {
        write!(self.peer_defaults, "PRAGMA cipher_default_{pragma};").expect("a string");
        self
    }

    /// Takes another key.
    pub(crate) fn keyed(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.key = key.into();
        self
    }

    /// Takes another page size.
    pub(crate) fn with_page_size(mut self, page_size: u32) -> Self {
        self.page_size = page_size;
        self.with("cipher_page_size", page_size)
    }

    /// Leaves out the MACs.
    pub(crate) fn without_hmac(mut self) -> Self {
        self.hmac = false;
        self.with("cipher_use_hmac", "OFF")
    }

    /// Leaves all of page 1 in the clear but its `reserve`.
    pub(crate) fn with_page1_in_clear(mut self, reserve: u32) -> Self {
        self.page1_in_clear = true;
        let header = self.page_size - reserve;
        self.with("cipher_plaintext_header_size", header)
    }

    /// Uses an older full-text module, for a SQLite that has no other.
    pub(crate) fn with_fts4(mut self) -> Self {
        self.full_text = "fts4";
        self
    }

    /// Derives keys quickly.
    pub(crate) fn few_iterations(self) -> Self {
        self.with("kdf_iter", FEW)
    }

    /// What `cipher_integrity_check` answers for a sound database.
    pub(crate) fn integrity_answer(&self, side: Side) -> Vec<&'static str> {
        match (self.hmac, self.page1_in_clear, side) {
            // SQLCipher 3 does not have it.
            (_, _, Side::Shell) => vec![],
            (false, _, _) => vec!["HMAC is not enabled, unable to integrity check"],
            // SQLCipher gives such a page no MAC, and then misses it.
            (true, true, Side::SqlCipher) => vec!["HMAC verification failed for page 1"],
            (true, _, _) => vec![],
        }
    }

    /// The key as SQL says it.
    pub(crate) fn key_pragma(&self) -> String {
        match str::from_utf8(&self.key) {
            // A text of SQL ends at a NUL.
            Ok(text) if !text.contains('\0') => {
                format!("PRAGMA key = '{}';", text.replace('\'', "''"))
            }
            _ => format!("PRAGMA hexkey = '{}';", to_hex(&self.key)),
        }
    }

    /// The pragmas that a connection of SQLCipher 3 gives after the key.
    pub(crate) fn settings_of_version_3(&self) -> String {
        let pragma = |(name, value): &(&str, String)| match (*name, &value[..]) {
            ("cipher_compatibility", "3") => String::new(),
            ("cipher_compatibility", "2") => "PRAGMA kdf_iter = 4000;".to_owned(),
            ("cipher_compatibility", "1") => {
                "PRAGMA kdf_iter = 4000; PRAGMA cipher_use_hmac = OFF;".to_owned()
            }
            _ => format!("PRAGMA {name} = {value};"),
        };
        self.settings.iter().map(pragma).collect()
    }

    /// The pragmas that every connection gives after the key.
    pub(crate) fn settings(&self) -> String {
        self.settings_of("main")
    }

    /// The same for an attached database.
    pub(crate) fn settings_of(&self, schema: &str) -> String {
        let pragma = |(name, value)| format!("PRAGMA {schema}.{name} = {value};");
        self.settings
            .iter()
            .map(|(n, v)| (n, v))
            .map(pragma)
            .collect()
    }

    /// Path, key and settings as one `file:` URI for pageseal.
    pub(crate) fn uri(&self, path: &Path) -> String {
        let mut uri = format!("file:{}?", path.display());
        // `hexkey` is cut off behind 40 bytes, and `key` ends at a NUL.
        if self.key.contains(&0) {
            write!(uri, "hexkey={}", to_hex(&self.key)).expect("a string");
        } else {
            let escaped = self.key.iter().map(|byte| format!("%{byte:02x}"));
            uri.extend(iter::once("key=".to_owned()).chain(escaped));
        }
        uri + &self.uri_settings()
    }

    /// The settings as parameters of a URI, each behind an `&`.
    pub(crate) fn uri_settings(&self) -> String {
        let parameter =
            |(name, value): &(&str, String)| format!("&{name}={}", value.trim_matches('"'));
        self.settings.iter().map(parameter).collect()
    }
}
