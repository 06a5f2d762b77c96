//! SQLCipher 3.4.1 itself, with its own format and, by settings, those before it.

use crate::configuration::Configuration;
use crate::database::BOTH_WAYS_WITH_SHELL;
use crate::each::each;
use crate::interrupted::{journal_left, log_left};
use crate::relay::relay;

#[test]
fn relayed() {
    each(all(), |how, directory| {
        relay(how, directory, BOTH_WAYS_WITH_SHELL);
    });
}

#[test]
fn log_of_a_killed_process() {
    each(all(), |how, directory| {
        log_left(how, directory, BOTH_WAYS_WITH_SHELL);
    });
}

#[test]
fn journal_of_a_killed_process() {
    each(all(), |how, directory| {
        journal_left(how, directory, BOTH_WAYS_WITH_SHELL);
    });
}

/// What this SQLCipher can be set to.
fn all() -> Vec<Configuration> {
    let quick = |name: &str, version| {
        let how = Configuration::preset(name, version, 1024);
        how.with_fts4().few_iterations()
    };
    let raw = |parts: &[&str]| format!("x'{}'", parts.concat());
    let (key, salt) = ("c7".repeat(32), "000102030405060708090a0b0c0d0e0f");
    let mut list = vec![
        Configuration::preset("version 3", 3, 1024).with_fts4(),
        Configuration::preset("version 2", 2, 1024).with_fts4(),
        Configuration::preset("version 1", 1, 1024).with_fts4(),
        quick("version 3, raw key", 3).keyed(raw(&[&key])),
        quick("version 2, raw key and salt", 2).keyed(raw(&[&key, salt])),
        quick("version 3, odd key", 3).keyed("it's \"grüße\"\t%00"),
        quick("version 3, no text for a key", 3).keyed(b"a\0\xff".to_vec()),
        quick("version 2, big endian", 2).with("cipher_hmac_pgno", "be"),
        quick("version 2, beta", 2)
            .with("fast_kdf_iter", 4000)
            .with("cipher_hmac_salt_mask", "\"x'00'\""),
        quick("version 3, auto_vacuum FULL", 3).created_with("auto_vacuum = FULL"),
        quick("version 3, auto_vacuum INCREMENTAL", 3).created_with("auto_vacuum = INCREMENTAL"),
        quick("version 3 without HMAC", 3).without_hmac(),
        quick("version 1, page 4096", 1).with_page_size(4096),
    ];
    for size in (11..=16).map(|bits| 1 << bits) {
        list.push(quick(&format!("version 3, page {size}"), 3).with_page_size(size));
    }
    list
}
