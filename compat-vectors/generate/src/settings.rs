//! Cipher settings, and the pragmas that set them.

use serde::Serialize;

/// A hash function, as SQLCipher names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Hash {
    Sha1,
    Sha256,
    Sha512,
}

impl Hash {
    pub const ALL: [Hash; 3] = [Hash::Sha1, Hash::Sha256, Hash::Sha512];

    fn name(self) -> &'static str {
        match self {
            Hash::Sha1 => "SHA1",
            Hash::Sha256 => "SHA256",
            Hash::Sha512 => "SHA512",
        }
    }
}

/// Everything that decides how a file is read, besides the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// The `cipher_compatibility` that the rest starts from.
    pub preset: u32,
    pub page_size: u32,
    pub kdf_iter: u32,
    pub fast_kdf_iter: u32,
    pub hmac: bool,
    pub hmac_algorithm: Hash,
    pub kdf_algorithm: Hash,
    pub plaintext_header_size: u32,
    /// Given by the caller, not read from the file.
    pub salt_hex: Option<String>,
    /// `le`, `be` or `native`.
    pub hmac_pgno: &'static str,
    pub hmac_salt_mask: &'static str,
    /// Bytes at the end of each page: IV, MAC, padding.
    pub reserve: u32,
}

impl Settings {
    /// The settings of `cipher_compatibility = preset`.
    pub fn preset(preset: u32) -> Self {
        let (page_size, kdf_iter, hmac, hash) = match preset {
            1 => (1024, 4_000, false, Hash::Sha1),
            2 => (1024, 4_000, true, Hash::Sha1),
            3 => (1024, 64_000, true, Hash::Sha1),
            4 => (4096, 256_000, true, Hash::Sha512),
            _ => panic!("no preset {preset}"),
        };
        Settings {
            preset,
            page_size,
            kdf_iter,
            fast_kdf_iter: 2,
            hmac,
            hmac_algorithm: hash,
            kdf_algorithm: hash,
            plaintext_header_size: 0,
            salt_hex: None,
            hmac_pgno: "le",
            hmac_salt_mask: "3a",
            reserve: 0,
        }
        .changed(|_| ())
    }

    /// Version 4 with few iterations, so that tests are fast.
    pub fn quick() -> Self {
        Settings::preset(4).changed(|s| s.kdf_iter = 1000)
    }

    /// The same with a change.
    pub fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        let mac = match (self.hmac, self.hmac_algorithm) {
            (false, _) => 0,
            (true, Hash::Sha1) => 20,
            (true, Hash::Sha256) => 32,
            (true, Hash::Sha512) => 64,
        };
        self.reserve = (16 + mac as u32).next_multiple_of(16);
        self
    }

    /// What SQLCipher itself needs before the key: its default reserve of 80
    /// bytes sticks, and SQLite silently makes a 512-byte page with more than
    /// 32 reserved bytes 1024 long, so 512 must be the default from the start.
    pub fn pragmas_before_key(&self) -> Vec<String> {
        if self.page_size != 512 {
            return Vec::new();
        }
        assert!(!self.hmac, "a MAC does not fit a 512-byte page");
        vec![
            "PRAGMA cipher_default_use_hmac = 0".to_owned(),
            "PRAGMA cipher_default_page_size = 512".to_owned(),
        ]
    }

    /// The pragmas, in an order that SQLCipher takes, to run right after the key.
    pub fn pragmas(&self) -> Vec<String> {
        let base = Settings::preset(self.preset);
        let mut pragmas = Vec::new();
        let mut add = |changed: bool, pragma: String| {
            if changed {
                pragmas.push(format!("PRAGMA {pragma}"));
            }
        };
        add(
            self.preset != 4,
            format!("cipher_compatibility = {}", self.preset),
        );
        add(
            self.hmac != base.hmac,
            format!("cipher_use_hmac = {}", u8::from(self.hmac)),
        );
        add(
            self.hmac_algorithm != base.hmac_algorithm,
            format!(
                "cipher_hmac_algorithm = HMAC_{}",
                self.hmac_algorithm.name()
            ),
        );
        add(
            self.kdf_algorithm != base.kdf_algorithm,
            format!(
                "cipher_kdf_algorithm = PBKDF2_HMAC_{}",
                self.kdf_algorithm.name()
            ),
        );
        add(
            self.page_size != base.page_size,
            format!("cipher_page_size = {}", self.page_size),
        );
        add(
            self.kdf_iter != base.kdf_iter,
            format!("kdf_iter = {}", self.kdf_iter),
        );
        add(
            self.fast_kdf_iter != base.fast_kdf_iter,
            format!("fast_kdf_iter = {}", self.fast_kdf_iter),
        );
        add(
            self.hmac_salt_mask != base.hmac_salt_mask,
            format!("cipher_hmac_salt_mask = \"x'{}'\"", self.hmac_salt_mask),
        );
        add(
            self.hmac_pgno != base.hmac_pgno,
            format!("cipher_hmac_pgno = {}", self.hmac_pgno),
        );
        add(
            self.plaintext_header_size != 0,
            format!(
                "cipher_plaintext_header_size = {}",
                self.plaintext_header_size
            ),
        );
        if let Some(salt) = &self.salt_hex {
            add(true, format!("cipher_salt = \"x'{salt}'\""));
        }
        pragmas
    }
}
