//! Any bytes as pragmas, URI parameters, key text and SQL: an answer or an error,
//! never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pageseal::format::key_text::{parse_hex_key, parse_key, parse_salt};
use pageseal::pragma::attach::{attach_key, is_attach, vacuumed_schema};
use pageseal::pragma::sql::Tokens;
use pageseal::pragma::{command, uri};

fuzz_target!(|input: &[u8]| {
    let _ = parse_key(input);
    let _ = parse_hex_key(input);
    let _ = parse_salt(input);
    let _ = attach_key(input);
    let _ = is_attach(input);
    let _ = vacuumed_schema(input);
    let spans: usize = Tokens::new(input).map(|token| token.text.len()).sum();
    assert_eq!(spans, input.len(), "tokens cover the text");
    let mut parts = input.split(|&byte| byte == b'=');
    let name = parts.next().unwrap_or_default();
    let value = parts.next();
    let _ = command::parse(&String::from_utf8_lossy(name), value);
    let _ = uri::parse([(name, value.unwrap_or_default())]);
});
