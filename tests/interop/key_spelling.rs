//! The same key by pragma, by `hexkey`, by URI: both sides take the same one.

use std::path::Path;

use crate::database::Side::{self, Pageseal, SqlCipher};
use crate::database::{BOTH_WAYS, Database};
use crate::each::scratch;
use crate::ours::Ours;
use crate::theirs::Theirs;

/// Parameters of a URI and pragmas that key a connection, and how else the same
/// can be said: all with the settings that SQLCipher starts with.
const SPELLINGS: [(&str, &str, &str, &str); 7] = [
    ("", "PRAGMA hexkey = '6162'", "key=ab", ""),
    ("", "PRAGMA textkey = 'it''s'", "", "PRAGMA key = \"it's\""),
    ("", "PRAGMA key = 123", "key=123", ""),
    ("hexkey=6162", "", "key=ab", ""),
    ("key=a%20b%26c", "", "", "PRAGMA key = 'a b&c'"),
    // 50 bytes, of which `hexkey` takes 40.
    (
        "",
        LONG_HEX_KEY,
        "",
        "PRAGMA key = '0123456789012345678901234567890123456789'",
    ),
    // Not a raw key: those are spelled with an x.
    ("", "PRAGMA key = 'x''6162'''", "key=x'6162'", ""),
];

const LONG_HEX_KEY: &str = "PRAGMA hexkey = '30313233343536373839303132333435363738393031323334353637383930313233343536373839616263646566676869'";

#[test]
fn both_sides_spell_alike() {
    for (maker, taker) in BOTH_WAYS {
        for (uri, pragma, other_uri, other_pragma) in SPELLINGS {
            eprintln!("{maker:?}: {uri} {pragma}");
            let directory = scratch();
            let path = directory.path().join("a.db");
            let mut database = open(maker, &path, uri, pragma);
            database.exec("CREATE TABLE t(a); INSERT INTO t VALUES(7)");
            database.close();
            for (uri, pragma) in [(uri, pragma), (other_uri, other_pragma)] {
                let mut database = open(taker, &path, uri, pragma);
                assert_eq!(database.get("SELECT a FROM t"), "7", "{uri} {pragma}");
                database.close();
            }
        }
    }
}

fn open(side: Side, path: &Path, uri: &str, pragma: &str) -> Box<dyn Database> {
    let uri = format!("file:{}?{uri}", path.display());
    let path = Path::new(&uri);
    let mut database: Box<dyn Database> = match side {
        Pageseal => Box::new(Ours::open_unkeyed(path)),
        SqlCipher => Box::new(Theirs::open_unkeyed(path)),
    };
    database.exec(pragma);
    database
}
