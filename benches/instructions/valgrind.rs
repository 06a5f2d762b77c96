//! Counting instructions: valgrind's callgrind, of one function and all that it calls.

use std::process::{Command, Stdio};

use crate::Result;

/// What one scene executed.
pub(crate) struct Count {
    pub(crate) instructions: u64,
    /// The CPU that valgrind shows to the program: it knows no AVX-512, VAES or SHA
    /// instructions, so the kernels that are counted are those for a lesser machine.
    pub(crate) features: String,
}

/// `valgrind-3.x`, or none.
pub(crate) fn version() -> Option<String> {
    let output = Command::new("valgrind").arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs one scene of this program under callgrind. Only what [`measured`] calls counts.
pub(crate) fn count(flag: &str, scene: &str) -> Result<Count> {
    let file = std::env::temp_dir().join(format!("callgrind.{}.{scene}", std::process::id()));
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg("--toggle-collect=*valgrind::measured*")
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(std::env::current_exe()?)
        .args([flag, scene])
        .stderr(Stdio::piped())
        .output()?;
    let counted = std::fs::read_to_string(&file).unwrap_or_default();
    let _ = std::fs::remove_file(&file);
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{scene} failed under valgrind:\n{text}").into());
    }
    let instructions = counted
        .lines()
        .find_map(|line| line.strip_prefix("totals:")?.trim().parse().ok())
        .filter(|&count| count > 0)
        .ok_or_else(|| format!("{scene}: callgrind counted nothing"))?;
    Ok(Count {
        instructions,
        features: String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    })
}

/// Does what is to be counted. Callgrind knows it by its name.
#[inline(never)]
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> T {
    std::hint::black_box(work())
}

/// The features of the CPU, as this process sees it, that cryptography may use.
pub(crate) fn features() -> String {
    let mut features = vec![std::env::consts::ARCH.to_owned()];
    #[cfg(target_arch = "x86_64")]
    for (name, here) in [
        ("aes", std::is_x86_feature_detected!("aes")),
        ("vaes", std::is_x86_feature_detected!("vaes")),
        ("bmi2", std::is_x86_feature_detected!("bmi2")),
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("avx512f", std::is_x86_feature_detected!("avx512f")),
        ("sha", std::is_x86_feature_detected!("sha")),
    ] {
        if here {
            features.push(name.to_owned());
        }
    }
    features.join("+")
}
