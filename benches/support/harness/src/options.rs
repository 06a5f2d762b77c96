//! The command line of a bench.

use std::env;
use std::path::{Path, PathBuf};

use lexopt::prelude::*;
use pageseal_bench_contestant::engine::Settings;
use pageseal_bench_contestant::protocol::Scale;

use crate::Result;
use crate::stats;

const HELP: &str = "\
Measures stock SQLite, pageseal and SQLCipher side by side.

    cargo bench --bench NAME -- [OPTION ...]

  --quick               less of everything, under a minute
  --rounds N            measured rounds (default 9, quick 5), after one to warm up
  --dir PATH            where the databases are (default: /dev/shm if there is one;
                        also PAGESEAL_BENCH_DIR)
  --only A,B            only these contestants (plain always takes part)
  --variant 'NAME: PRAGMA a = 1; PRAGMA b = 2'
                        one more contestant: pageseal with these pragmas after the key
  --with NAME           one more contestant: pageseal with something set for the process;
                        an unknown name lists what there is
  --secure-delete ON|OFF  for every contestant alike (default ON, as SQLCipher has it)
  --on-cpu              leave out the time that a contestant was ready to run but had no
                        CPU: for a busy machine (Linux)
  --build-peers         build the peers first (needs OpenSSL's headers)
  --no-peers            leave the peers out
  --allow-differences   measure contestants that differ where they must not; every
                        output says so
  NAME                  run only if the workload's name contains this
";

/// What was asked for.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // a command line has flags
pub(crate) struct Options {
    pub(crate) scale: Scale,
    pub(crate) rounds: usize,
    pub(crate) dir: Option<PathBuf>,
    pub(crate) only: Vec<String>,
    pub(crate) variants: Vec<(String, Vec<String>)>,
    pub(crate) switches: Vec<String>,
    pub(crate) settings: Settings,
    pub(crate) on_cpu: bool,
    pub(crate) build_peers: bool,
    pub(crate) no_peers: bool,
    pub(crate) allow_differences: bool,
    filters: Vec<String>,
}

impl Options {
    /// From the command line; none if it only asked for help or a list.
    pub(crate) fn parse() -> Result<Option<Self>> {
        let mut options = Self {
            // `cargo bench` passes `--bench`; without it this is `cargo test`.
            scale: Scale::Smoke,
            rounds: 0,
            dir: env::var_os("PAGESEAL_BENCH_DIR").map(PathBuf::from),
            only: Vec::new(),
            variants: Vec::new(),
            switches: Vec::new(),
            settings: Settings::default(),
            on_cpu: false,
            build_peers: false,
            no_peers: false,
            allow_differences: false,
            filters: Vec::new(),
        };
        let mut quick = false;
        let mut bench = false;
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("bench") => bench = true,
                Long("quick") => quick = true,
                Long("rounds") => options.rounds = parser.value()?.parse()?,
                Long("dir") => options.dir = Some(parser.value()?.into()),
                Long("only") => {
                    let names = parser.value()?.string()?;
                    options.only.extend(names.split(',').map(str::to_owned));
                }
                Long("variant") => options.variants.push(variant(&parser.value()?.string()?)?),
                Long("with") => options.switches.push(parser.value()?.string()?),
                Long("secure-delete") => {
                    options.settings.secure_delete = match parser.value()?.string()?.as_str() {
                        "ON" | "on" => true,
                        "OFF" | "off" => false,
                        other => return Err(format!("--secure-delete {other}").into()),
                    };
                }
                Long("on-cpu") => options.on_cpu = true,
                Long("build-peers") => options.build_peers = true,
                Long("no-peers") => options.no_peers = true,
                Long("allow-differences") => options.allow_differences = true,
                Long("help") | Short('h') => {
                    print!("{HELP}");
                    return Ok(None);
                }
                Long("list") => return Ok(None), // test runners ask every binary
                Value(filter) => options.filters.push(filter.string()?),
                other => return Err(other.unexpected().into()),
            }
        }
        let rounds = match (bench, quick) {
            (_, true) => {
                options.scale = Scale::Quick;
                5
            }
            (true, false) => {
                options.scale = Scale::Full;
                9
            }
            (false, false) => 1,
        };
        if options.rounds == 0 {
            options.rounds = rounds;
        }
        Ok(Some(options))
    }

    /// Whether this workload is to run.
    pub(crate) fn selects(&self, workload: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|f| workload.contains(f.as_str()))
    }

    /// Whether this is `cargo test`: everything runs, nothing is said about time.
    pub(crate) fn is_test(&self) -> bool {
        self.scale == Scale::Smoke
    }

    /// Where the reports go. Quick ones do not overwrite those that are quoted.
    pub(crate) fn output(&self) -> PathBuf {
        let all = target_dir().join("pageseal-bench");
        match self.scale {
            Scale::Full => all,
            Scale::Quick | Scale::Smoke => all.join("quick"),
        }
    }

    /// An empty directory for a workload's databases, removed when dropped.
    pub(crate) fn place(&self, workload: &str) -> Result<Place> {
        let base = match &self.dir {
            Some(dir) => dir.clone(),
            None if Path::new("/dev/shm").is_dir() => "/dev/shm".into(),
            None => target_dir().join("tmp"),
        };
        let path = base.join(format!("pageseal-bench-{workload}-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Place(path))
    }

    /// What the numbers in the tables are worth, in a line.
    pub(crate) fn describe_rounds(&self) -> String {
        format!(
            "{}{} rounds after one to warm up; intervals hold the true median with {:.0} % confidence",
            if self.on_cpu { "time on a CPU; " } else { "" },
            self.rounds,
            100.0 * stats::confidence(self.rounds)
        )
    }
}

/// `NAME: PRAGMA …; PRAGMA …`
fn variant(text: &str) -> Result<(String, Vec<String>)> {
    let (name, pragmas) = text.split_once(':').ok_or("--variant 'NAME: PRAGMA …'")?;
    let pragmas = pragmas
        .split(';')
        .map(|p| p.trim().to_owned())
        .filter(|p| !p.is_empty())
        .collect();
    Ok((name.trim().to_owned(), pragmas))
}

/// Cargo's target directory: the bench binaries are in `TARGET/PROFILE/deps`.
pub(crate) fn target_dir() -> PathBuf {
    env::current_exe()
        .ok()
        .and_then(|exe| exe.ancestors().nth(3).map(Path::to_owned))
        .unwrap_or_else(|| "target".into())
}

/// A directory that goes when it is dropped.
#[derive(Debug)]
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::variant;

    #[test]
    fn a_variant_is_a_name_and_pragmas() {
        let (name, pragmas) = variant("worker: PRAGMA a = 1; PRAGMA b = 'x:y';").unwrap();
        assert_eq!(name, "worker");
        assert_eq!(pragmas, ["PRAGMA a = 1", "PRAGMA b = 'x:y'"]);
        assert!(variant("no pragmas").is_err());
    }
}
