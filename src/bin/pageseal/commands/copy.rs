//! `pageseal copy`: a consistent snapshot of a database that may be in use, still
//! encrypted.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pageseal::OpenOptions;
use pageseal::connection::KeyMaterial;
use pageseal::crypto::random;
use pageseal::format::{Choice, DerivedKeys, Layout, Settings, derive};
use pageseal::offline::{Access, Progress};
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::args::{Common, NewKeyArgs, NewSettingsArgs};
use crate::database::{self, PATIENCE, full_key, open_for_reading};
use crate::error::{CliError, Kind, Result};
use crate::key::{self, Ask};
use crate::open::SourceArgs;
use crate::output::{self, Output};
use crate::progress::{Bar, Unit};
use crate::report::Written;
use crate::target::{Chosen, Target};

/// Bytes that are copied between two looks at the progress.
const STEP: u32 = 4 << 20;

/// Arguments of `copy`.
#[derive(Args)]
pub(crate) struct Copy {
    #[command(flatten)]
    source: SourceArgs,

    /// The encrypted database to write: a path, or a `file:` URI with settings
    #[arg(value_name = "OUT")]
    out: OsString,

    #[command(flatten)]
    new_key: NewKeyArgs,

    #[command(flatten)]
    new_settings: NewSettingsArgs,

    /// Replace OUT if it exists
    #[arg(short, long)]
    force: bool,
}

pub(crate) fn run(args: &Copy, common: &Common) -> Result<ExitCode> {
    let source = args.source.target()?.path;
    let out = Target::parse(&args.out)?;
    output::check(&out.path, args.force, &source)?;
    let (_, access) = args.source.access(common)?;
    let db = open_for_reading(&source, &access).map_err(|error| match error.kind {
        Kind::Io => error.hint(
            "a database that has to be recovered first, or is in WAL mode, needs a directory that can be written to: copy the files into one, or use `pageseal decrypt`",
        ),
        _ => error,
    })?;
    let material = KeyMaterial::of(&db, "main")?;
    let chosen = new_settings(args, &out, access.choice)?;
    let settings = chosen.choice.settings;
    let new_keys = new_keys(args, &out, &access, &settings, chosen.salt)?;
    let output = Output::create(&out.path, args.force)?;
    let bar = Bar::new("copying", Unit::Bytes, common);
    // One read transaction from here on: whatever is committed meanwhile is not seen,
    // and does not make the copy start over.
    db.execute_batch("BEGIN")?;
    let pages: u32 = db.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    let page_size = database::page_size(&db)?;
    let total = u64::from(pages) * u64::from(page_size);
    let same_layout = has_same_layout(&access.choice.settings, &settings);
    if same_layout {
        let options = match &new_keys {
            Some(keys) => OpenOptions::new(full_key(keys)).settings(settings),
            None => material.options(),
        };
        let mut target = options.open(output.path())?;
        // The file has no name yet, and is made durable before it gets one.
        target.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
        backup(&db, &mut target, page_size, &bar)?;
        target.close().map_err(|(_, error)| error)?;
    } else {
        // Pages are laid out anew, in the same single read transaction's time.
        db.execute_batch("COMMIT")?;
        let keys = match new_keys {
            Some(keys) => keys,
            None => derive(&access.key, &settings, &random::array()?)?,
        };
        database::vacuum_into(&db, output.path(), &keys, &settings, total, &bar)?;
    }
    let written = output
        .file()
        .metadata()
        .map_or(0, |metadata| metadata.len());
    output.finish(&source)?;
    Written {
        source: &source,
        out: &out.path,
        settings: &settings,
        salt: chosen.salt,
        len: written,
        page_for_page: same_layout,
        elapsed: bar.finish(),
    }
    .print(common, "")?;
    Ok(ExitCode::SUCCESS)
}

/// The settings of the copy: the source's, changed by URI and options.
fn new_settings(args: &Copy, out: &Target, base: Choice) -> Result<Chosen> {
    let new = &args.new_settings;
    let compat = new.compat.as_deref();
    let chosen = out.settings(base, compat, &new.given(), new.salt.as_deref())?;
    if chosen.probe {
        return Err(CliError::usage(
            "--new-compat auto: a new file needs a version, 1 to 4",
        ));
    }
    chosen.choice.settings.validate()?;
    Ok(chosen)
}

/// The keys of the copy; `None` where it keeps those of the source.
fn new_keys(
    args: &Copy,
    out: &Target,
    access: &Access,
    settings: &Settings,
    salt: Option<pageseal::secret::Salt>,
) -> Result<Option<DerivedKeys>> {
    let old = &access.choice.settings;
    let same_derivation = old.kdf_iter == settings.kdf_iter
        && old.kdf_algorithm == settings.kdf_algorithm
        && old.fast_kdf_iter == settings.fast_kdf_iter
        && old.hmac_salt_mask == settings.hmac_salt_mask;
    let key = match args.new_key.source() {
        Some(source) => key::get(Some(source), Ask::New(&out.path))?,
        None if same_derivation && salt.is_none() => return Ok(None),
        None => access.key.clone(),
    };
    let salt = match key.salt().or(salt) {
        Some(salt) => salt,
        None if settings.plaintext_header > 0 => {
            return Err(pageseal::error::SettingsError::SaltMissing.into());
        }
        None => random::array()?,
    };
    Ok(Some(derive(&key, settings, &salt)?))
}

/// Whether a page of the one has room for what the other needs.
fn has_same_layout(old: &Settings, new: &Settings) -> bool {
    match (Layout::new(old), Layout::new(new)) {
        (Ok(old), Ok(new)) => old.page_size() == new.page_size() && old.reserve() == new.reserve(),
        _ => false,
    }
}

fn backup(from: &Connection, to: &mut Connection, page_size: u32, bar: &Bar) -> Result {
    let backup = Backup::new(from, to)?;
    let step = (STEP / page_size).max(1) as i32;
    let start = std::time::Instant::now();
    let mut done = 0;
    loop {
        let result = backup.step(step)?;
        let progress = backup.progress();
        let total = u64::from(progress.pagecount.cast_unsigned()) * u64::from(page_size);
        let left = u64::from(progress.remaining.cast_unsigned()) * u64::from(page_size);
        if done == 0 {
            bar.begin(total);
        }
        bar.advance((total - left).saturating_sub(done));
        done = total - left;
        match result {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ if start.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(20)),
            _ => {
                return Err(CliError::new(Kind::Busy, "the database is locked")
                    .hint("another program is writing to it: try again"));
            }
        }
    }
}
