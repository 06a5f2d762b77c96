//! Each pragma as a getter, as a setter, and with values that mean nothing.

use super::super::log::LogSource;
use super::*;
use crate::error::KeyError;
use crate::format::{HashAlgorithm, PgnoOrder, Preset};
use crate::pragma::settings::PageSize;

/// A command as text: keys show their form only.
fn run(name: &str, value: Option<&str>) -> String {
    match parse(name, value.map(str::as_bytes)) {
        Ok(Some(command)) => format!("{command:?}"),
        Ok(None) => "not ours".to_owned(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn getters() {
    for (name, command) in [
        ("key", "Nothing"),
        ("hexkey", "Nothing"),
        ("textkey", "Nothing"),
        ("rekey", "Nothing"),
        ("hexrekey", "Nothing"),
        ("textrekey", "Nothing"),
        ("cipher_compatibility", "Nothing"),
        ("cipher_default_compatibility", "Nothing"),
        ("cipher_page_size", "Get(PageSize)"),
        ("page_size", "GetPageSize"),
        ("kdf_iter", "Get(KdfIter)"),
        ("fast_kdf_iter", "Get(FastKdfIter)"),
        ("cipher_use_hmac", "Get(UseHmac)"),
        ("cipher_hmac_algorithm", "Get(HmacAlgorithm)"),
        ("cipher_kdf_algorithm", "Get(KdfAlgorithm)"),
        ("cipher_plaintext_header_size", "Get(PlaintextHeaderSize)"),
        ("cipher_salt", "GetSalt"),
        ("cipher_hmac_pgno", "Get(HmacPgno)"),
        ("cipher_hmac_salt_mask", "Get(HmacSaltMask)"),
        ("cipher_default_page_size", "GetDefault(PageSize)"),
        ("cipher_default_kdf_iter", "GetDefault(KdfIter)"),
        ("cipher_default_use_hmac", "GetDefault(UseHmac)"),
        ("cipher_default_hmac_algorithm", "GetDefault(HmacAlgorithm)"),
        ("cipher_default_kdf_algorithm", "GetDefault(KdfAlgorithm)"),
        (
            "cipher_default_plaintext_header_size",
            "GetDefault(PlaintextHeaderSize)",
        ),
        ("cipher_settings", "Settings"),
        ("cipher_default_settings", "DefaultSettings"),
        ("cipher_version", "Version"),
        ("cipher_provider", "Provider"),
        ("cipher_provider_version", "ProviderVersion"),
        ("cipher", "Cipher"),
        ("cipher_status", "Status"),
        ("cipher_fips_status", "FipsStatus"),
        ("cipher_integrity_check", "IntegrityCheck"),
        ("cipher_migrate", "Migrate"),
        ("cipher_stats", "Stats"),
        ("cipher_memory_security", "GetMemorySecurity"),
        ("cipher_store_pass", "GetStorePass"),
        ("cipher_log_level", "LogLevel(None)"),
        ("cipher_log_source", "LogSource(None)"),
        ("cipher_add_random", "not ours"),
        ("cipher_log", "not ours"),
        ("cipher_profile", "not ours"),
        ("rekey_cipher", "not ours"),
        ("rekey_kdf_iter", "not ours"),
        ("cipher_default_fast_kdf_iter", "not ours"),
        ("cipher_default_salt", "not ours"),
        ("journal_mode", "not ours"),
        ("cipher_pagesize", "not ours"),
        ("key2", "not ours"),
        ("", "not ours"),
    ] {
        assert_eq!(run(name, None), command, "{name}");
        assert_eq!(run(&name.to_uppercase(), None), command, "{name}");
    }
}

#[test]
fn setters() {
    let salt = format!("x'{}'", "0F".repeat(16));
    for (name, value, command) in [
        ("key", "secret", "Key(Key::Passphrase(..))".to_owned()),
        ("textkey", "secret", "Key(Key::Passphrase(..))".to_owned()),
        ("hexkey", "6162", "Key(Key::Passphrase(..))".to_owned()),
        ("rekey", "secret", "Rekey(Key::Passphrase(..))".to_owned()),
        (
            "textrekey",
            "secret",
            "Rekey(Key::Passphrase(..))".to_owned(),
        ),
        ("hexrekey", "6162", "Rekey(Key::Passphrase(..))".to_owned()),
        (
            "cipher_salt",
            &salt,
            "SetSalt([15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15])".to_owned(),
        ),
        (
            "page_size",
            "1024",
            "SetPageSize(Ok(PageSize(Fixed(1024))))".to_owned(),
        ),
        (
            "page_size",
            "1000",
            "SetPageSize(Err(PageSize(1000)))".to_owned(),
        ),
        ("cipher_settings", "1", "Settings".to_owned()),
        ("cipher_default_settings", "1", "DefaultSettings".to_owned()),
        ("cipher_integrity_check", "1", "IntegrityCheck".to_owned()),
        (
            "cipher_memory_security",
            "on",
            "SetMemorySecurity(true)".to_owned(),
        ),
        (
            "cipher_memory_security",
            "0",
            "SetMemorySecurity(false)".to_owned(),
        ),
        ("cipher_store_pass", "1", "SetStorePass(true)".to_owned()),
        ("cipher_store_pass", "off", "SetStorePass(false)".to_owned()),
        (
            "cipher_add_random",
            "x'00'",
            "AddRandom { valid: true }".to_owned(),
        ),
        (
            "cipher_add_random",
            "x''",
            "AddRandom { valid: false }".to_owned(),
        ),
        (
            "cipher_add_random",
            "dice",
            "AddRandom { valid: false }".to_owned(),
        ),
        ("cipher_log", "stderr", "Log(Stderr)".to_owned()),
        ("cipher_profile", "off", "Profile(Off)".to_owned()),
        (
            "cipher_log_level",
            "warn",
            "LogLevel(Some(Warn))".to_owned(),
        ),
        ("cipher_log_level", "?", "LogLevel(Some(None))".to_owned()),
        (
            "cipher_log_source",
            "any",
            "LogSource(Some(Any))".to_owned(),
        ),
        (
            "cipher_log_source",
            "core",
            format!("LogSource(Some(Add({:?})))", LogSource::Core),
        ),
        (
            "cipher",
            "aes",
            "NoLongerSupported(\"PRAGMA cipher is no longer supported.\")".to_owned(),
        ),
        (
            "rekey_cipher",
            "aes",
            "NoLongerSupported(\"PRAGMA rekey_cipher is no longer supported.\")".to_owned(),
        ),
        (
            "rekey_kdf_iter",
            "1",
            "NoLongerSupported(\"PRAGMA rekey_kdf_iter is no longer supported.\")".to_owned(),
        ),
        ("cipher_version", "4", "not ours".to_owned()),
        ("cipher_provider", "x", "not ours".to_owned()),
        ("cipher_provider_version", "x", "not ours".to_owned()),
        ("cipher_status", "1", "not ours".to_owned()),
        ("cipher_fips_status", "1", "not ours".to_owned()),
        ("cipher_migrate", "1", "not ours".to_owned()),
        ("journal_mode", "wal", "not ours".to_owned()),
    ] {
        assert_eq!(run(name, Some(value)), command, "{name}={value}");
        assert_eq!(
            run(&name.to_uppercase(), Some(value)),
            command,
            "{name}={value}"
        );
    }
}

#[test]
fn settings_of_this_database_and_of_the_next() {
    for (tail, value, setting) in [
        ("compatibility", "3", Setting::Compatibility(Preset::V3)),
        ("page_size", "auto", Setting::PageSize(PageSize::Auto)),
        (
            "page_size",
            "8192",
            Setting::PageSize(PageSize::Fixed(8192)),
        ),
        ("use_hmac", "off", Setting::UseHmac(false)),
        (
            "hmac_algorithm",
            "HMAC_SHA256",
            Setting::HmacAlgorithm(HashAlgorithm::Sha256),
        ),
        (
            "kdf_algorithm",
            "PBKDF2_HMAC_SHA1",
            Setting::KdfAlgorithm(HashAlgorithm::Sha1),
        ),
        (
            "plaintext_header_size",
            "32",
            Setting::PlaintextHeaderSize(32),
        ),
    ] {
        let one = run(&format!("cipher_{tail}"), Some(value));
        assert_eq!(one, format!("Set({setting:?})"));
        let default = run(&format!("cipher_default_{tail}"), Some(value));
        assert_eq!(default, format!("SetDefault({setting:?})"));
    }
    assert_eq!(run("kdf_iter", Some("5")), "Set(KdfIter(5))");
    assert_eq!(
        run("cipher_default_kdf_iter", Some("5")),
        "SetDefault(KdfIter(5))"
    );
    assert_eq!(run("fast_kdf_iter", Some("5")), "Set(FastKdfIter(5))");
    assert_eq!(
        run("cipher_hmac_pgno", Some("be")),
        format!("Set(HmacPgno({:?}))", PgnoOrder::Big)
    );
    assert_eq!(
        run("cipher_hmac_salt_mask", Some("x'00'")),
        "Set(HmacSaltMask(0))"
    );
}

#[test]
fn errors_name_the_pragma() {
    for (name, value, error) in [
        ("key", "", "the key is empty"),
        ("textkey", "", "the key is empty"),
        ("hexkey", "", "the key is empty"),
        ("rekey", "", "the key is empty"),
        ("hexkey", "616", "the key is not hexadecimal"),
        ("hexrekey", "61zz", "the key is not hexadecimal"),
        ("cipher_salt", "0f0f", "the salt must be given as"),
        ("cipher_salt", "x'0f'", "the salt must be given as"),
        ("cipher_page_size", "1000", "page size 1000"),
        ("cipher_default_page_size", "1000", "page size 1000"),
        ("cipher_default_kdf_iter", "0", "cipher_default_kdf_iter:"),
        ("cipher_default_use_hmac", "?", "cipher_default_use_hmac:"),
        (
            "cipher_default_compatibility",
            "5",
            "cipher_default_compatibility:",
        ),
        ("kdf_iter", "many", "kdf_iter:"),
    ] {
        let answer = run(name, Some(value));
        assert!(
            answer.starts_with(&format!("error: {error}")),
            "{name}={value}: {answer}"
        );
    }
}

/// A key that is given to the wrong pragma, or with a mistake in it, stays secret.
#[test]
fn errors_never_show_the_value() {
    let secret = "x'5ec4e75ec4e7zz";
    let names = SettingName::ALL
        .into_iter()
        .flat_map(|name| [Some(name.pragma()), name.default_pragma()])
        .flatten()
        .chain(["hexkey", "hexrekey", "cipher_salt"]);
    for name in names {
        let error = parse(name, Some(secret.as_bytes())).expect_err(name);
        let text = format!("{error} {error:?}");
        assert!(!text.contains("5ec4e7"), "{text}");
    }
    let command = parse("key", Some(secret.as_bytes()));
    assert!(!format!("{command:?}").contains("5ec4e7"));
}

fn passphrase(command: Option<Command>) -> Vec<u8> {
    match command {
        Some(Command::Key(Key::Passphrase(bytes)) | Command::Rekey(Key::Passphrase(bytes))) => {
            bytes.to_vec()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn keys_keep_their_bytes() {
    for key in [
        "p",
        " p ",
        "it's",
        "say \"x\"",
        "пароль",
        "x'ab'",
        "x'zz'",
        "123",
        "-5",
        "line\nbreak",
    ] {
        for name in ["key", "textkey", "rekey", "textrekey"] {
            let command = parse(name, Some(key.as_bytes())).unwrap();
            assert_eq!(passphrase(command), key.as_bytes());
        }
    }
    assert_eq!(
        passphrase(parse("key", Some(b"\xff\0\xfe")).unwrap()),
        b"\xff\0\xfe"
    );
    for name in ["hexkey", "hexrekey"] {
        assert_eq!(
            passphrase(parse(name, Some(b"61FF00")).unwrap()),
            b"a\xff\0"
        );
    }
}

#[test]
fn raw_keys() {
    for (digits, form) in [
        (64, "Key::Raw(..)"),
        (96, "Key::RawWithSalt(..)"),
        (160, "Key::Full(..)"),
        (62, "Key::Passphrase(..)"),
        (98, "Key::Passphrase(..)"),
    ] {
        for x in ["x", "X"] {
            let key = format!("{x}'{}'", "aB".repeat(digits / 2));
            assert_eq!(run("key", Some(&key)), format!("Key({form})"), "{digits}");
            assert_eq!(
                run("rekey", Some(&key)),
                format!("Rekey({form})"),
                "{digits}"
            );
        }
    }
}

/// SQLCipher decodes `hexkey` into a buffer of 40 bytes and overlooks the rest: a
/// file that it made with a longer one opens with the first 80 digits.
#[test]
fn hexkey_ends_after_forty_bytes() {
    let digits = "5a".repeat(41);
    let command = parse("hexkey", Some(digits.as_bytes())).unwrap();
    assert_eq!(passphrase(command), [0x5a; 40]);
    let mistake = format!("{}zz", "5a".repeat(41));
    assert_eq!(
        parse("hexkey", Some(mistake.as_bytes())).unwrap_err(),
        PragmaError::Key(KeyError::NotHex)
    );
}
