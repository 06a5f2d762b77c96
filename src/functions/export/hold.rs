//! The connection's switches while an export runs.

use crate::vfs::{Db, SqlError, Switch};

use super::execute;

/// What an export needs, whatever the program has set.
const SWITCHES: [(Switch, bool); 4] = [
    // Tables are copied in any order.
    (Switch::ForeignKeys, false),
    // Shadow tables and the schema table are written.
    (Switch::Defensive, false),
    // What SQLite has accepted once is accepted again.
    (Switch::DoubleQuotedText, true),
    // On only where the schema table is written: it hides errors.
    (Switch::WritableSchema, false),
];

/// The same for what has a pragma only.
const PRAGMAS: [(&str, bool); 2] = [
    // Rows that are there are copied.
    ("ignore_check_constraints", true),
    // Rows are copied in their order.
    ("reverse_unordered_selects", false),
];

/// Holds the switches in place, and puts them back when dropped.
pub(super) struct Hold<'c> {
    db: Db<'c>,
    switches: Vec<(Switch, bool)>,
    pragmas: Vec<(&'static str, bool)>,
}

impl<'c> Hold<'c> {
    pub(super) fn new(db: Db<'c>) -> Result<Self, SqlError> {
        let mut hold = Self {
            db,
            switches: Vec::new(),
            pragmas: Vec::new(),
        };
        for (switch, wanted) in SWITCHES {
            hold.switches.push((switch, db.switch(switch)?));
            db.set_switch(switch, wanted)?;
        }
        for (name, wanted) in PRAGMAS {
            let was = db.first_column(&format!("PRAGMA {name}"))?;
            hold.pragmas.push((name, was == [Some("1".to_owned())]));
            set(db, name, wanted)?;
        }
        Ok(hold)
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        // Turning a switch fails only without memory.
        for &(name, was) in &self.pragmas {
            let _ = set(self.db, name, was);
        }
        for &(switch, was) in &self.switches {
            let _ = self.db.set_switch(switch, was);
        }
    }
}

fn set(db: Db<'_>, pragma: &str, on: bool) -> Result<(), SqlError> {
    execute(db, &format!("PRAGMA {pragma} = {}", i32::from(on)))
}

/// Lets the schema table be written until dropped; within a [`Hold`].
pub(super) struct WritableSchema<'c>(Db<'c>);

impl<'c> WritableSchema<'c> {
    pub(super) fn new(db: Db<'c>) -> Result<Self, SqlError> {
        db.set_switch(Switch::WritableSchema, true)?;
        Ok(Self(db))
    }
}

impl Drop for WritableSchema<'_> {
    fn drop(&mut self) {
        let _ = self.0.set_switch(Switch::WritableSchema, false);
    }
}
