//! Every kind of page that SQLite has, and every part of a page that has a meaning
//! of its own; and headers in the clear, which nothing authenticates.

use std::collections::BTreeMap;

use rusqlite::MAIN_DB;

use crate::judge::{judge, report};
use crate::sample::{KEY, Kind, Sample, V4};

const PLAIN_HEADER: Kind = Kind {
    uri: "&cipher_page_size=1024&cipher_plaintext_header_size=32&cipher_salt=x'000102030405060708090a0b0c0d0e0f'",
    ..V4
};

/// What each page is, by SQLite's file format, from what the pages say.
fn kinds(sample: &Sample) -> Vec<&'static str> {
    let mut conn = sample.open();
    let image = conn.serialize(MAIN_DB).expect("an image").to_vec();
    let word = |at: usize| u32::from_be_bytes(image[at..at + 4].try_into().expect("four bytes"));
    let size = sample.kind.page_size;
    let mut kinds = vec![""; image.len() / size];
    // The free list: trunk pages, each with the numbers of its leaves.
    let mut trunk = word(32) as usize;
    while trunk != 0 {
        let at = (trunk - 1) * size;
        kinds[trunk - 1] = "free list, trunk";
        for leaf in 0..word(at + 4) as usize {
            kinds[word(at + 8 + 4 * leaf) as usize - 1] = "free list, leaf";
        }
        trunk = word(at) as usize;
    }
    if word(52) != 0 {
        // A pointer map of five bytes a page, at page 2 and behind what it maps.
        let step = (size - sample.kind.reserve) / 5 + 1;
        for page in (1..kinds.len()).step_by(step) {
            kinds[page] = "pointer map";
        }
    }
    // The pages that tables and indexes own, by their parents.
    let mut trees = vec![1];
    let mut statement = conn
        .prepare("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0")
        .expect("a query");
    let roots = statement
        .query_map([], |row| row.get::<_, u32>(0))
        .expect("rows");
    trees.extend(roots.map(|root| root.expect("a page")));
    while let Some(page) = trees.pop() {
        let start = (page as usize - 1) * size;
        let header = start + if page == 1 { 100 } else { 0 };
        kinds[page as usize - 1] = match image[header] {
            2 => "index, interior",
            5 => "table, interior",
            10 => "index, leaf",
            13 if page == 1 => "page 1",
            13 => "table, leaf",
            other => panic!("page {page} is of type {other}"),
        };
        if matches!(image[header], 2 | 5) {
            let half = |at: usize| u16::from_be_bytes([image[at], image[at + 1]]) as usize;
            trees.push(word(header + 8));
            let cells = (0..half(header + 3)).map(|n| start + half(header + 12 + 2 * n));
            trees.extend(cells.map(word));
        }
    }
    for kind in &mut kinds {
        if kind.is_empty() {
            *kind = "overflow";
        }
    }
    kinds
}

#[test]
fn a_flipped_bit_in_each_kind_of_page() {
    let mut tried: BTreeMap<&str, u64> = BTreeMap::new();
    for auto_vacuum in ["NONE", "FULL"] {
        let pragmas = format!("PRAGMA auto_vacuum = {auto_vacuum};");
        let sample = Sample::with_key(V4, KEY, &pragmas);
        sample
            .open()
            .execute_batch(
                "CREATE INDEX by_pad ON a(pad); CREATE INDEX by_stamp ON b(stamp, id);
                 CREATE TABLE gone(x); INSERT INTO gone SELECT pad FROM a; DROP TABLE gone;",
            )
            .expect("an index");
        let kinds = kinds(&sample);
        let good = std::fs::read(sample.path()).expect("a file");
        let body = V4.page_size - V4.reserve;
        for (page, kind) in kinds.iter().enumerate() {
            let first = if page == 0 { 16 } else { 0 };
            for at in [
                first,
                first + 4,
                100,
                body - 1,
                body,
                body + 15,
                body + 16,
                body + 16 + V4.mac - 1,
            ] {
                for bit in [0x01, 0x80] {
                    let mut bytes = good.clone();
                    bytes[page * V4.page_size + at] ^= bit;
                    std::fs::write(sample.path(), &bytes).expect("a file");
                    let what = format!("{kind}, page {}, byte {at}", page + 1);
                    let verdict = judge(sample.dir.path(), V4, &what);
                    *tried.entry(kind).or_default() += 1;
                    let reasons = verdict.reasons();
                    if page == 0 {
                        assert!(verdict.is_refused(), "{what}: {verdict:?}");
                        continue;
                    }
                    let named = format!("page {} is damaged", page + 1);
                    assert!(
                        reasons.is_empty() || reasons.contains(&named),
                        "{what}: {reasons}"
                    );
                    assert!(
                        verdict.a.is_ok() || verdict.b.is_ok(),
                        "{what}: one table is none the worse: {reasons}"
                    );
                }
            }
        }
    }
    for (kind, n) in &tried {
        println!("hostile, flipped bits, {kind}: {n} tried");
    }
    for kind in [
        "page 1",
        "table, interior",
        "table, leaf",
        "index, interior",
        "index, leaf",
        "overflow",
        "free list, trunk",
        "free list, leaf",
        "pointer map",
    ] {
        assert!(tried.contains_key(kind), "there is no {kind}: {tried:?}");
    }
    report("flipped bits by kind of page", tried.values().sum());
}

/// Nobody vouches for these 32 bytes; all that they can do is to have nothing
/// read.
#[test]
fn a_header_in_the_clear() {
    let sample = Sample::new(PLAIN_HEADER);
    let good = std::fs::read(sample.path()).expect("a file");
    assert!(good.starts_with(b"SQLite format 3\0"));
    let mut tried = 0;
    for at in 0..32 {
        for change in [0x01, 0x10, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[at] ^= change;
            std::fs::write(sample.path(), &bytes).expect("a file");
            judge(
                sample.dir.path(),
                PLAIN_HEADER,
                &format!("header byte {at} changed by {change:#x}"),
            );
            tried += 1;
        }
    }
    for at in [32, 100, 943, 944, 960, 1023] {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        std::fs::write(sample.path(), &bytes).expect("a file");
        let verdict = judge(sample.dir.path(), PLAIN_HEADER, &format!("byte {at}"));
        assert!(verdict.is_refused(), "byte {at}: {verdict:?}");
        tried += 1;
    }
    report("headers in the clear", tried);
}
