//! Write-ahead logs as bytes: frames and their checksums.

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// A log held in memory.
pub struct Wal {
    pub bytes: Vec<u8>,
}

/// One frame: where its page starts, which page it is, and the database's size
/// if it commits.
#[derive(Clone, Copy)]
pub struct Frame {
    pub offset: usize,
    pub page: u32,
    pub commit: u32,
}

impl Wal {
    fn page_size(&self) -> usize {
        self.word(8) as usize
    }

    /// All frames.
    pub fn frames(&self) -> Vec<Frame> {
        let step = FRAME_HEADER + self.page_size();
        let starts = (HEADER..).step_by(step);
        starts
            .take_while(|start| start + step <= self.bytes.len())
            .map(|start| Frame {
                offset: start + FRAME_HEADER,
                page: self.word(start),
                commit: self.word(start + 4),
            })
            .collect()
    }

    /// Computes the checksums of all frames anew.
    pub fn reseal(&mut self) {
        let mut sums = self.sum((0, 0), 0..24);
        for frame in self.frames() {
            let start = frame.offset - FRAME_HEADER;
            sums = self.sum(sums, start..start + 8);
            sums = self.sum(sums, frame.offset..frame.offset + self.page_size());
            self.bytes[start + 16..start + 20].copy_from_slice(&sums.0.to_be_bytes());
            self.bytes[start + 20..start + 24].copy_from_slice(&sums.1.to_be_bytes());
        }
    }

    fn sum(&self, (mut a, mut b): (u32, u32), range: std::ops::Range<usize>) -> (u32, u32) {
        let big_endian = self.word(0) & 1 == 1;
        let word = |bytes: &[u8]| {
            let bytes = bytes.try_into().expect("four bytes");
            if big_endian {
                u32::from_be_bytes(bytes)
            } else {
                u32::from_le_bytes(bytes)
            }
        };
        for pair in self.bytes[range].chunks_exact(8) {
            a = a.wrapping_add(word(&pair[..4])).wrapping_add(b);
            b = b.wrapping_add(word(&pair[4..])).wrapping_add(a);
        }
        (a, b)
    }

    fn word(&self, offset: usize) -> u32 {
        u32::from_be_bytes(
            self.bytes[offset..offset + 4]
                .try_into()
                .expect("four bytes"),
        )
    }
}
