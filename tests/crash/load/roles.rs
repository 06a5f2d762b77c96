//! What clients do until the time is over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::random::Random;
use crate::wire::Value;

use super::bank::{ACCOUNTS, SNAPSHOT, Snapshot, integer};
use super::client::{Busy, Client};

/// What a client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Writer,
    Reader,
    /// Checkpoints and VACUUM.
    Housekeeper,
}

/// How often a client has done what.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Done {
    pub(crate) transfers: u64,
    pub(crate) snapshots: u64,
    pub(crate) checkpoints: u64,
    pub(crate) vacuums: u64,
    /// Transactions begun anew because someone else was first.
    pub(crate) retries: u64,
}

/// A client at its work.
pub(crate) struct Work<'a> {
    pub(crate) client: &'a mut Client,
    pub(crate) number: u64,
    /// Waits for locks as long as it takes: it never gets `SQLITE_BUSY` where
    /// waiting helps. The others get it at once, and try again.
    pub(crate) patient: bool,
    pub(crate) wal: bool,
    pub(crate) random: Random,
    pub(crate) stop: &'a AtomicBool,
}

impl Work<'_> {
    pub(crate) fn run(mut self, role: Role) -> Result<Done, String> {
        let mut done = Done::default();
        let mut seen = 0;
        while !self.stop.load(Ordering::Relaxed) {
            match role {
                Role::Writer => self.transfer(&mut done)?,
                Role::Reader => self.look(&mut done, &mut seen)?,
                Role::Housekeeper => self.keep_house(&mut done)?,
            }
        }
        Ok(done)
    }

    fn transfer(&mut self, done: &mut Done) -> Result<(), String> {
        let (from, to) = (self.account(), self.account());
        let amount = self.random.below(90) + 1;
        let next = done.transfers + 1;
        // Begun by reading, a transaction may find that it has read what is old
        // by now: then SQLite says so at once, patient or not.
        let reads_first = self.random.one_in(3);
        let begin = if reads_first {
            "BEGIN"
        } else {
            "BEGIN IMMEDIATE"
        };
        let sql = format!(
            "{begin}; SELECT balance FROM account WHERE id = {from}
             UNION ALL SELECT balance FROM account WHERE id = {to}"
        );
        let rows = match self.client.try_ask(&["query", "db", &sql])? {
            Ok(rows) => rows,
            Err(Busy) => return self.again(done, false),
        };
        let balances: Vec<i64> = rows.iter().map(|row| integer(&row[0])).collect();
        let &[old_from, old_to] = &balances[..] else {
            return Err(format!("no two balances: {balances:?}"));
        };
        // The values are written as they follow from what was read, so that a
        // transfer that did not see another would undo it.
        let (new_from, new_to) = if from == to {
            (old_from, old_from)
        } else {
            (old_from - amount as i64, old_to + amount as i64)
        };
        let mut sql = format!(
            "UPDATE account SET balance = {new_from}, moves = moves + 1 WHERE id = {from};
             UPDATE account SET balance = {new_to}, moves = moves + 1 WHERE id = {to};
             INSERT INTO ledger VALUES({}, {next});",
            self.number
        );
        match self.random.below(12) {
            // More pages than the cache holds, some of them for nothing.
            0 => {
                sql += "UPDATE account SET pad = printf('%0*d', 250 + length(pad) % 100, id);
                    SAVEPOINT lost; UPDATE account SET balance = 0, pad = 'lost';
                    DELETE FROM ledger; ROLLBACK TO lost; RELEASE lost;";
            }
            1 => {
                sql += "ROLLBACK";
                return match self.client.try_ask(&["exec", "db", &sql])? {
                    Ok(_) => Ok(()),
                    Err(Busy) => self.again(done, reads_first),
                };
            }
            _ => {}
        }
        match self.client.try_ask(&["exec", "db", &sql])? {
            Ok(_) => {}
            Err(Busy) => return self.again(done, reads_first),
        }
        // A commit that found readers in its way can be tried again.
        while self.client.try_ask(&["exec", "db", "COMMIT"])?.is_err() {
            done.retries += 1;
            self.may_be_busy(false)?;
            std::thread::sleep(Duration::from_micros(self.random.below(1000)));
        }
        done.transfers = next;
        Ok(())
    }

    fn look(&mut self, done: &mut Done, seen: &mut i64) -> Result<(), String> {
        let sql = format!(
            "BEGIN; {SNAPSHOT} SELECT count(*) FROM account a, account b WHERE a.id < 40; {SNAPSHOT} COMMIT"
        );
        let rows = match self.client.try_ask(&["query", "db", &sql])? {
            Ok(rows) => rows,
            Err(Busy) => return self.again(done, false),
        };
        let (first, last) = (Snapshot::check(&rows[0])?, Snapshot::check(&rows[2])?);
        if first != last {
            return Err(format!(
                "{}: one transaction saw {first:?} and {last:?}",
                self.client.who()
            ));
        }
        if first.transfers < *seen {
            return Err(format!(
                "{}: {seen} transfers were there, now {}",
                self.client.who(),
                first.transfers
            ));
        }
        *seen = first.transfers;
        done.snapshots += 1;
        Ok(())
    }

    fn keep_house(&mut self, done: &mut Done) -> Result<(), String> {
        std::thread::sleep(Duration::from_millis(self.random.below(20)));
        if self.wal && !self.random.one_in(10) {
            let kind = self
                .random
                .pick(&["PASSIVE", "FULL", "RESTART", "TRUNCATE"]);
            let sql = format!("PRAGMA wal_checkpoint({kind})");
            match self.client.try_ask(&["query", "db", &sql])? {
                // The first column: it could not be completed.
                Ok(rows) if rows[0][0] == Value::Integer(0) => done.checkpoints += 1,
                Ok(_) | Err(Busy) => done.retries += 1,
            }
            return Ok(());
        }
        if self.random.one_in(5) {
            // It needs the database to itself, and does not wait in every case.
            match self.client.try_ask(&["exec", "db", "VACUUM"])? {
                Ok(_) => done.vacuums += 1,
                Err(Busy) => done.retries += 1,
            }
        }
        Ok(())
    }

    fn account(&mut self) -> u64 {
        self.random.below(ACCOUNTS) + 1
    }

    /// Busy: gives up the transaction, to begin anew.
    fn again(&mut self, done: &mut Done, expected: bool) -> Result<(), String> {
        done.retries += 1;
        self.may_be_busy(expected)?;
        // Those that don't wait would leave nobody the processor.
        std::thread::sleep(Duration::from_micros(self.random.below(4000)));
        // An error, where BEGIN IMMEDIATE itself was busy: then there is none.
        let _ = self.client.try_ask(&["exec", "db", "ROLLBACK"]);
        Ok(())
    }

    fn may_be_busy(&self, expected: bool) -> Result<(), String> {
        if self.patient && !expected {
            return Err(format!("{} was busy although it waits", self.client.who()));
        }
        Ok(())
    }
}
