//! Settings as text: a version and what differs from it, as pragmas, URI parameters,
//! Rust, and options of this program.

use pageseal::pragma::SettingName;
use pageseal::secret::Salt;
use pageseal::{HashAlgorithm, Key, Preset, Settings};
use serde_json::{Map, Value, json};

const PRESETS: [(u8, Preset); 4] = [
    (4, Preset::V4),
    (3, Preset::V3),
    (2, Preset::V2),
    (1, Preset::V1),
];

/// The settings but the version, in the order in which they are told.
const NAMES: [SettingName; 9] = [
    SettingName::PageSize,
    SettingName::KdfIter,
    SettingName::KdfAlgorithm,
    SettingName::UseHmac,
    SettingName::HmacAlgorithm,
    SettingName::PlaintextHeaderSize,
    SettingName::HmacPgno,
    SettingName::FastKdfIter,
    SettingName::HmacSaltMask,
];

/// Settings, as a version and what differs from it.
pub(crate) struct Description {
    /// The nearest version.
    pub(crate) version: u8,
    preset: Preset,
    /// What differs.
    pub(crate) differing: Vec<SettingName>,
    settings: Settings,
    salt: Option<Salt>,
}

impl Description {
    /// `salt` is the salt, where it is not in the file.
    pub(crate) fn new(settings: &Settings, salt: Option<Salt>) -> Self {
        let differing = |preset| -> Vec<SettingName> {
            let preset = Settings::preset(preset);
            NAMES
                .into_iter()
                .filter(|name| matters(*name, settings) && name.get(settings) != name.get(&preset))
                .collect()
        };
        let nearest = PRESETS
            .into_iter()
            .map(|(version, preset)| (version, preset, differing(preset)))
            .min_by_key(|(.., differing)| differing.len());
        let (version, preset, differing) =
            nearest.unwrap_or((4, Preset::V4, differing(Preset::V4)));
        Self {
            version,
            preset,
            differing,
            settings: *settings,
            salt: salt.filter(|_| settings.plaintext_header > 0),
        }
    }

    /// Of settings that were found with this key. A raw key is not derived, so that
    /// the settings of the derivation are any: those of the nearest version.
    pub(crate) fn with_key(settings: &Settings, salt: Option<Salt>, key: &Key) -> Self {
        let near = |preset| {
            let preset = Settings::preset(preset);
            let mut settings = *settings;
            if !matches!(key, Key::Passphrase(_)) {
                settings.kdf_iter = preset.kdf_iter;
            }
            if matches!(key, Key::Full { .. }) {
                settings.kdf_algorithm = preset.kdf_algorithm;
                settings.fast_kdf_iter = preset.fast_kdf_iter;
                settings.hmac_salt_mask = preset.hmac_salt_mask;
            }
            Self::new(&settings, salt)
        };
        PRESETS
            .into_iter()
            .map(|(_, preset)| near(preset))
            .min_by_key(|description| description.differing.len())
            .unwrap_or_else(|| Self::new(settings, salt))
    }

    /// In words: "SQLCipher 4", or what differs from it.
    pub(crate) fn in_words(&self) -> String {
        if self.differing.is_empty() {
            return format!("SQLCipher {}", self.version);
        }
        let differing: Vec<_> = self
            .differing
            .iter()
            .map(|name| format!("{} {}", name.pragma(), self.value(*name)))
            .collect();
        format!(
            "SQLCipher {} but for {}",
            self.version,
            differing.join(", ")
        )
    }

    fn value(&self, name: SettingName) -> String {
        name.get(&self.settings).unwrap_or_default()
    }

    /// As pragmas, to run behind `PRAGMA key`.
    pub(crate) fn pragmas(&self) -> Vec<String> {
        let mut lines = vec![format!("PRAGMA cipher_compatibility = {};", self.version)];
        lines.extend(self.differing.iter().map(|name| {
            let value = self.value(*name);
            match name {
                SettingName::HmacSaltMask => format!("PRAGMA {} = \"x'{value}'\";", name.pragma()),
                _ => format!("PRAGMA {} = {value};", name.pragma()),
            }
        }));
        lines.extend(
            self.salt
                .map(|salt| format!("PRAGMA cipher_salt = \"x'{}'\";", hex(&salt))),
        );
        lines
    }

    /// As parameters of a URI.
    pub(crate) fn uri_query(&self) -> String {
        let mut parts = vec![format!("cipher_compatibility={}", self.version)];
        parts.extend(self.differing.iter().map(|name| {
            let value = self.value(*name);
            match name {
                SettingName::HmacSaltMask => format!("{}=x'{value}'", name.pragma()),
                _ => format!("{}={value}", name.pragma()),
            }
        }));
        parts.extend(
            self.salt
                .map(|salt| format!("cipher_salt=x'{}'", hex(&salt))),
        );
        parts.join("&")
    }

    /// As Rust.
    pub(crate) fn rust(&self) -> String {
        let mut calls = vec![format!("preset(Preset::{:?})", self.preset)];
        calls.extend(self.differing.iter().filter_map(|name| {
            let s = &self.settings;
            Some(match name {
                SettingName::PageSize => format!("page_size({})", s.page_size),
                SettingName::KdfIter => format!("kdf_iter({})", grouped(s.kdf_iter)),
                SettingName::FastKdfIter => format!("fast_kdf_iter({})", grouped(s.fast_kdf_iter)),
                SettingName::UseHmac => format!("use_hmac({})", s.use_hmac),
                SettingName::HmacAlgorithm => {
                    format!("hmac_algorithm(HashAlgorithm::{:?})", s.hmac_algorithm)
                }
                SettingName::KdfAlgorithm => {
                    format!("kdf_algorithm(HashAlgorithm::{:?})", s.kdf_algorithm)
                }
                SettingName::PlaintextHeaderSize => {
                    format!("plaintext_header({})", s.plaintext_header)
                }
                SettingName::HmacPgno => format!("hmac_pgno(PgnoOrder::{:?})", s.hmac_pgno),
                SettingName::HmacSaltMask => format!("hmac_salt_mask({:#04x})", s.hmac_salt_mask),
                _ => return None,
            })
        }));
        calls.extend(self.salt.map(|salt| {
            let bytes: Vec<_> = salt.iter().map(|byte| format!("{byte:#04x}")).collect();
            format!("salt([{}])", bytes.join(", "))
        }));
        format!("OpenOptions::new(key).{}", calls.join("."))
    }

    /// As options of this program.
    pub(crate) fn options(&self) -> String {
        let mut options = vec![format!("--compat {}", self.version)];
        options.extend(self.differing.iter().filter_map(|name| {
            let s = &self.settings;
            Some(match name {
                SettingName::PageSize => format!("--page-size {}", s.page_size),
                SettingName::KdfIter => format!("--kdf-iter {}", s.kdf_iter),
                SettingName::FastKdfIter => format!("--fast-kdf-iter {}", s.fast_kdf_iter),
                SettingName::UseHmac if s.use_hmac => "--hmac".to_owned(),
                SettingName::UseHmac => "--no-hmac".to_owned(),
                SettingName::HmacAlgorithm => {
                    format!("--hmac-algorithm {}", lower(s.hmac_algorithm))
                }
                SettingName::KdfAlgorithm => format!("--kdf-algorithm {}", lower(s.kdf_algorithm)),
                SettingName::PlaintextHeaderSize => {
                    format!("--plaintext-header {}", s.plaintext_header)
                }
                SettingName::HmacPgno => format!("--hmac-pgno {}", self.value(*name)),
                SettingName::HmacSaltMask => format!("--hmac-salt-mask {}", self.value(*name)),
                _ => return None,
            })
        }));
        options.extend(self.salt.map(|salt| format!("--salt {}", hex(&salt))));
        options.join(" ")
    }

    /// Every setting that matters, by the name of its pragma.
    pub(crate) fn all(&self) -> Vec<(&'static str, String)> {
        NAMES
            .into_iter()
            .filter(|name| matters(*name, &self.settings))
            .map(|name| match name {
                SettingName::UseHmac => {
                    let word = if self.settings.use_hmac { "on" } else { "off" };
                    (name.pragma(), word.to_owned())
                }
                name => (name.pragma(), self.value(name)),
            })
            .collect()
    }

    /// For `--json`.
    pub(crate) fn json(&self) -> Value {
        let s = &self.settings;
        let exact = self.differing.is_empty();
        let mut map = Map::new();
        map.insert("version".into(), json!(exact.then_some(self.version)));
        map.insert("nearest_version".into(), json!(self.version));
        let differing: Vec<_> = self.differing.iter().map(|name| name.pragma()).collect();
        map.insert("differing".into(), json!(differing));
        map.insert("cipher_page_size".into(), json!(s.page_size));
        map.insert("kdf_iter".into(), json!(s.kdf_iter));
        map.insert(
            "cipher_kdf_algorithm".into(),
            json!(SettingName::KdfAlgorithm.get(s)),
        );
        map.insert("cipher_use_hmac".into(), json!(s.use_hmac));
        let hmac = s.use_hmac.then(|| SettingName::HmacAlgorithm.get(s));
        map.insert("cipher_hmac_algorithm".into(), json!(hmac));
        map.insert(
            "cipher_plaintext_header_size".into(),
            json!(s.plaintext_header),
        );
        map.insert(
            "cipher_hmac_pgno".into(),
            json!(SettingName::HmacPgno.get(s)),
        );
        map.insert("fast_kdf_iter".into(), json!(s.fast_kdf_iter));
        map.insert(
            "cipher_hmac_salt_mask".into(),
            json!(SettingName::HmacSaltMask.get(s)),
        );
        Value::Object(map)
    }
}

/// Whether a setting makes a difference.
fn matters(name: SettingName, settings: &Settings) -> bool {
    match name {
        SettingName::HmacAlgorithm
        | SettingName::HmacPgno
        | SettingName::FastKdfIter
        | SettingName::HmacSaltMask => settings.use_hmac,
        _ => true,
    }
}

fn lower(hash: HashAlgorithm) -> String {
    hash.to_string().to_ascii_lowercase()
}

/// A number as Rust programmers write it.
fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) && digits.len() > 4 {
            out.push('_');
        }
        out.push(digit);
    }
    out
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pageseal::PgnoOrder;

    #[test]
    fn presets_are_themselves() {
        for (version, preset) in PRESETS {
            let description = Description::new(&Settings::preset(preset), None);
            assert_eq!(description.in_words(), format!("SQLCipher {version}"));
            assert_eq!(
                description.pragmas(),
                [format!("PRAGMA cipher_compatibility = {version};")]
            );
        }
    }

    #[test]
    fn what_differs_is_told_in_every_language() {
        let mut settings = Settings::preset(Preset::V2);
        settings.fast_kdf_iter = 4000;
        settings.hmac_salt_mask = 0;
        settings.hmac_pgno = PgnoOrder::Big;
        settings.page_size = 4096;
        let description = Description::new(&settings, None);
        assert_eq!(
            description.options(),
            "--compat 2 --page-size 4096 --hmac-pgno be --fast-kdf-iter 4000 --hmac-salt-mask 00"
        );
        assert_eq!(
            description.rust(),
            "OpenOptions::new(key).preset(Preset::V2).page_size(4096).hmac_pgno(PgnoOrder::Big)\
             .fast_kdf_iter(4000).hmac_salt_mask(0x00)"
        );
        assert_eq!(
            description.uri_query(),
            "cipher_compatibility=2&cipher_page_size=4096&cipher_hmac_pgno=be&fast_kdf_iter=4000\
             &cipher_hmac_salt_mask=x'00'"
        );
        assert_eq!(
            description.pragmas().last().map(String::as_str),
            Some("PRAGMA cipher_hmac_salt_mask = \"x'00'\";")
        );
    }

    #[test]
    fn without_hmac_its_settings_do_not_matter() {
        let mut settings = Settings::preset(Preset::V4);
        settings.use_hmac = false;
        let description = Description::new(&settings, None);
        assert_eq!(
            description.in_words(),
            "SQLCipher 4 but for cipher_use_hmac 0"
        );
        assert_eq!(description.options(), "--compat 4 --no-hmac");
    }
}
