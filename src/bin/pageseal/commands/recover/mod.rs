//! `pageseal recover`: a new database of everything that can be had from a damaged
//! one.

mod report;
mod rows;
mod schema;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use pageseal::OpenOptions;
use pageseal::offline::salvage::{Home, Salvage};
use pageseal::offline::{Access, Files, Look, OfflineError, Snapshot};
use rusqlite::Connection;

use crate::args::Common;
use crate::database::full_key;
use crate::error::{CliError, Kind, Result};
use crate::open::SourceArgs;
use crate::output::{self, Output};
use crate::progress::{Bar, Spinner, Unit};

use report::Report;
use rows::{Found, LostAndFound, Table};

/// Arguments of `recover`.
#[derive(Args)]
pub(crate) struct Recover {
    #[command(flatten)]
    source: SourceArgs,

    /// The database to write: encrypted by the same key and settings
    #[arg(value_name = "OUT")]
    out: PathBuf,

    /// Write OUT in plaintext
    #[arg(long)]
    plain: bool,

    /// Replace OUT if it exists
    #[arg(short, long)]
    force: bool,
}

pub(crate) fn run(args: &Recover, common: &Common) -> Result<ExitCode> {
    let path = args.source.target()?.path;
    output::check(&args.out, args.force, &path)?;
    let snapshot = open(args, common)?;
    let output = Output::create(&args.out, args.force)?;
    let bar = Bar::new("looking at every page", Unit::Bytes, common);
    let salvage = Salvage::open(snapshot, common.threads(), &bar)?;
    bar.finish();
    let spinner = Spinner::new("saving rows", common);
    let db = create(&salvage, output.path(), args.plain)?;
    let report = save(&salvage, &db)?;
    db.close().map_err(|(_, error)| error)?;
    salvage.snapshot().files().check_unchanged()?;
    output.finish(&path)?;
    spinner.finish();
    report.print(&salvage, &args.out, common)?;
    Ok(match report.is_lossless(&salvage) {
        true => ExitCode::SUCCESS,
        false => Kind::Damaged.into(),
    })
}

/// Opens the source, whatever state it is in. A lost salt may lie in log or journal.
fn open(args: &Recover, common: &Common) -> Result<Snapshot> {
    let path = args.source.target()?.path;
    let files = Files::open(&path)?;
    if matches!(Look::at(&files)?, Look::Plaintext(_)) {
        return Ok(Snapshot::open_damaged(files, None)?);
    }
    drop(files);
    let (files, access) = args.source.access(common)?;
    match Snapshot::open_damaged(files, Some(&access)) {
        Err(OfflineError::WrongKey(_)) if access.outside_salt().is_none() => {}
        other => return Ok(other?),
    }
    for salt in Files::open(&path)?.other_salts()? {
        let access = Access {
            salt: Some(salt),
            ..access.clone()
        };
        match Snapshot::open_damaged(Files::open(&path)?, Some(&access)) {
            Err(OfflineError::WrongKey(_)) => {}
            other => return Ok(other?),
        }
    }
    Err(CliError::new(
        Kind::WrongKey,
        format!("nothing in {} opens with this key and these settings", path.display()),
    )
    .hint(
        "check them with `pageseal probe`; if the first 16 bytes of the file (the salt) are lost, give them from an older copy with --salt",
    ))
}

/// Creates the new database, laid out as the old one.
fn create(salvage: &Salvage, path: &std::path::Path, plain: bool) -> Result<Connection> {
    let snapshot = salvage.snapshot();
    let db = match (snapshot.codec(), snapshot.keys()) {
        (Some(codec), Some(keys)) if !plain => OpenOptions::new(full_key(keys))
            .settings(*codec.settings())
            .open(path)?,
        _ => {
            let db = Connection::open(path)?;
            db.execute_batch(&format!("PRAGMA page_size = {}", snapshot.page_size()))?;
            db
        }
    };
    if let Some(encoding) = salvage.schema().encoding {
        db.execute_batch(&format!("PRAGMA encoding = '{}'", encoding.name()))?;
    }
    if let Some(header) = salvage.header() {
        db.execute_batch(&format!("PRAGMA auto_vacuum = {}", header.auto_vacuum()))?;
    }
    // The file has no name yet, and is made durable before it gets one.
    db.execute_batch(
        "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; \
         PRAGMA ignore_check_constraints = ON",
    )?;
    Ok(db)
}

/// Saves everything.
fn save(salvage: &Salvage, db: &Connection) -> Result<Report> {
    let mut report = Report::default();
    let encoding = salvage.schema().encoding;
    db.execute_batch("BEGIN")?;
    let made = schema::create_tables(db, salvage.schema(), &mut report)?;
    let mut tables = Vec::new();
    for (name, root) in made {
        tables.push(Table::new(db, &name, root, encoding)?);
    }
    let shapes: Vec<_> = tables.iter().map(Table::shape).collect();
    let mut lost_and_found = LostAndFound::new(db, salvage.schema(), encoding);
    let walk = salvage.rows(&shapes, |home, row| -> Result {
        let found = match home {
            Home::Table(index) if row.complete => tables[index].insert(&row)?,
            _ => Found::NoPlace,
        };
        if found == Found::Inserted {
            return Ok(());
        }
        report.incomplete += u64::from(!row.complete);
        report.conflicts += u64::from(found == Found::Conflict);
        lost_and_found.insert(&row)
    })?;
    for (table, lost) in tables.iter().zip(walk.lost_in_tables) {
        report.add_table(table.name(), table.rows(), lost);
    }
    report.lost_in_indexes = walk.lost_in_indexes;
    report.bad_cells = walk.bad_cells;
    report.lost_and_found = lost_and_found.finish();
    drop(tables);
    schema::finish(db, salvage, &mut report)?;
    db.execute_batch("COMMIT")?;
    report.check(db)?;
    Ok(report)
}
