//! Damage to the database file itself.

use std::path::Path;

use crate::judge::{Verdict, judge, report};
use crate::sample::{Kind, NO_MAC, Sample, V3, V4};

/// Where a bit is flipped in a page.
fn places(kind: Kind, page: usize) -> Vec<(&'static str, usize)> {
    let body = kind.page_size - kind.reserve;
    let mut places = vec![
        ("first ciphertext", if page == 0 { 16 } else { 0 }),
        ("middle of the ciphertext", body / 2),
        ("last ciphertext", body - 1),
        ("first of the IV", body),
        ("last of the IV", body + 15),
    ];
    if kind.mac > 0 {
        places.push(("first of the MAC", body + 16));
        places.push(("last of the MAC", body + 16 + kind.mac - 1));
    }
    if page == 0 {
        places.push(("salt", 3));
    }
    places
}

fn with_bytes(sample: &Sample, bytes: &[u8], what: &str) -> Verdict {
    let dir: &Path = sample.dir.path();
    std::fs::write(sample.path(), bytes).expect("a file");
    judge(dir, sample.kind, what)
}

#[test]
fn flipped_bits() {
    let mut tried = 0;
    for kind in [V4, V3, NO_MAC] {
        let sample = Sample::new(kind);
        let good = std::fs::read(sample.path()).expect("a file");
        let pages = good.len() / kind.page_size;
        assert!(with_bytes(&sample, &good, "undamaged").is_whole());
        for page in 0..pages {
            for (place, at) in places(kind, page) {
                let mut bytes = good.clone();
                bytes[page * kind.page_size + at] ^= 0x10;
                let what = format!("{kind:?}, page {}, {place}", page + 1);
                let verdict = with_bytes(&sample, &bytes, &what);
                tried += 1;
                if kind.mac == 0 {
                    continue;
                }
                let reasons = verdict.reasons();
                if page == 0 {
                    assert!(verdict.is_refused(), "{what}: {verdict:?}");
                    assert!(reasons.starts_with("26: "), "{what}: {reasons}");
                    continue;
                }
                let failed = [verdict.a.is_err(), verdict.b.is_err(), verdict.big.is_err()];
                let failed = failed.into_iter().filter(|&failed| failed).count();
                // A page belongs to one table, or is free: the rest is readable.
                assert!(failed <= 1, "{what}: {reasons}");
                let named = format!("page {} is damaged", page + 1);
                assert!(
                    failed == 0 || reasons.starts_with("11: ") && reasons.contains(&named),
                    "{what}: {reasons}"
                );
            }
        }
    }
    report("flipped bits in databases", tried);
}

/// Behind the MAC of SQLCipher 3 are twelve bytes that mean nothing.
#[test]
fn spare_bytes() {
    let sample = Sample::new(V3);
    let mut bytes = std::fs::read(sample.path()).expect("a file");
    for page in bytes.chunks_exact_mut(V3.page_size) {
        page[V3.page_size - 12..].fill(0xee);
    }
    assert!(with_bytes(&sample, &bytes, "spare bytes").is_whole());
}

#[test]
fn truncated() {
    let sample = Sample::new(V4);
    let good = std::fs::read(sample.path()).expect("a file");
    let mut tried = 0;
    for len in (0..good.len())
        .step_by(211)
        .chain([16, 100, 1023, 1024, good.len() - 1])
    {
        let what = format!("cut to {len} bytes");
        let verdict = with_bytes(&sample, &good[..len], &what);
        tried += 1;
        if len == 0 {
            // A new database: no such table.
            assert!(verdict.reasons().starts_with("1: "), "{verdict:?}");
        } else if len <= good.len() - V4.page_size {
            assert!(verdict.is_refused(), "{what}: {verdict:?}");
            let reasons = verdict.reasons();
            assert!(
                reasons.starts_with("26: ") || reasons.starts_with("11: "),
                "{what}: {reasons}"
            );
        }
    }
    report("truncated databases", tried);
}

#[test]
fn moved_pages() {
    let sample = Sample::new(V4);
    let good = std::fs::read(sample.path()).expect("a file");
    let size = V4.page_size;
    let pages = good.len() / size;
    let mut tried = 0;
    // One page in another's place.
    for to in (0..pages).step_by(5) {
        let from = (to * 7 + 3) % pages;
        let mut bytes = good.clone();
        bytes.copy_within(from * size..(from + 1) * size, to * size);
        let what = format!("page {} in the place of {}", from + 1, to + 1);
        let verdict = with_bytes(&sample, &bytes, &what);
        tried += 1;
        assert!(
            from == to || to > 0 || verdict.is_refused(),
            "{what}: {verdict:?}"
        );
    }
    // Two in each other's.
    for page in 0..pages {
        let other = (page * 11 + 5) % pages;
        if page == other {
            continue;
        }
        let mut bytes = good.clone();
        bytes[page * size..(page + 1) * size]
            .copy_from_slice(&good[other * size..(other + 1) * size]);
        bytes[other * size..(other + 1) * size]
            .copy_from_slice(&good[page * size..(page + 1) * size]);
        let what = format!("pages {} and {} swapped", page + 1, other + 1);
        let verdict = with_bytes(&sample, &bytes, &what);
        tried += 1;
        assert!(
            page * other > 0 || verdict.is_refused(),
            "{what}: {verdict:?}"
        );
    }
    // A page of zeros, which only a hole would be.
    for page in 0..pages {
        let mut bytes = good.clone();
        bytes[page * size..(page + 1) * size].fill(0);
        let what = format!("page {} zeroed", page + 1);
        let verdict = with_bytes(&sample, &bytes, &what);
        tried += 1;
        assert!(page > 0 || verdict.is_refused(), "{what}: {verdict:?}");
        assert!(
            verdict.is_whole()
                || verdict.reasons().contains(&format!("page {}", page + 1))
                || page == 0,
            "{what}: {verdict:?}"
        );
    }
    report("moved and zeroed pages", tried);
}

/// An old page in its own place is authentic: that is known, and no panic.
#[test]
fn replayed_pages() {
    let sample = Sample::new(V4);
    let old = std::fs::read(sample.path()).expect("a file");
    let conn = sample.open();
    conn.execute_batch(
        "UPDATE a SET stamp = 5; UPDATE a SET pad = printf('%0200d', id * 1000 + stamp)",
    )
    .expect("an update");
    conn.close().expect("closing");
    let new = std::fs::read(sample.path()).expect("a file");
    let size = V4.page_size;
    for page in 1..new.len() / size {
        let mut bytes = new.clone();
        bytes[page * size..(page + 1) * size].copy_from_slice(&old[page * size..(page + 1) * size]);
        let verdict = with_bytes(&sample, &bytes, &format!("an old page {}", page + 1));
        assert!(verdict.b.is_ok());
    }
    report("replayed pages", new.len() as u64 / size as u64 - 1);
}

/// With auto-vacuum SQLCipher reads a page of zeros as an empty one.
#[test]
fn zeros_with_auto_vacuum() {
    let sample = Sample::with_key(V4, crate::sample::KEY, "PRAGMA auto_vacuum = FULL;");
    let good = std::fs::read(sample.path()).expect("a file");
    let size = V4.page_size;
    let mut tried = 0;
    for page in 1..good.len() / size {
        let mut bytes = good.clone();
        bytes[page * size..(page + 1) * size].fill(0);
        let verdict = with_bytes(
            &sample,
            &bytes,
            &format!("auto-vacuum, page {} zeroed", page + 1),
        );
        // SQLite sees that an empty page is none of a table's.
        assert!(!verdict.reasons().contains("26: "), "{verdict:?}");
        tried += 1;
    }
    report("zeroed pages with auto-vacuum", tried);
}
