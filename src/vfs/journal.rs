//! The rollback journal: its records' pages are sealed like the database's, and
//! their checksums run over what is on disk, so that a journal can be played back
//! by SQLCipher as well as by us.
//!
//! Nothing is deferred here: each of SQLite's writes is one write below, made
//! before it returns.

use std::sync::Arc;

use crate::error::{Failure, Refusal};
use crate::format::PageCodec;
use crate::secret::{PageBuffer, SALT_LEN};
use crate::session::{JournalGuard, Playback, Session};
use crate::translate::journal::{MAGIC, Part, SEED_OFFSET, SumShift, WORD, classify, page_sum};

use super::code::{Code, Result};
use super::database::check_plain_page;
use super::ffi::host;
use super::lower::LowerFile;
use super::playback::{self, Proof};

/// A checksum that will pass at `offset`, and how it must be moved.
#[derive(Clone, Copy)]
enum Pending {
    /// Between plaintext and ciphertext.
    Shift { offset: u64, shift: SumShift },
    /// The record is torn: SQLite must see a checksum that is wrong.
    Torn { offset: u64, wrong: [u8; 4] },
}

pub(crate) struct Journal {
    lower: LowerFile,
    session: Arc<Session>,
    _open: JournalGuard,
    /// Where a page number was last written, and which.
    last_number: Option<(u64, u32)>,
    pending: Option<Pending>,
    /// Offset of the header that was read or written last, and its seed.
    header: u64,
    seed: Option<u32>,
    record: PageBuffer,
    room: PageBuffer,
}

impl Journal {
    pub(crate) fn new(lower: LowerFile, session: Arc<Session>) -> Self {
        Self {
            lower,
            _open: JournalGuard::new(&session),
            session,
            last_number: None,
            pending: None,
            header: 0,
            seed: None,
            record: PageBuffer::default(),
            room: PageBuffer::default(),
        }
    }

    pub(crate) fn lower(&self) -> &LowerFile {
        &self.lower
    }

    pub(crate) fn into_lower(self) -> LowerFile {
        self.lower
    }

    fn fail<T>(&self, failure: Failure) -> Result<T> {
        host::fail(&self.session, failure)
    }

    // Writing.

    pub(crate) fn write(&mut self, data: &[u8], offset: u64) -> Result {
        let Some(codec) = self.session.codec() else {
            // Unkeyed, or a new database, which has no page to save yet.
            if self.session.is_keyed() && classify(offset, data.len(), 512).is_page() {
                return self.fail(Failure::Refused(Refusal::Unproven));
            }
            return self.lower.write(data, offset);
        };
        match self.pending.take() {
            Some(Pending::Shift { offset: at, shift }) if at == offset && data.len() == 4 => {
                return self.lower.write(&shift.to_disk(word(data)), offset);
            }
            _ => {}
        }
        match classify(offset, data.len(), codec.layout().page_size()) {
            Part::PageNumber => {
                self.last_number = Some((offset, u32::from_be_bytes(word(data))));
                self.lower.write(data, offset)
            }
            Part::Page => self.write_page(&codec, data, offset),
            // The name of a super-journal, which happens to be as long as a page.
            Part::ForeignPage if self.number_before(offset)? == codec.layout().lock_page() => {
                self.lower.write(data, offset)
            }
            Part::ForeignPage => self.fail(Failure::Refused(Refusal::NotARecord {
                file: "rollback journal",
                offset,
                len: data.len(),
            })),
            Part::Other => {
                self.note_header(data, offset);
                self.lower.write(data, offset)
            }
        }
    }

    fn write_page(&mut self, codec: &PageCodec, data: &[u8], offset: u64) -> Result {
        let pgno = self.number_before(offset)?;
        if pgno == 0 || pgno == codec.layout().lock_page() {
            // The name of a super-journal, which happens to be as long as a page.
            return self.lower.write(data, offset);
        }
        if let Err(refusal) = check_plain_page(codec.layout(), pgno, data) {
            return self.fail(Failure::Refused(refusal));
        }
        // What SQLite saves is the page as it is on disk.
        if !codec.sealed_before(pgno, data, &mut self.record, &mut self.room) {
            self.record.clear();
            self.record.extend_from_slice(data);
            if let Err(error) = codec.seal(pgno, &mut self.record) {
                return self.fail(error.into());
            }
        }
        self.lower.write(&self.record, offset)?;
        self.pending = Some(Pending::Shift {
            offset: offset + data.len() as u64,
            shift: SumShift::between(data, &self.record),
        });
        Ok(())
    }

    /// The page number that stands before what is at `offset`.
    fn number_before(&self, offset: u64) -> Result<u32> {
        let at = offset - WORD;
        match self.last_number {
            Some((written, pgno)) if written == at => Ok(pgno),
            _ => self.stored_number(at),
        }
    }

    /// The page number at `at`, as it is on disk.
    fn stored_number(&self, at: u64) -> Result<u32> {
        let mut number = [0; 4];
        self.lower.read(&mut number, at)?;
        Ok(u32::from_be_bytes(number))
    }

    /// Remembers the seed of a header that passes in either direction.
    fn note_header(&mut self, data: &[u8], offset: u64) {
        if data.starts_with(&MAGIC) {
            self.header = offset;
            let seed = SEED_OFFSET as usize;
            self.seed = data
                .get(seed..seed + 4)
                .map(|bytes| u32::from_be_bytes(word(bytes)));
        } else if data.len() == 4 && offset == self.header + SEED_OFFSET {
            self.seed = Some(u32::from_be_bytes(word(data)));
        }
    }

    // Reading.

    pub(crate) fn read(&mut self, buf: &mut [u8], offset: u64) -> Result {
        let Some(codec) = self.session.codec() else {
            return self.lower.read(buf, offset);
        };
        match self.pending.take() {
            Some(Pending::Shift { offset: at, shift }) if at == offset && buf.len() == 4 => {
                self.lower.read(buf, offset)?;
                buf.copy_from_slice(&shift.to_plain(word(buf)));
                return Ok(());
            }
            Some(Pending::Torn { offset: at, wrong }) if at == offset && buf.len() == 4 => {
                buf.copy_from_slice(&wrong);
                return Ok(());
            }
            _ => {}
        }
        match classify(offset, buf.len(), codec.layout().page_size()) {
            Part::Page => {
                self.session.set_playback(None);
                self.read_page(&codec, buf, offset)
            }
            Part::ForeignPage
                if self.stored_number(offset - WORD)? == codec.layout().lock_page() =>
            {
                self.lower.read(buf, offset)
            }
            Part::ForeignPage => self.fail(self.foreign()),
            Part::PageNumber | Part::Other => {
                // SQLite reads the magic when it starts to play back, and cuts the
                // database to its old size before it reads the first record.
                if offset == 0 {
                    self.prove(&codec)?;
                }
                self.lower.read(buf, offset)?;
                self.note_header(buf, offset);
                Ok(())
            }
        }
    }

    fn read_page(&mut self, codec: &PageCodec, buf: &mut [u8], offset: u64) -> Result {
        let pgno = self.stored_number(offset - WORD)?;
        self.lower.read(buf, offset)?;
        if pgno == 0 || pgno == codec.layout().lock_page() {
            return Ok(());
        }
        self.record.clear();
        self.record.extend_from_slice(buf);
        let sum_at = offset + buf.len() as u64;
        match codec.open(pgno, buf) {
            Ok(()) => {
                if codec.layout().mac_len() > 0 || pgno == 1 {
                    self.session.prove();
                }
                self.pending = Some(Pending::Shift {
                    offset: sum_at,
                    shift: SumShift::between(buf, &self.record),
                });
                self.session.set_restored(pgno, buf, &self.record);
                Ok(())
            }
            Err(_) => {
                buf.fill(0);
                match self.torn_record(sum_at)? {
                    // A record that power cut short ends the journal.
                    Some(wrong) => {
                        self.pending = Some(Pending::Torn {
                            offset: sum_at,
                            wrong,
                        });
                        Ok(())
                    }
                    None => self.fail(self.record_failure(pgno)),
                }
            }
        }
    }

    fn record_failure(&self, pgno: u32) -> Failure {
        if self.session.is_proved() {
            Failure::DamagedJournal { pgno }
        } else {
            Failure::WrongKey
        }
    }

    /// A journal that this key or page size has not made.
    fn foreign(&self) -> Failure {
        if self.session.is_proved() {
            Failure::ForeignJournal
        } else {
            Failure::WrongKey
        }
    }

    /// For the record in `self.record`, which does not authenticate: a checksum
    /// that SQLite will find wrong, if the stored one does not fit the stored
    /// bytes. `None` if it does: then the record was not torn but is foreign or
    /// forged, and to end the rollback there would leave half a transaction.
    fn torn_record(&self, sum_at: u64) -> Result<Option<[u8; 4]>> {
        let mut stored = [0; 4];
        match self.lower.read(&mut stored, sum_at) {
            Ok(()) => {}
            Err(Code::SHORT_READ) => return Ok(Some(stored)),
            Err(code) => return Err(code),
        }
        let Some(seed) = self.seed else {
            return Ok(None);
        };
        let right = seed.wrapping_add(page_sum(&self.record));
        // SQLite is given a page of zeros, whose sum is the seed alone.
        Ok((u32::from_be_bytes(stored) != right).then(|| (!seed).to_be_bytes()))
    }

    /// Before the playback of a hot journal changes the database: proves the key
    /// by the journal's own records. Page 1 may be half written; or written whole
    /// with a new key, by a rekey that did not come to its end, and then the old
    /// key is the one that counts. A journal of another database, which SQLite would
    /// take for this one's, is refused by the same token.
    fn prove(&mut self, codec: &PageCodec) -> Result {
        let Some(header) = playback::header(&self.lower)? else {
            return Ok(());
        };
        let proof = match playback::prove(&self.lower, codec, &header)? {
            Proof::Foreign(page1) => {
                if !page1.is_some_and(|mut page| self.opens_with_its_own_salt(codec, &mut page)) {
                    return self.fail(self.foreign());
                }
                Proof::Given
            }
            proof => proof,
        };
        if matches!(proof, Proof::Given) {
            self.session.prove();
        }
        let bound = self.session.codec();
        let codec = bound.as_deref().unwrap_or(codec);
        let playback = Playback {
            page1: playback::original_pages(&self.lower, codec, &header)?,
            creation: matches!(proof, Proof::Empty) && header.pages == 0,
        };
        self.session.set_playback(Some(playback));
        Ok(())
    }

    /// A rekey to a key that brings a salt writes that into page 1, and one that did not
    /// come to its end has left it there: the salt that the old key goes with is then
    /// the one in the journal's page 1. Proves the key with that, if it does.
    fn opens_with_its_own_salt(&self, codec: &PageCodec, page: &mut [u8]) -> bool {
        let Some(&salt) = page.first_chunk::<SALT_LEN>() else {
            return false;
        };
        if self.session.is_proved() || self.session.fits(&salt) {
            return false;
        }
        let opens = self
            .session
            .bind(&salt)
            .is_ok_and(|codec| codec.open(1, page).is_ok());
        if opens {
            self.session.prove();
        } else {
            // The file's salt counts, as before.
            let _ = self.session.bind(codec.salt());
        }
        opens
    }
}

/// Four bytes as an array.
fn word(bytes: &[u8]) -> [u8; 4] {
    [bytes[0], bytes[1], bytes[2], bytes[3]]
}
