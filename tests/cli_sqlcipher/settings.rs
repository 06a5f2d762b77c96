//! What `probe` finds out about files of SQLCipher's, and how long it takes.

use std::time::{Duration, Instant};

use pageseal::format::derive;
use pageseal::{HashAlgorithm, Key, Settings};

use crate::configuration::Configuration;
use crate::content::hashes;
use crate::database::Side;
use crate::program::Program;

/// What the derivations of presets 1 and 2, 3, and 4 take here and now, in this order.
fn derivations() -> [Duration; 3] {
    [
        (HashAlgorithm::Sha1, 4_000),
        (HashAlgorithm::Sha1, 64_000),
        (HashAlgorithm::Sha512, 256_000),
    ]
    .map(|(kdf_algorithm, kdf_iter)| {
        let mut settings = Settings::default();
        settings.kdf_algorithm = kdf_algorithm;
        settings.kdf_iter = kdf_iter;
        let start = Instant::now();
        derive(&Key::passphrase("any"), &settings, &[7; 16]).expect("keys");
        start.elapsed()
    })
}

/// Finds the settings, opens the file with them as options, and as pragmas in SQLCipher.
fn probe(how: &Configuration, side: Side, most: usize) {
    let program = Program::with_database_of(side, how);
    let json = program
        .run(&["probe", "a.db", "--json", "--threads", "1"])
        .fine()
        .json();
    // In one thread no derivation is made in vain.
    assert_eq!(json["derivations"], most, "{json}");
    let derivations: Duration = derivations().iter().take(most).sum();
    let seconds = json["seconds"].as_f64().expect("a number");
    let rest = seconds - derivations.as_secs_f64();
    eprintln!(
        "{}: {seconds:.3} s, of which {most} derivations take {:.3} s",
        how.name,
        derivations.as_secs_f64()
    );
    // Others may work on this machine meanwhile: what the derivations took is not exact.
    assert!(
        rest < 1.0 + derivations.as_secs_f64() / 2.0,
        "{}: {rest} s",
        how.name
    );

    let options = json["options"].as_str().expect("options").to_owned();
    let options: Vec<&str> = options.split(' ').collect();
    program
        .run(&[&["verify", "a.db"], &options[..]].concat())
        .fine();
    let pragmas: Vec<&str> = json["pragmas"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|line| line.as_str().expect("a pragma"))
        .collect();
    let mut peer = crate::peer::Peer::spawn();
    let path = program.session.path("a.db");
    peer.open("db", path, Some(&how.key)).expect("opens");
    peer.exec("db", &pragmas.concat()).expect("runs");
    let (hash, _) = peer
        .content_hash("db")
        .expect("SQLCipher opens it with these pragmas");
    assert_eq!(hash, hashes(how).created, "{}", how.name);
}

#[test]
fn version_1_with_1024_byte_pages_4000_iterations_and_no_hmac() {
    let how = Configuration::preset("version 1", 1, 1024);
    probe(&how, Side::SqlCipher, 1);
    probe(&how.clone().with_fts4(), Side::Shell, 1);
}

#[test]
fn version_4_without_hmac() {
    probe(
        &Configuration::preset("version 4, no HMAC", 4, 4096).without_hmac(),
        Side::SqlCipher,
        3,
    );
}

#[test]
fn version_3() {
    let how = Configuration::preset("version 3", 3, 1024);
    probe(&how.with_fts4(), Side::Shell, 2);
}

#[test]
fn beta_of_version_2() {
    let how = Configuration::preset("beta of version 2", 2, 1024)
        .with("fast_kdf_iter", 4000)
        .with("cipher_hmac_salt_mask", "\"x'00'\"");
    probe(&how, Side::SqlCipher, 1);
}
