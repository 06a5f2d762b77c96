//! What is counted. Each scene prepares, then does its work once inside `measured`, and
//! prints the CPU features that it had.

use std::path::Path;

use pageseal::format::{DerivedKeys, PageCodec, PageRef, Settings};
use pageseal::secret::SecretKey;
use rusqlite::{Connection, OpenFlags};

use crate::Result;
use crate::valgrind::{features, measured};

/// All scenes. Those of pages count a hundred pages; those with a database are run on
/// plain SQLite too, so that a change of SQLite is not taken for one of pageseal.
pub(crate) const NAMES: [&str; 18] = [
    "open-page",
    "seal-page",
    "open-page-nohmac",
    "seal-page-nohmac",
    "open-batch-10",
    "seal-batch-10",
    "connect-pageseal",
    "connect-plain",
    "scan-pageseal",
    "scan-plain",
    "lookup-pageseal",
    "lookup-plain",
    "commit-pageseal",
    "commit-plain",
    "wal-commit-pageseal",
    "wal-commit-plain",
    "checkpoint-pageseal",
    "checkpoint-plain",
];

const PAGES: usize = 100;
const BATCH: usize = 10;
const RAW_KEY: &str = "x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'";
const ROWS: i64 = 1_000;

/// Runs a scene.
pub(crate) fn run(name: &str) -> Result<()> {
    match name {
        "open-page" => open_pages(true, 1),
        "seal-page" => seal_pages(true, 1),
        "open-page-nohmac" => open_pages(false, 1),
        "seal-page-nohmac" => seal_pages(false, 1),
        "open-batch-10" => open_pages(true, BATCH),
        "seal-batch-10" => seal_pages(true, BATCH),
        name => database(name),
    }?;
    println!("{}", features());
    Ok(())
}

fn codec(use_hmac: bool) -> Result<PageCodec> {
    let mut settings = Settings::default();
    settings.use_hmac = use_hmac;
    let keys = DerivedKeys {
        cipher: SecretKey::new([1; 32]),
        mac: SecretKey::new([2; 32]),
        salt: [3; 16],
    };
    Ok(PageCodec::new(&settings, &keys)?)
}

/// Pages of zeros are no database pages: these have something in them.
fn pages(codec: &PageCodec) -> Vec<Vec<u8>> {
    let body = codec.layout().body_end();
    (0..PAGES)
        .map(|n| {
            let mut page = vec![0; codec.layout().page_size()];
            page[..body].fill(u8::try_from(n).expect("few") + 1);
            page
        })
        .collect()
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("few") + 2
}

fn refs(pages: &mut [Vec<u8>], first: usize) -> Vec<PageRef<'_>> {
    pages
        .iter_mut()
        .enumerate()
        .map(|(index, bytes)| PageRef {
            pgno: number(first + index),
            bytes,
        })
        .collect()
}

fn seal_pages(use_hmac: bool, batch: usize) -> Result<()> {
    let codec = codec(use_hmac)?;
    let mut pages = pages(&codec);
    measured(|| seal(&codec, &mut pages, batch))
}

fn open_pages(use_hmac: bool, batch: usize) -> Result<()> {
    let codec = codec(use_hmac)?;
    let mut pages = pages(&codec);
    seal(&codec, &mut pages, 1)?;
    measured(|| -> Result<()> {
        let mut results = Vec::new();
        for (index, chunk) in pages.chunks_mut(batch).enumerate() {
            if let [page] = chunk {
                codec.open(number(index), page)?;
            } else {
                codec.open_batch(&mut refs(chunk, index * batch), &mut results);
                results.drain(..).collect::<Result<(), _>>()?;
            }
        }
        Ok(())
    })
}

fn seal(codec: &PageCodec, pages: &mut [Vec<u8>], batch: usize) -> Result<()> {
    for (index, chunk) in pages.chunks_mut(batch).enumerate() {
        if let [page] = chunk {
            codec.seal(number(index), page)?;
        } else {
            codec.seal_batch(&mut refs(chunk, index * batch))?;
        }
    }
    Ok(())
}

fn database(name: &str) -> Result<()> {
    let (scene, contestant) = name.rsplit_once('-').ok_or("no such scene")?;
    let encrypted = contestant == "pageseal";
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("scene.db");
    let journal = if ["wal-commit", "checkpoint"].contains(&scene) {
        "WAL"
    } else {
        "DELETE"
    };
    let db = open(&path, encrypted)?;
    db.query_row(&format!("PRAGMA journal_mode = {journal}"), (), |_| Ok(()))?;
    fill(&db)?;
    drop(db);
    // A cold connection with a small cache: pages come from the file.
    let db = open(&path, encrypted)?;
    db.execute_batch("PRAGMA cache_size = 20; PRAGMA wal_autocheckpoint = 0")
        .or_else(|error| ignore_rows(&error))?;
    match scene {
        "connect" => {
            drop(db);
            measured(|| -> Result<()> {
                for _ in 0..20 {
                    let db = open(&path, encrypted)?;
                    db.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
                }
                Ok(())
            })
        }
        "scan" => {
            let mut select = db.prepare("SELECT sum(length(data)) FROM t")?;
            measured(|| select.query_row((), |_| Ok(())))?;
            Ok(())
        }
        "lookup" => {
            let mut select = db.prepare("SELECT length(data) FROM t WHERE id = ?")?;
            measured(|| -> Result<()> {
                for turn in 0..200 {
                    select.query_row([1 + turn * 619 % ROWS], |_| Ok(()))?;
                }
                Ok(())
            })
        }
        "commit" | "wal-commit" => measured(|| commits(&db)),
        "checkpoint" => {
            commits(&db)?;
            measured(|| db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())))?;
            Ok(())
        }
        _ => Err(format!("no scene is called {name}").into()),
    }
}

/// `execute_batch` takes a pragma's row for an error; the pragma has run all the same.
fn ignore_rows(error: &rusqlite::Error) -> Result<()> {
    match error {
        rusqlite::Error::ExecuteReturnedResults => Ok(()),
        other => Err(other.to_string().into()),
    }
}

fn commits(db: &Connection) -> Result<()> {
    let mut update = db.prepare("UPDATE t SET n = n + 1 WHERE id = ?")?;
    for turn in 0..50 {
        update.execute([1 + turn * 619 % ROWS])?;
    }
    Ok(())
}

fn fill(db: &Connection) -> Result<()> {
    db.execute_batch("BEGIN; CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, data BLOB)")?;
    let mut insert = db.prepare("INSERT INTO t VALUES (?, 0, ?)")?;
    for id in 1..=ROWS {
        insert.execute((id, vec![u8::try_from(id % 251)?; 900]))?;
    }
    drop(insert);
    db.execute_batch("COMMIT")?;
    Ok(())
}

fn open(path: &Path, encrypted: bool) -> Result<Connection> {
    if !encrypted {
        return Ok(Connection::open(path)?);
    }
    pageseal::register()?;
    let db = Connection::open_with_flags_and_vfs(path, OpenFlags::default(), pageseal::VFS_NAME)?;
    db.query_row(&format!("PRAGMA key = \"{RAW_KEY}\""), (), |_| Ok(()))?;
    Ok(db)
}
