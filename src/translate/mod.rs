//! Rollback-journal and WAL records, between plaintext as SQLite sees it and
//! ciphertext as SQLCipher stores it: geometry and checksums. No I/O.
//!
//! SQLite sums what it sees, the plaintext; the disk must carry sums over what
//! stands there, the ciphertext. Both formats' sums are simple enough to be
//! moved from one to the other without the bytes in between:
//!
//! * a journal record's sum is linear, so `disk = plain - sum(plain) + sum(cipher)`
//!   without knowing the journal's seed;
//! * a WAL frame stores the whole running state, so the next frame's sum needs
//!   only the previous frame's header from the disk. What SQLite computes while
//!   it appends is not looked at. The only reader of the sums, recovery, reads
//!   whole frames and looks at nothing else in them, so it is given them as they
//!   are, ciphertext and all.

mod checksum;
pub mod journal;
pub mod wal;
pub mod wal_index;
