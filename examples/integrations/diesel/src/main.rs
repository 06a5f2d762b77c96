//! Diesel on an encrypted database: nothing but the URL says so.

use std::error::Error;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;

diesel::table! {
    note (id) {
        id -> Integer,
        text -> Text,
    }
}

#[derive(Debug, PartialEq, Queryable, Selectable)]
#[diesel(table_name = note)]
struct Note {
    id: i32,
    text: String,
}

#[derive(Insertable)]
#[diesel(table_name = note)]
struct NewNote<'a> {
    text: &'a str,
}

fn main() -> Result<(), Box<dyn Error>> {
    pageseal::register()?;
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("app.db");
    let url = |key| format!("file:{}?vfs=pageseal&key={key}", path.display());

    let mut db = SqliteConnection::establish(&url("correct%20horse"))?;
    db.batch_execute("CREATE TABLE note(id INTEGER PRIMARY KEY NOT NULL, text TEXT NOT NULL)")?;
    db.transaction(|db| {
        diesel::insert_into(note::table)
            .values(vec![
                NewNote { text: "first row" },
                NewNote { text: "second row" },
            ])
            .execute(db)
    })?;
    let rolled_back = db.transaction::<(), _, _>(|db| {
        diesel::delete(note::table).execute(db)?;
        Err(diesel::result::Error::RollbackTransaction)
    });
    assert!(rolled_back.is_err());
    drop(db);

    let mut db = SqliteConnection::establish(&url("correct%20horse"))?;
    let notes = note::table
        .order(note::id)
        .select(Note::as_select())
        .load(&mut db)?;
    let texts: Vec<_> = notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(texts, ["first row", "second row"]);
    println!("{notes:?}");

    let error = SqliteConnection::establish(&url("wrong"))
        .map_err(|error| error.to_string())
        .and_then(|mut db| {
            note::table
                .count()
                .get_result::<i64>(&mut db)
                .map_err(|error| error.to_string())
        })
        .expect_err("a wrong key must open nothing");
    assert_eq!(error, "file is not a database");
    println!("wrong key: {error}");

    // What was written is in the file, and not in the clear.
    let file = std::fs::read(&path)?;
    assert!(file.len() > 4096, "the pages are not in the file");
    for text in ["SQLite format 3", "CREATE TABLE", "second row"] {
        let found = file.windows(text.len()).any(|w| w == text.as_bytes());
        assert!(!found, "{text:?} is in the file in the clear");
    }
    println!("ok");
    Ok(())
}
