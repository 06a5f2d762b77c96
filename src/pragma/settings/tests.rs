//! Each setting: its values, what is refused, its getter.

use super::*;
use crate::format::Layout;

fn parse(name: &str, value: &str) -> Result<Setting, SettingsError> {
    parse_setting(name, value.as_bytes()).map(|setting| setting.expect(name))
}

/// The getter's answer after the setter.
fn set_and_get(name: &str, value: &str) -> Option<String> {
    let setting = parse(name, value).unwrap_or_else(|error| panic!("{name}={value}: {error}"));
    let mut choice = Choice::default();
    setting.apply(&mut choice);
    setting.name().get(&choice.settings)
}

#[test]
fn values_and_getters() {
    for (name, value, answer) in [
        ("cipher_page_size", "512", "512"),
        ("cipher_page_size", "65536", "65536"),
        ("CIPHER_PAGE_SIZE", " 1024 ", "1024"),
        ("kdf_iter", "1", "1"),
        ("kdf_iter", "2147483647", "2147483647"),
        ("Kdf_Iter", "64000", "64000"),
        ("fast_kdf_iter", "4000", "4000"),
        ("cipher_use_hmac", "off", "0"),
        ("cipher_use_hmac", "0", "0"),
        ("cipher_use_hmac", "FALSE", "0"),
        ("cipher_use_hmac", "yes", "1"),
        ("cipher_hmac_algorithm", "HMAC_SHA1", "HMAC_SHA1"),
        ("cipher_hmac_algorithm", "hmac_sha256", "HMAC_SHA256"),
        ("cipher_hmac_algorithm", "HMAC_sha512", "HMAC_SHA512"),
        (
            "cipher_kdf_algorithm",
            "PBKDF2_HMAC_SHA1",
            "PBKDF2_HMAC_SHA1",
        ),
        (
            "cipher_kdf_algorithm",
            "pbkdf2_hmac_sha256",
            "PBKDF2_HMAC_SHA256",
        ),
        (
            "cipher_kdf_algorithm",
            "PBKDF2_HMAC_SHA512",
            "PBKDF2_HMAC_SHA512",
        ),
        ("cipher_plaintext_header_size", "0", "0"),
        ("cipher_plaintext_header_size", "32", "32"),
        ("cipher_hmac_pgno", "le", "le"),
        ("cipher_hmac_pgno", "BE", "be"),
        ("cipher_hmac_pgno", "native", "native"),
        ("cipher_hmac_salt_mask", "x'00'", "00"),
        ("cipher_hmac_salt_mask", "X'fF'", "ff"),
    ] {
        assert_eq!(
            set_and_get(name, value).as_deref(),
            Some(answer),
            "{name}={value}"
        );
    }
    assert_eq!(set_and_get("cipher_compatibility", "3"), None);
}

#[test]
fn other_values_are_refused_and_not_repeated() {
    let names = SettingName::ALL.map(SettingName::pragma);
    for (name, values) in [
        ("cipher_compatibility", "0 5 -1 four 4x 4.0"),
        (
            "cipher_page_size",
            "0 1 256 511 1000 4095 131072 4294967296 -4096 4k automatic 4096.0 0x1000",
        ),
        (
            "kdf_iter",
            "0 -1 2147483648 4294967295 4294967296 64k 1e5 64_000",
        ),
        ("fast_kdf_iter", "0 -2 two 2147483648"),
        ("cipher_use_hmac", "offf of -1 extra full 2147483648 1x"),
        (
            "cipher_hmac_algorithm",
            "SHA1 HMAC_ HMAC_MD5 HMAC_SHA2567 PBKDF2_HMAC_SHA1 1",
        ),
        (
            "cipher_kdf_algorithm",
            "SHA1 HMAC_SHA1 PBKDF2_HMAC_SHA384 PBKDF2_HMAC_SHA512x",
        ),
        ("cipher_plaintext_header_size", "-1 -16 32x 4294967296 all"),
        ("cipher_hmac_pgno", "l little big 1 ne"),
        (
            "cipher_hmac_salt_mask",
            "3a x'3' x'3a x'3aa' x'3a3a' x'zz' 58 x''",
        ),
    ] {
        assert!(names.contains(&name));
        // Nothing is no value of any setting.
        for value in values.split(' ').chain(["", " ", "NULL", "\u{fffd}"]) {
            let error = parse(name, value).expect_err(&format!("{name}={value}"));
            let text = error.to_string();
            if !matches!(error, SettingsError::PageSize(_)) {
                assert!(text.starts_with(name), "{text}");
            }
            assert!(
                text.ends_with("needed") || text.contains("must be"),
                "{text}"
            );
        }
        assert!(parse_setting(name, b"\xff").is_err());
        assert!(parse_setting(name, b"4\0").is_err());
    }
}

#[test]
fn a_header_that_does_not_fit_is_found_at_the_first_use() {
    for size in ["8", "4032", "65536", "4294967295"] {
        let mut choice = Choice::default();
        parse("cipher_plaintext_header_size", size)
            .unwrap()
            .apply(&mut choice);
        assert!(matches!(
            Layout::new(&choice.settings),
            Err(SettingsError::PlaintextHeader { .. })
        ));
    }
}

#[test]
fn names() {
    for name in [
        "page_size",
        "cipher_salt",
        "key",
        "cipher_page_siz",
        "",
        "kdf_iter ",
    ] {
        assert_eq!(parse_setting(name, b"1").unwrap(), None, "{name}");
    }
    for name in SettingName::ALL {
        assert_eq!(SettingName::from_pragma(name.pragma()), Some(name));
        let upper = name.pragma().to_uppercase();
        assert_eq!(SettingName::from_pragma(&upper), Some(name));
        if let Some(pragma) = name.default_pragma() {
            assert_eq!(SettingName::from_default_pragma(pragma), Some(name));
            assert_eq!(SettingName::from_pragma(pragma), None);
        }
        assert_eq!(
            name.deprecation().is_some(),
            name.default_pragma().is_none()
        );
    }
}

/// A preset is of the five settings that differ between versions; SQLCipher leaves
/// the others alone, and so `cipher_plaintext_header_size` can come before it.
#[test]
fn compatibility_replaces_five_settings() {
    let mut choice = Choice::default();
    for (name, value) in [
        ("cipher_plaintext_header_size", "32"),
        ("cipher_hmac_pgno", "be"),
        ("cipher_hmac_salt_mask", "x'00'"),
        ("fast_kdf_iter", "4000"),
        ("kdf_iter", "7"),
        ("cipher_use_hmac", "off"),
        ("cipher_page_size", "auto"),
    ] {
        parse(name, value).unwrap().apply(&mut choice);
    }
    assert!(choice.auto_page_size);
    for (value, preset) in [
        ("1", Preset::V1),
        ("2", Preset::V2),
        ("3", Preset::V3),
        ("4", Preset::V4),
    ] {
        parse("cipher_compatibility", value)
            .unwrap()
            .apply(&mut choice);
        let expected = Settings {
            plaintext_header: 32,
            hmac_pgno: PgnoOrder::Big,
            hmac_salt_mask: 0,
            fast_kdf_iter: 4000,
            ..Settings::preset(preset)
        };
        assert_eq!(choice.settings, expected);
        assert!(!choice.auto_page_size);
    }
}

#[test]
fn auto_page_size_ends_with_a_size() {
    let mut choice = Choice::default();
    parse("cipher_page_size", "AUTO")
        .unwrap()
        .apply(&mut choice);
    assert!(choice.auto_page_size);
    assert_eq!(SettingName::PageSize.get(&choice.settings).unwrap(), "4096");
    parse("cipher_page_size", "8192")
        .unwrap()
        .apply(&mut choice);
    assert!(!choice.auto_page_size);
    assert_eq!(choice.settings.page_size, 8192);
}

#[test]
fn listed_in_sqlciphers_order() {
    assert_eq!(
        settings_rows(&Settings::default()),
        [
            "PRAGMA kdf_iter = 256000;",
            "PRAGMA cipher_page_size = 4096;",
            "PRAGMA cipher_use_hmac = 1;",
            "PRAGMA cipher_plaintext_header_size = 0;",
            "PRAGMA cipher_hmac_algorithm = HMAC_SHA512;",
            "PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_SHA512;",
        ]
    );
    assert_eq!(
        default_settings_rows(&Settings::preset(Preset::V1)),
        [
            "PRAGMA cipher_default_kdf_iter = 4000;",
            "PRAGMA cipher_default_page_size = 1024;",
            "PRAGMA cipher_default_use_hmac = 0;",
            "PRAGMA cipher_default_plaintext_header_size = 0;",
            "PRAGMA cipher_default_hmac_algorithm = HMAC_SHA1;",
            "PRAGMA cipher_default_kdf_algorithm = PBKDF2_HMAC_SHA1;",
        ]
    );
}

/// What `cipher_settings` answers, run as pragmas, gives the same settings.
#[test]
fn the_list_can_be_run() {
    let settings = Settings {
        page_size: 8192,
        use_hmac: false,
        plaintext_header: 32,
        ..Settings::preset(Preset::V3)
    };
    let mut choice = Choice::default();
    for row in settings_rows(&settings) {
        let (name, value) = row
            .strip_prefix("PRAGMA ")
            .and_then(|row| row.strip_suffix(';'))
            .and_then(|row| row.split_once(" = "))
            .unwrap();
        parse(name, value).unwrap().apply(&mut choice);
    }
    assert_eq!(choice.settings, settings);
}
