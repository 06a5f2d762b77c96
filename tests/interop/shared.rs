//! Both sides have a database open at the same time, and write in turn.
//!
//! In the modes with a rollback journal: locks and the file's change counter are
//! SQLite's own on both sides.

use crate::configuration::Configuration;
use crate::content::{CHANGE, REWRITE, create, hashes};
use crate::database::Side::{Pageseal, SqlCipher};
use crate::database::check;
use crate::each::scratch;

const MODES: [&str; 4] = ["DELETE", "TRUNCATE", "PERSIST", "MEMORY"];

#[test]
fn each_sees_what_the_other_wrote() {
    for mode in MODES {
        let how = Configuration::new(mode).with("journal_mode", mode);
        let hashes = hashes(&how);
        let directory = scratch();
        let path = directory.path().join("a.db");
        let mut theirs = SqlCipher.create(&path, &how);
        let mut ours = Pageseal.open(&path, &how);
        theirs.exec(&create(&how));
        check(&mut *ours, &how, &hashes.created);
        ours.exec(CHANGE);
        check(&mut *theirs, &how, &hashes.changed);
        theirs.exec(REWRITE);
        check(&mut *ours, &how, &hashes.rewritten);

        for turn in 0..50 {
            let sides = if turn % 2 == 0 {
                [&mut ours, &mut theirs]
            } else {
                [&mut theirs, &mut ours]
            };
            let [writer, reader] = sides;
            writer.exec(&format!(
                "INSERT INTO item(name, data) VALUES('turn {turn}', zeroblob({turn} * 500));
                 UPDATE note SET body = 'turn {turn}' WHERE rowid = {turn} + 1;
                 DELETE FROM pair WHERE n = {turn};"
            ));
            assert_eq!(reader.content_hash(), writer.content_hash(), "turn {turn}");
        }
        assert_eq!(ours.get("PRAGMA integrity_check"), "ok");
        assert_eq!(theirs.get("PRAGMA integrity_check"), "ok");
        ours.close();
        theirs.close();
    }
}

/// Who finds the file locked is told so, and nothing is lost.
#[test]
fn each_respects_the_others_locks() {
    let how = Configuration::new("locks");
    let directory = scratch();
    let path = directory.path().join("a.db");
    let mut ours = Pageseal.create(&path, &how);
    let mut theirs = SqlCipher.open(&path, &how);
    ours.exec("CREATE TABLE t(a)");
    for turn in 0..2 {
        let (holder, other) = match turn {
            0 => (&mut ours, &mut theirs),
            _ => (&mut theirs, &mut ours),
        };
        other.exec("PRAGMA busy_timeout = 0");
        let insert = format!("INSERT INTO t VALUES({turn})");
        holder.exec("BEGIN IMMEDIATE");
        holder.exec(&insert);
        let busy = other.try_query("INSERT INTO t VALUES(100)");
        assert_eq!(busy.expect_err("it is locked").code, 5);
        assert_eq!(other.get("SELECT count(*) FROM t"), turn.to_string());
        holder.exec("COMMIT");
        assert_eq!(other.get("SELECT max(a) FROM t"), turn.to_string());
    }
    assert_eq!(theirs.content_hash(), ours.content_hash());
    ours.close();
    theirs.close();
}
