//! The list itself.

use std::path::Path;

const LIST: &str = include_str!("behaviour.md");

/// The lines of both tables, as their cells.
fn lines() -> Vec<Vec<&'static str>> {
    LIST.lines()
        .filter(|line| line.starts_with("| ") && !line.ends_with("| tests |"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect()
}

#[test]
fn every_line_names_tests_that_exist() {
    let lines = lines();
    assert!(lines.len() > 40, "{} lines", lines.len());
    for line in lines {
        let [what, _, tests] = line[..] else {
            panic!("not three cells: {line:?}");
        };
        assert!(!tests.is_empty(), "no test: {what}");
        for test in tests.split(", ") {
            let (file, names) = test
                .trim_matches('`')
                .split_once(": ")
                .unwrap_or((test.trim_matches('`'), ""));
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            let source = std::fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{file}, for {what}: {error}"));
            // A script as a whole, or functions of a test.
            for name in names.split_whitespace() {
                assert!(
                    source.contains(&format!("fn {name}(")),
                    "{file} has no {name}, for: {what}"
                );
            }
            assert!(!names.is_empty() || file.ends_with(".sql"), "{test}");
        }
    }
}
