//! May these contestants be compared? Asked before anything is measured.
//!
//! Two ways: each says what it is (compiler, optimisation level, SQLite's version and
//! compile options, the settings that are in force), and each runs the same work without
//! a database file, whose time shows a build that is slower whatever it says.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use pageseal_bench_contestant::facts::Facts;
use pageseal_bench_contestant::protocol::{Job, Reply, Request, Scale};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::contestants::Contestant;
use crate::format::ratio;
use crate::options::Options;
use crate::process::Process;
use crate::stats::Spread;

/// Compile options that make SQLCipher what it is.
const BY_DESIGN: [&str; 3] = ["EXTRA_INIT", "EXTRA_SHUTDOWN", "HAS_CODEC"];
/// SQLCipher cannot be built with stock SQLite's; `PRAGMA temp_store` makes up for it.
const MADE_EQUAL: &str = "TEMP_STORE";
/// Calibration further from 1 than this is another build, and refused;
const REFUSE_BEYOND: f64 = 1.25;
/// further than this is pointed out. (The same code in two programs is that far apart.)
const NOTE_BEYOND: f64 = 1.08;

/// What the contestants are, and what about them differs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Agreement {
    /// What each said, by contestant.
    pub(crate) facts: BTreeMap<String, Facts>,
    /// Each program's speed without a database file, relative to the first's: SQLite's
    /// code, and Rust's.
    pub(crate) calibration: BTreeMap<String, (Spread, Spread)>,
    /// Differences that make a comparison worthless.
    pub(crate) refused: Vec<String>,
    /// Differences to know about.
    pub(crate) notes: Vec<String>,
}

/// Asks and compares. An error if the contestants may not be compared, unless the options
/// say to go on.
pub(crate) fn check(
    contestants: &[Contestant],
    options: &Options,
    place: &Path,
) -> Result<Agreement> {
    let mut agreement = Agreement::default();
    for contestant in contestants {
        let facts = ask(contestant, options, place)?;
        agreement.facts.insert(contestant.id.clone(), facts);
    }
    let first = &contestants[0];
    for contestant in contestants {
        agreement.compare(first, contestant);
    }
    agreement.calibrate(contestants, options)?;
    if agreement.refused.is_empty() || options.allow_differences {
        Ok(agreement)
    } else {
        Err(format!(
            "these contestants cannot be compared (--allow-differences to do it all the same):\n  {}",
            agreement.refused.join("\n  ")
        )
        .into())
    }
}

fn ask(contestant: &Contestant, options: &Options, place: &Path) -> Result<Facts> {
    let dir = place.join(&contestant.id);
    fs::create_dir_all(&dir)?;
    let request = Request::Facts(Job {
        workload: String::new(),
        scale: options.scale,
        variant: contestant.variant.clone(),
        settings: options.settings.clone(),
        dir,
    });
    let facts = Process::start(contestant)?.expect(&request, |reply| match reply {
        Reply::Facts(facts) => Some(*facts),
        _ => None,
    })?;
    Ok(facts)
}

impl Agreement {
    fn compare(&mut self, first: &Contestant, other: &Contestant) {
        let (a, b) = (&self.facts[&first.id], &self.facts[&other.id]);
        let who = &other.id;
        let mut refused = Vec::new();
        let mut must = |what: &str, a: &str, b: &str| {
            if a != b {
                refused.push(format!("{who}: {what} is {}, not {}", shown(b), shown(a)));
            }
        };
        must(
            "the workloads' source (build it anew)",
            &a.build.source,
            &b.build.source,
        );
        must("rustc", &a.build.rustc, &b.build.rustc);
        must("the target", &a.build.target, &b.build.target);
        must(
            "the optimisation level",
            &a.build.opt_level,
            &b.build.opt_level,
        );
        must(
            "debug assertions",
            &a.build.debug_assertions.to_string(),
            &b.build.debug_assertions.to_string(),
        );
        must("RUSTFLAGS", &a.build.rustflags, &b.build.rustflags);
        must("CFLAGS", &a.build.cflags, &b.build.cflags);
        must("SQLite's version", &a.sqlite_version, &b.sqlite_version);
        let settings: BTreeSet<_> = a.settings.keys().chain(b.settings.keys()).collect();
        for name in settings {
            let of = |facts: &Facts| facts.settings.get(name).cloned().unwrap_or_default();
            must(&format!("PRAGMA {name}"), &of(a), &of(b));
        }
        let mut notes = Vec::new();
        let options: BTreeSet<_> = a
            .compile_options
            .keys()
            .chain(b.compile_options.keys())
            .collect();
        for name in options {
            let of = |facts: &Facts| match facts.compile_options.get(name).map(String::as_str) {
                Some("") => "on".to_owned(),
                Some(value) => value.to_owned(),
                None => "default".to_owned(),
            };
            if name == MADE_EQUAL && of(a) != of(b) {
                notes.push(format!(
                    "{who}: compiled with TEMP_STORE {}, not {}; PRAGMA temp_store makes them equal",
                    of(b),
                    of(a)
                ));
            } else if !BY_DESIGN.contains(&name.as_str()) {
                must(&format!("the compile option {name}"), &of(a), &of(b));
            }
        }
        if b.plaintext == other.variant.encrypts() {
            let state = if b.plaintext { "is" } else { "is not" };
            refused.push(format!("{who}: its file {state} plaintext"));
        }
        if other.variant.encrypts() {
            let wanted = if other.variant.pragmas.iter().any(|p| p.contains("use_hmac")) {
                "0"
            } else {
                "1"
            };
            let found = b.cipher.get("cipher_use_hmac").map_or("", String::as_str);
            if found != wanted {
                refused.push(format!("{who}: cipher_use_hmac is {}", shown(found)));
            }
        }
        self.refused.append(&mut refused);
        self.notes.append(&mut notes);
    }

    /// Compares every program with the first one's.
    fn calibrate(&mut self, contestants: &[Contestant], options: &Options) -> Result<()> {
        let mut programs: Vec<&Contestant> = Vec::new();
        for contestant in contestants {
            if programs.iter().all(|p| p.program != contestant.program) {
                programs.push(contestant);
            }
        }
        if programs.len() < 2 {
            return Ok(());
        }
        let rounds = options.scale.pick(1, 5, 9);
        let mut times: Vec<Vec<(f64, f64)>> = vec![Vec::new(); programs.len()];
        let warm_up = usize::from(options.scale != Scale::Smoke);
        for round in 0..rounds + warm_up {
            for (index, program) in programs.iter().enumerate() {
                let (sqlite, rust) =
                    Process::start(program)?.expect(&Request::Calibrate, |reply| match reply {
                        Reply::Calibrated { sqlite, rust } => Some((sqlite, rust)),
                        _ => None,
                    })?;
                if round >= warm_up {
                    times[index].push((sqlite as f64, rust as f64));
                }
            }
        }
        for (index, program) in programs.iter().enumerate().skip(1) {
            let relative = |pick: fn(&(f64, f64)) -> f64| {
                let pairs = times[index].iter().zip(&times[0]);
                Spread::of(pairs.map(|(it, first)| pick(it) / pick(first)))
                    .expect("at least a round")
            };
            let (sqlite, rust) = (relative(|t| t.0), relative(|t| t.1));
            for (what, spread) in [("SQLite", sqlite), ("Rust", rust)] {
                let text = format!(
                    "{}: its {what} code takes {} times as long without any database file",
                    program.id,
                    ratio(spread.median)
                );
                let far = |limit: f64| spread.low > limit || spread.high < 1.0 / limit;
                if far(REFUSE_BEYOND) {
                    self.refused.push(text);
                } else if far(NOTE_BEYOND) {
                    self.notes.push(text);
                }
            }
            self.calibration.insert(program.id.clone(), (sqlite, rust));
        }
        Ok(())
    }

    /// What is the same everywhere, and what is not, for people.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        let Some(facts) = self.facts.values().next() else {
            return text;
        };
        let build = &facts.build;
        let option = |name: &str| {
            let value = facts.compile_options.get(name);
            value.map_or("default", String::as_str).to_owned()
        };
        let _ = writeln!(
            text,
            "  build     opt-level {}, debug assertions {}, {}, C {}",
            build.opt_level,
            if build.debug_assertions { "ON" } else { "off" },
            build.rustc,
            option("COMPILER"),
        );
        let _ = writeln!(
            text,
            "  SQLite    {}, THREADSAFE {}, {} compile options",
            facts.sqlite_version,
            option("THREADSAFE"),
            facts.compile_options.len()
        );
        let settings: Vec<_> = facts
            .settings
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        for (index, line) in settings.chunks(6).enumerate() {
            let title = if index == 0 { "settings" } else { "" };
            let _ = writeln!(text, "  {title:<9} {}", line.join(", "));
        }
        for (id, facts) in &self.facts {
            if !facts.cipher.is_empty() {
                let of = |name: &str| facts.cipher.get(name).map_or("?", String::as_str);
                let _ = writeln!(
                    text,
                    "  {id}: {} ({} {}), HMAC {}",
                    of("cipher_version"),
                    of("cipher_provider"),
                    of("cipher_provider_version"),
                    if of("cipher_use_hmac") == "1" {
                        of("cipher_hmac_algorithm")
                    } else {
                        "off"
                    }
                );
            }
        }
        for (id, (sqlite, rust)) in &self.calibration {
            let _ = writeln!(
                text,
                "  {id}: without a database file its SQLite takes {} [{}, {}] times as long, its Rust {} [{}, {}]",
                ratio(sqlite.median),
                ratio(sqlite.low),
                ratio(sqlite.high),
                ratio(rust.median),
                ratio(rust.low),
                ratio(rust.high)
            );
        }
        for note in &self.notes {
            let _ = writeln!(text, "  note      {note}");
        }
        for refused in &self.refused {
            let _ = writeln!(text, "  DIFFERS   {refused}");
        }
        text
    }
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "(nothing)" } else { value }
}
