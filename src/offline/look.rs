//! What a file looks like, without any key.

use crate::format::layout::PAGE_SIZES;
use crate::format::page1;

use super::error::Result;
use super::files::Files;
use super::header::Header;

/// Bytes of the pieces that are looked at for randomness: the smallest page.
const PIECE: usize = *PAGE_SIZES.start() as usize;

/// Most pieces that are looked at from the start, and most that are spread over the
/// whole file.
const PIECES: u64 = 64;

/// The chi-square statistic of 256 equally likely values has mean 255 and standard
/// deviation 22.6; random bytes exceed this once in hundreds of millions of pieces,
/// text and plaintext pages by orders of magnitude.
const MOST_RANDOM: f64 = 255.0 + 8.0 * 22.6;

/// What a file looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Look {
    /// No bytes at all.
    Empty,
    /// An SQLite database in plaintext.
    Plaintext(Header),
    /// It starts as an SQLite database and goes on as random bytes: encrypted, with
    /// a plaintext header. The header, if its first 32 bytes are in the clear.
    PlaintextHeader(Option<Header>),
    /// Random bytes wherever one looks, as an encrypted database has them from the
    /// first to the last (and as other encrypted files have).
    Random,
    /// Random bytes in a quarter of the places or more: an encrypted database with
    /// damaged pages, or something else.
    PartlyRandom,
    /// Something else, by name if its first bytes say so.
    Other(Option<&'static str>),
}

impl Look {
    /// Looks.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn at(files: &Files) -> Result<Self> {
        let head = files.head()?;
        if head.is_empty() {
            return Ok(Self::Empty);
        }
        if head.starts_with(page1::MAGIC) {
            let header = Header::parse(&head);
            return Ok(match header {
                Some(header) if is_plaintext(files, &head, &header)? => Self::Plaintext(header),
                _ => Self::PlaintextHeader(header),
            });
        }
        if let Some((_, name)) = KNOWN.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Ok(Self::Other(Some(name)));
        }
        let (random, all) = random_pieces(files, &head)?;
        Ok(match random {
            0 => Self::Other(None),
            _ if random == all => Self::Random,
            _ if 4 * random >= all => Self::PartlyRandom,
            _ => Self::Other(None),
        })
    }
}

/// First bytes of files that are random further on, or that people mistake for a
/// database.
const KNOWN: [(&[u8], &str); 11] = [
    (b"** This file contains an SQLite 2", "an SQLite 2 database"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b\x08", "gzip-compressed"),
    (b"\xfd7zXZ\0", "xz-compressed"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF-", "a PDF document"),
    (b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", "a rollback journal"),
    (b"\x37\x7f\x06", "a write-ahead log"),
];

/// Whether behind a plaintext header the rest is plaintext too.
fn is_plaintext(files: &Files, head: &[u8], header: &Header) -> Result<bool> {
    let Some(page) = head.get(..header.page_size as usize) else {
        return Ok(true);
    };
    // Fields that have few values: schema format, encoding, the unused bytes, and
    // the kind of the b-tree page.
    let fine = header.schema_format <= 4
        && page[56..59] == [0; 3]
        && page[59] <= 3
        && page[72..92] == [0; 20]
        && [2, 5, 10, 13].contains(&page[100]);
    if !fine {
        return Ok(false);
    }
    // With a whole page 1 in plaintext it is the next page that tells, by its
    // reserve: an IV there, or zeros.
    let reserve = usize::from(header.reserve);
    if reserve < 16 || files.file_pages(header.page_size)? < 2 {
        return Ok(true);
    }
    let mut second = vec![0; header.page_size as usize];
    let n = files.read_place(files.locate(2), 2, &mut second)?;
    let iv = &second[second.len() - reserve..][..16];
    Ok(n < second.len() || iv == [0; 16])
}

/// How many pieces are random, of how many that were looked at: those that the file
/// starts with, and some in equal distances.
fn random_pieces(files: &Files, head: &[u8]) -> Result<(u64, u64)> {
    let (mut random, mut all) = (0, 0);
    let mut look = |piece: &[u8]| {
        all += 1;
        random += u64::from(is_random(piece));
    };
    for (n, piece) in head.chunks_exact(PIECE).take(PIECES as usize).enumerate() {
        // What stands for the magic may be anything.
        look(&piece[if n == 0 { page1::MAGIC.len() } else { 0 }..]);
    }
    let file = files.database();
    let pieces = file.len() / PIECE as u64;
    let mut piece = [0; PIECE];
    for n in 0..PIECES.min(pieces.saturating_sub(PIECES)) {
        let at = PIECES + n * (pieces - PIECES) / PIECES;
        if file.read(&mut piece, at * PIECE as u64)? {
            look(&piece);
        }
    }
    Ok((random, all))
}

/// Whether the 256 byte values are about equally frequent.
fn is_random(bytes: &[u8]) -> bool {
    let mut counts = [0u32; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let expected = bytes.len() as f64 / 256.0;
    let chi_square: f64 = counts
        .iter()
        .map(|&count| (f64::from(count) - expected).powi(2) / expected)
        .sum();
    chi_square < MOST_RANDOM
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bytes_are_told_from_others() {
        for len in [496, 512, 4080, 65536] {
            for _ in 0..200 {
                let mut bytes = vec![0; len];
                crate::crypto::random::fill(&mut bytes).unwrap();
                assert!(is_random(&bytes), "{len}");
            }
            let text: Vec<u8> = include_bytes!("look.rs")
                .iter()
                .cycle()
                .take(len)
                .copied()
                .collect();
            assert!(!is_random(&text), "{len}");
            assert!(!is_random(&vec![0; len]));
        }
    }
}
