//! `pageseal probe`: which settings fit a key?

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use pageseal::Key;
use pageseal::offline::{Access, Files, Look, OfflineError};
use serde_json::json;

use crate::args::Common;
use crate::describe::Description;
use crate::error::Result;
use crate::key::{self, Ask};
use crate::open::{SourceArgs, nothing_fits, search};
use crate::report::{self, count};

/// Arguments of `probe`.
#[derive(Args)]
pub(crate) struct Probe {
    #[command(flatten)]
    source: SourceArgs,

    /// Try these iterations too, with each hash (may be repeated)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=0x7fff_ffff))]
    try_iterations: Vec<u32>,
}

pub(crate) fn run(args: &Probe, common: &Common) -> Result<ExitCode> {
    let (target, chosen) = args.source.choose()?;
    let files = Files::open(&target.path)?;
    match Look::at(&files)? {
        Look::Empty => return Err(OfflineError::Empty(target.path).into()),
        Look::Plaintext(_) => return Err(OfflineError::NotEncrypted(target.path).into()),
        _ => {}
    }
    let mut extra = args.try_iterations.clone();
    if !chosen.by_default {
        extra.push(chosen.choice.settings.kdf_iter);
    }
    let access = Access {
        key: key::get(args.source.key.source(), Ask::Existing(&target.path))?,
        choice: chosen.choice,
        salt: chosen.salt,
    };
    let start = Instant::now();
    let (found, key, derivations) = search(&files, &access, &extra, common)?;
    let elapsed = start.elapsed();
    let found = found.ok_or_else(|| nothing_fits(&files))?;
    let is_outside = access.outside_salt().is_some();
    let description =
        Description::with_key(&found.settings, is_outside.then_some(found.salt), &key);
    let was_text = matches!(access.key, Key::Passphrase(_)) && !matches!(key, Key::Passphrase(_));
    let uri = format!(
        "file:{}?{}",
        encode_percent(&target.path.to_string_lossy()),
        description.uri_query()
    );
    let json = json!({
        "file": target.path.to_string_lossy(),
        "settings": description.json(),
        "pragmas": description.pragmas(),
        "uri": uri,
        "rust": description.rust(),
        "options": description.options(),
        "page1_intact": found.page1,
        "raw_key_without_quotes": was_text,
        "derivations": derivations,
        "seconds": elapsed.as_secs_f64(),
    });
    report::print(common, &json, || {
        let mut text = format!("{}: {}\n", target.path.display(), description.in_words());
        if was_text {
            text += "The key is no passphrase but a raw key: as SQL, write it as x'...'\n";
        }
        if !found.page1 {
            text += "Page 1 is damaged; other pages authenticate. See `pageseal recover`.\n";
        }
        text += "\nSQL, after PRAGMA key:\n";
        for line in description.pragmas() {
            text += &format!("  {line}\n");
        }
        text += &format!("\nURI:\n  {uri}\n");
        text += &format!("\nRust:\n  {}\n", description.rust());
        text += &format!("\npageseal:\n  {}\n", description.options());
        text += &format!(
            "\n{} in {:.2} s\n",
            count(derivations as u64, "key derivation"),
            elapsed.as_secs_f64()
        );
        text
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A path as a URI writes it.
fn encode_percent(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b':' => {
                out.push(char::from(byte));
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}
