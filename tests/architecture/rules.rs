//! The table of rooms, and what it forbids.

use crate::paths::{Named, has_word, module_of, named, tokens};

/// Rooms in the order in which imports may look back; those of one row do not look
/// at each other, but for the first row.
const ORDER: [&[&str]; 10] = [
    &["secret", "error", "stats", "faults"],
    &["crypto"],
    &["format"],
    &["translate"],
    &["session"],
    &["pragma"],
    &["vfs"],
    &["functions"],
    &["registration"],
    &["connection", "extension"],
];

/// SQLite's C interface: declarations only, which import nothing.
const SYS: &str = "sys";
/// Whole files without SQLite.
const OFFLINE: &str = "offline";
/// The command line: a crate of its own, which imports this one's public face.
const BIN: &str = "bin";
/// `lib.rs`, which names them all.
const ROOT: &str = "";

/// Where `unsafe` may be written.
const UNSAFE: [&str; 8] = [
    "src/crypto/kernels/",
    "src/crypto/dispatch.rs",
    "src/sys/",
    "src/vfs/ffi/",
    "src/vfs/lower.rs",
    "src/functions/ffi.rs",
    "src/functions/table.rs",
    "src/extension.rs",
];

fn rank(room: &str) -> Option<usize> {
    ORDER.iter().position(|row| row.contains(&room))
}

/// The room that a file belongs to.
pub(crate) fn room_of_file(file: &str) -> Option<String> {
    let room = module_of(file).first().cloned().unwrap_or_default();
    let known = rank(&room).is_some() || [SYS, OFFLINE, BIN, ROOT].contains(&room.as_str());
    known.then_some(room)
}

/// Whether `from` may import `to`.
fn allowed(from: &str, to: &str) -> bool {
    if from == to || from == ROOT || from == BIN {
        return true;
    }
    let Some(to_rank) = rank(to) else {
        return to == SYS && rank(from) >= rank("vfs");
    };
    match from {
        SYS => false,
        OFFLINE => Some(to_rank) <= rank("translate"),
        _ => rank(from).is_some_and(|rank| to_rank < rank || (rank == 0 && to_rank == 0)),
    }
}

/// Imports that go the wrong way.
pub(crate) fn imports(file: &str, source: &str) -> Vec<String> {
    let Some(from) = room_of_file(file) else {
        return vec![format!("{file}: in no room")];
    };
    named(tokens(source), &module_of(file))
        .into_iter()
        .filter_map(|named| match named {
            Named::Here(to) if !allowed(&from, &to) => Some(format!("{file}: imports {to}")),
            _ => None,
        })
        .collect()
}

/// `unsafe` where it may not be.
pub(crate) fn unsafe_code(file: &str, source: &str) -> Vec<String> {
    let may = UNSAFE.iter().any(|place| file.starts_with(place));
    if !may && has_word(tokens(source), "unsafe") {
        vec![format!("{file}: unsafe")]
    } else {
        Vec::new()
    }
}

/// Files and SQLite where they may not be: up to `translate` everything is slices
/// in, slices out; SQLite begins with `vfs`.
pub(crate) fn outside_world(file: &str, source: &str) -> Vec<String> {
    let Some(rank) = room_of_file(file).and_then(|room| rank(&room)) else {
        return Vec::new();
    };
    let no_io = Some(rank) <= self::rank("translate");
    let no_sqlite = Some(rank) < self::rank("vfs");
    named(tokens(source), &module_of(file))
        .into_iter()
        .filter_map(|named| match named {
            Named::Elsewhere(krate, part) => {
                let io = krate == "std" && ["fs", "io", "net"].contains(&part.as_str());
                let sqlite = ["rusqlite", "libsqlite3_sys"].contains(&krate.as_str());
                let bad = (no_io && io) || (no_sqlite && sqlite);
                bad.then(|| format!("{file}: uses {krate}::{part}"))
            }
            Named::Here(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_import_is_caught() {
        for (file, source) in [
            ("src/format/codec.rs", "use crate::vfs::x;"),
            ("src/format/codec.rs", "use crate::{error, translate};"),
            ("src/crypto/a.rs", "fn f() { crate::format::g() }"),
            (
                "src/translate/wal.rs",
                "mod t { use super::super::super::session; }",
            ),
            ("src/session.rs", "use crate::pragma;"),
            ("src/session.rs", "use crate::sys::sqlite3;"),
            ("src/pragma/apply.rs", "use super::super::vfs;"),
            ("src/vfs/ffi/io.rs", "use crate::connection::a;"),
            ("src/vfs/ffi/io.rs", "use crate::offline::a;"),
            ("src/functions.rs", "use crate::connection::a;"),
            ("src/connection.rs", "use crate::extension::a;"),
            ("src/offline/mod.rs", "use crate::session::a;"),
            ("src/offline/mod.rs", "use crate::sys::a;"),
            ("src/extension.rs", "use crate::offline::a;"),
            ("src/sys/types.rs", "use crate::vfs::a;"),
            // Through the root it could be anything's.
            ("src/crypto/a.rs", "use crate::Failure;"),
            ("src/crypto/a.rs", "use crate::*;"),
            ("src/new_room.rs", ""),
        ] {
            assert_eq!(imports(file, source).len(), 1, "{file}: {source}");
        }
    }

    #[test]
    fn a_right_import_is_not() {
        for (file, source) in [
            ("src/secret.rs", "use crate::error::KeyError;"),
            ("src/format/codec.rs", "use crate::{crypto, error, secret};"),
            ("src/format/codec.rs", "use super::layout; use self::a;"),
            (
                "src/vfs/ffi/io.rs",
                "use super::super::code; use crate::sys as ffi;",
            ),
            ("src/connection.rs", "use crate::{vfs, session};"),
            ("src/extension.rs", "use crate::{functions, vfs, sys};"),
            (
                "src/offline/mod.rs",
                "use crate::{translate, format, secret};",
            ),
            (
                "src/bin/pageseal/main.rs",
                "use crate::cli; use pageseal::offline;",
            ),
            ("src/lib.rs", "pub use crate::vfs::register;"),
        ] {
            assert!(imports(file, source).is_empty(), "{file}: {source}");
        }
    }

    #[test]
    fn unsafe_is_caught() {
        assert_eq!(
            unsafe_code("src/session.rs", "fn f() { unsafe { g() } }").len(),
            1
        );
        assert_eq!(
            unsafe_code("src/crypto/cbc.rs", "unsafe impl A for B {}").len(),
            1
        );
        assert_eq!(
            unsafe_code("src/vfs/file.rs", "unsafe extern \"C\" fn f() {}").len(),
            1
        );
        assert!(unsafe_code("src/vfs/lower.rs", "fn f() { unsafe { g() } }").is_empty());
        assert!(unsafe_code("src/crypto/kernels/a.rs", "unsafe fn f() {}").is_empty());
    }

    #[test]
    fn the_outside_world_is_caught() {
        assert_eq!(
            outside_world("src/format/a.rs", "use std::fs::File;").len(),
            1
        );
        assert_eq!(
            outside_world("src/translate/a.rs", "use std::{io, fmt};").len(),
            1
        );
        assert_eq!(
            outside_world("src/session.rs", "use rusqlite::Error;").len(),
            1
        );
        assert!(outside_world("src/vfs/a.rs", "use rusqlite::Error;").is_empty());
    }
}
