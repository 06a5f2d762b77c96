//! The program on every compatibility vector: what SQLCipher found in a file is what
//! the program finds.

use std::fs;

use pageseal::Settings;
use rusqlite::Connection;

use crate::content_hash::content_hash;
use crate::manifest::{Vector, vector, vectors};
use crate::session::Session;

/// The options that open a vector; its key goes to the file `vector-key`.
fn options(session: &Session, vector: &Vector) -> Option<Vec<String>> {
    let mut key = vector.key_bytes()?;
    key.push(b'\n');
    fs::write(session.path("vector-key"), key).expect("a key file");
    let mut options = vec!["--key-file".to_owned(), "vector-key".to_owned()];
    options.extend(settings_options(&vector.settings()));
    if let Some(salt) = vector.salt() {
        options.extend(["--salt".to_owned(), hex::encode(salt)]);
    }
    Some(options)
}

fn settings_options(settings: &Settings) -> Vec<String> {
    let mut options = Vec::new();
    let mut add = |name: &str, value: String| options.extend([name.to_owned(), value]);
    add("--page-size", settings.page_size.to_string());
    add("--kdf-iter", settings.kdf_iter.to_string());
    add("--fast-kdf-iter", settings.fast_kdf_iter.to_string());
    add("--hmac-algorithm", settings.hmac_algorithm.to_string());
    add("--kdf-algorithm", settings.kdf_algorithm.to_string());
    add("--plaintext-header", settings.plaintext_header.to_string());
    let order = match settings.hmac_pgno {
        pageseal::PgnoOrder::Big => "be",
        _ => "le",
    };
    add("--hmac-pgno", order.to_owned());
    add(
        "--hmac-salt-mask",
        format!("{:02x}", settings.hmac_salt_mask),
    );
    options.push(
        if settings.use_hmac {
            "--hmac"
        } else {
            "--no-hmac"
        }
        .to_owned(),
    );
    options
}

fn run(session: &Session, command: &[&str], options: &[String]) -> crate::session::Answer {
    let options = options.iter().map(String::as_str);
    session.run(&command.iter().copied().chain(options).collect::<Vec<_>>())
}

fn keyed() -> impl Iterator<Item = (&'static Vector, Session, Vec<String>)> {
    vectors().iter().filter_map(|vector| {
        let session = Session::new();
        let options = options(&session, vector)?;
        vector.copy_to(session.path("").as_path());
        Some((vector, session, options))
    })
}

#[test]
fn decrypted_vectors_hold_what_sqlcipher_read() {
    let mut whole = 0;
    let results = Session::new();
    let plain = results.path("plain.db");
    for (vector, session, options) in keyed() {
        let name = vector.name();
        let before = session.everything();
        let out = plain.to_str().expect("UTF-8");
        let answer = run(&session, &["decrypt", "--force", "copy.db", out], &options);
        let code = match vector.class() {
            "ok" => 0,
            // A damaged page 1 is told from a wrong key, where others authenticate.
            "wrong_key_or_settings" if vector.pages() == [1] && name != "fault-salt" => 4,
            "wrong_key_or_settings" if name == "wrong-plaintext" => 5,
            "wrong_key_or_settings" => 3,
            _ => 4,
        };
        assert_eq!(answer.code, Some(code), "{name}: {}", answer.stderr);
        assert_eq!(
            session.everything(),
            before,
            "{name}: the source was changed"
        );
        if code != 0 {
            continue;
        }
        whole += 1;
        let db = Connection::open(&plain).expect("stock SQLite opens it");
        let hash = content_hash(&db, "main").expect("stock SQLite reads it");
        assert_eq!(hash.sha256, vector.expect()["content_hash"], "{name}");
        for pragma in [
            "page_count",
            "freelist_count",
            "auto_vacuum",
            "user_version",
            "application_id",
        ] {
            let value: i64 = db
                .query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
                .expect("a number");
            assert_eq!(vector.expect()[pragma], value, "{name}: {pragma}");
        }
    }
    assert!(whole > 60, "{whole} vectors");
}

#[test]
fn verification_finds_what_sqlcipher_found() {
    for (vector, session, options) in keyed() {
        let name = vector.name();
        let answer = run(&session, &["verify", "--json", "copy.db"], &options);
        let json = answer.json();
        match vector.class() {
            "ok" => {
                assert_eq!(answer.code, Some(0), "{name}: {json}");
                assert_eq!(json["bad_pages"], serde_json::json!([]), "{name}");
            }
            "damaged_pages" | "truncated" => {
                assert_eq!(answer.code, Some(4), "{name}: {json}");
                let number = |page: &serde_json::Value| page["page"].as_u64().map(|n| n as u32);
                let lists = ["bad_pages", "bad_wal_frames", "bad_journal_pages"];
                let mut found: Vec<u32> = lists
                    .iter()
                    .flat_map(|list| json[list].as_array().expect("a list"))
                    .filter_map(number)
                    .collect();
                let pages = json["pages"].as_u64().expect("pages") as u32;
                let missing = json["missing_pages"].as_u64().expect("pages") as u32;
                found.extend(pages + 1..=pages + missing);
                assert_eq!(found, vector.pages(), "{name}: {json}");
            }
            _ if vector.pages() == [1] && name != "fault-salt" => {
                assert_eq!(answer.code, Some(4), "{name}");
                assert_eq!(json["bad_pages"][0]["page"], 1, "{name}");
            }
            _ if name == "wrong-plaintext" => assert_eq!(answer.code, Some(5)),
            _ => assert_eq!(answer.code, Some(3), "{name}: {json}"),
        }
    }
}

#[test]
fn settings_are_found_from_the_key_alone() {
    for (vector, session, options) in keyed() {
        let name = vector.name();
        if name.starts_with("wrong") || name == "fault-salt" {
            continue;
        }
        let settings = vector.settings();
        let iterations = settings.kdf_iter.to_string();
        let mut args = vec!["probe", "--json", "copy.db", "--key-file", "vector-key"];
        args.extend(["--try-iterations", &iterations]);
        let salt = vector.salt().map(hex::encode);
        if let Some(salt) = &salt {
            args.extend(["--salt", salt]);
        }
        let answer = session.run(&args).fine();
        let found = &answer.json()["settings"];
        assert_eq!(found["cipher_page_size"], settings.page_size, "{name}");
        assert_eq!(found["cipher_use_hmac"], settings.use_hmac, "{name}");
        assert_eq!(
            found["cipher_plaintext_header_size"], settings.plaintext_header,
            "{name}"
        );
        if settings.use_hmac {
            let hmac = format!("HMAC_{}", settings.hmac_algorithm);
            assert_eq!(found["cipher_hmac_algorithm"], hmac, "{name}");
        }
        // And with what it says the file opens.
        let said = answer.json()["options"]
            .as_str()
            .expect("options")
            .to_owned();
        let said = said.split(' ').map(str::to_owned);
        let key = options[..2].iter().cloned();
        let options: Vec<_> = key.chain(said).collect();
        let verified = run(&session, &["verify", "copy.db"], &options);
        let damaged = vector.class() != "ok";
        assert_eq!(
            verified.code,
            Some(if damaged { 4 } else { 0 }),
            "{name}: {}",
            verified.stderr
        );
    }
}

#[test]
fn decrypted_vectors_are_encrypted_again_page_for_page() {
    for (vector, session, options) in keyed() {
        let name = vector.name();
        // A salt inside a raw key stays with it; a page 1 all in plaintext is not sealed.
        if vector.class() != "ok" || name.starts_with("unauthenticated") {
            continue;
        }
        run(&session, &["decrypt", "copy.db", "plain.db"], &options).fine();
        let answer = run(
            &session,
            &["encrypt", "--json", "plain.db", "again.db"],
            &options,
        );
        let json = answer.fine().json();
        assert_eq!(json["page_for_page"], true, "{name}");
        run(&session, &["diff", "copy.db", "again.db"], &options).fine();
        run(&session, &["verify", "again.db"], &options).fine();
    }
}

#[test]
fn recovery_of_whole_vectors_loses_nothing() {
    for (vector, session, options) in keyed() {
        let name = vector.name();
        if vector.class() != "ok" {
            continue;
        }
        let answer = run(
            &session,
            &["recover", "--plain", "--json", "copy.db", "out.db"],
            &options,
        );
        let json = answer.fine().json();
        assert_eq!(json["lossless"], true, "{name}: {json}");
        let db = Connection::open(session.path("out.db")).expect("stock SQLite opens it");
        let hash = content_hash(&db, "main").expect("stock SQLite reads it");
        assert_eq!(hash.sha256, vector.expect()["content_hash"], "{name}");
        let check: String = db
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .expect("a check");
        assert_eq!(check, "ok", "{name}");
    }
}

/// A 1024-page, 4 000-iteration file without HMAC, and version 4 with HMAC off, come
/// out after the derivations that they need and next to nothing else.
#[test]
fn one_derivation_covers_all_but_hash_and_iterations() {
    for (name, most) in [
        ("preset-1", 1),
        ("v1-page-4096", 1),
        ("preset-3", 2),
        ("preset-4", 3),
    ] {
        let session = Session::new();
        vector(name).copy_to(session.path("").as_path());
        let args = [
            "probe",
            "--json",
            "copy.db",
            "--key-file",
            "key",
            "--threads",
            "1",
        ];
        let json = session.run(&args).fine().json();
        assert!(json["derivations"].as_u64() <= Some(most), "{name}: {json}");
    }
}
