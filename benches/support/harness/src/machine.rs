//! Where it was measured.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// The machine, and the commit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    /// Instructions that matter to cryptography.
    pub(crate) features: Vec<String>,
    pub(crate) os: String,
    pub(crate) commit: String,
}

/// Looks around. What the system does not tell is left empty.
pub(crate) fn look() -> Machine {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        info.lines()
            .find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'))
            .map(str::trim)
            .unwrap_or_default()
            .to_owned()
    };
    let cpu = match (field("model name"), field("cpu family"), field("model\t")) {
        (name, _, _) if name.is_empty() => std::env::consts::ARCH.to_owned(),
        (name, family, model) => format!("{name} (family {family}, model {model})"),
    };
    let flags = field("flags");
    let features = [
        "aes",
        "vaes",
        "avx2",
        "avx512f",
        "avx512ifma",
        "bmi2",
        "sha_ni",
    ]
    .into_iter()
    .filter(|feature| flags.split_whitespace().any(|flag| flag == *feature))
    .map(str::to_owned)
    .collect();
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Machine {
        cpu,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        features,
        os: format!("{} {}", std::env::consts::OS, release.trim()),
        commit: commit(),
    }
}

impl Machine {
    pub(crate) fn describe(&self) -> String {
        format!(
            "{}, {} cores, {}; {}",
            self.cpu,
            self.cores,
            self.features.join(" "),
            self.os
        )
    }
}

fn commit() -> String {
    let git = |arguments: &[&str]| {
        let out = Command::new("git").args(arguments).output().ok()?;
        out.status
            .success()
            .then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
    };
    let Some(head) = git(&["rev-parse", "--short=9", "HEAD"]) else {
        return String::new();
    };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
    match changed.as_deref() {
        Some("") => head,
        _ => format!("{head}+changes"),
    }
}

/// The kind of file system that `path` is on, where `/proc/mounts` tells.
pub(crate) fn file_system(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').skip(1);
            Some((fields.next()?, fields.next()?))
        })
        .filter(|(point, _)| path.starts_with(point))
        .max_by_key(|(point, _)| point.len())
        .map(|(_, kind)| kind.to_owned())
}
