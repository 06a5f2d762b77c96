//! A disk that is full while something is written: the message, the exit code, and
//! nothing changed.

use std::fs;

use crate::session::{Answer, Session};

/// Whatever writes, be it a new file or in place.
const WRITERS: [&str; 6] = [
    "decrypt rich-v4.db out.db",
    "encrypt plaintext.db out.db --page-size 65536",
    "copy rich-v4.db out.db",
    "recover rich-v4.db out.db",
    "rekey rich-v4.db --new-key-file new",
    "migrate rich-v4.db --compat 4 --new-page-size 8192",
];

/// A disk that is full, in the way of a limit on the size of files.
#[test]
fn file_too_large() {
    let session = Session::new();
    session.vector("rich-v4");
    session.vector("plaintext");
    let program = env!("CARGO_BIN_EXE_pageseal");
    let before = session.everything();
    for command in WRITERS {
        // In blocks of 512 bytes or 1024, as the shell likes: less than any output.
        let script = format!(
            "trap '' XFSZ; ulimit -f 32; exec {program} {command} --kdf-iter 1000 --key-file key"
        );
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).current_dir(session.path(""));
        let answer = Answer::of(&mut shell);
        assert_eq!(answer.code, Some(6), "{command}: {}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
        assert_eq!(session.everything(), before, "{command}");
    }
}

/// A disk that is full, where the system lets the test mount one of its own.
#[cfg(target_os = "linux")]
#[test]
fn full_disk() {
    let session = Session::new();
    session.vector("rich-v4");
    session.vector("plaintext");
    let program = env!("CARGO_BIN_EXE_pageseal");
    fs::create_dir(session.path("disk")).expect("a directory");
    let before = session.everything();
    for command in WRITERS {
        // The files fit; nothing as large as they are fits beside them.
        let script = format!(
            "mount -t tmpfs -o size=124k tmpfs disk || exit 99
             cp *.db key new disk && cd disk && sha256sum * > ../before
             {program} {command} --kdf-iter 1000 --key-file key
             code=$?; sha256sum * | cmp - ../before || code=98; exit $code"
        );
        let mut unshare = std::process::Command::new("unshare");
        unshare.args(["--mount", "--map-root-user", "sh", "-c", &script]);
        let answer = match unshare.current_dir(session.path("")).output() {
            Ok(_) => Answer::of(&mut unshare),
            Err(error) => return eprintln!("not tested: unshare: {error}"),
        };
        if answer.code == Some(99) || answer.stderr.starts_with("unshare:") {
            return eprintln!("not tested: {}", answer.stderr);
        }
        assert_eq!(answer.code, Some(6), "{command}: {}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
        assert!(
            answer.stderr.contains("free some space"),
            "{command}: {}",
            answer.stderr
        );
        fs::remove_file(session.path("before")).expect("the sums");
        assert_eq!(session.everything(), before, "{command}");
    }
}
