//! From arguments to an opened database.

use std::ffi::OsString;

use clap::Args;
use pageseal::Key;
use pageseal::offline::{
    Access, Files, Found, Look, OfflineError, Snapshot, families, probe as probe_files,
};

use crate::args::{Common, KeyArgs, SettingsArgs};
use crate::error::{CliError, Kind, Result};
use crate::key::{self, Ask};
use crate::progress::{Bar, Unit};
use crate::target::{Chosen, Target};

/// An encrypted database that is there, its key and settings.
#[derive(Args, Clone)]
pub(crate) struct SourceArgs {
    /// The database: a path, or a `file:` URI with settings
    #[arg(value_name = "FILE")]
    pub(crate) file: OsString,

    #[command(flatten)]
    pub(crate) key: KeyArgs,

    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

impl SourceArgs {
    pub(crate) fn target(&self) -> Result<Target> {
        Target::parse(&self.file)
    }

    fn chosen(&self, target: &Target) -> Result<Chosen> {
        let settings = &self.settings;
        target.settings(
            pageseal::format::Choice::default(),
            settings.compat.as_deref(),
            &settings.given(),
            settings.salt.as_deref(),
        )
    }

    /// Opens the files and gets the key, asking for it if need be, but not before it
    /// is known that it will be of use. With `--compat auto` finds the settings out.
    pub(crate) fn access(&self, common: &Common) -> Result<(Files, Access)> {
        let target = self.target()?;
        let chosen = self.chosen(&target)?;
        let files = Files::open(&target.path)?;
        match Look::at(&files)? {
            Look::Empty => return Err(OfflineError::Empty(target.path).into()),
            Look::Plaintext(_) => return Err(OfflineError::NotEncrypted(target.path).into()),
            _ => {}
        }
        let key = key::get(self.key.source(), Ask::Existing(&target.path))?;
        let mut access = Access {
            key,
            choice: chosen.choice,
            salt: chosen.salt,
        };
        if chosen.probe {
            find_settings(&files, &mut access, common)?;
        }
        Ok((files, access))
    }

    /// Opens the last commit.
    pub(crate) fn snapshot(&self, common: &Common) -> Result<Snapshot> {
        let (files, access) = self.access(common)?;
        Ok(Snapshot::open(files, Some(&access))?)
    }

    /// As [`SourceArgs::snapshot`], but page 1 may be damaged.
    pub(crate) fn damaged_snapshot(&self, common: &Common) -> Result<(Snapshot, Access)> {
        let (files, access) = self.access(common)?;
        let snapshot = Snapshot::open_damaged(files, Some(&access))?;
        Ok((snapshot, access))
    }

    /// As [`SourceArgs::choose`], for a command that opens the database as SQLite does.
    pub(crate) fn choose_live(&self) -> Result<(Target, Chosen)> {
        let target = Target::parse_live(&self.file)?;
        let chosen = self.chosen(&target)?;
        Ok((target, chosen))
    }

    /// Settings as given, for commands that look at the file before they want a key.
    pub(crate) fn choose(&self) -> Result<(Target, Chosen)> {
        let target = self.target()?;
        let chosen = self.chosen(&target)?;
        Ok((target, chosen))
    }
}

/// Puts the settings that fit the key into `access`.
pub(crate) fn find_settings(files: &Files, access: &mut Access, common: &Common) -> Result<Found> {
    let (found, key, _) = search(files, access, &[], common)?;
    let found = found.ok_or_else(|| nothing_fits(files))?;
    access.choice.settings = found.settings;
    access.choice.auto_page_size = false;
    access.key = key;
    Ok(found)
}

/// The error where no settings fit.
pub(crate) fn nothing_fits(files: &Files) -> CliError {
    CliError::new(
        Kind::WrongKey,
        format!("no settings fit this key for {}", files.path().display()),
    )
    .hint("the key is wrong, or it was derived with other iterations (`pageseal probe` tries those of --try-iterations)")
}

/// Tries all settings; digits that may be meant as a raw key are tried as one first.
/// Returns what fits, the key in the form that it fits in, and how many derivations
/// were made.
pub(crate) fn search(
    files: &Files,
    access: &Access,
    extra_iterations: &[u32],
    common: &Common,
) -> Result<(Option<Found>, Key, usize)> {
    let bar = Bar::new("trying settings", Unit::Share, common);
    let families = families(extra_iterations);
    let mut keys = Vec::new();
    if let Key::Passphrase(text) = &access.key
        && let Ok(digits) = core::str::from_utf8(text)
        && let Ok(raw) = Key::from_raw_hex(digits)
    {
        keys.push(raw);
    }
    keys.push(access.key.clone());
    let mut derivations = 0;
    for key in keys {
        let access = Access {
            key,
            ..access.clone()
        };
        let probe = probe_files(files, &access, &families, common.threads(), &bar)?;
        derivations += probe.derivations;
        if probe.found.is_some() {
            bar.finish();
            return Ok((probe.found, access.key, derivations));
        }
    }
    bar.finish();
    Ok((None, access.key.clone(), derivations))
}
