//! sqlx on an encrypted database: nothing but the URL says so.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use tokio::task::JoinSet;

type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const CONNECTIONS: u32 = 8;

#[tokio::main]
async fn main() -> Result {
    pageseal::register()?;
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("app.db");

    by_url(&path).await?;
    by_options(&path).await?;
    wrong_key(&path).await?;

    sealed(&path)?;
    println!("ok");
    Ok(())
}

/// The URL of an encrypted file. sqlx takes what is before the first `?` and decodes
/// its percent signs; what comes out is SQLite's URI, whose parameters (`%3F` is
/// their `?`) are SQLite's and pageseal's. What is behind it is sqlx's own.
fn url(path: &Path, key: &str) -> String {
    // A space or a percent sign is encoded twice: once for sqlx, once for SQLite.
    let path = path.display();
    let key = key.replace(' ', "%2520");
    format!("sqlite:file:{path}%3Fvfs=pageseal&key={key}?mode=rwc")
}

async fn by_url(path: &Path) -> Result {
    let start = Instant::now();
    let pool: SqlitePool = SqlitePoolOptions::new()
        .min_connections(CONNECTIONS)
        .max_connections(CONNECTIONS)
        .connect(&url(path, "correct horse"))
        .await?;
    sqlx::query("PRAGMA journal_mode = WAL")
        .execute(&pool)
        .await?;
    sqlx::query("CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)")
        .execute(&pool)
        .await?;
    let mut writers: JoinSet<sqlx::Result<()>> = JoinSet::new();
    for writer in 0..i64::from(CONNECTIONS) {
        let pool = pool.clone();
        writers.spawn(async move {
            for n in 0..25 {
                sqlx::query("INSERT INTO note(text) VALUES(?)")
                    .bind(format!("note {n} of {writer}"))
                    .execute(&pool)
                    .await?;
            }
            Ok(())
        });
    }
    while let Some(done) = writers.join_next().await {
        done??;
    }
    let (count,): (i64,) = sqlx::query_as("SELECT count(*) FROM note")
        .fetch_one(&pool)
        .await?;
    assert_eq!(count, 25 * i64::from(CONNECTIONS));
    let (version,): (String,) = sqlx::query_as("PRAGMA cipher_version")
        .fetch_one(&pool)
        .await?;
    let size = pool.size();
    println!(
        "by URL: {size} connections, {count} rows, SQLCipher {version}, {:?}",
        start.elapsed()
    );
    // The SQL functions are on every connection.
    let settings: Vec<(String,)> = sqlx::query_as("SELECT * FROM cipher_settings")
        .fetch_all(&pool)
        .await?;
    assert_eq!(settings.len(), 6);
    let faults: Vec<(String,)> = sqlx::query_as("SELECT * FROM cipher_integrity_check")
        .fetch_all(&pool)
        .await?;
    assert_eq!(faults, []);
    pool.close().await;
    Ok(())
}

/// The same with sqlx's own options, which run `PRAGMA key` before anything else.
async fn by_options(path: &Path) -> Result {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .vfs("pageseal")
        .pragma("key", "'correct horse'");
    let pool = SqlitePoolOptions::new()
        .max_connections(CONNECTIONS)
        .connect_with(options)
        .await?;
    let (count,): (i64,) = sqlx::query_as("SELECT count(*) FROM note")
        .fetch_one(&pool)
        .await?;
    assert_eq!(count, 25 * i64::from(CONNECTIONS));
    println!("by options: {count} rows");
    pool.close().await;
    Ok(())
}

/// What was written is in the file, and not in the clear.
fn sealed(path: &Path) -> Result {
    let file = std::fs::read(path)?;
    assert!(file.len() > 4096, "the pool's pages are not in the file");
    for text in ["SQLite format 3", "CREATE TABLE", "note 24 of"] {
        let found = file.windows(text.len()).any(|w| w == text.as_bytes());
        assert!(!found, "{text:?} is in the file in the clear");
    }
    Ok(())
}

async fn wrong_key(path: &Path) -> Result {
    let pool = SqlitePool::connect(&url(path, "wrong")).await;
    let error = match pool {
        Err(error) => error,
        Ok(pool) => sqlx::query("SELECT count(*) FROM note")
            .execute(&pool)
            .await
            .expect_err("a wrong key must open nothing"),
    };
    let code = error.as_database_error().and_then(|error| error.code());
    assert_eq!(code.as_deref(), Some("26"), "{error}");
    println!("wrong key: {error}");
    Ok(())
}
