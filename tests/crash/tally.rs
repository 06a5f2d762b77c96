//! Counting by row and column, and printing it.

use std::collections::BTreeMap;

/// Counts by two names.
#[derive(Default)]
pub(crate) struct Tally {
    cells: BTreeMap<(String, String), u64>,
    columns: Vec<String>,
}

impl Tally {
    pub(crate) fn new(columns: &[&str]) -> Self {
        Self {
            cells: BTreeMap::new(),
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    pub(crate) fn count(&mut self, row: &str, column: &str) {
        self.add(row, column, 1);
    }

    pub(crate) fn add(&mut self, row: &str, column: &str, n: u64) {
        *self.cells.entry((row.into(), column.into())).or_default() += n;
    }

    pub(crate) fn total(&self, column: &str) -> u64 {
        let cells = self.cells.iter().filter(|((_, name), _)| name == column);
        cells.map(|(_, n)| n).sum()
    }

    pub(crate) fn print(&self) {
        let widths: Vec<_> = self.columns.iter().map(|name| name.len().max(8)).collect();
        let line = |name: &str, of: &dyn Fn(&str) -> String| {
            print!("{name:24}");
            for (column, width) in self.columns.iter().zip(&widths) {
                print!("  {:>width$}", of(column));
            }
            println!();
        };
        line("", &|column| column.to_owned());
        let mut rows: Vec<_> = self.cells.keys().map(|(row, _)| row).collect();
        rows.dedup();
        for row in rows {
            line(row, &|column| {
                let n = self.cells.get(&(row.clone(), column.to_owned()));
                n.copied().unwrap_or(0).to_string()
            });
        }
        line("all", &|column| self.total(column).to_string());
    }
}
