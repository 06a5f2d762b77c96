//! Every page layout that a database can have: page sizes by reserves.

use pageseal::{HashAlgorithm, Settings};

/// A page layout, by the pragmas that make it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageLayout {
    pub(crate) page_size: usize,
    /// As FORMAT's table has it: IV 16, and the MAC, rounded up to 16.
    pub(crate) reserve: usize,
    mac: Option<&'static str>,
}

impl PageLayout {
    /// The pragmas, to be run right behind the key.
    pub(crate) fn pragmas(self) -> String {
        let mac = match self.mac {
            None => "PRAGMA cipher_use_hmac = OFF;".to_owned(),
            Some(mac) => format!("PRAGMA cipher_hmac_algorithm = HMAC_{mac};"),
        };
        format!("{mac} PRAGMA cipher_page_size = {};", self.page_size)
    }

    /// The same as settings.
    pub(crate) fn settings(self) -> Settings {
        let mut settings = Settings::default();
        settings.page_size = self.page_size as u32;
        settings.use_hmac = self.mac.is_some();
        settings.hmac_algorithm = match self.mac {
            Some("SHA1") => HashAlgorithm::Sha1,
            Some("SHA256") => HashAlgorithm::Sha256,
            _ => HashAlgorithm::Sha512,
        };
        settings
    }
}

/// The one with this page size and MAC (`None`, SHA1, SHA256, SHA512).
pub(crate) fn layout(page_size: usize, mac: Option<&str>) -> PageLayout {
    all()
        .find(|layout| layout.page_size == page_size && layout.mac == mac)
        .expect("a layout")
}

/// All of them. SQLite needs 480 usable bytes in a page, so that 512-byte pages go
/// only without MAC.
pub(crate) fn all() -> impl Iterator<Item = PageLayout> {
    let macs = [
        (None, 16),
        (Some("SHA1"), 48),
        (Some("SHA256"), 48),
        (Some("SHA512"), 80),
    ];
    (9..=16)
        .flat_map(move |power| {
            macs.map(|(mac, reserve)| PageLayout {
                page_size: 1 << power,
                reserve,
                mac,
            })
        })
        .filter(|layout| layout.page_size - layout.reserve >= 480)
}
