//! The compatibility vectors and what their manifest says of them
//! (`compat-vectors/README.md` describes both).

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use pageseal::format::{self, PageCodec};
use pageseal::secret::{Key, Salt};
use pageseal::{HashAlgorithm, OpenOptions, PgnoOrder, Preset, Settings};
use rusqlite::Connection;
use serde_json::Value;

use super::disk::beside;
use super::open::open;

/// One entry of the manifest.
pub(crate) struct Vector(Value);

/// Where the vectors lie.
pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("compat-vectors")
}

/// All vectors.
pub(crate) fn vectors() -> &'static [Vector] {
    static ALL: OnceLock<Vec<Vector>> = OnceLock::new();
    ALL.get_or_init(|| {
        let text = std::fs::read(directory().join("manifest.json")).expect("the manifest");
        let mut manifest: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(manifest["format"], 1);
        match manifest["vectors"].take() {
            Value::Array(entries) => entries.into_iter().map(Vector).collect(),
            other => panic!("not a list: {other}"),
        }
    })
}

/// The vector of that name.
pub(crate) fn vector(name: &str) -> &'static Vector {
    vectors()
        .iter()
        .find(|vector| vector.name() == name)
        .unwrap_or_else(|| panic!("no vector {name}"))
}

fn algorithm(value: &Value) -> HashAlgorithm {
    match value.as_str() {
        Some("SHA1") => HashAlgorithm::Sha1,
        Some("SHA256") => HashAlgorithm::Sha256,
        Some("SHA512") => HashAlgorithm::Sha512,
        _ => panic!("no algorithm: {value}"),
    }
}

fn integer(value: &Value) -> u32 {
    let number = value
        .as_u64()
        .unwrap_or_else(|| panic!("no number: {value}"));
    u32::try_from(number).expect("32 bits")
}

impl Vector {
    pub(crate) fn name(&self) -> &str {
        self.0["name"].as_str().expect("a name")
    }

    pub(crate) fn class(&self) -> &str {
        self.expect()["class"].as_str().expect("a class")
    }

    /// What SQLCipher found in it.
    pub(crate) fn expect(&self) -> &Value {
        &self.0["expect"]
    }

    /// SQLCipher's own answers.
    pub(crate) fn observed(&self) -> &Value {
        &self.expect()["observed"]
    }

    /// The pages at fault.
    pub(crate) fn pages(&self) -> Vec<u32> {
        match &self.expect()["pages"] {
            Value::Array(pages) => pages.iter().map(integer).collect(),
            _ => Vec::new(),
        }
    }

    /// Role, name and SHA-256 of each file.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.0["files"]
            .as_array()
            .expect("files")
            .iter()
            .map(|file| {
                let text = |field: &str| file[field].as_str().expect("text");
                (text("role"), text("file"), text("sha256"))
            })
    }

    /// The bytes of the file with this role.
    pub(crate) fn bytes(&self, role: &str) -> Option<Vec<u8>> {
        let (_, file, _) = self.files().find(|(of, _, _)| *of == role)?;
        Some(std::fs::read(directory().join(file)).expect("a vector's file"))
    }

    /// Copies it and its side files, and returns the database's new path.
    pub(crate) fn copy_to(&self, dir: &Path) -> PathBuf {
        let path = dir.join("copy.db");
        for (role, file, _) in self.files() {
            let suffix = match role {
                "db" => "",
                "wal" => "-wal",
                "journal" => "-journal",
                other => panic!("no role: {other}"),
            };
            std::fs::copy(directory().join(file), beside(&path, suffix)).expect("a copy");
        }
        path
    }

    /// The key's bytes; `None` where it is to be opened without one.
    pub(crate) fn key_bytes(&self) -> Option<Vec<u8>> {
        let hex = self.0["open"]["key_hex"].as_str()?;
        Some(hex::decode(hex).expect("hexadecimal"))
    }

    /// The key as a typed one, without the crate's own reading of `x'…'`.
    pub(crate) fn key(&self) -> Option<Key> {
        let bytes = self.key_bytes()?;
        Some(match self.0["open"]["key_form"].as_str() {
            Some("passphrase") => Key::passphrase(bytes),
            Some("raw") => {
                let text = String::from_utf8(bytes).expect("text");
                Key::from_raw_hex(&text[2..text.len() - 1]).expect("raw key material")
            }
            other => panic!("no form of key: {other:?}"),
        })
    }

    /// The pragmas that open it, the key's included; `None` where the key can't be
    /// written in SQL.
    pub(crate) fn pragmas(&self) -> Option<Vec<String>> {
        let open = &self.0["open"];
        let mut pragmas = Vec::new();
        if let Some(bytes) = self.key_bytes() {
            let text = String::from_utf8(bytes).ok()?;
            if text.contains('\0') {
                return None;
            }
            pragmas.push(format!("PRAGMA key = '{}'", text.replace('\'', "''")));
        }
        let rest = open["pragmas"].as_array().expect("pragmas");
        pragmas.extend(rest.iter().map(|sql| sql.as_str().expect("SQL").to_owned()));
        Some(pragmas)
    }

    /// Opens a copy in `dir` through the VFS as the manifest says; `None` where the
    /// key can't be written in SQL.
    pub(crate) fn open_copy(&self, dir: &Path) -> Option<Connection> {
        let pragmas = self.pragmas()?;
        let connection = open(self.copy_to(dir)).expect("opening reads nothing");
        for pragma in pragmas {
            connection
                .execute_batch(&pragma)
                .unwrap_or_else(|error| panic!("{}: {pragma}: {error}", self.name()));
        }
        Some(connection)
    }

    /// The salt that is given from outside.
    pub(crate) fn salt(&self) -> Option<Salt> {
        let hex = self.0["settings"]["salt_hex"].as_str()?;
        let bytes = hex::decode(hex).expect("hexadecimal");
        Some(bytes.try_into().expect("16 bytes"))
    }

    /// The settings, from the manifest's fields.
    pub(crate) fn settings(&self) -> Settings {
        let fields = &self.0["settings"];
        let mut settings = Settings::preset(match integer(&fields["preset"]) {
            1 => Preset::V1,
            2 => Preset::V2,
            3 => Preset::V3,
            4 => Preset::V4,
            other => panic!("no preset: {other}"),
        });
        settings.page_size = integer(&fields["page_size"]);
        settings.kdf_iter = integer(&fields["kdf_iter"]);
        settings.fast_kdf_iter = integer(&fields["fast_kdf_iter"]);
        settings.use_hmac = fields["hmac"].as_bool().expect("a boolean");
        settings.hmac_algorithm = algorithm(&fields["hmac_algorithm"]);
        settings.kdf_algorithm = algorithm(&fields["kdf_algorithm"]);
        settings.plaintext_header = integer(&fields["plaintext_header_size"]);
        settings.hmac_pgno = match fields["hmac_pgno"].as_str() {
            Some("le") => PgnoOrder::Little,
            Some("be") => PgnoOrder::Big,
            other => panic!("no order: {other:?}"),
        };
        let mask = fields["hmac_salt_mask"].as_str().expect("a byte");
        settings.hmac_salt_mask = u8::from_str_radix(mask, 16).expect("hexadecimal");
        settings
    }

    /// The codec of the file: the first 16 bytes are the salt unless it is given.
    pub(crate) fn codec(&self) -> Option<PageCodec> {
        let key = self.key()?;
        let file = self.bytes("db").expect("a database");
        let in_file = file.first_chunk().copied().unwrap_or_default();
        let settings = self.settings();
        let salt = self.salt().unwrap_or(in_file);
        let keys = format::derive(&key, &settings, &salt).expect("keys");
        let codec = PageCodec::new(&settings, &keys).expect("settings");
        let reserve = integer(&self.0["settings"]["reserve"]) as usize;
        assert_eq!(codec.layout().reserve(), reserve, "{}", self.name());
        Some(codec)
    }

    /// The typed way to open it.
    pub(crate) fn options(&self) -> Option<OpenOptions> {
        let options = OpenOptions::new(self.key()?).settings(self.settings());
        Some(match self.salt() {
            Some(salt) => options.salt(salt),
            None => options,
        })
    }
}
