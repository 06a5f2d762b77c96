//! A gate without a clock: how many instructions opening and sealing a page, a scan, a
//! lookup, a commit and a checkpoint execute, counted by valgrind and compared with
//! `baseline.txt`.
//!
//! A count does not depend on who else uses the machine, so a build may fail on it. It
//! says nothing about caches, the kernel or the disk: that is what the other benches are
//! for.
//!
//!     cargo bench --bench instructions                 compare with the baseline
//!     cargo bench --bench instructions -- --update     make the counts the new baseline
//!
//! Why not `gungraun` (formerly `iai-callgrind`), the maintained crate for this: it keeps
//! its baselines as callgrind's output under `target/`, made to be compared on the machine
//! that made them; ours is a small text in the repository that a review can read. It also
//! needs a runner program of the same version installed beside it. What is left to do by
//! hand is small: start valgrind, read one number.

mod baseline;
mod scenes;
mod valgrind;

use std::process::ExitCode;

type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;

/// The first argument of the process that valgrind watches.
const SCENE: &str = "--scene";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|a| a == flag);
    let result = match arguments.as_slice() {
        [flag, scene] if flag == SCENE => scenes::run(scene),
        // `cargo test`: see that the scenes run; counting takes `cargo bench`.
        _ if !has("--bench") => scenes::NAMES
            .iter()
            .try_for_each(|scene| scenes::run(scene)),
        _ => gate(has("--update")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn gate(update: bool) -> Result<()> {
    let Some(version) = valgrind::version() else {
        let text = "valgrind is not installed: nothing is counted";
        if std::env::var_os("CI").is_some() {
            return Err(text.into());
        }
        println!("{text}");
        return Ok(());
    };
    let counts = scenes::NAMES
        .iter()
        .map(|scene| Ok((*scene, valgrind::count(SCENE, scene)?)))
        .collect::<Result<Vec<_>>>()?;
    let features = &counts.first().ok_or("no scenes")?.1.features;
    println!("counted by {version}, with the CPU features that it knows: {features}");
    let counts: Vec<_> = counts
        .iter()
        .map(|(name, c)| (*name, c.instructions))
        .collect();
    if update {
        baseline::update(features, &counts)
    } else {
        baseline::compare(features, &counts)
    }
}
