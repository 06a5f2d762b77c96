//! `pageseal migrate`: the settings of SQLCipher 4, or others, in place.

use std::process::ExitCode;

use clap::Args;
use pageseal::connection::migrate;
use pageseal::offline::{Snapshot, side_path};
use pageseal::{Preset, Settings};
use rusqlite::OpenFlags;
use serde_json::json;

use crate::args::{Common, NewSettingsArgs};
use crate::database::{open_encrypted, undo};
use crate::describe::Description;
use crate::error::{CliError, Result};
use crate::interrupt::{self, Unfinished};
use crate::open::{SourceArgs, find_settings};
use crate::progress::Spinner;
use crate::report;
use crate::target::Target;

/// Arguments of `migrate`.
#[derive(Args)]
pub(crate) struct Migrate {
    #[command(flatten)]
    source: SourceArgs,

    #[command(flatten)]
    new_settings: NewSettingsArgs,
}

pub(crate) fn run(args: &Migrate, common: &Common) -> Result<ExitCode> {
    let target = args.source.target()?;
    let wanted = wanted(args, &target)?;
    let (_, chosen) = args.source.choose()?;
    let (files, mut access) = args.source.access(common)?;
    if chosen.by_default {
        find_settings(&files, &mut access, common)?;
    }
    let path = target.path;
    let before = access.choice.settings;
    let is_same = before == wanted;
    let mut elapsed = std::time::Duration::ZERO;
    if is_same {
        // Nothing will prove the key.
        Snapshot::open(files, Some(&access))?;
    } else {
        // What SQLite does with the file from here on must not meet our reading of it.
        drop(files);
        if wanted.plaintext_header > 0 && access.outside_salt().is_none() {
            return Err(pageseal::error::SettingsError::SaltMissing.into());
        }
        let db = open_encrypted(&path, &access, OpenFlags::SQLITE_OPEN_READ_WRITE, false)?;
        interrupt::in_place(
            "the next program that opens the file with the OLD settings undoes the rest",
        )?;
        let spinner = Spinner::new("migrating", common);
        let copy = Unfinished::new(&side_path(&path, "-migrate"));
        migrate(&db, "main", wanted).inspect_err(|_| undo(&db))?;
        drop(copy);
        db.close().map_err(|(_, error)| error)?;
        elapsed = spinner.finish();
    }
    let from = Description::with_key(&before, access.outside_salt(), &access.key);
    let to = Description::with_key(&wanted, access.outside_salt(), &access.key);
    let json = json!({
        "file": path.to_string_lossy(),
        "migrated": !is_same,
        "from": from.json(),
        "to": to.json(),
        "seconds": elapsed.as_secs_f64(),
    });
    report::print(common, &json, || match is_same {
        true => format!(
            "{}: has these settings already, {}",
            path.display(),
            to.in_words()
        ),
        false => format!(
            "{}: from {} to {} in {:.2} s",
            path.display(),
            from.in_words(),
            to.in_words(),
            elapsed.as_secs_f64()
        ),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// SQLCipher 4's settings, changed by the options.
fn wanted(args: &Migrate, target: &Target) -> Result<Settings> {
    let new = &args.new_settings;
    if new.salt.is_some() {
        return Err(CliError::usage(
            "migrate keeps the salt; `pageseal copy` can change it",
        ));
    }
    if new.compat.as_deref() == Some("auto") {
        return Err(CliError::usage("--new-compat: 1, 2, 3 or 4 is needed"));
    }
    // The URI's settings are the source's.
    let bare = Target::parse(target.path.as_os_str())?;
    let base = pageseal::format::Choice {
        settings: Settings::preset(Preset::V4),
        auto_page_size: false,
    };
    let chosen = bare.settings(base, new.compat.as_deref(), &new.given(), None)?;
    chosen.choice.settings.validate()?;
    Ok(chosen.choice.settings)
}
