//! Journals and logs whose headers and checksums have been made up by someone
//! without the key: neither is authenticated, only the pages are.

use crate::judge::{examine, judge, report};
use crate::sample::{KEY, Sample, V4};

const WAL_HEADER: usize = 32;
const FRAME: usize = 24 + 1024;

/// SQLite's checksum of logs ("WAL-mode file format", section 4).
fn checksum(bytes: &[u8], big_endian: bool, mut sum: [u32; 2]) -> [u32; 2] {
    for pair in bytes.chunks_exact(8) {
        let word = |at: usize| {
            let bytes = pair[at..at + 4].try_into().expect("four bytes");
            if big_endian {
                u32::from_be_bytes(bytes)
            } else {
                u32::from_le_bytes(bytes)
            }
        };
        sum[0] = sum[0].wrapping_add(word(0)).wrapping_add(sum[1]);
        sum[1] = sum[1].wrapping_add(word(4)).wrapping_add(sum[0]);
    }
    sum
}

fn put(bytes: &mut [u8], at: usize, word: u32) {
    bytes[at..at + 4].copy_from_slice(&word.to_be_bytes());
}

/// Makes all checksums right for what the log says now.
fn vouch(log: &mut [u8]) {
    let big_endian = log[3] & 1 == 1;
    let mut sum = checksum(&log[..24], big_endian, [0, 0]);
    put(log, 24, sum[0]);
    put(log, 28, sum[1]);
    let (header, frames) = log.split_at_mut(WAL_HEADER);
    for frame in frames.chunks_exact_mut(FRAME) {
        frame[8..16].copy_from_slice(&header[16..24]);
        sum = checksum(&frame[..8], big_endian, sum);
        sum = checksum(&frame[24..], big_endian, sum);
        put(frame, 16, sum[0]);
        put(frame, 20, sum[1]);
    }
}

#[test]
fn logs() {
    let sample = Sample::with_log(V4, KEY);
    let read = |path| std::fs::read(path).expect("a file");
    let (database, log) = (read(sample.path()), read(sample.side("-wal")));
    let frames = (log.len() - WAL_HEADER) / FRAME;
    let mut tried = 0;
    let mut attempt = |what: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut forged = log.clone();
        change(&mut forged);
        vouch(&mut forged);
        std::fs::write(sample.path(), &database).expect("a file");
        std::fs::write(sample.side("-wal"), &forged).expect("a file");
        let _ = std::fs::remove_file(sample.side("-shm"));
        tried += 1;
        judge(sample.dir.path(), V4, what)
    };
    // The forger's own checksums are right.
    assert!(attempt("nothing changed", &|_| {}).is_whole());
    for size in [0, 1, 3, 512, 2048, 65536, 0x8000_0000, u32::MAX] {
        attempt(&format!("page size {size}"), &|log| put(log, 8, size));
    }
    for version in [0, 1, u32::MAX] {
        attempt(&format!("version {version}"), &|log| put(log, 4, version));
    }
    for n in (0..frames).step_by(3) {
        let at = WAL_HEADER + n * FRAME;
        for pgno in [0, 1, 2, 7, 0x0010_0001, 0x7fff_ffff, u32::MAX] {
            attempt(&format!("frame {n} is of page {pgno}"), &|log| {
                put(log, at, pgno);
            });
        }
        for pages in [1, 2, 5, 5000] {
            attempt(&format!("frame {n} commits {pages} pages"), &|log| {
                put(log, at + 4, pages);
            });
        }
        for byte in [0, 500, 944, 960, 1023] {
            attempt(&format!("frame {n}, byte {byte}"), &|log| {
                log[at + 24 + byte] ^= 2
            });
        }
        attempt(&format!("frame {n} of zeros"), &|log| {
            log[at + 24..at + FRAME].fill(0);
        });
        attempt(&format!("frame {n} twice"), &|log| {
            let to = WAL_HEADER + (n + 1) % frames * FRAME;
            log.copy_within(at..at + FRAME, to);
        });
        // A page of the database in a frame, under its own number: authentic.
        attempt(&format!("frame {n} from the database"), &|log| {
            put(log, at, 2);
            log[at + 24..at + FRAME].copy_from_slice(&database[1024..2048]);
        });
    }
    report("logs with forged checksums", tried);
}

#[test]
fn journals() {
    let sample = Sample::with_hot_journal(V4);
    let read = |path| std::fs::read(path).expect("a file");
    let (database, journal) = (read(sample.path()), read(sample.side("-journal")));
    let pages = u32::from_be_bytes(journal[16..20].try_into().expect("four bytes"));
    let mut tried = 0;
    let mut attempt = |what: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut forged = journal.clone();
        change(&mut forged);
        std::fs::write(sample.path(), &database).expect("a file");
        std::fs::write(sample.side("-journal"), &forged).expect("a file");
        tried += 1;
        if what.starts_with("original pages") {
            // SQLite cuts the file to that size before anything else, and nothing in
            // the format says that it is wrong.
            examine(sample.dir.path(), V4, what).0
        } else {
            judge(sample.dir.path(), V4, what)
        }
    };
    let fields: [(&str, usize, &[u32]); 4] = [
        ("records", 8, &[0, 1, 2, 1000, 0x7fff_ffff, u32::MAX]),
        // (Of 2^32 pages SQLite would make a file of four terabytes.)
        (
            "original pages",
            16,
            &[0, 1, 2, pages - 1, pages + 1, pages + 3000],
        ),
        (
            "sector size",
            20,
            &[0, 1, 32, 513, 1024, 65536, 0x8000_0000, u32::MAX],
        ),
        (
            "page size",
            24,
            &[0, 1, 512, 1000, 2048, 65536, 0x8000_0000, u32::MAX],
        ),
    ];
    for (name, at, values) in fields {
        for &value in values {
            attempt(&format!("{name}: {value}"), &|journal| {
                put(journal, at, value)
            });
        }
    }
    for n in 0..20 {
        let at = 512 + n * 1032;
        for pgno in [0, 1, 2, 3, 0x0010_0001, u32::MAX] {
            attempt(&format!("record {n} is of page {pgno}"), &|journal| {
                put(journal, at, pgno);
            });
        }
        // A page and the sum that fits it, both made up.
        for byte in [4, 500, 944, 1000, 1023] {
            attempt(
                &format!("record {n}, byte {byte}, sum and all"),
                &|journal| {
                    journal[at + byte] ^= 1;
                    // Every 200th byte from the end counts.
                    let counts = byte >= 4 && (1024 - (byte - 4)) % 200 == 0;
                    let sum = u32::from_be_bytes(
                        journal[at + 1028..at + 1032]
                            .try_into()
                            .expect("four bytes"),
                    );
                    let change = if journal[at + byte] & 1 == 1 {
                        1
                    } else {
                        u32::MAX
                    };
                    let sum = sum.wrapping_add(if counts { change } else { 0 });
                    put(journal, at + 1028, sum);
                },
            );
        }
        attempt(&format!("record {n} of zeros"), &|journal| {
            let seed: [u8; 4] = journal[12..16].try_into().expect("four bytes");
            journal[at + 4..at + 1028].fill(0);
            journal[at + 1028..at + 1032].copy_from_slice(&seed);
        });
    }
    // What follows the records is a super-journal's name.
    for name in ["", "/nowhere", "s.db", "../../etc/passwd"] {
        attempt(&format!("super-journal {name:?}"), &|journal| {
            journal.extend([0x00, 0x10, 0x00, 0x01]);
            journal.extend(name.as_bytes());
            journal.extend((name.len() as u32).to_be_bytes());
            let sum = name.bytes().map(u32::from).sum::<u32>();
            journal.extend(sum.to_be_bytes());
            journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
        });
    }
    report("journals with forged headers and sums", tried);
}
