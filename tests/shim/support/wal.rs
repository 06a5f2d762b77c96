//! The write-ahead log, read by the file format's description alone (SQLite file
//! format, section 4): it is what the crate's own reading is compared with.

/// A log whose header is right.
pub(crate) struct Log<'a> {
    pub(crate) page_size: usize,
    /// The frames from the first on whose salts and running checksum are right.
    pub(crate) frames: Vec<Frame<'a>>,
}

/// One page as it is after its transaction.
pub(crate) struct Frame<'a> {
    pub(crate) pgno: u32,
    /// Pages of the database after the transaction that ends with this frame; 0:
    /// it does not end here.
    pub(crate) commit: u32,
    pub(crate) page: &'a [u8],
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// "s0 += x[i] + s1; s1 += x[i+1] + s0", over words of the log's byte order.
fn checksum(mut sum: (u32, u32), big_endian: bool, bytes: &[u8]) -> (u32, u32) {
    for pair in bytes.chunks_exact(8) {
        let read = |at: usize| {
            let four = pair[at..at + 4].try_into().expect("four bytes");
            if big_endian {
                u32::from_be_bytes(four)
            } else {
                u32::from_le_bytes(four)
            }
        };
        sum.0 = sum.0.wrapping_add(read(0)).wrapping_add(sum.1);
        sum.1 = sum.1.wrapping_add(read(4)).wrapping_add(sum.0);
    }
    sum
}

/// Reads a log as far as its checksums are right; `None` where the header's is not.
pub(crate) fn read(bytes: &[u8]) -> Option<Log<'_>> {
    let header = bytes.get(..32)?;
    if word(header, 0) & !1 != 0x377f_0682 {
        return None;
    }
    let big_endian = word(header, 0) & 1 != 0;
    let mut sum = checksum((0, 0), big_endian, &header[..24]);
    if sum != (word(header, 24), word(header, 28)) {
        return None;
    }
    let page_size = word(header, 8) as usize;
    let mut frames = Vec::new();
    for frame in bytes[32..].chunks_exact(24 + page_size) {
        if frame[8..16] != header[16..24] {
            break;
        }
        sum = checksum(sum, big_endian, &frame[..8]);
        sum = checksum(sum, big_endian, &frame[24..]);
        if sum != (word(frame, 16), word(frame, 20)) {
            break;
        }
        frames.push(Frame {
            pgno: word(frame, 0),
            commit: word(frame, 4),
            page: &frame[24..],
        });
    }
    Some(Log { page_size, frames })
}

/// The same log with checksums over big-endian words: a log that a machine of the
/// other byte order wrote.
pub(crate) fn in_big_endian(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let put = |out: &mut [u8], sum: (u32, u32)| {
        out[..4].copy_from_slice(&sum.0.to_be_bytes());
        out[4..8].copy_from_slice(&sum.1.to_be_bytes());
    };
    out[3] |= 1;
    let mut sum = checksum((0, 0), true, &out[..24]);
    put(&mut out[24..32], sum);
    let page_size = word(bytes, 8) as usize;
    for frame in out[32..].chunks_exact_mut(24 + page_size) {
        sum = checksum(sum, true, &frame[..8]);
        sum = checksum(sum, true, &frame[24..]);
        put(&mut frame[16..24], sum);
    }
    out
}

impl Log<'_> {
    /// Frames up to the last that ends a transaction.
    pub(crate) fn committed(&self) -> &[Frame<'_>] {
        let end = self.frames.iter().rposition(|frame| frame.commit != 0);
        &self.frames[..end.map_or(0, |last| last + 1)]
    }
}

/// Two steps by hand: (0, 0) and words 1, 2 give (1, 3); 3, 4 then (7, 14).
#[test]
fn checksum_of_the_description() {
    let bytes = [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0];
    assert_eq!(checksum((0, 0), false, &bytes), (7, 14));
    assert_eq!(checksum((0, 0), true, &[0, 0, 0, 1, 0, 0, 0, 2]), (1, 3));
}
