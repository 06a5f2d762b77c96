//! What is done to a database while the power fails.

/// Statements on a database, each of which is all or nothing.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    /// More URI parameters.
    pub(crate) uri: &'static str,
    /// Runs on every connection, behind the key.
    pub(crate) tuning: &'static str,
    /// Makes the database; all of it is safe before the first step.
    pub(crate) setup: &'static str,
    /// Each is one transaction, or none.
    pub(crate) steps: &'static [&'static str],
    /// What SQLite promises of a step that has returned, when the power fails.
    pub(crate) promise: Promise,
}

/// How many of the steps that have returned may be gone after a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// None.
    Durable,
    /// The last one: its commit is a truncation that is not synced.
    AllButTheLast,
    /// Any number of the last ones, but what is there is the state after some step.
    Consistent,
}

const TABLE: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, pad TEXT);
    CREATE INDEX by_a ON t(a);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
    INSERT INTO t SELECT i, i * 7 % 41, printf('%0300d', i) FROM n;";

const SMALL: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, pad TEXT);
    INSERT INTO t VALUES(1, 1, 'one'), (2, 2, 'two'), (3, 3, 'three');";

const CHANGES: &[&str] = &[
    "UPDATE t SET a = a + 1 WHERE id = 3",
    "BEGIN; UPDATE t SET a = -a WHERE id % 9 = 0; DELETE FROM t WHERE id = 5; COMMIT",
    "INSERT INTO t SELECT id + 100, a, pad FROM t WHERE id < 10",
    "DELETE FROM t WHERE id > 30",
];

const SPILL: &[&str] = &[
    "BEGIN; UPDATE t SET pad = printf('%0310d', id * 3); UPDATE t SET a = id; COMMIT",
    "BEGIN; UPDATE t SET pad = printf('%0200d', id); SAVEPOINT s;
     DELETE FROM t; INSERT INTO t SELECT value, 1, hex(randomblob(200)) FROM
        (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 60) SELECT value FROM n);
     ROLLBACK TO s; RELEASE s; UPDATE t SET a = 1 - a; COMMIT",
];

/// In every journal mode, with every kind of page.
pub(crate) const ALL: &[Workload] = &[
    Workload {
        name: "DELETE, full",
        uri: "",
        tuning: "PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: CHANGES,
        promise: Promise::Durable,
    },
    Workload {
        name: "DELETE, normal",
        uri: "",
        tuning: "PRAGMA synchronous = NORMAL",
        setup: TABLE,
        steps: CHANGES,
        promise: Promise::Durable,
    },
    Workload {
        name: "DELETE, 1 KiB, no HMAC",
        uri: "&cipher_page_size=1024&cipher_use_hmac=off",
        tuning: "PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: CHANGES,
        promise: Promise::Durable,
    },
    Workload {
        name: "DELETE, 512, no HMAC, psow=0",
        uri: "&psow=0&cipher_page_size=512&cipher_use_hmac=off",
        tuning: "PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: CHANGES,
        promise: Promise::Durable,
    },
    Workload {
        name: "TRUNCATE, full",
        uri: "",
        tuning: "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: CHANGES,
        promise: Promise::Durable,
    },
    Workload {
        name: "TRUNCATE, normal",
        uri: "",
        tuning: "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = NORMAL",
        setup: TABLE,
        steps: CHANGES,
        promise: Promise::AllButTheLast,
    },
    Workload {
        name: "PERSIST, full",
        uri: "",
        tuning: "PRAGMA journal_mode = PERSIST; PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: CHANGES,
        promise: Promise::Durable,
    },
    Workload {
        name: "EXCLUSIVE, PERSIST",
        uri: "",
        tuning: "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = PERSIST; PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: CHANGES,
        promise: Promise::Durable,
    },
    Workload {
        name: "spill, DELETE",
        uri: "&cipher_page_size=1024",
        tuning: "PRAGMA cache_size = 4; PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: SPILL,
        promise: Promise::Durable,
    },
    Workload {
        name: "spill, PERSIST, SQLCipher 3",
        uri: "&cipher_compatibility=3",
        tuning: "PRAGMA cache_size = 4; PRAGMA journal_mode = PERSIST; PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: SPILL,
        promise: Promise::Durable,
    },
    Workload {
        name: "WAL, full",
        uri: "",
        tuning: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: CHANGES,
        promise: Promise::Durable,
    },
    Workload {
        name: "WAL, full, psow=0",
        uri: "&psow=0",
        tuning: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: CHANGES,
        promise: Promise::Durable,
    },
    Workload {
        name: "WAL, normal",
        uri: "",
        tuning: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL",
        setup: TABLE,
        steps: CHANGES,
        promise: Promise::Consistent,
    },
    Workload {
        name: "WAL, exclusive",
        uri: "",
        tuning: "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: CHANGES,
        promise: Promise::Durable,
    },
    Workload {
        name: "spill, WAL",
        uri: "&cipher_page_size=1024",
        tuning: "PRAGMA cache_size = 4; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: SPILL,
        promise: Promise::Durable,
    },
    Workload {
        name: "checkpoints",
        uri: "",
        tuning: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 3",
        setup: TABLE,
        steps: &[
            "UPDATE t SET a = a + 1 WHERE id < 9",
            "PRAGMA wal_checkpoint(PASSIVE)",
            "UPDATE t SET a = a + 1 WHERE id > 20",
            "PRAGMA wal_checkpoint(RESTART)",
            "UPDATE t SET pad = 'short' WHERE id % 2",
            "PRAGMA wal_checkpoint(TRUNCATE)",
            "INSERT INTO t(pad) VALUES('last')",
        ],
        promise: Promise::Durable,
    },
    Workload {
        name: "journal modes",
        uri: "",
        tuning: "PRAGMA synchronous = FULL",
        setup: SMALL,
        steps: &[
            "PRAGMA journal_mode = WAL",
            "UPDATE t SET a = a + 1",
            "PRAGMA journal_mode = DELETE",
            "UPDATE t SET a = a + 1",
            "PRAGMA journal_mode = WAL",
            "UPDATE t SET a = a + 1",
            "PRAGMA journal_mode = TRUNCATE",
            "UPDATE t SET a = a + 1",
        ],
        promise: Promise::Durable,
    },
    Workload {
        name: "VACUUM",
        uri: "",
        tuning: "PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: &["DELETE FROM t WHERE id % 3", "VACUUM", "UPDATE t SET a = 0"],
        promise: Promise::Durable,
    },
    Workload {
        name: "VACUUM, WAL",
        uri: "&cipher_page_size=1024",
        tuning: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: &["DELETE FROM t WHERE id % 3", "VACUUM", "UPDATE t SET a = 0"],
        promise: Promise::Durable,
    },
    Workload {
        name: "auto-vacuum",
        uri: "&cipher_page_size=1024",
        tuning: "PRAGMA auto_vacuum = FULL; PRAGMA synchronous = FULL",
        setup: TABLE,
        steps: &[
            "DELETE FROM t WHERE id % 3",
            "INSERT INTO t SELECT id + 50, 1, pad FROM t",
            "DELETE FROM t",
        ],
        promise: Promise::Durable,
    },
    Workload {
        name: "first pages",
        uri: "",
        tuning: "PRAGMA synchronous = FULL",
        setup: "",
        steps: &[
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a)",
            "INSERT INTO t VALUES(1, 2)",
        ],
        promise: Promise::Durable,
    },
    Workload {
        name: "first pages, WAL",
        uri: "",
        tuning: "PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL",
        setup: "",
        steps: &[
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a)",
            "INSERT INTO t VALUES(1, 2)",
        ],
        promise: Promise::Durable,
    },
];
