//! `sqlcipher_export`, checked by stock SQLite on the files that it makes.

#[path = "support/content_hash.rs"]
mod content_hash;
#[path = "export/encrypted.rs"]
mod encrypted;
#[path = "export/failing.rs"]
mod failing;
#[path = "export/faithful.rs"]
mod faithful;
#[path = "export/fixture.rs"]
mod fixture;
#[path = "export/merging.rs"]
mod merging;
#[path = "export/settings.rs"]
mod settings;
