//! `pageseal rekey`: another key, in place.

use std::process::ExitCode;

use clap::Args;
use pageseal::HashAlgorithm;
use rusqlite::OpenFlags;
use serde_json::json;

use crate::args::{Common, NewKeyArgs};
use crate::database::{open_encrypted, undo};
use crate::error::{CliError, Result};
use crate::interrupt;
use crate::key::{self, Ask};
use crate::open::SourceArgs;
use crate::progress::Spinner;
use crate::report;

/// Arguments of `rekey`.
#[derive(Args)]
pub(crate) struct Rekey {
    #[command(flatten)]
    source: SourceArgs,

    #[command(flatten)]
    new_key: NewKeyArgs,

    /// Iterations of the new key's derivation [default: as before]
    #[arg(long, value_name = "N", help_heading = "New settings",
          value_parser = clap::value_parser!(u32).range(1..=0x7fff_ffff))]
    new_kdf_iter: Option<u32>,

    /// Hash of the new key's derivation: sha1, sha256 or sha512 [default: as before]
    #[arg(long, value_name = "HASH", help_heading = "New settings")]
    new_kdf_algorithm: Option<String>,
}

pub(crate) fn run(args: &Rekey, common: &Common) -> Result<ExitCode> {
    let algorithm = args.new_kdf_algorithm.as_deref().map(hash).transpose()?;
    let path = args.source.target()?.path;
    let (_, access) = args.source.access(common)?;
    let db = open_encrypted(&path, &access, OpenFlags::SQLITE_OPEN_READ_WRITE, false)?;
    let mut rekey = pageseal::Rekey::new(key::get(args.new_key.source(), Ask::New(&path))?);
    if let Some(rounds) = args.new_kdf_iter {
        rekey = rekey.kdf_iter(rounds);
    }
    if let Some(algorithm) = algorithm {
        rekey = rekey.kdf_algorithm(algorithm);
    }
    interrupt::in_place("the next program that opens the file with the OLD key undoes the rest")?;
    let spinner = Spinner::new("re-keying", common);
    rekey.run(&db, "main").inspect_err(|_| undo(&db))?;
    db.close().map_err(|(_, error)| error)?;
    let elapsed = spinner.finish();
    let json = json!({
        "file": path.to_string_lossy(),
        "seconds": elapsed.as_secs_f64(),
    });
    report::print(common, &json, || {
        format!(
            "{}: sealed with the new key in {:.2} s",
            path.display(),
            elapsed.as_secs_f64()
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

fn hash(name: &str) -> Result<HashAlgorithm> {
    match name.to_ascii_lowercase().as_str() {
        "sha1" => Ok(HashAlgorithm::Sha1),
        "sha256" => Ok(HashAlgorithm::Sha256),
        "sha512" => Ok(HashAlgorithm::Sha512),
        _ => Err(CliError::usage(
            "--new-kdf-algorithm: sha1, sha256 or sha512 is needed",
        )),
    }
}
