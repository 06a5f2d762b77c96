//! Every configuration that the two sides must agree on, in groups.

use crate::configuration::Configuration;

const SALT: &str = "000102030405060708090a0b0c0d0e0f";
const AES_KEY: &str = "2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99";
const HMAC_KEY: &str = "98483c6eb40b6c31a448c22a66ded3b5e5e8d5119cac8327b655c8b5c4836481";

/// The four presets as they are, and with their iterations changed.
pub(crate) fn presets() -> Vec<Configuration> {
    let presets = [1, 2, 3, 4].map(|version| {
        let page_size = if version == 4 { 4096 } else { 1024 };
        Configuration::preset(format!("preset {version}"), version, page_size)
    });
    let mut list = presets.to_vec();
    list.extend([
        Configuration::new("kdf_iter 1").with("kdf_iter", "1"),
        Configuration::new("kdf_iter 12345").with("kdf_iter", "12345"),
    ]);
    list
}

/// Every page size under every reserve that leaves SQLite its 480 bytes, and the
/// presets (with few iterations) under a page that is not theirs.
pub(crate) fn page_sizes() -> Vec<Configuration> {
    let mut list = Vec::new();
    list.push(
        // Keyed with a reserve of 80, SQLCipher gets its own page size wrong: it
        // destroys the database that it creates.
        Configuration::preset("page 512, preset 1", 1, 512)
            .few_iterations()
            .with_peer_default("compatibility = 1")
            .with_peer_default("page_size = 512")
            .with_page_size(512),
    );
    for size in (10..=16).map(|bits| 1 << bits) {
        list.extend([
            Configuration::new(format!("page {size}")).with_page_size(size),
            Configuration::new(format!("page {size} with HMAC-SHA1"))
                .with("cipher_hmac_algorithm", "HMAC_SHA1")
                .with_page_size(size),
            Configuration::new(format!("page {size} without HMAC"))
                .without_hmac()
                .with_page_size(size),
        ]);
    }
    for version in 1..=3 {
        list.push(
            Configuration::preset(format!("preset {version}, page 4096"), version, 4096)
                .few_iterations()
                .with_page_size(4096),
        );
    }
    list
}

/// Every pair of page MAC and key derivation.
pub(crate) fn algorithms() -> Vec<Configuration> {
    let hashes = ["SHA1", "SHA256", "SHA512"];
    let pairs = hashes.iter().flat_map(|mac| hashes.map(|kdf| (mac, kdf)));
    pairs
        .map(|(mac, kdf)| {
            Configuration::new(format!("HMAC-{mac}, PBKDF2-{kdf}"))
                .with("cipher_hmac_algorithm", format!("HMAC_{mac}"))
                .with("cipher_kdf_algorithm", format!("PBKDF2_HMAC_{kdf}"))
        })
        .collect()
}

/// Plaintext headers, whose salt comes from outside, and a given salt without one.
pub(crate) fn headers() -> Vec<Configuration> {
    let salted =
        |name: &str| Configuration::new(name).with("cipher_salt", format!("\"x'{SALT}'\""));
    let header = |size: u32| {
        salted(&format!("plaintext header of {size}")).with("cipher_plaintext_header_size", size)
    };
    vec![
        salted("given salt"),
        header(16),
        header(32),
        header(2048),
        salted("page 1 in the clear").with_page1_in_clear(80),
        salted("page 1 of 1024 in the clear")
            .with("cipher_hmac_algorithm", "HMAC_SHA256")
            .with_page_size(1024)
            .with_page1_in_clear(48),
        salted("page 1 in the clear without HMAC")
            .without_hmac()
            .with_page1_in_clear(16),
        Configuration::new("plaintext header of 32, raw key with salt")
            .keyed(raw(&[AES_KEY, SALT]))
            .with("cipher_plaintext_header_size", "32"),
    ]
}

/// Raw keys, and what only looks like them.
pub(crate) fn raw_keys() -> Vec<Configuration> {
    let key = |name: &str, key: String| Configuration::new(name).keyed(key);
    vec![
        key("raw AES key", raw(&[AES_KEY])),
        key("raw AES key and salt", raw(&[AES_KEY, SALT])),
        key(
            "raw AES key, HMAC key and salt",
            raw(&[AES_KEY, HMAC_KEY, SALT]),
        ),
        key("raw key in capitals", raw(&[AES_KEY]).to_uppercase()),
        key("raw key without HMAC", raw(&[AES_KEY])).without_hmac(),
        key("raw key of the wrong length", raw(&[&AES_KEY[2..]])),
        key(
            "raw key that is not hexadecimal",
            raw(&[&AES_KEY[1..], "g"]),
        ),
        Configuration::preset("raw key, preset 3", 3, 1024).keyed(raw(&[AES_KEY])),
        Configuration::preset("raw key and salt, preset 2", 2, 1024).keyed(raw(&[AES_KEY, SALT])),
    ]
}

/// Passphrases of every kind.
pub(crate) fn odd_keys() -> Vec<Configuration> {
    let key = |name: &str, key: &[u8]| Configuration::new(name).keyed(key);
    vec![
        key("one byte", b"k"),
        key("quotes", b"it's \"quoted\" 'twice'"),
        key("spaces", b"  leading, trailing  "),
        key("UTF-8", "grüße ☕ 日本".as_bytes()),
        key("looks like a URI", b"a%20b&kdf_iter=5?#"),
        key("NUL inside", b"before\0after"),
        key("NUL alone", b"\0"),
        key("not UTF-8", &[0xff, 0xfe, 0x80, b'a', 0xc3]),
        key("a thousand characters", &b"0123456789".repeat(100)),
        // Longer than a block of the hash: HMAC hashes it first.
        key("128 characters", &[b'x'; 128]),
        key("129 characters", &[b'x'; 129]),
    ]
}

/// Automatic vacuum, which adds pointer-map pages and moves others.
pub(crate) fn vacuum_modes() -> Vec<Configuration> {
    let mode = |name: &str, mode: &str| {
        Configuration::new(name).created_with(&format!("auto_vacuum = {mode}"))
    };
    vec![
        mode("auto_vacuum FULL", "FULL"),
        mode("auto_vacuum INCREMENTAL", "INCREMENTAL"),
        mode("auto_vacuum FULL, page 1024", "FULL").with_page_size(1024),
        Configuration::preset("auto_vacuum INCREMENTAL, preset 3", 3, 1024)
            .few_iterations()
            .created_with("auto_vacuum = INCREMENTAL"),
    ]
}

/// What programs and betas of long ago wrote, and other text encodings.
pub(crate) fn old_and_odd() -> Vec<Configuration> {
    vec![
        Configuration::new("page number big endian").with("cipher_hmac_pgno", "be"),
        Configuration::new("page number native").with("cipher_hmac_pgno", "native"),
        Configuration::preset("2.0 from a big-endian machine", 2, 1024)
            .with("cipher_hmac_pgno", "be"),
        Configuration::preset("2.0 beta", 2, 1024)
            .with("fast_kdf_iter", "4000")
            .with("cipher_hmac_salt_mask", "\"x'00'\""),
        Configuration::new("salt mask 5c").with("cipher_hmac_salt_mask", "\"x'5c'\""),
        Configuration::new("version 4 without HMAC").without_hmac(),
        Configuration::new("UTF-16").created_with("encoding = 'UTF-16le'"),
    ]
}

fn raw(parts: &[&str]) -> String {
    format!("x'{}'", parts.concat())
}
