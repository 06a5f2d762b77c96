//! `pageseal encrypt`: an encrypted copy of a plain SQLite database.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;
use pageseal::crypto::random;
use pageseal::format::{PageCodec, derive};
use pageseal::offline::{Files, Look, OfflineError, Snapshot, WriteFile, check_layout, rewrite};

use crate::args::{Common, KeyArgs, SettingsArgs};
use crate::database;
use crate::error::{CliError, Kind, Result};
use crate::key::{self, Ask};
use crate::output::{self, Output};
use crate::progress::{Bar, Unit};
use crate::report::Written;
use crate::target::Target;

/// Arguments of `encrypt`.
#[derive(Args)]
pub(crate) struct Encrypt {
    /// The plaintext database
    #[arg(value_name = "IN")]
    source: OsString,

    /// The encrypted database to write: a path, or a `file:` URI with settings
    #[arg(value_name = "OUT")]
    out: OsString,

    #[command(flatten)]
    key: KeyArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    /// Replace OUT if it exists
    #[arg(short, long)]
    force: bool,
}

pub(crate) fn run(args: &Encrypt, common: &Common) -> Result<ExitCode> {
    let source = Target::parse(&args.source)?.path;
    let out = Target::parse(&args.out)?;
    let given = args.settings.given();
    let salt = args.settings.salt.as_deref();
    let compat = args.settings.compat.as_deref();
    let chosen = out.settings(Default::default(), compat, &given, salt)?;
    if chosen.probe {
        return Err(CliError::usage(
            "--compat auto: a new file needs a version, 1 to 4",
        ));
    }
    output::check(&out.path, args.force, &source)?;
    let files = Files::open(&source)?;
    match Look::at(&files)? {
        Look::Plaintext(_) => {}
        Look::Empty => return Err(OfflineError::Empty(source).into()),
        Look::Random | Look::PartlyRandom | Look::PlaintextHeader(_) => {
            return Err(CliError::new(
                Kind::WrongFile,
                format!("{} is encrypted already", source.display()),
            )
            .hint("`pageseal copy` gives a copy another key or other settings"));
        }
        _ => return Err(OfflineError::NotPlaintext(source).into()),
    }
    let snapshot = Snapshot::open(files, None)?;
    let mut settings = chosen.choice.settings;
    if chosen.choice.auto_page_size {
        settings.page_size = snapshot.page_size();
    }
    settings.validate()?;
    let key = key::get(args.key.source(), Ask::New(&out.path))?;
    let outside_salt = key.salt().or(chosen.salt);
    let salt = match outside_salt {
        Some(salt) => salt,
        None if settings.plaintext_header > 0 => {
            return Err(pageseal::error::SettingsError::SaltMissing.into());
        }
        None => random::array()?,
    };
    let keys = derive(&key, &settings, &salt)?;
    let codec = PageCodec::new(&settings, &keys)?;
    let output = Output::create(&out.path, args.force)?;
    let bar = Bar::new("encrypting", Unit::Bytes, common);
    let page_for_page = check_layout(&snapshot, &codec).is_ok();
    if page_for_page {
        let file = WriteFile::new(output.file(), &out.path);
        rewrite(&snapshot, Some(&codec), &file, common.threads(), &bar)?;
    } else {
        let db = database::open_plaintext_for_reading(&source)?;
        database::vacuum_into(&db, output.path(), &keys, &settings, snapshot.bytes(), &bar)?;
    }
    let written = output
        .file()
        .metadata()
        .map_or(0, |metadata| metadata.len());
    output.finish(&source)?;
    let remark = match page_for_page {
        true => "",
        false => "\n  pages laid out anew to make room for IV and HMAC",
    };
    Written {
        source: &source,
        out: &out.path,
        settings: &settings,
        salt: outside_salt,
        len: written,
        page_for_page,
        elapsed: bar.finish(),
    }
    .print(common, remark)?;
    Ok(ExitCode::SUCCESS)
}
