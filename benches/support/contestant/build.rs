//! Hands the facts of this build to the program, so that the harness can refuse to
//! compare two builds that differ: how they were optimised, and which workloads are
//! in them.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let rustc = Command::new(rustc)
        .arg("--version")
        .output()
        .map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned())
        .unwrap_or_default();
    println!("cargo:rustc-env=BENCH_RUSTC={rustc}");

    // Cargo gives a build script its package's own level; SQLite's C code is built by
    // another package's build script, with the same level unless a profile overrides
    // single packages. The harness measures that too (see `calibrate`).
    for (variable, name) in [
        ("OPT_LEVEL", "BENCH_OPT_LEVEL"),
        ("TARGET", "BENCH_TARGET"),
        ("CFLAGS", "BENCH_CFLAGS"),
        ("LIBSQLITE3_FLAGS", "BENCH_SQLITE_FLAGS"),
        ("CARGO_ENCODED_RUSTFLAGS", "BENCH_RUSTFLAGS"),
    ] {
        let value = env::var(variable)
            .unwrap_or_default()
            .replace('\u{1f}', " ");
        println!("cargo:rustc-env={name}={value}");
        println!("cargo:rerun-if-env-changed={variable}");
    }

    println!("cargo:rustc-env=BENCH_SOURCE={:016x}", source_hash());
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rerun-if-changed=build.rs");
}

/// A hash of every source file of this crate: two programs with the same one run the
/// same workloads.
fn source_hash() -> u64 {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("src");
    let mut files = BTreeSet::new();
    collect(&root, &mut files);
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.strip_prefix(&root)
            .expect("found below it")
            .hash(&mut hasher);
        fs::read(&file).expect("just listed").hash(&mut hasher);
    }
    hasher.finish()
}

fn collect(directory: &Path, files: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the source directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.insert(path);
        }
    }
}
