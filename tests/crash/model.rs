//! The bank: what a database must hold after each transaction, and the SQL that
//! takes it there.
//!
//! `account(id, balance, stamp, pad)`: `stamp` is the number of the transaction
//! that touched the row last and `pad` is made from it, so that a page from
//! another time shows; `ledger(txn)` has a row a transaction; `extra(v, pad)` comes
//! and goes, so that files grow and shrink.

use crate::random::Random;
use crate::scenario::{Mode, Scenario};

/// The contents after a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    /// The number of the last transaction.
    pub(crate) txn: u64,
    /// Balance and stamp.
    pub(crate) accounts: Vec<(i64, u64)>,
    /// Rows of `extra`.
    pub(crate) extra: u64,
}

/// A request to a worker, and what follows from it.
pub(crate) struct Step {
    pub(crate) sql: String,
    /// The primary result code that it must end with.
    pub(crate) code: i32,
    /// The state that it commits.
    pub(crate) commits: Option<State>,
}

const BALANCE: i64 = 1000;
const EXTRA_ROWS: u64 = 40;

impl State {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        Self {
            txn: 0,
            accounts: vec![(BALANCE, 0); scenario.accounts as usize],
            extra: 0,
        }
    }
}

/// The padding of an account.
fn padding(scenario: &Scenario) -> String {
    format!(
        "replace(hex(zeroblob({})), '00', printf('%08x', stamp * 1000 + id))",
        scenario.padding / 8
    )
}

/// Creates the tables in one transaction.
pub(crate) fn create(scenario: &Scenario) -> String {
    let mut sql = "BEGIN;".to_owned();
    for schema in scenario.mode.schemas() {
        sql += &format!(
            "CREATE TABLE {schema}.account(id INTEGER PRIMARY KEY, balance INTEGER NOT NULL,
                stamp INTEGER NOT NULL, pad TEXT);
             CREATE INDEX {schema}.by_stamp ON account(stamp, balance);
             CREATE TABLE {schema}.ledger(txn INTEGER PRIMARY KEY);
             CREATE TABLE {schema}.extra(v INTEGER, pad TEXT);
             WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {})
             INSERT INTO {schema}.account SELECT id, {BALANCE}, 0, '' FROM n;
             UPDATE {schema}.account SET pad = {};",
            scenario.accounts,
            padding(scenario),
        );
    }
    sql + "COMMIT"
}

/// One more transaction, or something else that changes no content.
pub(crate) fn step(scenario: &Scenario, state: &State, random: &mut Random) -> Vec<Step> {
    let done = |sql: &str| Step {
        sql: sql.to_owned(),
        code: 0,
        commits: None,
    };
    if scenario.mode == Mode::Wal && random.one_in(6) {
        let kind = random.pick(&["PASSIVE", "FULL", "RESTART", "TRUNCATE"]);
        return vec![done(&format!("PRAGMA wal_checkpoint({kind})"))];
    }
    match random.below(24) {
        0 if scenario.mode.schemas().len() == 1 => return vec![done("VACUUM")],
        1 if scenario.auto_vacuum == "INCREMENTAL" => {
            return vec![done("PRAGMA incremental_vacuum(20)")];
        }
        _ => {}
    }
    transaction(scenario, state, random)
}

fn transaction(scenario: &Scenario, state: &State, random: &mut Random) -> Vec<Step> {
    let mut next = state.clone();
    next.txn += 1;
    let each = |sql: &str| -> String {
        let schemas = scenario.mode.schemas().iter();
        schemas.map(|schema| sql.replace('@', schema)).collect()
    };
    let pad = padding(scenario);
    let everything = format!(
        "UPDATE @.account SET stamp = stamp + 7, balance = 0;
         UPDATE @.account SET pad = {pad}; DELETE FROM @.ledger;
         INSERT INTO @.extra SELECT 0, pad FROM @.account;"
    );
    let mut steps = Vec::new();
    let mut sql = "BEGIN IMMEDIATE;".to_owned();
    match random.below(9) {
        // Everything changes, which does not fit into the cache.
        0 => {
            sql += &each(&format!(
                "UPDATE @.account SET stamp = {}; UPDATE @.account SET pad = {pad};",
                next.txn
            ));
            next.accounts.iter_mut().for_each(|row| row.1 = next.txn);
        }
        // Everything changes and is undone.
        1 => {
            sql += &format!("SAVEPOINT lost; {} ROLLBACK TO lost;", each(&everything));
            if random.one_in(2) {
                sql += &format!("{} ROLLBACK TO lost;", each(&everything));
            }
            sql += "RELEASE lost;";
        }
        // A statement fails at its last row, and is undone by itself.
        2 => {
            let last = scenario.accounts;
            steps.push(Step {
                sql: core::mem::take(&mut sql),
                code: 0,
                commits: None,
            });
            for schema in scenario.mode.schemas() {
                steps.push(Step {
                    sql: format!(
                        "UPDATE {schema}.account SET pad = pad || 'lost', stamp = stamp + 5, \
                         balance = CASE id WHEN {last} THEN NULL ELSE 0 END"
                    ),
                    // SQLITE_CONSTRAINT
                    code: 19,
                    commits: None,
                });
            }
        }
        // Files grow and shrink.
        3 => {
            if state.extra < 3 * EXTRA_ROWS {
                sql += &each(&format!(
                    "INSERT INTO @.extra SELECT {}, printf('%0400d', value)
                     FROM (WITH RECURSIVE n(value) AS
                         (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < {EXTRA_ROWS})
                         SELECT value FROM n);",
                    next.txn
                ));
                next.extra += EXTRA_ROWS;
            } else {
                sql += &each("DELETE FROM @.extra;");
                next.extra = 0;
            }
        }
        // All is rolled back.
        4 => {
            return vec![Step {
                sql: format!("{sql}{} ROLLBACK", each(&everything)),
                code: 0,
                commits: None,
            }];
        }
        _ => {}
    }
    for _ in 0..1 + random.below(4) {
        let amount = random.below(50) as i64;
        for (id, change) in [
            (random.below(scenario.accounts), -amount),
            (random.below(scenario.accounts), amount),
        ] {
            let row = &mut next.accounts[id as usize];
            *row = (row.0 + change, next.txn);
            let id = id + 1;
            sql += &each(&format!(
                "UPDATE @.account SET balance = balance + {change}, stamp = {} WHERE id = {id};
                 UPDATE @.account SET pad = {pad} WHERE id = {id};",
                next.txn
            ));
        }
    }
    sql += &each(&format!("INSERT INTO @.ledger VALUES({});", next.txn));
    sql += "COMMIT";
    steps.push(Step {
        sql,
        code: 0,
        commits: Some(next),
    });
    steps
}

/// Reads a schema's state. Any row that is not of a piece with itself has stamp -1.
pub(crate) fn queries(scenario: &Scenario, schema: &str) -> [String; 3] {
    let pad = padding(scenario);
    [
        format!(
            "SELECT balance, CASE WHEN pad = {pad} THEN stamp ELSE -1 END FROM {schema}.account ORDER BY id"
        ),
        format!("SELECT count(*), ifnull(max(txn), 0) FROM {schema}.ledger"),
        format!("SELECT count(*) FROM {schema}.extra"),
    ]
}
