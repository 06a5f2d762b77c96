//! Files as a crash leaves them: a log that was not checkpointed, a journal
//! that must be rolled back. They are copied while the writer is at work.

use crate::content;
use crate::peer::Peer;
use crate::settings::Settings;
use crate::workshop::{Access, Draft, Workshop, beside, number};

const KEY: &[u8] = b"correct horse";

/// The stem of the log that the damaged logs are made from.
pub const WAL: &str = "wal-v4";

/// The access of all files here that are version 4.
pub fn access_v4() -> Access {
    Access::new(KEY, Settings::quick())
}

fn access_v3() -> Access {
    Access::new(KEY, Settings::preset(3).changed(|s| s.kdf_iter = 1000))
}

pub fn make(workshop: &mut Workshop) {
    for (suffix, access) in [("v4", access_v4()), ("v3", access_v3())] {
        wal(workshop, suffix, &access);
        wal_with_tail(workshop, suffix, &access);
        wal_restarted(workshop, suffix, &access);
        for mode in ["delete", "persist", "truncate"] {
            journal(workshop, suffix, &access, mode);
        }
    }
}

/// Committed content as the writer sees it, and the copied files.
struct Crash<'a> {
    workshop: &'a mut Workshop,
    access: &'a Access,
    peer: Peer,
    name: String,
    note: &'a str,
    committed: Option<String>,
}

impl<'a> Crash<'a> {
    fn start(
        workshop: &'a mut Workshop,
        access: &'a Access,
        name: String,
        note: &'a str,
        sql: &str,
    ) -> Self {
        let peer = access.open(&workshop.scratch(&format!("{name}.db")));
        let mut crash = Crash {
            workshop,
            access,
            peer,
            name,
            note,
            committed: None,
        };
        crash.exec(sql);
        crash
    }

    fn exec(&mut self, sql: &str) {
        self.peer.exec("db", sql).expect(sql);
    }

    fn remember_committed(&mut self) {
        self.committed = Some(self.peer.content_hash("db").expect("readable").0);
    }

    /// Takes the files as they are now and adds them.
    fn take(self, group: &'static str) {
        let output = self.workshop.output(&self.name);
        let scratch = self.workshop.scratch(&format!("{}.db", self.name));
        self.workshop.copy(&scratch, &output);
        self.peer.kill();
        let content = self.workshop.add_good(&Draft {
            name: &self.name,
            group,
            note: self.note,
            stem: &self.name,
            access: self.access,
        });
        let name = &self.name;
        assert_eq!(
            Some(&content.content_hash),
            self.committed.as_ref(),
            "{name}"
        );
        // The side file decides: without it, the content is not the same.
        let alone = self.workshop.scratch("alone.db");
        std::fs::copy(&output, &alone).expect("copy");
        let content_alone = self.access.open(&alone).content_hash("db").ok();
        assert_ne!(content_alone.map(|c| c.0), self.committed, "{name}");
    }
}

const WAL_START: &str = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;";

fn wal(workshop: &mut Workshop, suffix: &str, access: &Access) {
    let note = "a log that was not checkpointed: several transactions, page 1 among them";
    let sql = content::small(access.settings.page_size) + WAL_START;
    let mut crash = Crash::start(workshop, access, format!("wal-{suffix}"), note, &sql);
    crash.exec("INSERT INTO item(id, name) VALUES(20, 'second transaction')");
    crash.exec("CREATE TABLE later(a, b); INSERT INTO later VALUES(1, 2), (3, 4)");
    crash.exec("PRAGMA user_version = 5; UPDATE item SET qty = 99 WHERE id < 4");
    crash.exec("INSERT INTO later VALUES(5, 'the last transaction')");
    crash.remember_committed();
    crash.take("wal");
}

fn wal_with_tail(workshop: &mut Workshop, suffix: &str, access: &Access) {
    let note = "committed transactions, then frames of one that was not committed";
    let (rows, bytes) = bulk_size(access);
    let sql = content::bulk(rows, bytes) + WAL_START;
    let mut crash = Crash::start(workshop, access, format!("wal-tail-{suffix}"), note, &sql);
    crash.exec("UPDATE bulk SET n = 1 WHERE id = 3; UPDATE bulk SET n = 2 WHERE id = 4");
    crash.remember_committed();
    let before = log_size(&crash);
    crash.exec("PRAGMA cache_size = 2; BEGIN; UPDATE bulk SET n = 77");
    assert!(log_size(&crash) > before, "nothing was spilled");
    crash.take("wal");
}

fn wal_restarted(workshop: &mut Workshop, suffix: &str, access: &Access) {
    let note = "a log written from its start again: frames of the previous round lie behind";
    let (rows, bytes) = bulk_size(access);
    let sql = content::bulk(rows, bytes) + WAL_START;
    let mut crash = Crash::start(
        workshop,
        access,
        format!("wal-restarted-{suffix}"),
        note,
        &sql,
    );
    crash.exec("UPDATE bulk SET n = 1 WHERE id < 8; UPDATE bulk SET n = 2");
    crash.exec("PRAGMA wal_checkpoint");
    let before = log_size(&crash);
    crash.exec("UPDATE bulk SET n = 3 WHERE id = 1");
    assert_eq!(log_size(&crash), before, "the log has grown");
    crash.remember_committed();
    crash.take("wal");
}

fn journal(workshop: &mut Workshop, suffix: &str, access: &Access, mode: &str) {
    let note = format!("journal_mode = {mode}: the cache spilled in mid-transaction, then a crash");
    let (rows, bytes) = bulk_size(access);
    let sql = content::bulk(rows, bytes) + &format!("PRAGMA journal_mode = {mode};");
    let name = format!("journal-{mode}-{suffix}");
    let mut crash = Crash::start(workshop, access, name, &note, &sql);
    if mode == "persist" {
        // A journal with an older, longer tail.
        crash.exec("UPDATE bulk SET n = 5");
    }
    crash.exec("UPDATE bulk SET n = 6 WHERE id = 2");
    crash.remember_committed();
    let spill = "PRAGMA cache_size = 6; BEGIN; UPDATE bulk SET n = 77 WHERE id > 4;";
    crash.exec(spill);
    crash.exec("UPDATE bulk SET data = zeroblob(length(data)) WHERE id > 6");
    assert!(number(&mut crash.peer, "SELECT count(*) FROM bulk") > 0);
    crash.take("journal");
}

/// Rows and bytes for a table of about ten pages.
fn bulk_size(access: &Access) -> (u64, usize) {
    (20, access.settings.page_size as usize * 2 / 5)
}

fn log_size(crash: &Crash<'_>) -> u64 {
    let database = crash.workshop.scratch(&format!("{}.db", crash.name));
    let log = beside(&database, "-wal");
    log.metadata().expect("a log").len()
}
