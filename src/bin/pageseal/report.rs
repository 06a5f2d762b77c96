//! Results: for people, or as JSON.

use std::path::Path;
use std::time::Duration;

use pageseal::Settings;
use pageseal::secret::Salt;
use serde_json::{Value, json};

use crate::args::Common;
use crate::describe::Description;
use crate::error::{CliError, Result};
use crate::stdout;

/// Prints a result: `text` for people, `json` with `--json`.
pub(crate) fn print(common: &Common, json: &Value, text: impl FnOnce() -> String) -> Result {
    if common.quiet {
        return Ok(());
    }
    match common.json {
        true => line(&format!("{json:#}")),
        false => line(text().trim_end()),
    }
}

/// Prints a line, or several.
fn line(text: &str) -> Result {
    stdout::print(format!("{text}\n").as_bytes())
}

/// Prints an error: to standard error, and with `--json` as JSON too.
pub(crate) fn print_error(json: bool, error: &CliError) {
    eprintln!("pageseal: {error}");
    if json {
        let value = json!({
            "error": {
                "kind": error.kind.name(),
                "exit_code": error.kind as u8,
                "message": error.to_string(),
            }
        });
        // The line above has told it, and the exit code tells it.
        let _ = line(&format!("{value:#}"));
    }
}

/// An encrypted file that a command has written, and how.
pub(crate) struct Written<'a> {
    pub(crate) source: &'a Path,
    pub(crate) out: &'a Path,
    pub(crate) settings: &'a Settings,
    /// The salt, where it is not in the file.
    pub(crate) salt: Option<Salt>,
    /// Bytes of it.
    pub(crate) len: u64,
    /// Whether each page is where it was in the source.
    pub(crate) page_for_page: bool,
    pub(crate) elapsed: Duration,
}

impl Written<'_> {
    /// Prints it; `remark` goes behind the text for people.
    pub(crate) fn print(&self, common: &Common, remark: &str) -> Result {
        let description = Description::new(self.settings, self.salt);
        let pages = self.len / u64::from(self.settings.page_size);
        let seconds = self.elapsed.as_secs_f64();
        let json = json!({
            "file": self.source.to_string_lossy(),
            "output": self.out.to_string_lossy(),
            "settings": description.json(),
            "pages": pages,
            "page_for_page": self.page_for_page,
            "seconds": seconds,
        });
        print(common, &json, || {
            format!(
                "{}: {pages} pages of {} bytes, {}; {seconds:.2} s ({}/s){remark}\n",
                self.out.display(),
                self.settings.page_size,
                description.in_words(),
                bytes((self.len as f64 / seconds.max(1e-9)) as u64),
            )
        })
    }
}

/// Lines of a name and a value, under each other.
#[derive(Default)]
pub(crate) struct Lines(Vec<(String, String)>);

impl Lines {
    /// One line.
    pub(crate) fn add(&mut self, name: impl Into<String>, value: impl ToString) -> &mut Self {
        self.0.push((name.into(), value.to_string()));
        self
    }

    /// The text, indented by two.
    pub(crate) fn text(&self) -> String {
        let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        self.0
            .iter()
            .map(|(name, value)| format!("  {name:width$}  {value}\n"))
            .collect()
    }
}

/// Bytes in the unit that suits.
pub(crate) fn bytes(count: u64) -> String {
    indicatif::BinaryBytes(count).to_string()
}

/// "1 page", "2 pages".
pub(crate) fn count(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}

/// Page numbers, runs drawn together: "3, 7-9".
pub(crate) fn numbers(pages: impl Iterator<Item = u32>, most: usize) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    let mut more = 0;
    for page in pages {
        let len = runs.len();
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == page => *end = page,
            _ if len < most => runs.push((page, page)),
            _ => more += 1,
        }
    }
    let mut parts: Vec<_> = runs
        .iter()
        .map(|(start, end)| match start == end {
            true => start.to_string(),
            false => format!("{start}-{end}"),
        })
        .collect();
    if more > 0 {
        parts.push(format!("and {more} more"));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_drawn_together() {
        assert_eq!(numbers([1, 2, 3, 7, 9, 10].into_iter(), 10), "1-3, 7, 9-10");
        assert_eq!(numbers([1, 3, 5, 7].into_iter(), 2), "1, 3, and 2 more");
        assert_eq!(numbers([].into_iter(), 2), "");
    }
}
