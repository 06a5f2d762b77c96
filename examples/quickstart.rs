//! The main job, start to end: `cargo run --example quickstart`.
//!
//! Creates an encrypted database, shows that the file holds no plaintext, reads it
//! back, refuses a wrong key, and opens files that SQLCipher itself has written.

use std::error::Error;
use std::fs;
use std::path::Path;

use pageseal::{Key, OpenOptions, Preset};

const SECRET: &str = "attack at dawn";

fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("notes.db");

    println!("1. A new database, encrypted as SQLCipher 4 does");
    let options = OpenOptions::new(Key::passphrase("correct horse battery staple"));
    let db = options.open(&path)?;
    db.execute_batch("CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)")?;
    db.execute("INSERT INTO note(text) VALUES (?1)", [SECRET])?;
    db.close().map_err(|(_, error)| error)?;

    let bytes = fs::read(&path)?;
    let found = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    println!(
        "   {} bytes; \"SQLite format 3\" in them: {}; the note in them: {}",
        bytes.len(),
        found(b"SQLite format 3"),
        found(SECRET.as_bytes()),
    );
    assert!(!found(b"SQLite format 3") && !found(SECRET.as_bytes()));

    println!("2. Read back");
    let db = options.open(&path)?;
    let text: String = db.query_row("SELECT text FROM note", [], |row| row.get(0))?;
    println!("   {text}");
    assert_eq!(text, SECRET);

    println!("3. A wrong key, and none");
    for (key, options) in [
        ("wrong", OpenOptions::new(Key::passphrase("wrong"))),
        ("empty", OpenOptions::new(Key::passphrase(""))),
    ] {
        match options.open(&path) {
            Ok(_) => return Err("opened with a wrong key".into()),
            Err(error) => println!("   {key}: {error}"),
        }
    }

    println!("4. Databases that SQLCipher 4.20 has written");
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("compat-vectors");
    for (file, preset) in [("preset-4.db", Preset::V4), ("preset-3.db", Preset::V3)] {
        // A copy: the vectors are frozen, and opening a database may write to it.
        let copy = dir.path().join(file);
        fs::copy(vectors.join(file), &copy)?;
        let db = OpenOptions::new(Key::passphrase("correct horse"))
            .preset(preset)
            .open(&copy)?;
        let mut rows = db.prepare("SELECT * FROM item LIMIT 3")?;
        let columns = rows.column_count();
        println!("   {file}, as version {preset:?}:");
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            let values = (0..columns)
                .map(|column| row.get_ref(column).map(show))
                .collect::<Result<Vec<_>, _>>()?;
            println!("      {}", values.join(" | "));
        }
    }
    Ok(())
}

/// A value in a few characters.
fn show(value: rusqlite::types::ValueRef<'_>) -> String {
    use rusqlite::types::ValueRef;
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => format!("{number:e}"),
        ValueRef::Text(text) => String::from_utf8_lossy(text).chars().take(24).collect(),
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}
