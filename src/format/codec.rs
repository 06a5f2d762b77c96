//! One page between SQLCipher's bytes and SQLite's.

use core::fmt;
use std::sync::Arc;

use crate::crypto::{Aes256Cbc, MacKey, Tag, random};
use crate::error::{PageError, RandomError, SettingsError};
use crate::secret::{SALT_LEN, Salt};
use crate::stats::{Counters, Work};

use super::keys::DerivedKeys;
use super::layout::{IV_LEN, Layout};
use super::page1;
use super::settings::Settings;

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
}

impl PageCodec {
    /// Sets the keys up.
    ///
    /// # Errors
    /// The settings make no valid page.
    pub fn new(settings: &Settings, keys: &DerivedKeys) -> Result<Self, SettingsError> {
        Ok(Self {
            settings: *settings,
            layout: Layout::new(settings)?,
            salt: keys.salt,
            cipher: Aes256Cbc::new(keys.cipher.expose()),
            mac: settings
                .use_hmac
                .then(|| MacKey::new(settings.hmac_algorithm, keys.mac.expose())),
            counters: Arc::default(),
        })
    }

    /// Counts pages with these counters from now on.
    #[must_use]
    pub fn counting(mut self, counters: Arc<Counters>) -> Self {
        self.counters = counters;
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
        self.verify(pgno, page)?;
        let start = self.layout.start(pgno);
        let end = self.layout.body_end();
        let iv = self.iv(page);
        if start < end {
            if pgno == 1 && self.mac.is_none() && !self.header_decrypts(&iv, page) {
                return Err(PageError::Header);
            }
            let body = &mut page[start..end];
            self.counters
                .time(Work::Cipher, || self.cipher.decrypt(&iv, body));
        }
        page[end..].fill(0);
        self.counters.opened(1, page.len());
        if pgno == 1 && self.layout.plaintext_header() == 0 {
            page[..SALT_LEN].copy_from_slice(page1::MAGIC);
        }
        Ok(())
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
        let start = self.layout.start(pgno);
        let end = self.layout.body_end();
        if start == end {
            page[end..].fill(0);
            return Ok(());
        }
        random::fill(&mut page[end..])?;
        let iv = self.iv(page);
        let body = &mut page[start..end];
        self.counters
            .time(Work::Cipher, || self.cipher.encrypt(&iv, body));
        if let Some(mac) = &self.mac {
            let tag = self.tag(mac, pgno, page);
            let at = self.layout.mac_start();
            page[at..at + self.layout.mac_len()].copy_from_slice(tag.as_bytes());
        }
        if pgno == 1 && self.layout.plaintext_header() == 0 {
            page[..SALT_LEN].copy_from_slice(&self.salt);
        }
        self.counters.sealed(1, page.len());
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
        if self.layout.start(pgno) == self.layout.body_end() {
            return Ok(());
        }
        let fine = match &self.mac {
            Some(mac) => {
                let at = self.layout.mac_start();
                self.tag(mac, pgno, page)
                    .matches(&page[at..at + self.layout.mac_len()])
            }
            None => !is_zeros(page),
        };
        match fine {
            true => Ok(()),
            false if is_zeros(page) => Err(PageError::Zeros { pgno }),
            false => Err(PageError::Mac { pgno }),
        }
    }

    /// Opens each page by itself, and puts each page's result into `results`
    /// (emptied first) in the same order.
    ///
    /// # Panics
    /// As [`PageCodec::open`].
    pub fn open_batch(&self, pages: &mut [PageRef<'_>], results: &mut Vec<Result<(), PageError>>) {
        results.clear();
        results.extend(
            pages
                .iter_mut()
                .map(|page| self.open(page.pgno, page.bytes)),
        );
    }

    /// Seals all pages.
    ///
    /// # Errors
    /// There is no randomness for the IVs. Pages may or may not be sealed then:
    /// use none of them.
    ///
    /// # Panics
    /// As [`PageCodec::seal`].
    pub fn seal_batch(&self, pages: &mut [PageRef<'_>]) -> Result<(), RandomError> {
        pages
            .iter_mut()
            .try_for_each(|page| self.seal(page.pgno, page.bytes))
    }

    fn check_arguments(&self, pgno: u32, page: &[u8]) {
        assert!(pgno > 0, "page numbers start at 1");
        assert_eq!(
            page.len(),
            self.layout.page_size(),
            "the slice must be one page"
        );
    }

    fn iv(&self, page: &[u8]) -> [u8; IV_LEN] {
        let at = self.layout.body_end();
        core::array::from_fn(|i| page[at + i])
    }

    fn tag(&self, mac: &MacKey, pgno: u32, page: &[u8]) -> Tag {
        let message = &page[self.layout.start(pgno)..self.layout.mac_start()];
        let suffix = self.settings.hmac_pgno.bytes(pgno);
        self.counters.time(Work::Mac, || mac.tag(message, &suffix))
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

fn is_zeros(page: &[u8]) -> bool {
    page.iter().all(|&byte| byte == 0)
}
