//! The SQL surface, in the same words on both sides: what SQLCipher answers is what
//! we answer, except where a line says that we differ, what we answer, and which line of
//! `tests/behaviour/behaviour.md` it is for.

use std::path::{Path, PathBuf};

use crate::database::{Database, Side};
use crate::ours::Ours;
use crate::peer::{PeerError, Rows, Value};
use crate::theirs::Theirs;

/// What the database is, before the first statement.
#[derive(Clone, Copy)]
enum On {
    /// No file.
    New,
    /// A version 4 file, keyed `key`, opened without a key.
    Encrypted,
    /// A plaintext database.
    Plain,
}

/// A statement, and how we differ from SQLCipher, if we do.
struct Line {
    sql: &'static str,
    ours: Option<(Answer, &'static str)>,
}

/// What a statement comes to: its rows' values as lines of text, or its code.
#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Lines(Vec<String>),
    Error(i32),
}

fn same(sql: &'static str) -> Line {
    Line { sql, ours: None }
}

fn refused(sql: &'static str, why: &'static str) -> Line {
    differs(sql, Answer::Error(1), why)
}

fn differs(sql: &'static str, ours: Answer, why: &'static str) -> Line {
    Line {
        sql,
        ours: Some((ours, why)),
    }
}

fn lines(lines: &[&str]) -> Answer {
    Answer::Lines(lines.iter().map(|&line| line.to_owned()).collect())
}

fn answer(result: Result<Rows, PeerError>) -> Answer {
    match result {
        // One text of several lines is what several rows are where only one fits.
        Ok(rows) => Answer::Lines(
            rows.into_iter()
                .flatten()
                .flat_map(|value| match value {
                    Value::Null => vec!["NULL".to_owned()],
                    // Told from a text of digits, which is what pragmas answer.
                    Value::Integer(number) => vec![format!("integer {number}")],
                    Value::Real(number) => vec![number.to_string()],
                    Value::Text(text) => text.split('\n').map(str::to_owned).collect(),
                    Value::Blob(bytes) => vec![format!("{bytes:?}")],
                })
                .collect(),
        ),
        Err(error) => Answer::Error(error.code),
    }
}

struct Stage {
    dir: tempfile::TempDir,
    encrypted: PathBuf,
    plain: PathBuf,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let encrypted = dir.path().join("encrypted.db");
        let plain = dir.path().join("plain.db");
        let make = "CREATE TABLE t(a); INSERT INTO t VALUES(7)";
        let mut database = Theirs::open_unkeyed(&encrypted);
        database.exec("PRAGMA key='key'");
        database.exec(make);
        Box::new(database).close();
        let mut database = Theirs::open_unkeyed(&plain);
        database.exec(make);
        Box::new(database).close();
        Self {
            dir,
            encrypted,
            plain,
        }
    }

    fn path(&self, on: On, side: Side) -> PathBuf {
        let dir = tempfile::tempdir_in(self.dir.path()).unwrap().keep();
        let path = dir.join(format!("{side:?}.db"));
        match on {
            On::New => {}
            On::Encrypted => drop(std::fs::copy(&self.encrypted, &path).unwrap()),
            On::Plain => drop(std::fs::copy(&self.plain, &path).unwrap()),
        }
        path
    }

    fn run(&self, on: On, script: &[Line]) {
        let open = |path: &Path, side| -> Box<dyn Database> {
            match side {
                Side::Pageseal => Box::new(Ours::open_unkeyed(path)),
                Side::SqlCipher | Side::Shell => Box::new(Theirs::open_unkeyed(path)),
            }
        };
        let ours = self.path(on, Side::Pageseal);
        let theirs = self.path(on, Side::SqlCipher);
        let (mut ours, mut theirs) = (open(&ours, Side::Pageseal), open(&theirs, Side::SqlCipher));
        let mut before = String::new();
        for line in script {
            let right = answer(theirs.try_query(line.sql));
            let found = answer(ours.try_query(line.sql));
            match &line.ours {
                None => assert_eq!(found, right, "{before}{}", line.sql),
                Some((wanted, why)) => {
                    assert!(
                        include_str!("../behaviour/behaviour.md").contains(&format!("| {why} |")),
                        "no line of tests/behaviour/behaviour.md: {why}"
                    );
                    assert_eq!(found, *wanted, "{before}{} ({why})", line.sql);
                    assert_ne!(found, right, "no difference: {before}{}", line.sql);
                }
            }
            before.push_str(line.sql);
            before.push_str("; ");
        }
    }
}

const READ: &str = "SELECT count(*) FROM sqlite_schema";
const NAMED: &str = "`cipher_version`";
const CLEAR: &str = "a value that means nothing is guessed at, or overlooked";
const REFUSED: &str = "after a key that can't be used a new database is plaintext";
const STATUS: &str = "error 26 says nothing more";
const MASK: &str = "`cipher_hmac_salt_mask` changes how other databases of the process are opened";

#[test]
fn keys() {
    let stage = Stage::new();
    let status = || {
        lines(&[
            "0: wrong key or settings (or page 1 is damaged, or the file is not a SQLCipher database)",
        ])
    };
    for script in [
        vec![same("PRAGMA key = 'key'"), same(READ)],
        vec![same("PRAGMA key('key')"), same(READ)],
        vec![same("PRAGMA main.key = \"key\""), same(READ)],
        vec![same("PRAGMA KEY = key"), same(READ)],
        vec![
            same("PRAGMA key = 'bad'"),
            same(READ),
            differs("PRAGMA cipher_status", status(), STATUS),
            same("PRAGMA key = 'key'"),
            same(READ),
            same("PRAGMA cipher_status"),
        ],
        vec![
            same("PRAGMA key = 'key'"),
            same(READ),
            same("PRAGMA key = 'bad'"),
            same(READ),
        ],
        vec![
            same("PRAGMA key = 'key'"),
            same("PRAGMA key = 'bad'"),
            same(READ),
        ],
        vec![same("PRAGMA key = ''"), same(READ)],
        vec![
            same("PRAGMA key = 'bad'"),
            same("PRAGMA cipher_migrate"),
            same("PRAGMA key = 'key'"),
            same("PRAGMA cipher_migrate"),
            same(READ),
        ],
        vec![same("PRAGMA key"), same(READ)],
        vec![same("PRAGMA hexkey = '6b6579'"), same(READ)],
        vec![same("PRAGMA hexkey = '6B6579'"), same(READ)],
        vec![same("PRAGMA hexkey = 'zz'"), same(READ)],
        vec![refused("PRAGMA hexkey = '6b6'", CLEAR)],
        vec![same("PRAGMA textkey = 'key'"), same(READ)],
        vec![same("PRAGMA textkey = ''"), same(READ)],
        vec![same("PRAGMA key = 123"), same(READ)],
        vec![same("PRAGMA key = x'6b6579'"), same(READ)],
        vec![same(READ), same("PRAGMA key = 'key'"), same(READ)],
    ] {
        stage.run(On::Encrypted, &script);
    }
    stage.run(On::Plain, &[same("PRAGMA key = 'key'"), same(READ)]);
    stage.run(
        On::Plain,
        &[same(READ), same("PRAGMA key = 'key'"), same(READ)],
    );
    stage.run(On::Plain, &[same("PRAGMA key = ''"), same(READ)]);
    stage.run(On::New, &[same("PRAGMA key = ''"), same(READ)]);
    stage.run(
        On::New,
        &[
            same("PRAGMA key = ''"),
            differs("CREATE TABLE t(a)", Answer::Error(10), REFUSED),
            same("PRAGMA key = 'key'"),
            differs("CREATE TABLE t(a)", lines(&[]), REFUSED),
            differs("SELECT count(*) FROM t", lines(&["integer 0"]), REFUSED),
        ],
    );
}

#[test]
fn getters() {
    let stage = Stage::new();
    let names = [
        "cipher_settings",
        "cipher_default_settings",
        "cipher_version",
        "cipher_page_size",
        "kdf_iter",
        "cipher_use_hmac",
        "cipher_hmac_algorithm",
        "cipher_kdf_algorithm",
        "cipher_plaintext_header_size",
        "cipher_hmac_pgno",
        "cipher_hmac_salt_mask",
        "fast_kdf_iter",
        "cipher_compatibility",
        "cipher",
        "cipher_default_page_size",
        "cipher_default_kdf_iter",
        "cipher_default_use_hmac",
        "cipher_default_hmac_algorithm",
        "cipher_default_kdf_algorithm",
        "cipher_default_plaintext_header_size",
        "cipher_default_compatibility",
        "cipher_store_pass",
        "cipher_fips_status",
        "cipher_log",
        "cipher_profile",
        "cipher_add_random",
        "cipher_integrity_check",
        "cipher_nosuch",
        "rekey_cipher",
        "rekey_kdf_iter",
        "key",
        "rekey",
        "hexkey",
        "textkey",
        "page_size",
        "secure_delete",
        "journal_mode",
        "cipher_status",
    ];
    let pragmas: Vec<&'static str> = names
        .iter()
        .map(|name| &*format!("PRAGMA {name}").leak())
        .collect();
    let all = || pragmas.iter().copied().map(same);
    stage.run(On::New, &all().collect::<Vec<_>>());
    stage.run(On::Plain, &all().collect::<Vec<_>>());
    let keyed = || std::iter::once(same("PRAGMA key='key'"));
    stage.run(On::New, &keyed().chain(all()).collect::<Vec<_>>());
    let used = keyed().chain([same(READ), same("PRAGMA cipher_salt")]);
    let ours = [
        differs("PRAGMA cipher_provider", lines(&["pageseal"]), NAMED),
        differs(
            "PRAGMA cipher_provider_version",
            lines(&[concat!(
                "pageseal ",
                env!("CARGO_PKG_VERSION"),
                " (RustCrypto)"
            )]),
            NAMED,
        ),
        same("PRAGMA cipher_migrate"),
    ];
    stage.run(
        On::Encrypted,
        &used.chain(all()).chain(ours).collect::<Vec<_>>(),
    );
}

#[test]
fn setters() {
    let stage = Stage::new();
    for (setter, getter) in [
        ("PRAGMA cipher_page_size = 1024", "PRAGMA cipher_page_size"),
        (
            "PRAGMA cipher_page_size = '65536'",
            "PRAGMA cipher_page_size",
        ),
        ("PRAGMA page_size = 2048", "PRAGMA cipher_page_size"),
        ("PRAGMA kdf_iter = 1000", "PRAGMA kdf_iter"),
        ("PRAGMA cipher_use_hmac = off", "PRAGMA cipher_use_hmac"),
        ("PRAGMA cipher_use_hmac = 1", "PRAGMA cipher_use_hmac"),
        (
            "PRAGMA cipher_hmac_algorithm = HMAC_SHA1",
            "PRAGMA cipher_hmac_algorithm",
        ),
        (
            "PRAGMA cipher_hmac_algorithm = hmac_sha256",
            "PRAGMA cipher_hmac_algorithm",
        ),
        (
            "PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_SHA1",
            "PRAGMA cipher_kdf_algorithm",
        ),
        ("PRAGMA cipher_hmac_pgno = be", "PRAGMA cipher_hmac_pgno"),
        ("PRAGMA cipher_hmac_pgno = LE", "PRAGMA cipher_hmac_pgno"),
        ("PRAGMA fast_kdf_iter = 4000", "PRAGMA fast_kdf_iter"),
        ("PRAGMA cipher_compatibility = 3", "PRAGMA cipher_settings"),
        ("PRAGMA cipher_compatibility = 1", "PRAGMA cipher_settings"),
        ("PRAGMA cipher_store_pass = 1", "PRAGMA cipher_version"),
        ("PRAGMA cipher = 'rc4'", "PRAGMA cipher"),
        ("PRAGMA rekey_cipher = 'aes-256-cbc'", "PRAGMA cipher"),
        ("PRAGMA rekey_kdf_iter = 5", "PRAGMA kdf_iter"),
        (
            "PRAGMA cipher_add_random = \"x'0102'\"",
            "PRAGMA cipher_add_random",
        ),
        (
            "PRAGMA cipher_add_random = 'abc'",
            "PRAGMA cipher_add_random",
        ),
        // (Of the whole process: no other test here asks for them.)
        ("PRAGMA cipher_log_level = WARN", "PRAGMA cipher_log_level"),
        (
            "PRAGMA cipher_log_level = nonsense",
            "PRAGMA cipher_log_level",
        ),
        (
            "PRAGMA cipher_log_source = CORE",
            "PRAGMA cipher_log_source",
        ),
        ("PRAGMA cipher_log_source = ANY", "PRAGMA cipher_log_source"),
        ("PRAGMA cipher_log = off", "PRAGMA cipher_log_level"),
        (
            "PRAGMA cipher_memory_security = off",
            "PRAGMA cipher_memory_security",
        ),
        (
            "PRAGMA cipher_salt = \"x'000102030405060708090a0b0c0d0e0f'\"",
            "PRAGMA cipher_salt",
        ),
    ] {
        // Before the key they do nothing, after it they count.
        stage.run(On::New, &[same(setter), same(getter)]);
        stage.run(
            On::New,
            &[
                same("PRAGMA key='key'"),
                same(setter),
                same(getter),
                same("CREATE TABLE t(a)"),
                same("SELECT count(*) FROM t"),
            ],
        );
        // On an existing file they must be the right ones, and once it is in use they
        // are overlooked.
        stage.run(
            On::Encrypted,
            &[
                same("PRAGMA key='key'"),
                same(setter),
                same(getter),
                same(READ),
            ],
        );
        if !setter.contains("hmac_pgno") {
            stage.run(
                On::Encrypted,
                &[
                    same("PRAGMA key='key'"),
                    same(READ),
                    same(setter),
                    same(getter),
                    same(READ),
                ],
            );
        }
    }
    for setter in [
        "PRAGMA cipher_page_size = 1000",
        "PRAGMA page_size = 1000",
        "PRAGMA kdf_iter = 0",
        "PRAGMA kdf_iter = abc",
        "PRAGMA cipher_hmac_algorithm = FOO",
        "PRAGMA cipher_kdf_algorithm = SHA1",
        "PRAGMA cipher_compatibility = 9",
        "PRAGMA cipher_salt = abc",
    ] {
        stage.run(On::New, &[same("PRAGMA key='key'"), refused(setter, CLEAR)]);
    }
}

/// SQLCipher's mask is of the whole process: databases that know nothing of it are
/// opened with it too.
#[test]
fn the_mask_is_of_one_database() {
    let stage = Stage::new();
    let other = stage.encrypted.display();
    let attach: &'static str = format!("ATTACH '{other}' AS other KEY 'key'").leak();
    stage.run(
        On::New,
        &[
            same("PRAGMA key='key'"),
            same("PRAGMA cipher_hmac_salt_mask = \"x'00'\""),
            same("PRAGMA cipher_hmac_salt_mask"),
            differs(attach, Answer::Lines(Vec::new()), MASK),
        ],
    );
}

#[test]
fn without_hmac_there_is_nothing_to_check() {
    Stage::new().run(
        On::New,
        &[
            same("PRAGMA key='key'"),
            same("PRAGMA cipher_use_hmac=OFF"),
            same("CREATE TABLE t(a)"),
            same("PRAGMA cipher_integrity_check"),
        ],
    );
}

#[test]
fn attach_vacuum_and_rekey() {
    let stage = Stage::new();
    let sides = |script: &[&'static str]| script.iter().copied().map(same).collect::<Vec<_>>();
    stage.run(
        On::Encrypted,
        &sides(&[
            "PRAGMA key='key'",
            "SELECT a FROM t",
            "PRAGMA rekey = 'new'",
            "SELECT a FROM t",
            "PRAGMA rekey = ''",
            "PRAGMA hexrekey = '616263'",
            "PRAGMA hexrekey = 'zz'",
            "PRAGMA textrekey = 'last'",
            "INSERT INTO t VALUES(8)",
            "SELECT a FROM t",
            "PRAGMA integrity_check",
            "PRAGMA cipher_integrity_check",
        ]),
    );
    stage.run(On::Plain, &sides(&["PRAGMA rekey = 'new'", READ]));
    stage.run(
        On::Encrypted,
        &sides(&["PRAGMA key='bad'", "PRAGMA rekey = 'new'", READ]),
    );
    stage.run(
        On::Encrypted,
        &sides(&[
            "PRAGMA key='key'",
            READ,
            "ATTACH ':memory:' AS m KEY 'k'",
            "ATTACH 'x' AS n KEY 123",
            "PRAGMA nosuch.key = 'x'",
            "PRAGMA auto_vacuum",
            "VACUUM",
            "SELECT a FROM t",
        ]),
    );
}
