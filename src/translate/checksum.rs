//! The checksum that runs through a write-ahead log ([SQLite's file format], section
//! 4.2).
//!
//! [SQLite's file format]: https://sqlite.org/fileformat2.html#checksum_algorithm

use super::wal::FRAME_HEADER;

/// The running checksum of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checksum {
    words: [u32; 2],
    big_endian: bool,
}

impl Checksum {
    /// Continues from a stored checksum, in a log whose words have that order.
    #[must_use]
    pub fn resume(stored: [u8; 8], big_endian: bool) -> Self {
        let [a, b, c, d, e, f, g, h] = stored;
        Self {
            words: [
                u32::from_be_bytes([a, b, c, d]),
                u32::from_be_bytes([e, f, g, h]),
            ],
            big_endian,
        }
    }

    /// The same log's checksum somewhere else, where it is stored like that.
    #[must_use]
    pub fn at(self, stored: [u8; 8]) -> Self {
        Self::resume(stored, self.big_endian)
    }

    /// Adds bytes: a multiple of eight of them.
    ///
    /// # Panics
    /// If the length is not a multiple of eight.
    pub fn update(&mut self, bytes: &[u8]) {
        assert_eq!(bytes.len() % 8, 0, "the checksum takes pairs of words");
        self.words = match self.big_endian {
            true => sum(self.words, bytes, u32::from_be_bytes),
            false => sum(self.words, bytes, u32::from_le_bytes),
        };
    }

    /// Adds a frame: the first eight bytes of its header, and its page.
    pub fn add_frame(&mut self, header: &[u8; FRAME_HEADER], page: &[u8]) {
        self.update(&header[..8]);
        self.update(page);
    }

    /// The checksum as it is stored.
    #[must_use]
    pub fn stored(&self) -> [u8; 8] {
        let mut out = [0; 8];
        out[..4].copy_from_slice(&self.words[0].to_be_bytes());
        out[4..].copy_from_slice(&self.words[1].to_be_bytes());
        out
    }

    /// Whether the log's words are big endian.
    #[must_use]
    pub fn big_endian(&self) -> bool {
        self.big_endian
    }
}

/// The sums after these pairs of words.
///
/// A step is linear, `s0' = s0 + s1 + w0` and `s1' = s1 + s0' + w1`, so a long run is cut
/// in four parts, whose sums don't wait for each other: three parts start at zero, and
/// what stood before each part is carried through it by a power of the step's matrix.
#[inline]
fn sum(mut sums: [u32; 2], bytes: &[u8], word: impl Fn([u8; 4]) -> u32) -> [u32; 2] {
    let pairs = bytes.as_chunks::<8>().0;
    let add = |[s0, s1]: &mut [u32; 2], &[a, b, c, d, e, f, g, h]: &[u8; 8]| {
        *s0 = s0.wrapping_add(word([a, b, c, d])).wrapping_add(*s1);
        *s1 = s1.wrapping_add(word([e, f, g, h])).wrapping_add(*s0);
    };
    let part = pairs.len() / 4;
    let (parts, rest) = pairs.split_at(4 * part);
    if part >= 16 {
        let (first, others) = parts.split_at(part);
        let (second, others) = others.split_at(part);
        let (third, fourth) = others.split_at(part);
        let [mut b, mut c, mut d] = [[0; 2]; 3];
        for (((p, q), r), s) in first.iter().zip(second).zip(third).zip(fourth) {
            add(&mut sums, p);
            add(&mut b, q);
            add(&mut c, r);
            add(&mut d, s);
        }
        let through = steps(part);
        for part in [b, c, d] {
            let carried = apply(through, sums);
            sums = [0, 1].map(|i| carried[i].wrapping_add(part[i]));
        }
    } else {
        parts.iter().for_each(|pair| add(&mut sums, pair));
    }
    rest.iter().for_each(|pair| add(&mut sums, pair));
    sums
}

/// What so many steps over zeros do to the sums: `[[1, 1], [1, 2]]` to that power, which
/// is symmetric: `[x, y, z]` for `[[x, y], [y, z]]`.
fn steps(mut count: usize) -> [u32; 3] {
    let product = |[a, b, c]: [u32; 3], [x, y, z]: [u32; 3]| {
        [(a, x, b, y), (a, y, b, z), (b, y, c, z)]
            .map(|(p, q, r, s)| p.wrapping_mul(q).wrapping_add(r.wrapping_mul(s)))
    };
    let (mut all, mut power) = ([1, 0, 1], [1, 1, 2]);
    while count > 0 {
        if count % 2 == 1 {
            all = product(all, power);
        }
        power = product(power, power);
        count /= 2;
    }
    all
}

/// The sums after those steps.
fn apply([x, y, z]: [u32; 3], [s0, s1]: [u32; 2]) -> [u32; 2] {
    [(x, y), (y, z)].map(|(a, b)| a.wrapping_mul(s0).wrapping_add(b.wrapping_mul(s1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from the definition: words 1, 2 then 3, 4.
    #[test]
    fn checksum_by_hand() {
        let mut sum = Checksum::resume([0; 8], false);
        sum.update(&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
        // s0 = 1, s1 = 2 + 1 = 3; s0 = 1 + 3 + 3 = 7, s1 = 3 + 4 + 7 = 14.
        assert_eq!(sum.stored(), [0, 0, 0, 7, 0, 0, 0, 14]);
        let mut sum = Checksum::resume([0; 8], true);
        sum.update(&[0, 0, 0, 1, 0, 0, 0, 2]);
        assert_eq!(sum.stored(), [0, 0, 0, 1, 0, 0, 0, 3]);
    }

    /// In one piece, where parts are summed side by side, as pair by pair.
    #[test]
    fn long_runs_are_as_short_ones() {
        let bytes: Vec<u8> = (0..9000u32).map(|i| (i * i / 7) as u8).collect();
        // Around where parts begin, and pages' sizes.
        let lengths = [0, 1, 3, 63, 64, 65, 66, 67, 68, 127, 512, 515, 1023, 1125];
        for big_endian in [false, true] {
            let start = Checksum::resume([200, 1, 2, 3, 4, 5, 6, 255], big_endian);
            let mut pairs = start;
            for (index, pair) in bytes.chunks_exact(8).chain([&[0; 8][..]]).enumerate() {
                if lengths.contains(&index) {
                    let mut whole = start;
                    whole.update(&bytes[..8 * index]);
                    assert_eq!(whole, pairs, "{index} pairs");
                }
                pairs.update(pair);
            }
        }
    }
}
