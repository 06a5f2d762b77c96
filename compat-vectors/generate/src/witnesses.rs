//! Files written by other builds of SQLCipher than the one in `tests/peer`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::content;
use crate::settings::Settings;
use crate::workshop::{Access, Draft, Workshop};

const KEY: &[u8] = b"correct horse";

/// Runs `witnesses.sh` and adds its files.
pub fn make(workshop: &mut Workshop) {
    let directory = workshop.scratch("witnesses");
    fs::create_dir(&directory).expect("a directory");
    fs::write(directory.join("content.sql"), content::small(1024)).expect("write");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("witnesses.sh");
    let status = Command::new("sh").arg(script).arg(&directory).status();
    assert!(status.expect("sh").success(), "witnesses.sh has failed");

    let files = [
        ("witness-shell-v3", Settings::preset(3)),
        ("witness-shell-v2", Settings::preset(2)),
        ("witness-shell-v1", Settings::preset(1)),
        ("witness-python-v4", Settings::preset(4)),
        ("witness-python-v3", Settings::preset(3)),
    ];
    for (name, settings) in files {
        let file = |suffix: &str| directory.join(format!("{name}.{suffix}"));
        fs::copy(file("db"), workshop.output(name)).expect("copy");
        let version = fs::read_to_string(file("version")).expect("a version");
        let access = Access::new(KEY, settings);
        let note = "written by another build of SQLCipher";
        let draft = Draft {
            name,
            group: "witness",
            note,
            stem: name,
            access: &access,
        };
        workshop.add_good_by(&draft, version.trim().to_owned());
    }
}
