//! The vectors through the page codec alone: bytes, keys, pages; no VFS.

use super::assert_contents;
use crate::support::manifest::{Vector, vectors};
use crate::support::plaintext::{Faults, connect, open_pages, rolled_back, with_log};

fn plaintext(vector: &Vector) -> Option<(Vec<Vec<u8>>, Faults)> {
    let codec = vector.codec()?;
    let file = vector.bytes("db").expect("a database");
    Some(match (vector.bytes("wal"), vector.bytes("journal")) {
        (None, None) => open_pages(&codec, &file),
        (Some(log), None) => with_log(&codec, &file, &log),
        (None, Some(journal)) => rolled_back(&codec, &file, &journal),
        (Some(_), Some(_)) => panic!("{}: both side files", vector.name()),
    })
}

/// Every page of every good vector opens, its side files' too, and together they
/// are the database that SQLCipher saw.
#[test]
fn good_vectors_open() {
    let mut checked = 0;
    for vector in vectors().iter().filter(|vector| vector.class() == "ok") {
        // The plaintext one has no codec.
        let Some((pages, faults)) = plaintext(vector) else {
            continue;
        };
        assert_eq!(faults, Faults::new(), "{}", vector.name());
        let connection = connect(&pages);
        assert_contents(&connection, vector);
        checked += 1;
    }
    assert!(checked >= 80, "{checked}");
}

/// Of every damaged vector exactly the damaged pages fail.
#[test]
fn damaged_pages_fail_and_no_others() {
    for vector in vectors() {
        let name = vector.name();
        let Some((pages, faults)) = plaintext(vector) else {
            continue;
        };
        let failed: Vec<u32> = faults.keys().copied().collect();
        match vector.class() {
            "ok" => {}
            // Cut off within page 6: what is left of it is no page.
            "damaged_pages" if name == "fault-truncated-mid-page" => {
                assert_eq!((failed, pages.len()), (Vec::new(), 5), "{name}");
            }
            "damaged_pages" => assert_eq!(failed, vector.pages(), "{name}"),
            // The header, at offset 28, counts one page more than there is.
            "truncated" => {
                assert_eq!(failed, Vec::<u32>::new(), "{name}");
                assert_eq!(pages[0][28..32], [0, 0, 0, 6], "{name}");
                assert_eq!(pages.len(), 5, "{name}");
            }
            "wrong_key_or_settings" => assert_eq!(failed.first(), Some(&1), "{name}"),
            other => panic!("{name}: no class {other}"),
        }
    }
}

/// The pages that SQLCipher's `cipher_integrity_check` names are those that the
/// codec refuses. (Where HMAC is off, or SQLCipher's check is stricter than its
/// reading, README.md of the vectors says so.)
#[test]
fn the_codec_agrees_with_sqlciphers_own_check() {
    let stricter = ["plain-header-page", "auto-vacuum-zero-page"];
    let mut lines_seen = 0;
    for vector in vectors() {
        let Some(codec) = vector.codec() else {
            continue;
        };
        if codec.layout().mac_len() == 0 || stricter.contains(&vector.name()) {
            continue;
        }
        // SQLCipher checks the database file as it is, before any rollback.
        if vector.bytes("journal").is_some() {
            continue;
        }
        let file = vector.bytes("db").expect("a database");
        let page_size = codec.layout().page_size();
        let mut found: Vec<String> = open_pages(&codec, &file)
            .1
            .keys()
            .map(|pgno| format!("HMAC verification failed for page {pgno}"))
            .collect();
        let rest = file.len() % page_size;
        if rest > 0 {
            let pgno = file.len() / page_size + 1;
            found.push(format!(
                "page {pgno} has an invalid size of {rest} bytes (expected {page_size} bytes)"
            ));
        }
        let expected = vector.observed()["cipher_integrity_check"]
            .as_array()
            .expect("lines");
        lines_seen += expected.len();
        assert_eq!(found, expected[..], "{}", vector.name());
    }
    assert!(lines_seen > 30, "{lines_seen}");
}
