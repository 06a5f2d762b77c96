//! A pool of rusqlite connections on an encrypted database.

use std::error::Error;
use std::thread;
use std::time::Instant;

use pageseal::{Failure, Key, OpenError, OpenOptions};
use r2d2::{CustomizeConnection, Pool};
use r2d2_sqlite::SqliteConnectionManager;
use r2d2_sqlite::rusqlite::{Connection, Error as SqliteError};

const CONNECTIONS: u32 = 8;

/// Keys each connection of the pool, and checks the key.
#[derive(Debug)]
struct Keyed(OpenOptions);

impl CustomizeConnection<Connection, SqliteError> for Keyed {
    fn on_acquire(&self, connection: &mut Connection) -> Result<(), SqliteError> {
        self.0
            .apply(connection, "main")
            .map_err(|error| match error {
                OpenError::Database { source, .. } | OpenError::Sqlite(source) => source,
                error => SqliteError::ToSqlConversionFailure(error.into()),
            })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    pageseal::register()?;
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("app.db");
    let manager = || SqliteConnectionManager::file(format!("file:{}?vfs=pageseal", path.display()));

    let start = Instant::now();
    let pool = Pool::builder()
        .max_size(CONNECTIONS)
        .connection_customizer(Box::new(Keyed(OpenOptions::new(Key::passphrase(
            "correct horse",
        )))))
        .build(manager())?;
    println!(
        "{} connections in {:?}",
        pool.state().connections,
        start.elapsed()
    );
    pool.get()?
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE note(text)")?;
    thread::scope(|scope| {
        for writer in 0..CONNECTIONS {
            let pool = pool.clone();
            scope.spawn(move || {
                let db = pool.get().expect("a connection");
                for n in 0..25 {
                    db.execute(
                        "INSERT INTO note VALUES(?1)",
                        [format!("note {n} of {writer}")],
                    )
                    .expect("a row");
                }
            });
        }
    });
    let count: u32 = pool
        .get()?
        .query_row("SELECT count(*) FROM note", [], |row| row.get(0))?;
    assert_eq!(count, 25 * CONNECTIONS);
    println!("{count} rows");

    // With the last connection the log goes into the database.
    drop(pool);

    // Outside of a pool the error is a type.
    let wrong = OpenOptions::new(Key::passphrase("wrong")).open(&path);
    let failure = wrong.expect_err("a wrong key must open nothing");
    assert_eq!(failure.failure(), Some(&Failure::WrongKey));
    println!("wrong key: {failure}");

    // What was written is in the file, and not in the clear.
    let file = std::fs::read(&path)?;
    assert!(file.len() > 4096, "the pages are not in the file");
    for text in ["SQLite format 3", "CREATE TABLE", "note 24 of"] {
        let found = file.windows(text.len()).any(|w| w == text.as_bytes());
        assert!(!found, "{text:?} is in the file in the clear");
    }
    println!("ok");
    Ok(())
}
