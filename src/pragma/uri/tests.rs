//! URIs: keys, settings, misspelt settings, other people's parameters.

use super::*;
use crate::format::{HashAlgorithm, Preset};
use crate::pragma::settings::PageSize;

/// Reads `a=b&c=d`.
fn read(query: &str) -> Result<UriOptions, PragmaError> {
    parse(
        query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (name.as_bytes(), value.as_bytes())
            }),
    )
}

fn passphrase(options: &UriOptions) -> &[u8] {
    match &options.key {
        Some(Key::Passphrase(bytes)) => bytes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn keys() {
    assert!(read("").unwrap().key.is_none());
    for query in [
        "key=ab",
        "textkey=ab",
        "hexkey=6162",
        "KEY=ab",
        "mode=ro&Key=ab&cache=shared",
    ] {
        assert_eq!(passphrase(&read(query).unwrap()), b"ab", "{query}");
    }
    let raw = format!("key=x'{}'", "ab".repeat(48));
    assert!(matches!(
        read(&raw).unwrap().key,
        Some(Key::RawWithSalt(..))
    ));
    for (query, error) in [
        ("key=", KeyError::Empty),
        ("key", KeyError::Empty),
        ("hexkey=", KeyError::Empty),
        ("hexkey=xyz", KeyError::NotHex),
    ] {
        assert_eq!(read(query).unwrap_err(), error.into(), "{query}");
    }
}

#[test]
fn one_key_only() {
    for query in [
        "key=a&hexkey=61",
        "hexkey=61&key=a",
        "key=a&textkey=a",
        "key=a&key=b",
        "key=a&KEY=a",
    ] {
        let error = read(query).unwrap_err();
        assert!(error.to_string().starts_with("key: only one"), "{error}");
    }
}

#[test]
fn settings_compatibility_first() {
    let options = read(
        "cipher_page_size=8192&kdf_iter=10&Cipher_Compatibility=3&cipher_use_hmac=off\
         &cipher_hmac_algorithm=HMAC_SHA256&cipher_kdf_algorithm=PBKDF2_HMAC_SHA512\
         &fast_kdf_iter=3&cipher_plaintext_header_size=32&cipher_hmac_pgno=be\
         &cipher_hmac_salt_mask=x'00'",
    )
    .unwrap();
    assert_eq!(options.settings[0], Setting::Compatibility(Preset::V3));
    assert_eq!(
        options.settings[1..4],
        [
            Setting::PageSize(PageSize::Fixed(8192)),
            Setting::KdfIter(10),
            Setting::UseHmac(false),
        ]
    );
    assert_eq!(
        options.settings[4],
        Setting::HmacAlgorithm(HashAlgorithm::Sha256)
    );
    assert_eq!(options.settings.len(), SettingName::ALL.len());
    assert_eq!(
        read("page_size=1024").unwrap().settings,
        [Setting::PageSize(PageSize::Fixed(1024))]
    );
}

#[test]
fn salt() {
    let salt = format!("cipher_salt=x'{}'", "0a".repeat(16));
    assert_eq!(read(&salt).unwrap().salt, Some([0x0a; 16]));
    assert_eq!(read("").unwrap().salt, None);
    for query in ["cipher_salt=", "cipher_salt=0a0a", "cipher_salt=x'0a'"] {
        assert_eq!(read(query).unwrap_err(), SettingsError::Salt.into());
    }
    assert!(read(&format!("{salt}&{salt}")).is_err());
}

#[test]
fn bad_values_and_repetitions() {
    for query in [
        "kdf_iter=0",
        "kdf_iter=",
        "kdf_iter",
        "cipher_page_size=1000",
        "cipher_compatibility=5",
        "kdf_iter=1&kdf_iter=1",
        "cipher_page_size=512&page_size=1024",
    ] {
        assert!(
            matches!(read(query), Err(PragmaError::Settings(_))),
            "{query}"
        );
    }
}

#[test]
fn misspelt_settings() {
    for name in [
        "cipher_pagesize",
        "cipher_kdf_iter",
        "cipher_default_kdf_iter",
        "cipher_migrate",
        "cipher",
        "Cipher_Hmac",
        "kdf_iterations",
        "kdf_algorithm",
        "hmac_algorithm",
        "hmac_use",
        "fast_kdf_iterations",
    ] {
        let error = read(&format!("key=secret&{name}=5ec4e7")).unwrap_err();
        assert_eq!(error, SettingsError::Unknown(name.to_owned()).into());
        assert!(!error.to_string().contains("5ec4e7"));
    }
}

#[test]
fn other_parameters() {
    let options = read(
        "vfs=unix-excl&mode=rw&cache=private&psow=0&nolock=1&immutable=1&modeof=/f\
         &cksum=1&passphrase=x&hexdump=1&=&monkey=1&keys=2",
    )
    .unwrap();
    assert!(options.key.is_none() && options.salt.is_none() && options.settings.is_empty());
    let binary: [(&[u8], &[u8]); 2] = [(b"cipher_\xff", b"1"), (b"\0", b"\xff")];
    assert!(parse(binary).unwrap().settings.is_empty());
    let key: [(&[u8], &[u8]); 1] = [(b"key", b"\xff\xfe")];
    assert_eq!(passphrase(&parse(key).unwrap()), b"\xff\xfe");
}
