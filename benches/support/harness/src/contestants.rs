//! Who takes part.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use pageseal_bench_contestant::engine::Variant;
use pageseal_bench_contestant::protocol::Scale;

use crate::options::{Options, target_dir};
use crate::{Result, SERVE, Shim};

/// The contestant that all others are compared with.
pub(crate) const PLAIN: &str = "plain";
/// pageseal as it comes.
pub(crate) const PAGESEAL: &str = "pageseal";
/// pageseal without page MACs.
pub(crate) const PAGESEAL_NO_HMAC: &str = "pageseal-nohmac";
/// SQLCipher as it comes.
pub(crate) const SQLCIPHER: &str = "sqlcipher";
/// SQLCipher without page MACs.
pub(crate) const SQLCIPHER_NO_HMAC: &str = "sqlcipher-nohmac";

/// Raw key material: nothing is derived from a passphrase (but in the `open` bench).
const RAW_KEY: &str = "x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'";
const NO_HMAC: &str = "PRAGMA cipher_use_hmac = OFF";

/// One contestant: a program, and how it opens databases.
#[derive(Clone, Debug)]
pub(crate) struct Contestant {
    pub(crate) id: String,
    /// For people.
    pub(crate) label: String,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) variant: Variant,
    /// Whose overhead its own is a fraction of.
    pub(crate) rival: Option<String>,
}

impl Contestant {
    fn of_this_program(id: &str, label: &str, variant: Variant) -> Result<Self> {
        Ok(Self {
            id: id.into(),
            label: label.into(),
            program: env::current_exe()?,
            arguments: vec![SERVE.into()],
            variant,
            rival: None,
        })
    }

    /// Stock SQLite, nothing between it and the disk.
    pub(crate) fn plain(id: &str) -> Result<Self> {
        Self::of_this_program(id, "plain SQLite", Variant::default())
    }

    fn pageseal(id: &str, label: &str, shim: Shim, pragmas: Vec<String>) -> Result<Self> {
        let rival = if pragmas.iter().any(|p| p == NO_HMAC) {
            SQLCIPHER_NO_HMAC
        } else {
            SQLCIPHER
        };
        let variant = Variant {
            vfs: Some(shim.vfs.into()),
            key: Some(RAW_KEY.into()),
            pragmas,
            slow_percent: 0,
        };
        let mut contestant = Self::of_this_program(id, label, variant)?;
        contestant.rival = Some(rival.into());
        Ok(contestant)
    }

    fn sqlcipher(id: &str, label: &str, program: PathBuf, pragmas: Vec<String>) -> Self {
        Self {
            id: id.into(),
            label: label.into(),
            program,
            arguments: Vec::new(),
            variant: Variant {
                vfs: None,
                key: Some(RAW_KEY.into()),
                pragmas,
                slow_percent: 0,
            },
            rival: None,
        }
    }
}

/// The contestants of a usual run, plain SQLite first.
pub(crate) fn choose(options: &Options, shim: Option<Shim>) -> Result<Vec<Contestant>> {
    let mut all = vec![Contestant::plain(PLAIN)?];
    if let Some(shim) = shim {
        all.push(Contestant::pageseal(PAGESEAL, "pageseal", shim, vec![])?);
        all.push(Contestant::pageseal(
            PAGESEAL_NO_HMAC,
            "pageseal, no HMAC",
            shim,
            vec![NO_HMAC.into()],
        )?);
        for (name, pragmas) in &options.variants {
            let label = format!("pageseal, {name}");
            all.push(Contestant::pageseal(name, &label, shim, pragmas.clone())?);
        }
        for name in &options.switches {
            if !shim.switches.iter().any(|(known, _)| known == name) {
                let known: Vec<_> = shim.switches.iter().map(|(name, _)| *name).collect();
                return Err(format!("--with one of: {}", known.join(", ")).into());
            }
            let label = format!("pageseal, {name}");
            let mut contestant = Contestant::pageseal(name, &label, shim, vec![])?;
            contestant.arguments.push(name.clone());
            all.push(contestant);
        }
    }
    if let Some(program) = peer(options)? {
        all.push(Contestant::sqlcipher(
            SQLCIPHER,
            "SQLCipher",
            program.clone(),
            vec![],
        ));
        all.push(Contestant::sqlcipher(
            SQLCIPHER_NO_HMAC,
            "SQLCipher, no HMAC",
            program,
            vec![NO_HMAC.into()],
        ));
    }
    if !options.only.is_empty() {
        for name in &options.only {
            if !all.iter().any(|c| &c.id == name) {
                return Err(format!("no contestant is called {name}").into());
            }
        }
        all.retain(|c| c.id == PLAIN || options.only.contains(&c.id));
    }
    Ok(all)
}

/// SQLCipher's program, if it takes part and was built.
fn peer(options: &Options) -> Result<Option<PathBuf>> {
    // A test must not depend on what somebody built some time ago.
    if options.no_peers || options.scale == Scale::Smoke {
        return Ok(None);
    }
    let manifest = "benches/peers/sqlcipher/Cargo.toml";
    let target = target_dir().join("peers");
    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build
        .args([
            "build",
            "--release",
            "--locked",
            "--manifest-path",
            manifest,
        ])
        .arg("--target-dir")
        .arg(&target);
    if options.build_peers && !build.status()?.success() {
        return Err("the peer could not be built".into());
    }
    let program = target.join("release").join(format!(
        "pageseal-bench-peer-sqlcipher{}",
        env::consts::EXE_SUFFIX
    ));
    if program.exists() {
        return Ok(Some(program));
    }
    println!(
        "SQLCipher is not taking part: it was not built (add --build-peers, or run\n    \
         cargo build --release --manifest-path {manifest} --target-dir {})",
        target.display()
    );
    Ok(None)
}
