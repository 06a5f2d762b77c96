//! From a key and settings to a codec that opens these files.

use crate::error::SettingsError;
use crate::format::layout::PAGE_SIZES;
use crate::format::{Choice, DerivedKeys, PageCodec, Settings, derive, page1};
use crate::secret::{Key, PageBuffer, SALT_LEN, Salt};

use super::error::{OfflineError, Result};
use super::files::Files;
use super::header::Header;

/// How many pages are tried before a damaged page 1 is called a wrong key.
const WITNESSES: u64 = 64;

/// A key and what goes with it.
#[derive(Debug, Clone)]
pub struct Access {
    /// The key.
    pub key: Key,
    /// The settings.
    pub choice: Choice,
    /// The salt, where it is not the file's own.
    pub salt: Option<Salt>,
}

impl Access {
    /// A key with settings, and the salt from the file.
    #[must_use]
    pub fn new(key: Key, settings: Settings) -> Self {
        Self {
            key,
            choice: Choice {
                settings,
                auto_page_size: false,
            },
            salt: None,
        }
    }

    /// The salt from outside the file, if there is one.
    #[must_use]
    pub fn outside_salt(&self) -> Option<Salt> {
        self.key.salt().or(self.salt)
    }
}

/// Keys that open a file's pages.
pub(super) struct Unlocked {
    pub(super) codec: PageCodec,
    pub(super) keys: DerivedKeys,
    /// The plaintext of page 1; `None` where it is damaged but the key is right.
    pub(super) page1: Option<PageBuffer>,
}

/// Derives the keys, once, and proves them.
pub(super) fn unlock(files: &Files, access: &Access) -> Result<Unlocked> {
    if files.database().is_empty() {
        return Err(OfflineError::Empty(files.path().to_owned()));
    }
    let head = files.head()?;
    let mut settings = access.choice.settings;
    let salt = match (access.outside_salt(), head.first_chunk::<SALT_LEN>()) {
        (Some(salt), _) => salt,
        (None, _) if settings.plaintext_header > 0 => {
            return Err(SettingsError::SaltMissing.into());
        }
        // Before any derivation: the commonest mistake costs no time.
        (None, Some(head_salt)) if head_salt == page1::MAGIC && Header::parse(&head).is_some() => {
            return Err(OfflineError::NotEncrypted(files.path().to_owned()));
        }
        (None, Some(head_salt)) => *head_salt,
        (None, None) => return Err(OfflineError::WrongKey(files.path().to_owned())),
    };
    if !access.choice.auto_page_size {
        settings.validate()?;
    }
    // The page size has no part in the keys.
    let keys = derive(&access.key, &settings, &salt)?;
    for page_size in page_sizes(files, &access.choice) {
        settings.page_size = page_size;
        let codec = match PageCodec::new(&settings, &keys) {
            Ok(codec) => codec,
            // Some settings leave no room in a small page.
            Err(_) if access.choice.auto_page_size => continue,
            Err(error) => return Err(error.into()),
        };
        if let Some(page) = head.get(..page_size as usize) {
            let mut page = PageBuffer::from(page.to_vec());
            if codec.open(1, &mut page).is_ok() {
                return Ok(Unlocked {
                    codec,
                    keys,
                    page1: Some(page),
                });
            }
        }
        if is_proved_elsewhere(files, &codec)? {
            return Ok(Unlocked {
                codec,
                keys,
                page1: None,
            });
        }
    }
    Err(OfflineError::WrongKey(files.path().to_owned()))
}

/// The page sizes to try, likeliest first.
fn page_sizes(files: &Files, choice: &Choice) -> Vec<u32> {
    if !choice.auto_page_size {
        return vec![choice.settings.page_size];
    }
    let mut sizes: Vec<u32> = files.side_page_size().into_iter().collect();
    sizes.extend(
        (9..=16)
            .map(|bits| 1 << bits)
            .filter(|size| PAGE_SIZES.contains(size)),
    );
    sizes
}

/// Whether some page other than the first authenticates, which no wrong key and no
/// wrong setting makes happen.
pub(super) fn is_proved_elsewhere(files: &Files, codec: &PageCodec) -> Result<bool> {
    if codec.layout().mac_len() == 0 {
        return Ok(false);
    }
    let page_size = codec.layout().page_size();
    let pages = u64::from(files.file_pages(page_size as u32)?);
    let mut page = vec![0; page_size];
    let step = (pages / WITNESSES).max(1);
    let mut pgno = 2;
    while pgno <= pages {
        let number = pgno as u32;
        let n = files.read_place(files.locate(number), number, &mut page)?;
        if n == page_size && codec.verify(number, &page).is_ok() {
            return Ok(true);
        }
        pgno += step;
    }
    Ok(false)
}
