//! The accounts that are moved between, and what must hold at every moment.
//!
//! A transfer moves money between two accounts, counts itself in both (`moves`),
//! and leaves a row in `ledger` under its client's number. So in every snapshot:
//! the balances add up to what there was at first, the accounts' `moves` add up to
//! twice the ledger's rows, and each client's rows are numbered without a gap.

use crate::wire::Value;

use super::client::Client;

pub(crate) const ACCOUNTS: u64 = 200;
const BALANCE: i64 = 1000;
const TOTAL: i64 = ACCOUNTS as i64 * BALANCE;

/// The tables, all accounts full.
pub(crate) fn create() -> String {
    format!(
        "BEGIN;
         CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER NOT NULL,
            moves INTEGER NOT NULL, pad TEXT NOT NULL);
         CREATE INDEX by_moves ON account(moves, balance);
         CREATE TABLE ledger(client INTEGER, n INTEGER, PRIMARY KEY(client, n)) WITHOUT ROWID;
         WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {ACCOUNTS})
         INSERT INTO account SELECT id, {BALANCE}, 0, printf('%0300d', id) FROM n;
         COMMIT"
    )
}

/// Reads what [`Snapshot`] takes in.
pub(crate) const SNAPSHOT: &str = "
    SELECT (SELECT sum(balance) FROM account), (SELECT sum(moves) FROM account),
           (SELECT count(*) FROM account WHERE CAST(pad AS INTEGER) <> id),
           count(*), (SELECT ifnull(sum(last), 0) FROM
                (SELECT max(n) AS last FROM ledger GROUP BY client))
    FROM ledger;";

/// What one `SELECT` or transaction saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Transfers until then.
    pub(crate) transfers: i64,
}

impl Snapshot {
    /// Checks a row of [`SNAPSHOT`].
    pub(crate) fn check(row: &[Value]) -> Result<Self, String> {
        let n: Vec<i64> = row.iter().map(integer).collect();
        match n[..] {
            [TOTAL, moves, 0, rows, last] if moves == 2 * rows && last == rows => {
                Ok(Self { transfers: rows })
            }
            _ => Err(format!(
                "no consistent snapshot: {n:?}; balances must add up to {TOTAL}"
            )),
        }
    }
}

pub(crate) fn integer(value: &Value) -> i64 {
    match value {
        Value::Integer(n) => *n,
        _ => i64::MIN,
    }
}

/// Checks the whole database: content, structure, MACs. `acknowledged` are the
/// transfers of each client that were answered with success: all are there, and
/// no others.
pub(crate) fn check_all(client: &mut Client, acknowledged: &[(u64, u64)]) -> Result<(), String> {
    let rows = client.ask(&["query", "db", SNAPSHOT])?;
    Snapshot::check(&rows[0])?;
    let sql = "SELECT client, count(*) FROM ledger GROUP BY client ORDER BY client";
    let rows = client.ask(&["query", "db", sql])?;
    let found: Vec<(u64, u64)> = rows
        .iter()
        .map(|row| (integer(&row[0]) as u64, integer(&row[1]) as u64))
        .collect();
    let expected: Vec<(u64, u64)> = {
        let mut expected = acknowledged.to_vec();
        expected.retain(|&(_, n)| n > 0);
        expected.sort_unstable();
        expected
    };
    if found != expected {
        return Err(format!(
            "{}: transfers by client are {found:?}, acknowledged were {expected:?}",
            client.who()
        ));
    }
    let ok = client.ask(&["query", "db", "PRAGMA integrity_check"])?;
    if ok != [[Value::Text("ok".into())]] {
        return Err(format!("{}: integrity_check: {ok:?}", client.who()));
    }
    let faults = client.ask(&["query", "db", "PRAGMA cipher_integrity_check"])?;
    if !faults.is_empty() {
        return Err(format!(
            "{}: cipher_integrity_check: {faults:?}",
            client.who()
        ));
    }
    Ok(())
}
