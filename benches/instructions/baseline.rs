//! The counts that are checked in, and the comparison with them.
//!
//! A line a count: `FEATURES SCENE INSTRUCTIONS`. The same code executes different
//! kernels on different CPUs, so counts are compared with those of the same features
//! only; a machine with others is told that nothing was judged.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, fs};

use crate::Result;

/// How much more a scene may execute. Counts of the same program vary by far less (the
/// order of hash tables, addresses); a new compiler or SQLite may need an update.
const TOLERANCE: f64 = 0.05;
const UPDATE: &str = "cargo bench --bench instructions -- --update";
const HEAD: &str = "\
# Instructions that valgrind counts, by the CPU features it has and the scene; see main.rs.
# Made by `cargo bench --bench instructions -- --update`: say in the commit why they changed.
";

type Key = (String, String);

fn path() -> PathBuf {
    let root = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| ".".into());
    PathBuf::from(root).join("benches/instructions/baseline.txt")
}

fn read() -> Result<BTreeMap<Key, u64>> {
    let text = fs::read_to_string(path()).unwrap_or_default();
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| {
            let mut words = line.split_whitespace();
            let mut next = || words.next().ok_or_else(|| format!("baseline: {line}"));
            let key = (next()?.to_owned(), next()?.to_owned());
            Ok((key, next()?.parse()?))
        })
        .collect()
}

/// Replaces the counts of these features, and keeps the others.
pub(crate) fn update(features: &str, counts: &[(&str, u64)]) -> Result<()> {
    let mut all = read()?;
    all.retain(|(of, _), _| of != features);
    for (scene, count) in counts {
        println!("{scene:<22} {count:>12}");
        all.insert((features.to_owned(), (*scene).to_owned()), *count);
    }
    let lines = all
        .iter()
        .map(|((features, scene), count)| format!("{features} {scene} {count}\n"));
    fs::write(path(), HEAD.to_owned() + &lines.collect::<String>())?;
    println!("written: {}", path().display());
    Ok(())
}

/// Prints every count beside its baseline; an error if one is beyond the tolerance.
#[allow(clippy::cast_precision_loss)] // far below 2^52
pub(crate) fn compare(features: &str, counts: &[(&str, u64)]) -> Result<()> {
    let baseline = read()?;
    let mut worse = Vec::new();
    let mut better = false;
    let mut unknown = Vec::new();
    for &(scene, count) in counts {
        let key = (features.to_owned(), scene.to_owned());
        let Some(&before) = baseline.get(&key) else {
            println!("{scene:<22} {count:>12}");
            unknown.push(scene);
            continue;
        };
        let change = count as f64 / before as f64 - 1.0;
        println!(
            "{scene:<22} {count:>12}   baseline {before:>12}   {:+.2} %",
            change * 100.0
        );
        if change > TOLERANCE {
            worse.push(format!("{scene} {:+.1} %", change * 100.0));
        }
        better |= change < -TOLERANCE;
    }
    if unknown.len() == counts.len() {
        println!("\nno baseline for {features}: nothing is judged. To make one: {UPDATE}");
        return Ok(());
    }
    if !unknown.is_empty() {
        return Err(format!(
            "no baseline for {}. To make one: {UPDATE}",
            unknown.join(", ")
        )
        .into());
    }
    if !worse.is_empty() {
        return Err(format!(
            "more instructions than the baseline allows ({:.0} %): {}.\n\
             If that is meant (say why in the commit), or the compiler or SQLite changed: {UPDATE}",
            TOLERANCE * 100.0,
            worse.join(", ")
        )
        .into());
    }
    if better {
        println!("\nfewer than the baseline: to hold what was gained, {UPDATE}");
    }
    println!(
        "\n{} scenes within {:.0} % of the baseline",
        counts.len(),
        TOLERANCE * 100.0
    );
    Ok(())
}
