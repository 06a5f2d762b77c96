//! The suites run with every optimisation on, and again with some off: the environment
//! variable `PAGESEAL_WITHOUT` names them (`ahead`, `behind`, `known`, with commas). And
//! again with one that is off by itself: `PAGESEAL_WITH=thread`.

use std::sync::Once;

/// Switches off what the environment says, once.
pub(crate) fn apply() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        match std::env::var("PAGESEAL_WITH").as_deref() {
            Ok("thread") => pageseal::set_read_ahead_thread(true),
            Ok(other) => panic!("PAGESEAL_WITH: there is no {other:?}"),
            Err(_) => {}
        }
        let without = std::env::var("PAGESEAL_WITHOUT").unwrap_or_default();
        for name in without.split(',').filter(|name| !name.is_empty()) {
            match name {
                "ahead" => pageseal::set_read_ahead(false),
                "behind" => pageseal::set_write_behind(false),
                "known" => pageseal::set_known_pages(0),
                other => panic!("PAGESEAL_WITHOUT: there is no {other:?}"),
            }
        }
    });
}
