//! SQLCipher's documented usage (`script.sql`), in the same words on both sides:
//! genuine SQLCipher 4 answers in a process of its own, and the stock `sqlite3` shell
//! with the loadable extension answers beside it. Every line of every answer must be
//! the same, except where the script says what ours is and why; what it says must be
//! a line of `tests/behaviour/behaviour.md`, and there must really be a difference.
//!
//! `.ci/usage` builds the extension and runs this.
#![allow(missing_docs)]

#[path = "../support/peer.rs"]
mod peer;
mod script;
mod shell;
mod sqlcipher;
mod stage;

use script::{Step, What};

#[test]
fn the_same_words_get_the_same_answers() {
    let steps = script::parse(include_str!("script.sql"));
    let (ours, theirs) = (stage::directory(), stage::directory());
    let found = shell::run(ours.path(), &steps);
    let right = sqlcipher::run(theirs.path(), &steps);

    let mut wrong = Vec::new();
    let mut differences = 0;
    let mut lines = 0;
    for ((step, found), right) in steps.iter().zip(&found).zip(&right) {
        lines += right.len();
        let wanted = match &step.differs {
            None => right,
            Some(differs) => {
                differences += 1;
                assert!(
                    include_str!("../behaviour/behaviour.md")
                        .contains(&format!("| {} |", differs.because)),
                    "no line of tests/behaviour/behaviour.md: {}",
                    differs.because
                );
                if differs.ours == *right {
                    wrong.push(format!("{step}\n    no difference: {right:?}"));
                }
                println!("{step}\n    SQLCipher: {right:?}\n    pageseal:  {found:?}");
                println!("    because:   {}", differs.because);
                &differs.ours
            }
        };
        if found != wanted {
            wrong.push(format!(
                "{step}\n    wanted: {wanted:?}\n    found:  {found:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let statements = steps.iter().filter(|step| step.is_statement()).count();
    println!(
        "{statements} statements, {lines} lines of SQLCipher's answers, \
         {differences} differences on purpose"
    );
    // The comparison is of something.
    assert!(statements > 150 && lines > 100, "{statements} {lines}");
}

/// What both sides wrote is encrypted where it should be, and is not where not.
#[test]
fn files_are_sealed_or_plain_as_the_script_says() {
    let steps = script::parse(include_str!("script.sql"));
    let dir = stage::directory();
    shell::run(dir.path(), &steps);
    for step in &steps {
        let What::Open(name) = &step.what else {
            continue;
        };
        let file = std::fs::read(dir.path().join(name)).unwrap();
        let plain = file.windows(12).any(|w| w == b"CREATE TABLE");
        assert_eq!(plain, name.starts_with("plain"), "{name}");
    }
}

/// Makes the failure messages name a line of the script.
impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.what {
            What::Open(name) => write!(f, "script.sql:{}: .open {name}", self.line),
            What::Sql(sql) => write!(f, "script.sql:{}: {sql}", self.line),
        }
    }
}
