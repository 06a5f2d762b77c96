//! The vectors that are whole and closed properly.

use crate::content;
use crate::settings::{Hash, Settings};
use crate::workshop::{Access, Draft, Workshop};

const KEY: &[u8] = b"correct horse";
const SALT: &str = "000102030405060708090a0b0c0d0e0f";

pub fn make(workshop: &mut Workshop) {
    presets(workshop);
    page_sizes(workshop);
    algorithms(workshop);
    without_hmac(workshop);
    plaintext_headers(workshop);
    old_settings(workshop);
    keys(workshop);
    contents(workshop);
}

/// Creates `name`.db with `sql` and adds it.
fn make_one(
    workshop: &mut Workshop,
    (name, group, note): (&str, &'static str, &str),
    access: &Access,
    sql: &str,
) {
    let path = workshop.output(name);
    let mut peer = access.open(&path);
    peer.exec("db", sql).expect("the content");
    let (written, _) = peer.content_hash("db").expect("the content");
    peer.close("db").expect("close");
    let content = workshop.add_good(&Draft {
        name,
        group,
        note,
        stem: name,
        access,
    });
    assert_eq!(content.content_hash, written, "{name}");
}

fn make_small(
    workshop: &mut Workshop,
    labels: (&str, &'static str, &str),
    key: &[u8],
    settings: Settings,
) {
    let sql = content::small(settings.page_size);
    make_one(workshop, labels, &Access::new(key, settings), &sql);
}

fn presets(workshop: &mut Workshop) {
    for preset in 1..=4 {
        let name = format!("preset-{preset}");
        let note = format!("cipher_compatibility = {preset}, nothing else changed");
        make_small(
            workshop,
            (&name, "preset", &note),
            KEY,
            Settings::preset(preset),
        );
    }
}

fn page_sizes(workshop: &mut Workshop) {
    let settings = Settings::quick().changed(|s| {
        s.page_size = 512;
        s.hmac = false;
    });
    make_small(
        workshop,
        (
            "page-512-no-hmac",
            "page-size",
            "HMAC off: SQLite needs 480 usable bytes, so a MAC does not fit a 512-byte page",
        ),
        KEY,
        settings,
    );
    for page_size in [1024, 2048, 4096, 8192, 16384, 32768, 65536] {
        let name = format!("page-{page_size}");
        let settings = Settings::quick().changed(|s| s.page_size = page_size);
        make_small(
            workshop,
            (&name, "page-size", "version 4 but for the page size"),
            KEY,
            settings,
        );
    }
}

fn algorithms(workshop: &mut Workshop) {
    for hmac in Hash::ALL {
        for kdf in Hash::ALL {
            let name = format!("hmac-{hmac:?}-kdf-{kdf:?}").to_lowercase();
            let settings = Settings::quick().changed(|s| {
                s.hmac_algorithm = hmac;
                s.kdf_algorithm = kdf;
            });
            make_small(
                workshop,
                (
                    &name,
                    "algorithms",
                    "one pair of page MAC and key derivation",
                ),
                KEY,
                settings,
            );
        }
    }
}

fn without_hmac(workshop: &mut Workshop) {
    let settings = Settings::quick().changed(|s| s.hmac = false);
    make_small(
        workshop,
        ("v4-no-hmac", "no-hmac", "version 4 with HMAC off"),
        KEY,
        settings,
    );
    let settings = Settings::preset(1).changed(|s| s.page_size = 4096);
    make_small(
        workshop,
        (
            "v1-page-4096",
            "no-hmac",
            "preset 1 (HMAC off) with 4096-byte pages",
        ),
        KEY,
        settings,
    );
}

fn plaintext_headers(workshop: &mut Workshop) {
    for (name, size) in [
        ("plain-header-16", 16),
        ("plain-header-32", 32),
        ("plain-header-page", 4096 - 80),
    ] {
        let settings = Settings::quick().changed(|s| {
            s.plaintext_header_size = size;
            s.salt_hex = Some(SALT.to_owned());
        });
        let note = "the start of page 1 is stored as it is, the salt outside the file";
        make_small(workshop, (name, "plaintext-header", note), KEY, settings);
    }
    let settings = Settings::quick().changed(|s| s.plaintext_header_size = 32);
    let key = format!("x'{}{SALT}'", "5c".repeat(32));
    let note = "the salt comes with a raw key";
    make_small(
        workshop,
        ("plain-header-32-raw", "plaintext-header", note),
        key.as_bytes(),
        settings,
    );
}

fn old_settings(workshop: &mut Workshop) {
    for preset in [2, 4] {
        let name = format!("pgno-be-v{preset}");
        let settings = Settings::preset(preset).changed(|s| {
            s.kdf_iter = 1000;
            s.hmac_pgno = "be";
        });
        make_small(
            workshop,
            (
                &name,
                "old-settings",
                "page numbers in the MAC are big-endian",
            ),
            KEY,
            settings,
        );
    }
    let settings = Settings::preset(2).changed(|s| {
        s.fast_kdf_iter = 4000;
        s.hmac_salt_mask = "00";
    });
    make_small(
        workshop,
        (
            "v2-beta",
            "old-settings",
            "as version 2.0 beta: fast_kdf_iter 4000, salt mask 00",
        ),
        KEY,
        settings,
    );
    let settings = Settings::preset(4).changed(|s| s.kdf_iter = 1);
    make_small(
        workshop,
        ("kdf-iter-1", "old-settings", "a single iteration"),
        KEY,
        settings,
    );
    let settings = Settings::preset(3).changed(|s| s.kdf_iter = 12345);
    make_small(
        workshop,
        (
            "kdf-iter-12345-v3",
            "old-settings",
            "a custom iteration count",
        ),
        KEY,
        settings,
    );
    let settings = Settings::quick().changed(|s| s.salt_hex = Some(SALT.to_owned()));
    make_small(
        workshop,
        (
            "given-salt",
            "old-settings",
            "the salt was given with cipher_salt, and is in the file too",
        ),
        KEY,
        settings,
    );
}

fn keys(workshop: &mut Workshop) {
    let aes = "2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99";
    let hmac = "ab".repeat(32);
    let raw: [(&str, String); 4] = [
        ("raw-64", format!("x'{aes}'")),
        ("raw-64-upper-x", format!("X'{}'", aes.to_lowercase())),
        ("raw-96", format!("x'{aes}{SALT}'")),
        ("raw-160", format!("x'{aes}{hmac}{SALT}'")),
    ];
    for (name, key) in raw {
        let note = "a raw key: AES key, then perhaps HMAC key, then perhaps salt";
        make_small(
            workshop,
            (name, "key", note),
            key.as_bytes(),
            Settings::quick(),
        );
    }
    let raw_v3 = Settings::preset(3);
    make_small(
        workshop,
        ("raw-64-v3", "key", "a raw key with preset 3"),
        format!("x'{aes}'").as_bytes(),
        raw_v3,
    );

    let almost_raw = format!("x'{}g'", &aes[1..]);
    let odd: [(&str, &[u8]); 11] = [
        ("key-single-quote", b"it's"),
        ("key-double-quote", b"say \"please\""),
        ("key-spaces", b"  two words  "),
        ("key-utf8", "pässwörd ☕ 日本".as_bytes()),
        ("key-nul", b"before\0after"),
        ("key-not-utf8", &[0xff, 0xfe, 0x80, 0x00, 0xc3]),
        ("key-1000", &[b'k'; 1000]),
        ("key-looks-raw", b"x'ab'"),
        ("key-almost-raw", almost_raw.as_bytes()),
        ("key-one-byte", b"k"),
        ("key-percent", b"50%&x=1#?"),
    ];
    for (name, key) in odd {
        make_small(
            workshop,
            (name, "key", "an unusual passphrase"),
            key,
            Settings::quick(),
        );
    }
}

fn contents(workshop: &mut Workshop) {
    let quick = Access::new(KEY, Settings::quick());
    let v3 = Settings::preset(3).changed(|s| s.kdf_iter = 1000);
    let small_pages = Access::new(KEY, Settings::quick().changed(|s| s.page_size = 1024));
    let note = "WITHOUT ROWID, FTS5, triggers, views, generated columns, indexes, statistics";
    make_one(
        workshop,
        ("rich-v4", "content", note),
        &quick,
        &content::rich(4096),
    );
    make_one(
        workshop,
        ("rich-v3", "content", note),
        &Access::new(KEY, v3),
        &content::rich(1024),
    );

    let mut utf16 = "PRAGMA encoding = 'UTF-16le';".to_owned();
    utf16.push_str(&content::small(4096));
    make_one(
        workshop,
        ("utf16", "content", "text is stored as UTF-16"),
        &quick,
        &utf16,
    );

    let marked =
        content::small(4096) + "PRAGMA user_version = 77; PRAGMA application_id = 1347568979;";
    make_one(
        workshop,
        (
            "versions",
            "content",
            "user_version and application_id are set",
        ),
        &quick,
        &marked,
    );

    let wal = "PRAGMA journal_mode = WAL;".to_owned() + &content::small(4096);
    make_one(
        workshop,
        (
            "wal-closed",
            "content",
            "the header says WAL; closed properly, so there is no -wal file",
        ),
        &quick,
        &wal,
    );

    let freed = content::bulk(30, 300) + &content::small(1024) + "DELETE FROM bulk WHERE id > 4;";
    make_one(
        workshop,
        ("freelist", "content", "the last transaction freed pages"),
        &small_pages,
        &freed,
    );

    let full = "PRAGMA auto_vacuum = FULL;".to_owned() + &freed;
    make_one(
        workshop,
        ("auto-vacuum-full", "content", "auto_vacuum = FULL"),
        &small_pages,
        &full,
    );
    let incremental = "PRAGMA auto_vacuum = INCREMENTAL;".to_owned() + &freed;
    make_one(
        workshop,
        (
            "auto-vacuum-incremental",
            "content",
            "auto_vacuum = INCREMENTAL, with free pages",
        ),
        &small_pages,
        &incremental,
    );

    make_one(
        workshop,
        ("empty", "content", "no tables, only a header"),
        &quick,
        "PRAGMA user_version = 1;",
    );
}
