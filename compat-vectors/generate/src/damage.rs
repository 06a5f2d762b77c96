//! The faulty vectors: one fault each, made in a copy of a good file.

use std::fs;

use crate::content;
use crate::crash;
use crate::settings::Settings;
use crate::wal::Wal;
use crate::workshop::{Access, Draft, Workshop, beside, number};

const PAGE: usize = 4096;
const RESERVE: usize = 80;
const WRONG: &str = "wrong_key_or_settings";
const DAMAGED: &str = "damaged_pages";
const TRUNCATED: &str = "truncated";

pub fn make(workshop: &mut Workshop) {
    database(workshop);
    access(workshop);
    log(workshop);
    unauthenticated(workshop);
    zero_page(workshop);
}

/// A vector made by changing the bytes of `base`.
struct Fault<'a> {
    name: &'a str,
    note: &'a str,
    base: &'a str,
    access: &'a Access,
}

impl Fault<'_> {
    fn write(&self, workshop: &Workshop, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(workshop.output(self.base)).expect("read");
        change(&mut bytes);
        fs::write(workshop.output(self.name), bytes).expect("write");
    }

    fn write_log(&self, workshop: &Workshop, change: impl FnOnce(&mut Wal)) {
        let (from, to) = (workshop.output(self.base), workshop.output(self.name));
        let bytes = fs::read(beside(&from, "-wal")).expect("read");
        let mut log = Wal { bytes };
        change(&mut log);
        fs::copy(from, &to).expect("copy");
        fs::write(beside(&to, "-wal"), log.bytes).expect("write");
    }

    fn draft(&self) -> Draft<'_> {
        Draft {
            name: self.name,
            group: "fault",
            note: self.note,
            stem: self.name,
            access: self.access,
        }
    }
}

/// Faults in a version 4 database of several tables.
fn database(workshop: &mut Workshop) {
    let access = crash::access_v4();
    let base = "fault-base";
    let sql = content::small(4096)
        + "CREATE TABLE other(a, b); INSERT INTO other VALUES(1, 'one'), (2, 'two');
           CREATE TABLE last(a); INSERT INTO last VALUES('the last page');";
    let mut peer = access.open(&workshop.output(base));
    peer.exec("db", &sql).expect("the content");
    let mut root = |table| {
        let sql = format!("SELECT rootpage FROM sqlite_schema WHERE name = '{table}'");
        number(&mut peer, &sql) as u32
    };
    let (item, other, last) = (root("item"), root("other"), root("last"));
    peer.close("db").expect("close");
    workshop.add_good(&Draft {
        name: base,
        group: "fault",
        note: "whole: the file that the faulty ones are made from",
        stem: base,
        access: &access,
    });

    let start = |page: u32| (page as usize - 1) * PAGE;
    let iv = PAGE - RESERVE;
    let flips = [
        ("fault-page1-ciphertext", 1, 1000),
        ("fault-page1-iv", 1, iv + 3),
        ("fault-page1-mac", 1, iv + 16 + 5),
        ("fault-salt", 1, 7),
        ("fault-ciphertext", item, 1000),
        ("fault-iv", item, iv + 3),
        ("fault-mac", item, iv + 16 + 63),
    ];
    for (name, page, offset) in flips {
        let note = format!("one bit of page {page} flipped, at offset {offset} in the page");
        let fault = Fault {
            name,
            note: &note,
            base,
            access: &access,
        };
        fault.write(workshop, |bytes| bytes[start(page) + offset] ^= 0x10);
        let class = if page == 1 { WRONG } else { DAMAGED };
        workshop.add_bad(&fault.draft(), class, &[page]);
    }

    let note = format!("pages {item} and {other} exchanged");
    let fault = Fault {
        name: "fault-swapped",
        note: &note,
        base,
        access: &access,
    };
    fault.write(workshop, |bytes| {
        let (low, high) = bytes.split_at_mut(start(other));
        low[start(item)..][..PAGE].swap_with_slice(&mut high[..PAGE]);
    });
    workshop.add_bad(&fault.draft(), DAMAGED, &[item, other]);

    let note = format!("page {other} overwritten with zeros (auto_vacuum is off)");
    let fault = Fault {
        name: "fault-zeroed",
        note: &note,
        base,
        access: &access,
    };
    fault.write(workshop, |bytes| bytes[start(other)..][..PAGE].fill(0));
    workshop.add_bad(&fault.draft(), DAMAGED, &[other]);

    let note = format!("page {other} overwritten with 0xff");
    let fault = Fault {
        name: "fault-overwritten",
        note: &note,
        base,
        access: &access,
    };
    fault.write(workshop, |bytes| bytes[start(other)..][..PAGE].fill(0xff));
    workshop.add_bad(&fault.draft(), DAMAGED, &[other]);

    let note = format!("cut off before page {last}, the last one");
    let fault = Fault {
        name: "fault-truncated",
        note: &note,
        base,
        access: &access,
    };
    fault.write(workshop, |bytes| bytes.truncate(start(last)));
    workshop.add_bad(&fault.draft(), TRUNCATED, &[last]);

    let note = format!("cut off 1000 bytes into page {last}, the last one");
    let fault = Fault {
        name: "fault-truncated-mid-page",
        note: &note,
        base,
        access: &access,
    };
    fault.write(workshop, |bytes| bytes.truncate(start(last) + 1000));
    workshop.add_bad(&fault.draft(), DAMAGED, &[last]);
}

/// A whole file, opened wrongly.
fn access(workshop: &mut Workshop) {
    let right = crash::access_v4();
    let no_key = Access {
        key: None,
        settings: right.settings.clone(),
    };
    let change = |change: fn(&mut Settings)| Access {
        key: right.key.clone(),
        settings: right.settings.clone().changed(change),
    };
    let wrong = [
        (
            "wrong-key",
            Access::new(b"correct horsf", Settings::quick()),
        ),
        ("wrong-no-key", no_key.clone()),
        ("wrong-kdf-iter", change(|s| s.kdf_iter = 1001)),
        ("wrong-page-size", change(|s| s.page_size = 1024)),
        ("wrong-hmac", change(|s| s.hmac = false)),
    ];
    for (name, access) in &wrong {
        let draft = Draft {
            name,
            group: "fault",
            note: "fault-base.db, opened wrongly",
            stem: "fault-base",
            access,
        };
        workshop.add_bad(&draft, WRONG, &[]);
    }

    let path = workshop.output("plaintext");
    let mut peer = no_key.open(&path);
    peer.exec("db", &content::small(4096)).expect("the content");
    peer.close("db").expect("close");
    let draft = Draft {
        name: "plaintext",
        group: "content",
        note: "not encrypted, opened without a key",
        stem: "plaintext",
        access: &no_key,
    };
    workshop.add_good(&draft);
    let draft = Draft {
        name: "wrong-plaintext",
        group: "fault",
        note: "not encrypted, but opened with a key",
        access: &right,
        ..draft
    };
    workshop.add_bad(&draft, WRONG, &[]);
}

/// Faults in a write-ahead log.
fn log(workshop: &mut Workshop) {
    let access = crash::access_v4();
    let base = crash::WAL;
    let flip = |log: &mut Wal, index: usize| {
        let offset = log.frames()[index].offset;
        log.bytes[offset + 1000] ^= 0x10;
    };
    let note = "one bit flipped in the last frame: SQLite's checksum is wrong, so the last transaction is not there";
    let fault = Fault {
        name: "fault-wal-last-frame",
        note,
        base,
        access: &access,
    };
    fault.write_log(workshop, |log| flip(log, log.frames().len() - 1));
    workshop.add_good(&fault.draft());

    let note = "one bit flipped in the first frame: no transaction of the log is there";
    let fault = Fault {
        name: "fault-wal-first-frame",
        note,
        base,
        access: &access,
    };
    fault.write_log(workshop, |log| flip(log, 0));
    workshop.add_good(&fault.draft());

    let mut page = 0;
    let note = "one bit flipped in the last frame and SQLite's checksums made right again: the page's MAC is wrong";
    let fault = Fault {
        name: "fault-wal-resealed",
        note,
        base,
        access: &access,
    };
    fault.write_log(workshop, |log| {
        let frames = log.frames();
        let last = frames.len() - 1;
        page = frames[last].page;
        assert!(frames[last].commit > 0 && page > 1);
        let whole = log.bytes.clone();
        log.reseal();
        assert!(log.bytes == whole, "the checksums are not understood");
        flip(log, last);
        log.reseal();
    });
    workshop.add_bad(&fault.draft(), DAMAGED, &[page]);
}

/// Changes that the format cannot notice.
fn unauthenticated(workshop: &mut Workshop) {
    let access = Access::new(b"correct horse", Settings::preset(3));
    let note = "the reserve bytes behind the MAC, which nothing covers, were changed in every page";
    let fault = Fault {
        name: "unauthenticated-spare-bytes",
        note,
        base: "preset-3",
        access: &access,
    };
    fault.write(workshop, |bytes| {
        for page in bytes.chunks_exact_mut(1024) {
            page[1024 - 12..].fill(0x55);
        }
    });
    workshop.add_good(&fault.draft());

    let access = crash::access_v4();
    let name = "unauthenticated-replay";
    let path = workshop.output(name);
    let mut peer = access.open(&path);
    peer.exec("db", "CREATE TABLE t(a); INSERT INTO t VALUES('old')")
        .expect("the content");
    let old = fs::read(&path).expect("read");
    peer.exec("db", "UPDATE t SET a = 'new'")
        .expect("the content");
    peer.close("db").expect("close");
    let mut new = fs::read(&path).expect("read");
    new[PAGE..].copy_from_slice(&old[PAGE..]);
    fs::write(&path, new).expect("write");
    let note = "page 2 replaced by an older version of itself, which nothing notices: the row is 'old' again";
    workshop.add_good(&Draft {
        name,
        group: "fault",
        note,
        stem: name,
        access: &access,
    });
}

/// A free page of zeros, which SQLCipher takes when auto_vacuum is on.
fn zero_page(workshop: &mut Workshop) {
    let access = Access::new(
        b"correct horse",
        Settings::quick().changed(|s| s.page_size = 1024),
    );
    let note = "the last page, a free one, is all zeros: accepted because auto_vacuum is on";
    let fault = Fault {
        name: "auto-vacuum-zero-page",
        note,
        base: "auto-vacuum-incremental",
        access: &access,
    };
    fault.write(workshop, |bytes| {
        let last = bytes.len() - 1024;
        bytes[last..].fill(0);
    });
    workshop.add_good(&fault.draft());

    // It is really accepted: using every free page again reads it.
    let copy = workshop.scratch("reuse.db");
    workshop.copy(&workshop.output(fault.name), &copy);
    let mut peer = access.open(&copy);
    let grow = "INSERT INTO bulk VALUES(99, 0, randomblob(20000))";
    peer.exec("db", grow).expect("free pages can be used");
    let used = number(&mut peer, "PRAGMA freelist_count") == 0;
    assert!(used, "free pages are left");
}
