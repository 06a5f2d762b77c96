//! `pageseal diff`: are two databases the same, page by page, after decryption?

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;
use pageseal::offline::{Access, Comparison, Files, Look, Snapshot, compare};
use serde_json::json;

use crate::args::{Common, OtherKeyArgs, OtherSettingsArgs};
use crate::error::{CliError, Kind, Result};
use crate::key::{self, Ask};
use crate::open::{SourceArgs, find_settings};
use crate::progress::{Bar, Unit};
use crate::report::{self, count, numbers};
use crate::target::Target;

/// Most page numbers that are listed for people.
const MOST: usize = 40;

/// Arguments of `diff`.
#[derive(Args)]
pub(crate) struct Diff {
    #[command(flatten)]
    source: SourceArgs,

    /// The other database; its key is the same unless another is given
    #[arg(value_name = "OTHER")]
    other: OsString,

    #[command(flatten)]
    other_key: OtherKeyArgs,

    #[command(flatten)]
    other_settings: OtherSettingsArgs,
}

pub(crate) fn run(args: &Diff, common: &Common) -> Result<ExitCode> {
    let path = args.source.target()?.path;
    let other = Target::parse(&args.other)?;
    let files = Files::open(&path)?;
    let other_files = Files::open(&other.path)?;
    let is_plain =
        |files: &Files| Ok::<_, CliError>(matches!(Look::at(files)?, Look::Plaintext(_)));
    let (first, access) = match is_plain(&files)? {
        true => (Snapshot::open(files, None)?, None),
        false => {
            drop(files);
            let (files, access) = args.source.access(common)?;
            (Snapshot::open(files, Some(&access))?, Some(access))
        }
    };
    let second = match is_plain(&other_files)? {
        true => Snapshot::open(other_files, None)?,
        false => {
            let access = other_access(args, &other, &other_files, access, common)?;
            Snapshot::open(other_files, Some(&access))?
        }
    };
    let bar = Bar::new("comparing", Unit::Bytes, common);
    let result = compare(&first, &second, common.threads(), &bar)?;
    bar.finish();
    let json = json!({
        "file": path.to_string_lossy(),
        "other": other.path.to_string_lossy(),
        "same": result.is_same(),
        "page_sizes": [first.page_size(), second.page_size()],
        "pages": [first.pages(), second.pages()],
        "comparable": result.comparable,
        "differing_pages": result.differing,
        "counters_differ": result.counters,
    });
    report::print(common, &json, || text(&first, &second, &result))?;
    Ok(match result.is_same() {
        true => ExitCode::SUCCESS,
        false => Kind::Failed.into(),
    })
}

/// The key and settings of the second database: its own, or those of the first.
fn other_access(
    args: &Diff,
    other: &Target,
    files: &Files,
    first: Option<Access>,
    common: &Common,
) -> Result<Access> {
    let key = match (args.other_key.source(), &first) {
        (None, Some(first)) => first.key.clone(),
        (source, _) => key::get(source, Ask::Existing(&other.path))?,
    };
    let settings = &args.other_settings;
    let base = first.as_ref().map(|first| first.choice).unwrap_or_default();
    let compat = settings.compat.as_deref();
    let chosen = other.settings(base, compat, &settings.given(), settings.salt.as_deref())?;
    let mut access = Access {
        key,
        choice: chosen.choice,
        salt: chosen.salt.or(first.and_then(|first| first.salt)),
    };
    if chosen.probe {
        find_settings(files, &mut access, common)?;
    }
    Ok(access)
}

fn text(first: &Snapshot, second: &Snapshot, result: &Comparison) -> String {
    if !result.comparable {
        return format!(
            "different page layouts ({} and {} bytes a page, {} and {} of them reserved): pages can't be compared; compare rows, for example with `pageseal sql`",
            first.page_size(),
            second.page_size(),
            first.header().map_or(0, |header| header.reserve),
            second.header().map_or(0, |header| header.reserve),
        );
    }
    let mut text = match (result.is_same(), result.counters) {
        (true, false) => format!("the same: {}", count(first.pages().into(), "page")),
        (true, true) => format!(
            "the same: {}, but for the counters of changes on page 1",
            count(first.pages().into(), "page")
        ),
        (false, _) => format!(
            "different: {} of {}: {}",
            count(result.differing.len() as u64, "page"),
            first.pages().max(second.pages()),
            numbers(result.differing.iter().copied(), MOST)
        ),
    };
    if first.pages() != second.pages() {
        text += &format!("\n  {} pages and {}", first.pages(), second.pages());
    }
    text
}
