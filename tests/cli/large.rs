//! Past four gibibytes and past the page with SQLite's locks: on a sparse file, so
//! that it costs no disk.

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};

use crate::session::{Answer, Session};

/// A page sealed for another number, or damaged, far behind the 4 GiB mark is found
/// by its number, and read at its place.
#[test]
#[cfg(unix)]
fn offsets_have_64_bits() {
    use pageseal::format::{PageCodec, derive};
    use pageseal::{Key, Settings};

    let session = Session::new();
    let path = session.vector("page-65536");
    let mut settings = Settings::default();
    settings.page_size = 65536;
    settings.kdf_iter = 1000;
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .expect("the vector");
    let mut salt = [0; 16];
    file.read_exact(&mut salt).expect("a salt");
    let keys = derive(&Key::passphrase("correct horse"), &settings, &salt).expect("keys");
    let codec = PageCodec::new(&settings, &keys).expect("a codec");
    // The header says how many pages there are: 70 000, or 4.3 GiB.
    let pages = 70_000u32;
    let mut page = vec![0; 65536];
    file.seek(SeekFrom::Start(0)).expect("page 1");
    file.read_exact(&mut page).expect("page 1");
    codec.open(1, &mut page).expect("page 1 opens");
    page[28..32].copy_from_slice(&pages.to_be_bytes());
    codec.seal(1, &mut page).expect("page 1");
    file.seek(SeekFrom::Start(0)).expect("page 1");
    file.write_all(&page).expect("page 1");
    let mut put = |pgno: u32, sealed_as: u32| {
        let mut page = vec![0x5a; 65536];
        codec.seal(sealed_as, &mut page).expect("a page");
        file.seek(SeekFrom::Start(u64::from(pgno - 1) * 65536))
            .expect("a place");
        file.write_all(&page).expect("a page");
    };
    put(pages, pages);
    put(pages - 1, pages);
    put(pages - 2, pages - 2);
    drop(file);

    // All pages of the hole are zeros, and bad; those at the end are told apart. The
    // lock page (byte 2^30, page 16385) is none of them.
    // In a tenth of the memory that the file would take: it is never held whole.
    let script = "ulimit -v 409600; exec \"$0\" verify --json page-65536.db \
                  --page-size 65536 --kdf-iter 1000 --key-file key";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_pageseal")]);
    let answer = Answer::of(shell.current_dir(session.path("")));
    assert_eq!(answer.code, Some(4), "{}", answer.stderr);
    let json = answer.json();
    assert_eq!(json["pages"], pages);
    let bad = json["bad_pages"].as_array().expect("a list");
    let page = |n: u32| bad.iter().find(|page| page["page"] == n);
    assert!(page(pages).is_none() && page(pages - 2).is_none());
    let wrong = page(pages - 1).expect("sealed for another number");
    assert_eq!(wrong["fault"], "its HMAC does not verify");
    assert!(page(16384).is_some() && page(16385).is_none() && page(16386).is_some());
    // Pages 1 to 3 are the vector's.
    assert_eq!(bad.len() as u32, pages - 3 - 1 - 2);
}
