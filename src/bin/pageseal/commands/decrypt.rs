//! `pageseal decrypt`: a plain SQLite file of the last commit.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use pageseal::offline::{WriteFile, rewrite};
use serde_json::json;

use crate::args::Common;
use crate::error::Result;
use crate::open::SourceArgs;
use crate::output::{self, Output};
use crate::progress::{Bar, Unit};
use crate::report::{self, bytes, count};

/// Arguments of `decrypt`.
#[derive(Args)]
pub(crate) struct Decrypt {
    #[command(flatten)]
    source: SourceArgs,

    /// The plaintext database to write
    #[arg(value_name = "OUT")]
    out: PathBuf,

    /// Replace OUT if it exists
    #[arg(short, long)]
    force: bool,
}

pub(crate) fn run(args: &Decrypt, common: &Common) -> Result<ExitCode> {
    let source = args.source.target()?.path;
    output::check(&args.out, args.force, &source)?;
    let snapshot = args.source.snapshot(common)?;
    let output = Output::create(&args.out, args.force)?;
    let bar = Bar::new("decrypting", Unit::Bytes, common);
    let file = WriteFile::new(output.file(), &args.out);
    rewrite(&snapshot, None, &file, common.threads(), &bar)?;
    output.finish(&source)?;
    let elapsed = bar.finish();
    let files = snapshot.files();
    let from_wal = files.wal().valid().map_or(0, |wal| wal.committed_frames());
    let ignored = files.wal().valid().map_or(0, |wal| {
        wal.valid_frames().len() as u64 - wal.committed_frames()
    });
    let from_journal = files.journal().hot().map_or(0, |journal| journal.records());
    let json = json!({
        "file": source.to_string_lossy(),
        "output": args.out.to_string_lossy(),
        "page_size": snapshot.page_size(),
        "pages": snapshot.pages(),
        "wal_frames_applied": from_wal,
        "wal_frames_uncommitted": ignored,
        "journal_pages_rolled_back": from_journal,
        "seconds": elapsed.as_secs_f64(),
    });
    report::print(common, &json, || {
        let mut text = format!(
            "{}: {} of {} bytes in {:.2} s ({}/s), in PLAINTEXT\n",
            args.out.display(),
            count(snapshot.pages().into(), "page"),
            snapshot.page_size(),
            elapsed.as_secs_f64(),
            bytes((snapshot.bytes() as f64 / elapsed.as_secs_f64().max(1e-9)) as u64),
        );
        if from_wal > 0 {
            text += &format!("  {} from -wal\n", count(from_wal, "committed frame"));
        }
        if ignored > 0 {
            text += &format!(
                "  {} in -wal left out\n",
                count(ignored, "uncommitted frame")
            );
        }
        if from_journal > 0 {
            text += &format!(
                "  {} of an unfinished transaction rolled back from -journal\n",
                count(from_journal as u64, "page")
            );
        }
        text
    })?;
    Ok(ExitCode::SUCCESS)
}
