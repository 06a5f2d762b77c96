//! Statements that make SQLite use every kind of file.

use rusqlite::Connection;

/// What is going on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    #[default]
    Setup,
    /// Rows, an index, overflow pages.
    Write,
    /// A transaction larger than the cache, rolled back.
    Spill,
    /// A statement that fails half way through.
    Statement,
    /// An ORDER BY that does not fit into memory.
    Sort,
    /// A DISTINCT that does not.
    Ephemeral,
    /// Temporary tables, with a rollback.
    TempTable,
    Vacuum,
    /// What comes last.
    End,
}

/// Runs it; `at` is called at the start of each phase and at moments within, when
/// as many files as can be are open. Without a journal there is no way back, and a
/// rollback would only garble the database: it is left out there.
pub(super) fn run(
    connection: &Connection,
    marker: &str,
    has_journal: bool,
    at: &mut dyn FnMut(Phase),
) {
    let batch = |sql: &str| {
        let mut sql = sql.replace("MARKER", marker);
        if !has_journal {
            sql = sql
                .replace("ROLLBACK TO s;", "")
                .replace("ROLLBACK;", "COMMIT;");
        }
        connection
            .execute_batch(&sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    };

    at(Phase::Write);
    batch(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER UNIQUE, a TEXT, b BLOB);
         CREATE INDEX ta ON t(a);
         WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 700)
         INSERT INTO t SELECT i, i, i || replace(hex(zeroblob(15)), '00', 'MARKER'), NULL FROM c;
         UPDATE t SET b = replace(hex(zeroblob(20000)), '00', 'MARKER') WHERE id % 100 = 0;",
    );
    at(Phase::Write);

    at(Phase::Spill);
    batch(
        "BEGIN; UPDATE t SET a = a || ' MARKER changed', b = b || 'MARKER';
         SAVEPOINT s; UPDATE t SET a = 'MARKER again' || id;",
    );
    at(Phase::Spill);
    batch("ROLLBACK TO s; DELETE FROM t WHERE id > 300; ROLLBACK;");
    at(Phase::Spill);

    at(Phase::Statement);
    // What the transaction has changed before is what a statement journal keeps: more
    // than the 64 KB of it that stay in memory.
    batch("BEGIN; UPDATE t SET a = 'MARKER ' || a;");
    if has_journal {
        // Row 700 gets the number of row 699.
        let failed = connection.execute(
            "UPDATE t SET a = a || '!', b = ?1, n = CASE id WHEN 700 THEN 699 ELSE n END",
            [marker.repeat(40)],
        );
        assert!(failed.is_err(), "the statement was to fail");
    }
    at(Phase::Statement);
    batch("COMMIT");

    at(Phase::Sort);
    step(
        connection,
        "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 12000)
         SELECT replace(hex(zeroblob(40)), '00', 'MARKER') || (i * 7919 % 12007) AS x
         FROM c ORDER BY x",
        marker,
        &mut || at(Phase::Sort),
    );

    at(Phase::Ephemeral);
    step(
        connection,
        "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 12000)
         SELECT DISTINCT i || replace(hex(zeroblob(25)), '00', 'MARKER') FROM c",
        marker,
        &mut || at(Phase::Ephemeral),
    );

    at(Phase::TempTable);
    batch(
        "CREATE TEMP TABLE tt AS SELECT * FROM t;
         CREATE INDEX temp.tta ON tt(a);
         BEGIN; UPDATE tt SET a = a || ' MARKER more', b = a;",
    );
    at(Phase::TempTable);
    batch("ROLLBACK; UPDATE tt SET a = a || ' MARKER more';");
    at(Phase::TempTable);

    at(Phase::Vacuum);
    batch("VACUUM");

    at(Phase::End);
    batch("REINDEX; DELETE FROM t WHERE id % 2; DROP TABLE tt; PRAGMA incremental_vacuum;");
    at(Phase::End);
}

/// Steps through a query, stopping near its end to look around.
fn step(connection: &Connection, sql: &str, marker: &str, look: &mut dyn FnMut()) {
    let mut statement = connection
        .prepare(&sql.replace("MARKER", marker))
        .expect("prepared");
    let mut rows = statement.query([]).expect("run");
    let mut count = 0;
    while rows.next().expect("a row").is_some() {
        count += 1;
        if count == 11_000 {
            look();
        }
    }
    assert_eq!(count, 12_000);
}
