//! Every command on files of every configuration.

use std::path::Path;

use crate::configuration::Configuration;
use crate::content::{CHANGE, hashes};
use crate::database::{Side, text};
use crate::program::{Program, judge};

mod of_sqlcipher_4 {
    use super::{Configuration, Path, Side, every_command};

    crate::each::test_each_group!(made);

    fn made(how: &Configuration, _: &Path) {
        every_command(Side::SqlCipher, how);
    }
}

#[test]
fn of_sqlcipher_3() {
    crate::each::each(shells(), |how, _| every_command(Side::Shell, how));
}

/// What SQLCipher 3.4.1 writes: versions 3, 2 and 1, and odd settings.
pub(crate) fn shells() -> Vec<Configuration> {
    let version = |name: &str, version| Configuration::preset(name, version, 1024).with_fts4();
    vec![
        version("version 3", 3),
        version("version 2", 2),
        version("version 1", 1),
        version("version 3, page 8192", 3)
            .few_iterations()
            .with_page_size(8192),
        version("version 3, no HMAC", 3)
            .few_iterations()
            .without_hmac(),
        version("version 2, beta", 2)
            .with("fast_kdf_iter", 4000)
            .with("cipher_hmac_salt_mask", "\"x'00'\""),
        version("version 3, raw key", 3)
            .few_iterations()
            .keyed(format!("x'{}'", "c7".repeat(32))),
    ]
}

fn every_command(side: Side, how: &Configuration) {
    let hashes = hashes(how);
    let program = Program::with_database_of(side, how);
    let sound = |args: &[&str]| program.run(args).fine();

    // What only looks, and what SQLCipher says of the same.
    let mut database = side.open(&program.session.path("a.db"), how);
    let mut number = |pragma: &str| database.get(&format!("PRAGMA {pragma}"));
    let numbers = ["page_count", "freelist_count", "user_version", "page_size"].map(&mut number);
    database.close();
    let before = program.session.everything();
    sound(&["verify", "@a.db"]);
    let info = sound(&["info", "@a.db", "--json"]).json();
    let header = &info["header"];
    let told = ["page_count", "freelist_pages", "user_version", "page_size"]
        .map(|field| header[field].to_string());
    assert_eq!(told, numbers, "{info}");
    assert_eq!(header["journal_mode"], "rollback");
    assert_eq!(
        program.session.everything(),
        before,
        "looking changes nothing"
    );

    // Copies, plain and sealed.
    sound(&["decrypt", "@a.db", "plain.db"]);
    let plain = program.judge_plain("plain.db", &hashes.created);
    let pages: i64 = plain
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .expect("a number");
    assert_eq!(pages.to_string(), numbers[0], "page for page");
    drop(plain);
    sound(&["encrypt", "plain.db", "@sealed.db"]);
    program.judge(side, "sealed.db", &hashes.created);
    sound(&["diff", "@a.db", "sealed.db"]);
    sound(&["copy", "@a.db", "copy.db"]);
    program.judge(side, "copy.db", &hashes.created);
    sound(&["diff", "@a.db", "copy.db"]);
    let recovered = sound(&["recover", "@a.db", "recovered.db", "--json"]).json();
    assert_eq!(recovered["lossless"], true, "{recovered}");
    program.judge(side, "recovered.db", &hashes.created);
    assert_eq!(
        program
            .session
            .everything()
            .iter()
            .find(|(name, _)| name == "a.db"),
        before.iter().find(|(name, _)| name == "a.db"),
        "copying changes nothing"
    );

    // In place.
    if how.full_text == "fts5" {
        sound(&["sql", "@a.db", CHANGE]);
        program.judge(side, "a.db", &hashes.changed);
    }
    let content = match how.full_text {
        "fts5" => &hashes.changed,
        _ => &hashes.created,
    };
    in_place(side, how, &program, content);
}

/// A new key and back, then the settings of version 4.
fn in_place(side: Side, how: &Configuration, program: &Program<'_>, content: &str) {
    let sound = |args: &[&str]| program.run(args).fine();
    if !how.name.contains("raw") {
        sound(&["rekey", "@a.db", "--new-key-file", "new"]);
        let new = how.clone().keyed("new");
        judge(side, &program.session.path("a.db"), &new, content);
        let old = program.run(&["verify", "@a.db"]);
        // Without a MAC a plaintext header vouches for any key.
        if !how.settings().contains("cipher_plaintext_header_size") {
            assert_eq!(old.code, Some(3), "the old key: {}", old.stderr);
        }
        std::fs::rename(program.session.path("key"), program.session.path("key.old"))
            .expect("renamed");
        std::fs::copy(program.session.path("new"), program.session.path("key")).expect("a key");
        sound(&["rekey", "@a.db", "--new-key-file", "key.old"]);
        std::fs::rename(program.session.path("key.old"), program.session.path("key"))
            .expect("renamed");
        judge(side, &program.session.path("a.db"), how, content);
    }
    sound(&["migrate", "@a.db", "--new-kdf-iter", "10"]);
    let v4 = Configuration::new("version 4").keyed(how.key.clone());
    let mut database = Side::SqlCipher.open(&program.session.path("a.db"), &v4);
    assert_eq!(database.get("PRAGMA integrity_check"), "ok");
    let faults = database.query("PRAGMA cipher_integrity_check");
    let faults: Vec<String> = faults.iter().flatten().map(text).collect();
    assert_eq!(faults, [""; 0], "cipher_integrity_check");
    assert_eq!(database.content_hash(), content, "content");
    assert_eq!(database.get("PRAGMA page_size"), "4096");
    database.close();
}
