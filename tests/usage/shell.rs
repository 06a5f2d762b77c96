//! Our side: the stock `sqlite3` shell, which loads the extension.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::script::{Step, What};

/// Printed before the answer to a step.
const MARK: &str = "-- answer --";

/// The lines of each step's answer.
pub(crate) fn run(dir: &Path, steps: &[Step]) -> Vec<Vec<String>> {
    let mut input = format!(".load '{}'\n", extension().display());
    for step in steps {
        input.push_str(&format!(".print '{MARK}'\n"));
        match &step.what {
            What::Open(name) => input.push_str(&format!(".open {name}\n")),
            What::Sql(sql) => input.push_str(&format!("{sql}\n")),
        }
    }
    let sqlite3 = std::env::var_os("SQLITE3").unwrap_or_else(|| "sqlite3".into());
    // Unbuffered, and errors where they happen.
    let mut shell = Command::new("sh")
        .args(["-c", "exec stdbuf -o0 \"$1\" -batch 2>&1", "sh"])
        .arg(sqlite3)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut stdin = shell.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = shell.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads");
    let output = String::from_utf8(output.stdout).expect("UTF-8");

    let mut answers: Vec<Vec<String>> = Vec::new();
    for line in output.lines() {
        match answers.last_mut() {
            _ if line == MARK => answers.push(Vec::new()),
            Some(answer) => answer.push(error(line).unwrap_or_else(|| line.to_owned())),
            None => panic!("before the first step: {line}"),
        }
    }
    assert_eq!(
        answers.len(),
        steps.len(),
        "the shell ended early: {output}"
    );
    answers
}

/// `Runtime error near line 5: text (26)`, without what is the shell's.
fn error(line: &str) -> Option<String> {
    let rest = ["Parse error near line ", "Runtime error near line "]
        .iter()
        .find_map(|start| line.strip_prefix(start))?;
    let (_, text) = rest.split_once(": ")?;
    Some(format!("error: {text}"))
}

fn extension() -> PathBuf {
    let path = std::env::var_os("PAGESEAL_EXTENSION").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/release/libpageseal.so"),
        PathBuf::from,
    );
    assert!(
        path.exists(),
        "{} is not there: .ci/usage builds it",
        path.display()
    );
    path
}
