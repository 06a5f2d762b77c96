//! What a disk may hold after the power was cut.

use std::collections::{BTreeMap, HashMap};

use crate::random::Random;
use crate::store::write_into;

/// Something that reached the store.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Create {
        file: String,
    },
    Write {
        file: String,
        offset: u64,
        data: Vec<u8>,
    },
    SetLen {
        file: String,
        len: u64,
    },
    Sync {
        file: String,
    },
    Delete {
        file: String,
    },
    /// A statement has returned.
    Mark,
}

/// What becomes of bytes that had not been synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Nothing is lost: the program crashed, not the machine.
    Nothing,
    /// All is lost.
    Everything,
    /// Nothing but half of the last write.
    HalfOfTheLast,
    /// Any 512 bytes of any write may be lost, each truncation too.
    Any,
    /// The last write is lost, and with it what stood in its 1024-byte sectors:
    /// allowed on devices without `SQLITE_IOCAP_POWERSAFE_OVERWRITE`. Only the
    /// salt is spared: without it there is no key to recover with.
    Sectors,
}

impl Loss {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing lost",
            Self::Everything => "all unsynced lost",
            Self::HalfOfTheLast => "last write torn",
            Self::Any => "any 512 bytes lost",
            Self::Sectors => "sectors destroyed",
        }
    }
}

const PIECE: u64 = 512;
/// What the store says of itself.
const SECTOR: usize = 1024;

#[derive(Clone, Default)]
struct Tracked {
    durable: Vec<u8>,
    pending: Vec<Op>,
    /// It exists even if the power is cut now.
    linked: bool,
}

/// A disk between two operations: what is safe, and what is not yet.
#[derive(Clone, Default)]
pub(crate) struct Moment {
    // Ordered, so that a seed means the same everywhere.
    files: BTreeMap<String, Tracked>,
}

impl Moment {
    /// A disk on which all is safe.
    pub(crate) fn new(files: &HashMap<String, Vec<u8>>) -> Self {
        let files = files.iter().map(|(name, bytes)| {
            let tracked = Tracked {
                durable: bytes.clone(),
                pending: Vec::new(),
                linked: true,
            };
            (name.clone(), tracked)
        });
        Self {
            files: files.collect(),
        }
    }

    /// Lets an operation happen.
    pub(crate) fn apply(&mut self, op: &Op) {
        match op {
            Op::Mark => {}
            Op::Create { file } => {
                self.files.entry(file.clone()).or_default();
            }
            Op::Write { file, .. } | Op::SetLen { file, .. } => {
                self.files
                    .entry(file.clone())
                    .or_default()
                    .pending
                    .push(op.clone());
            }
            Op::Sync { file } => {
                let tracked = self.files.entry(file.clone()).or_default();
                for op in std::mem::take(&mut tracked.pending) {
                    happen(&mut tracked.durable, &op);
                }
                // SQLite syncs the directory with a new journal's first sync.
                tracked.linked = true;
            }
            Op::Delete { file } => {
                self.files.remove(file);
            }
        }
    }

    /// What the disk holds if the power is cut now.
    pub(crate) fn cut(&self, loss: Loss, random: &mut Random) -> HashMap<String, Vec<u8>> {
        let mut disk = HashMap::new();
        for (name, tracked) in &self.files {
            let mut bytes = tracked.durable.clone();
            let kept = tracked.linked
                || match loss {
                    Loss::Everything => false,
                    Loss::Any => random.one_in(2),
                    _ => true,
                };
            if !kept {
                continue;
            }
            let last = tracked.pending.len().saturating_sub(1);
            for (n, op) in tracked.pending.iter().enumerate() {
                match loss {
                    Loss::Nothing => happen(&mut bytes, op),
                    Loss::Everything => {}
                    Loss::HalfOfTheLast if n == last => {
                        if let Op::Write { offset, data, .. } = op {
                            write_into(&mut bytes, &data[..data.len() / 2], *offset);
                        }
                    }
                    Loss::HalfOfTheLast => happen(&mut bytes, op),
                    Loss::Any => happen_in_pieces(&mut bytes, op, random),
                    Loss::Sectors if n == last => destroy(&mut bytes, op, random),
                    Loss::Sectors => happen(&mut bytes, op),
                }
            }
            disk.insert(name.clone(), bytes);
        }
        disk
    }
}

fn happen(bytes: &mut Vec<u8>, op: &Op) {
    match op {
        Op::Write { offset, data, .. } => write_into(bytes, data, *offset),
        Op::SetLen { len, .. } => bytes.resize(*len as usize, 0),
        _ => {}
    }
}

/// Lets each aligned piece of a write happen or not.
fn happen_in_pieces(bytes: &mut Vec<u8>, op: &Op, random: &mut Random) {
    let Op::Write { offset, data, .. } = op else {
        if random.one_in(2) {
            happen(bytes, op);
        }
        return;
    };
    let mut done = 0;
    while done < data.len() {
        let at = offset + done as u64;
        let n = ((PIECE - at % PIECE) as usize).min(data.len() - done);
        if random.one_in(2) {
            write_into(bytes, &data[done..done + n], at);
        }
        done += n;
    }
}

/// Fills the sectors that a write touches with noise, as far as the file goes.
fn destroy(bytes: &mut [u8], op: &Op, random: &mut Random) {
    let Op::Write { file, offset, data } = op else {
        return;
    };
    let start = *offset as usize / SECTOR * SECTOR;
    let salt = if file.ends_with(".db") { 16 } else { 0 };
    let end = (*offset as usize + data.len())
        .next_multiple_of(SECTOR)
        .min(bytes.len());
    for byte in bytes.get_mut(start.max(salt)..end).unwrap_or_default() {
        *byte = random.below(256) as u8;
    }
}
