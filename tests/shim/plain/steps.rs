//! The same statements write the same bytes, in the same steps.

use std::path::Path;

use rusqlite::Connection;

use crate::support::disk::snapshot;
use crate::support::open::open_with;
use crate::support::tap::{Event, Kind, Tap};

/// A step that the disk sees: which file, and what.
type Step = (Kind, Event);

/// What a run leaves behind, and how it came about.
struct Run {
    steps: Vec<Step>,
    answers: Vec<String>,
    /// By name within the directory.
    files: Vec<(String, Vec<u8>)>,
}

/// All rows of all statements, as text.
fn answers(connection: &Connection, sql: &str) -> Vec<String> {
    let mut answers = Vec::new();
    for statement in sql.split(';').filter(|sql| !sql.trim().is_empty()) {
        let mut statement = connection
            .prepare(statement)
            .unwrap_or_else(|error| panic!("{statement}: {error}"));
        let columns = statement.column_count();
        let mut rows = statement.query([]).expect("run");
        while let Some(row) = rows.next().expect("a row") {
            let values: Vec<String> = (0..columns)
                .map(|column| format!("{:?}", row.get_ref(column).expect("a value")))
                .collect();
            answers.push(values.join("|"));
        }
    }
    answers
}

/// `DIR` in the statements stands for the directory.
fn run(script: &str, uri: &str, through_shim: bool) -> Run {
    let dir = tempfile::tempdir().expect("a directory");
    let tap = Tap::new();
    let vfs = if through_shim {
        tap.with_shim()
    } else {
        tap.name().to_owned()
    };
    let steps = tap.collect(|file, event| {
        // Temporary files are the shim's own affair: it seals them.
        let kept = [Kind::Database, Kind::Journal, Kind::Wal, Kind::SuperJournal];
        kept.contains(&file.kind).then_some((file.kind, event))
    });
    let here = |text: &str| text.replace("DIR", dir.path().to_str().expect("text"));
    let connection = open_with(here(uri), &vfs).expect("opened");
    let answers = answers(&connection, &here(script));
    drop(connection);
    Run {
        steps: steps.take(),
        answers,
        files: files(dir.path()),
    }
}

fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    snapshot(dir)
        .into_iter()
        .map(|(path, bytes)| {
            let name = path.file_name().expect("a name").to_str().expect("text");
            (name.to_owned(), bytes)
        })
        .collect()
}

fn assert_same(script: &str, uri: &str) {
    let direct = run(script, uri, false);
    let through = run(script, uri, true);
    assert_eq!(direct.answers, through.answers, "{script}");
    let writes = direct
        .steps
        .iter()
        .filter(|(_, event)| matches!(event, Event::Write { .. }));
    assert!(writes.count() > 5, "{script}");
    for (index, (a, b)) in direct.steps.iter().zip(&through.steps).enumerate() {
        assert_eq!(a, b, "{script}: step {index}");
    }
    assert_eq!(direct.steps.len(), through.steps.len(), "{script}");
    let names = |run: &Run| {
        run.files
            .iter()
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&direct), names(&through), "{script}");
    for ((name, a), (_, b)) in direct.files.iter().zip(&through.files) {
        // Journals that stay hold a random number each.
        if !name.ends_with("-journal") {
            assert!(a == b, "{script}: {name} differs");
        }
    }
}

/// Rows, spills, rollbacks, savepoints, deletions.
const WORK: &str = "
    PRAGMA cache_size = 10; PRAGMA synchronous = FULL;
    CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB); CREATE INDEX ta ON t(a);
    WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 300)
        INSERT INTO t SELECT i, 'row ' || i, zeroblob(i * 7) FROM c;
    BEGIN; UPDATE t SET a = a || ' changed'; DELETE FROM t WHERE id % 3 = 0; ROLLBACK;
    SELECT count(*), sum(length(a)), sum(length(b)) FROM t;
    BEGIN; SAVEPOINT s; UPDATE t SET b = zeroblob(2000) WHERE id < 100; ROLLBACK TO s;
    UPDATE t SET a = 'x' WHERE id % 5 = 0; COMMIT;
    DELETE FROM t WHERE id BETWEEN 50 AND 150;
    PRAGMA integrity_check; PRAGMA page_count; PRAGMA freelist_count;
    SELECT count(*), sum(length(a)), sum(length(b)) FROM t;";

#[test]
fn in_every_journal_mode() {
    for mode in ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL"] {
        assert_same(&format!("PRAGMA journal_mode = {mode}; {WORK}"), "DIR/a.db");
    }
}

/// There is no way back without a journal.
#[test]
fn without_a_journal() {
    let work = WORK
        .replace("ROLLBACK TO s;", "")
        .replace("ROLLBACK;", "COMMIT;");
    assert_same(&format!("PRAGMA journal_mode = OFF; {work}"), "DIR/a.db");
}

#[test]
fn where_writes_are_not_powersafe() {
    for mode in ["DELETE", "WAL"] {
        let script = format!("PRAGMA page_size = 1024; PRAGMA journal_mode = {mode}; {WORK}");
        assert_same(&script, "file:DIR/a.db?psow=0");
    }
}

/// Page sizes, reserved bytes, vacuums, hints about the size.
#[test]
fn in_every_shape() {
    for shape in [
        "PRAGMA page_size = 512;",
        "PRAGMA page_size = 65536;",
        "PRAGMA auto_vacuum = FULL;",
        "PRAGMA auto_vacuum = INCREMENTAL;",
        "PRAGMA encoding = 'UTF-16';",
        "PRAGMA locking_mode = EXCLUSIVE;",
    ] {
        let script = format!(
            "{shape} {WORK} PRAGMA incremental_vacuum(5); VACUUM;
             PRAGMA page_size = 8192; VACUUM; PRAGMA page_size; PRAGMA page_count;
             VACUUM INTO 'DIR/copy.db';"
        );
        assert_same(&script, "DIR/a.db");
    }
}

/// Two files, committed together.
#[test]
fn attached() {
    assert_same(
        &format!(
            "{WORK} ATTACH 'DIR/b.db' AS b; CREATE TABLE b.u AS SELECT * FROM t;
             BEGIN; UPDATE t SET a = 'both'; UPDATE b.u SET a = 'both'; COMMIT;
             BEGIN; UPDATE t SET a = 'none'; UPDATE b.u SET a = 'none'; ROLLBACK;
             SELECT DISTINCT a FROM b.u; DETACH b;"
        ),
        "DIR/a.db",
    );
}
