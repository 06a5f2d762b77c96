//! One page between SQLCipher's bytes and SQLite's.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::crypto::cbc::CbcMessage;
use crate::crypto::{Aes256Cbc, Backend, MacKey, Message, Tag, random};
use crate::error::{PageError, RandomError, SettingsError};
use crate::faults::{Fault, Faults};
use crate::secret::{PageBuffer, SALT_LEN, Salt};
use crate::stats::{Counters, Work};

use super::keys::DerivedKeys;
use super::known::KnownPages;
use super::layout::{IV_LEN, Layout};
use super::page1;
use super::settings::Settings;

/// Pages that a batch works on at a time: as many as the widest kernel has lanes,
/// and few enough that 4096-byte pages stay in the cache between encryption and
/// MAC.
const GROUP: usize = 16;

/// Most random bytes that one page takes: the IV, and less than a block beside
/// the MAC.
const MAX_FRESH: usize = 2 * IV_LEN;

/// A page and its number, for the batch calls.
#[derive(Debug)]
pub struct PageRef<'a> {
    /// 1-based page number.
    pub pgno: u32,
    /// The whole page, reserve included.
    pub bytes: &'a mut [u8],
}

/// Opens and seals the pages of one database, in place.
///
/// A page is `ciphertext || IV || MAC || random`, see [`Layout`]; the MAC covers
/// ciphertext, IV and page number, and is checked before anything is decrypted.
///
/// Where the plaintext header is the whole of page 1 but the reserve, SQLCipher
/// 4.20 neither encrypts nor authenticates that page (its mode for recovering
/// damaged files); nor does this. Such a page 1 is whatever the disk says.
pub struct PageCodec {
    settings: Settings,
    layout: Layout,
    salt: Salt,
    cipher: Aes256Cbc,
    mac: Option<MacKey>,
    counters: Arc<Counters>,
    known: Option<Arc<KnownPages>>,
    /// Pages are opened in order to be written: they are remembered at once.
    writing: AtomicBool,
    faults: Arc<Faults>,
}

impl PageCodec {
    /// Sets the keys up.
    ///
    /// # Errors
    /// The settings make no valid page.
    pub fn new(settings: &Settings, keys: &DerivedKeys) -> Result<Self, SettingsError> {
        Self::with_backend(Backend::detect(), settings, keys)
    }

    /// As [`PageCodec::new`], with kernels of the caller's choice, for measuring.
    ///
    /// # Errors
    /// The settings make no valid page.
    pub fn with_backend(
        backend: Backend,
        settings: &Settings,
        keys: &DerivedKeys,
    ) -> Result<Self, SettingsError> {
        Ok(Self {
            settings: *settings,
            layout: Layout::new(settings)?,
            salt: keys.salt,
            cipher: Aes256Cbc::with_backend(backend, keys.cipher.expose()),
            mac: settings
                .use_hmac
                .then(|| MacKey::with_backend(backend, settings.hmac_algorithm, keys.mac.expose())),
            counters: Arc::default(),
            known: None,
            writing: AtomicBool::new(false),
            faults: Arc::default(),
        })
    }

    /// Counts pages with these counters from now on.
    #[must_use]
    pub fn counting(mut self, counters: Arc<Counters>) -> Self {
        self.counters = counters;
        self
    }

    /// Remembers pages here from now on, which codecs of the same keys and settings
    /// may share.
    #[must_use]
    pub fn remembering(mut self, known: Option<Arc<KnownPages>>) -> Self {
        self.known = known;
        self
    }

    /// A transaction that will write what it reads starts or ends.
    pub fn set_writing(&self, on: bool) {
        self.writing.store(on, Ordering::Relaxed);
    }

    /// Fails where these say so from now on.
    #[must_use]
    pub fn failing(mut self, faults: Arc<Faults>) -> Self {
        self.faults = faults;
        self
    }

    /// Where things stand in a page.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The salt that sealing page 1 writes.
    #[must_use]
    pub fn salt(&self) -> &Salt {
        &self.salt
    }

    /// The settings that this codec was made with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Turns SQLCipher's page into what SQLite sees: plaintext, zeros in the
    /// reserve, and on page 1 SQLite's magic string in place of the salt.
    ///
    /// # Errors
    /// The page is not one that these keys and settings sealed under this
    /// number. It is then left as it was: nothing of it has been decrypted.
    ///
    /// # Panics
    /// Panics unless `page` is a page long and `pgno` at least 1.
    pub fn open(&self, pgno: u32, page: &mut [u8]) -> Result<(), PageError> {
        if !self.is_known(pgno, page) {
            self.verify(pgno, page)?;
            self.came(pgno, page);
        }
        self.decrypt(pgno, page)
    }

    /// Whether this page has been authenticated before, with the same bytes.
    fn is_known(&self, pgno: u32, page: &[u8]) -> bool {
        let known = self.mac.is_some()
            && self
                .known
                .as_ref()
                .is_some_and(|known| known.is_known(pgno, page));
        if known {
            self.counters.known();
        }
        known
    }

    /// A page has been authenticated.
    fn came(&self, pgno: u32, page: &[u8]) {
        match &self.known {
            Some(known) if self.writing.load(Ordering::Relaxed) => known.keep([(pgno, page)]),
            Some(known) if self.mac.is_some() => known.came(pgno, page),
            _ => {}
        }
    }

    /// The sealed form that a page had when it was last opened or sealed, if `plain` is
    /// still what that opens to: what [`PageCodec::seal`] would make, at the price of a
    /// decryption, for which it needs `room`. `false`: it is not remembered, or of other
    /// content.
    ///
    /// # Panics
    /// As [`PageCodec::seal`].
    pub fn sealed_before(
        &self,
        pgno: u32,
        plain: &[u8],
        out: &mut Vec<u8>,
        room: &mut PageBuffer,
    ) -> bool {
        self.check_arguments(pgno, plain);
        if !self
            .known
            .as_ref()
            .is_some_and(|known| known.copy(pgno, out))
        {
            return false;
        }
        room.clear();
        room.extend_from_slice(out);
        let body = self.body(pgno);
        if !body.is_empty() {
            let iv = self.iv(room);
            self.cipher.decrypt(&iv, &mut room[body]);
        }
        self.as_sqlite_sees(pgno, room);
        room[..] == *plain
    }

    /// Turns SQLite's page into SQLCipher's: a fresh random IV, ciphertext, MAC
    /// and random bytes in the reserve, and on page 1 the salt in place of
    /// SQLite's magic string.
    ///
    /// # Errors
    /// There is no randomness for the IV. The page is then left as it was.
    ///
    /// # Panics
    /// Panics unless `page` is a page long and `pgno` at least 1.
    pub fn seal(&self, pgno: u32, page: &mut [u8]) -> Result<(), RandomError> {
        self.check_arguments(pgno, page);
        let mut fresh = [0; MAX_FRESH];
        let fresh = &mut fresh[..self.fresh_len()];
        self.fill_fresh(fresh)?;
        let iv = self.put_fresh(page, fresh);
        let body = &mut page[self.body(pgno)];
        self.counters
            .time(Work::Cipher, || self.cipher.encrypt(&iv, body));
        let tag = self.tag(pgno, page);
        self.finish(pgno, page, tag.as_ref());
        if let Some(known) = &self.known {
            known.keep([(pgno, &*page)]);
        }
        Ok(())
    }

    /// Checks a page as [`PageCodec::open`] does, without decrypting it. With
    /// HMAC off there is nothing to check, but that the page is not all zeros.
    ///
    /// # Errors
    /// [`PageError::Mac`] or [`PageError::Zeros`].
    ///
    /// # Panics
    /// Panics unless `page` is a page long and `pgno` at least 1.
    pub fn verify(&self, pgno: u32, page: &[u8]) -> Result<(), PageError> {
        self.check_arguments(pgno, page);
        let tag = self.tag(pgno, page);
        self.verdict(pgno, page, tag.as_ref())
    }

    /// Checks each page as [`PageCodec::verify`] does, and puts each page's result into
    /// `results` (emptied first) in the same order. From a few pages on this is several
    /// times faster than one by one, as [`PageCodec::open_batch`] is.
    ///
    /// # Panics
    /// As [`PageCodec::verify`].
    pub fn verify_batch(&self, pages: &[PageRef<'_>], results: &mut Vec<Result<(), PageError>>) {
        results.clear();
        for group in pages.chunks(GROUP) {
            let tags = self.tags(group, &[false; GROUP]);
            for (page, tag) in group.iter().zip(&tags) {
                let tag = self.mac.as_ref().map(|_| tag);
                results.push(self.verdict(page.pgno, page.bytes, tag));
            }
        }
    }

    /// Opens each page by itself, and puts each page's result into `results`
    /// (emptied first) in the same order. From a few pages on this is several
    /// times faster than opening them one by one: their MACs are computed side by
    /// side.
    ///
    /// # Panics
    /// As [`PageCodec::open`].
    pub fn open_batch(&self, pages: &mut [PageRef<'_>], results: &mut Vec<Result<(), PageError>>) {
        results.clear();
        for group in pages.chunks_mut(GROUP) {
            let mut known = [false; GROUP];
            for (known, page) in known.iter_mut().zip(&*group) {
                *known = self.is_known(page.pgno, page.bytes);
            }
            let tags = self.tags(group, &known);
            for ((page, tag), known) in group.iter_mut().zip(&tags).zip(known) {
                let tag = self.mac.as_ref().map(|_| tag);
                let result = match known {
                    true => Ok(()),
                    false => self
                        .verdict(page.pgno, page.bytes, tag)
                        .inspect(|()| self.came(page.pgno, page.bytes)),
                };
                results.push(result.and_then(|()| self.decrypt(page.pgno, page.bytes)));
            }
        }
    }

    /// Seals all pages. From two pages on this is several times faster than
    /// sealing them one by one: they are encrypted and authenticated side by
    /// side.
    ///
    /// # Errors
    /// There is no randomness for the IVs. All pages are then as they were, so that
    /// they can be tried again.
    ///
    /// # Panics
    /// As [`PageCodec::seal`].
    pub fn seal_batch(&self, pages: &mut [PageRef<'_>]) -> Result<(), RandomError> {
        for start in (0..pages.len()).step_by(GROUP) {
            let (sealed, rest) = pages.split_at_mut(start);
            let count = rest.len().min(GROUP);
            if let Err(error) = self.seal_group(&mut rest[..count]) {
                // What was sealed just now opens.
                self.open_batch(sealed, &mut Vec::new());
                return Err(error);
            }
        }
        Ok(())
    }

    /// Seals up to [`GROUP`] pages; after an error none of them.
    fn seal_group(&self, group: &mut [PageRef<'_>]) -> Result<(), RandomError> {
        let len = self.fresh_len();
        let mut fresh = [0; GROUP * MAX_FRESH];
        self.fill_fresh(&mut fresh[..group.len() * len])?;
        let mut messages: [CbcMessage<'_>; GROUP] = core::array::from_fn(|_| CbcMessage {
            iv: [0; IV_LEN],
            data: &mut [],
        });
        let count = group.len();
        for ((message, page), fresh) in messages
            .iter_mut()
            .zip(group.iter_mut())
            .zip(fresh.chunks_exact(len))
        {
            self.check_arguments(page.pgno, page.bytes);
            message.iv = self.put_fresh(page.bytes, fresh);
            message.data = &mut page.bytes[self.body(page.pgno)];
        }
        self.counters.time(Work::Cipher, || {
            self.cipher.encrypt_many(&mut messages[..count]);
        });
        let tags = self.tags(group, &[false; GROUP]);
        for (page, tag) in group.iter_mut().zip(&tags) {
            let tag = self.mac.as_ref().map(|_| tag);
            self.finish(page.pgno, page.bytes, tag);
        }
        if let Some(known) = &self.known {
            known.keep(group.iter().map(|page| (page.pgno, &*page.bytes)));
        }
        Ok(())
    }

    fn check_arguments(&self, pgno: u32, page: &[u8]) {
        assert!(pgno > 0, "page numbers start at 1");
        assert_eq!(
            page.len(),
            self.layout.page_size(),
            "the slice must be one page"
        );
    }

    /// What is encrypted of a page: nothing of a page 1 that is all in the clear.
    fn body(&self, pgno: u32) -> Range<usize> {
        self.layout.start(pgno)..self.layout.body_end()
    }

    /// What the MAC of a page covers.
    fn message<'a>(&self, pgno: u32, page: &'a [u8]) -> Message<'a> {
        Message {
            data: &page[self.layout.start(pgno)..self.layout.mac_start()],
            suffix: self.settings.hmac_pgno.bytes(pgno),
        }
    }

    /// The MAC of a page; with HMAC off there is none.
    fn tag(&self, pgno: u32, page: &[u8]) -> Option<Tag> {
        let mac = self.mac.as_ref()?;
        let message = self.message(pgno, page);
        Some(self.counters.time(Work::Mac, || mac.tag(message)))
    }

    /// The MACs of up to [`GROUP`] pages, but of those that are known; with HMAC off
    /// there are none.
    fn tags(&self, pages: &[PageRef<'_>], known: &[bool; GROUP]) -> [Tag; GROUP] {
        let mut tags = [Tag::default(); GROUP];
        let Some(mac) = &self.mac else {
            return tags;
        };
        let empty = Message {
            data: &[],
            suffix: [0; 4],
        };
        let (mut messages, mut places, mut count) = ([empty; GROUP], [0; GROUP], 0);
        for (place, (page, known)) in pages.iter().zip(known).enumerate() {
            self.check_arguments(page.pgno, page.bytes);
            if !known {
                messages[count] = self.message(page.pgno, page.bytes);
                places[count] = place;
                count += 1;
            }
        }
        let mut found = [Tag::default(); GROUP];
        self.counters.time(Work::Mac, || {
            mac.tags(&messages[..count], &mut found[..count]);
        });
        for (place, tag) in places[..count].iter().zip(found) {
            tags[*place] = tag;
        }
        tags
    }

    /// What is to be said of a sealed page whose MAC should be `tag`.
    fn verdict(&self, pgno: u32, page: &[u8], tag: Option<&Tag>) -> Result<(), PageError> {
        let stored = &page[self.layout.mac_start()..][..self.layout.mac_len()];
        let fine = match tag {
            _ if self.faults.is_on(Fault::Decrypt) => false,
            _ if self.body(pgno).is_empty() => true,
            Some(tag) => tag.matches(stored),
            None => !is_zeros(page),
        };
        match fine {
            true => Ok(()),
            false if is_zeros(page) => Err(PageError::Zeros { pgno }),
            false => Err(PageError::Mac { pgno }),
        }
    }

    /// The second half of [`PageCodec::open`], after the MAC.
    fn decrypt(&self, pgno: u32, page: &mut [u8]) -> Result<(), PageError> {
        let body = self.body(pgno);
        if !body.is_empty() {
            let iv = self.iv(page);
            if pgno == 1 && self.mac.is_none() && !self.header_decrypts(&iv, page) {
                return Err(PageError::Header);
            }
            let body = &mut page[body];
            self.counters
                .time(Work::Cipher, || self.cipher.decrypt(&iv, body));
        }
        self.counters.opened(1, page.len());
        self.as_sqlite_sees(pgno, page);
        Ok(())
    }

    /// What opening does after the decryption.
    fn as_sqlite_sees(&self, pgno: u32, page: &mut [u8]) {
        page[self.layout.body_end()..].fill(0);
        if pgno == 1 && self.layout.plaintext_header() == 0 {
            page[..SALT_LEN].copy_from_slice(page1::MAGIC);
        }
    }

    /// Random bytes that sealing a page takes: the IV, and what of the reserve the
    /// MAC leaves.
    fn fresh_len(&self) -> usize {
        self.layout.reserve() - self.layout.mac_len()
    }

    fn fill_fresh(&self, fresh: &mut [u8]) -> Result<(), RandomError> {
        if self.faults.is_on(Fault::Encrypt) {
            return Err(RandomError(None));
        }
        random::fill(fresh)
    }

    /// Puts a page's random bytes in place and returns the IV among them.
    fn put_fresh(&self, page: &mut [u8], fresh: &[u8]) -> [u8; IV_LEN] {
        let (iv, spare) = fresh.split_at(IV_LEN);
        let mac = self.layout.mac_start();
        page[self.layout.body_end()..mac].copy_from_slice(iv);
        page[mac + self.layout.mac_len()..].copy_from_slice(spare);
        self.iv(page)
    }

    /// What sealing does after the encryption.
    fn finish(&self, pgno: u32, page: &mut [u8], tag: Option<&Tag>) {
        self.counters.sealed(1, page.len());
        if self.body(pgno).is_empty() {
            page[self.layout.body_end()..].fill(0);
            return;
        }
        if let Some(tag) = tag {
            page[self.layout.mac_start()..][..self.layout.mac_len()]
                .copy_from_slice(tag.as_bytes());
        }
        if pgno == 1 && self.layout.plaintext_header() == 0 {
            page[..SALT_LEN].copy_from_slice(&self.salt);
        }
    }

    fn iv(&self, page: &[u8]) -> [u8; IV_LEN] {
        let at = self.layout.body_end();
        core::array::from_fn(|i| page[at + i])
    }

    /// Whether a page 1 without MAC is a database's. Decrypts a copy of the one
    /// block in question, so that a failure leaves the page alone.
    fn header_decrypts(&self, iv: &[u8; IV_LEN], page: &[u8]) -> bool {
        let mut block: [u8; IV_LEN] = core::array::from_fn(|i| page[page1::CHECKED_AT + i]);
        if self.layout.start(1) <= page1::CHECKED_AT {
            // The first block of the ciphertext: 16 is where it starts, with a
            // salt and with the shortest plaintext header.
            self.cipher.decrypt(iv, &mut block);
        }
        page1::is_header(&block, &self.layout)
    }
}

impl fmt::Debug for PageCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageCodec")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

pub(crate) fn is_zeros(page: &[u8]) -> bool {
    page.iter().all(|&byte| byte == 0)
}
