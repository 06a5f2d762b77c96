//! `ATTACH` statements and their keys. `tests/attach_key.rs` compares with SQLite.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::sql::{quote_blob, quote_text};
use super::*;

fn literal(key: &str) -> AttachKey {
    AttachKey::Literal(Zeroizing::new(key.as_bytes().to_vec()))
}

const fn doubt(doubt: Doubt) -> AttachKey {
    AttachKey::CannotTell(doubt)
}

fn check(cases: impl IntoIterator<Item = (&'static str, AttachKey)>) {
    for (sql, expected) in cases {
        let found = attach_key(sql.as_bytes());
        assert!(found == expected, "{sql}\n{found:?}, not {expected:?}");
    }
}

#[test]
fn no_attach() {
    for sql in [
        "",
        "   ",
        ";",
        "--ATTACH 'a' AS b KEY 'c'",
        "-- ATTACH 'a' AS b\nSELECT 1",
        "/* ATTACH",
        "SELECT 1",
        "EXPLAIN ATTACH 'f' AS x KEY 'k'",
        "explain query plan ATTACH 'f' AS x KEY 'k'",
        "DETACH x",
        "ATTACHED 'f' AS x",
        "\"ATTACH\" 'f' AS x KEY 'k'",
        "VACUUM INTO 'f'",
        "'ATTACH'",
        "\0ATTACH 'f' AS x",
    ] {
        assert_eq!(attach_key(sql.as_bytes()), AttachKey::NotAttach, "{sql}");
        assert!(!is_attach(sql.as_bytes()), "{sql}");
    }
}

#[test]
fn without_key() {
    for sql in [
        "ATTACH 'f' AS x",
        "ATTACH DATABASE 'f' AS x",
        "attach database 'f' as x;",
        "ATTACH 'f' AS x -- KEY 'k'",
        "ATTACH 'f' AS x /* KEY 'k'",
        "ATTACH 'f' AS x; KEY 'k'",
        "ATTACH 'f' AS key",
        "ATTACH 'f' AS \"KEY\"",
        "ATTACH key AS key",
        "ATTACH 'a KEY ''k''' AS x",
        "ATTACH 'f' AS 'x KEY y'",
        "ATTACH 'a'||'b KEY ' AS x",
        "ATTACH \"a AS b KEY c\" AS [x KEY y]",
        "ATTACH CASE key WHEN 1 THEN 'a' ELSE 'b' END AS x",
        "ATTACH CASE WHEN 1 THEN end ELSE key END AS x",
        "ATTACH CAST('f' AS TEXT) AS x",
        "ATTACH (SELECT key AS key FROM (SELECT 'f' AS key) AS t) AS x",
        "ATTACH 'f' COLLATE key AS x",
        "ATTACH 'f' IS NOT DISTINCT FROM key AS x",
        "ATTACH 'f' NOT NULL AS x",
        "ATTACH 'f' ISNULL AS x",
        "ATTACH NOT key AS x",
        "ATTACH f(x'00') FILTER (WHERE a AS b) OVER key AS x",
        "ATTACH 'f' NOT LIKE 'g' ESCAPE 'h' AS x",
        "ATTACH 'f' BETWEEN 'a' AND 'z' AS x",
        "ATTACH 'f' NOT IN (1, 2) AS x",
        "ATTACH 'f' IN key AS x",
        "ATTACH 'f' NOT GLOB key AS x",
        "ATTACH like AS glob",
        "ATTACH 'f' IS NOT like AS x",
        "ATTACH EXISTS (SELECT 1) AS x",
        "ATTACH 'f' -> 'a' ->> 'b' AS x",
        "ATTACH ?1 AS :name",
        "ATTACH 'f' AS vacuum_0123456789abcdef",
        ";; ATTACH 'f' AS x",
        "\u{feff}-- comment\n/* another */ ATTACH\n'f'\nAS\nx\n",
        "-- ATTACH 'f' AS vacuum_0123456789abcdef",
    ] {
        assert_eq!(attach_key(sql.as_bytes()), AttachKey::NoKey, "{sql}");
        assert!(is_attach(sql.as_bytes()), "{sql}");
    }
}

#[test]
fn texts() {
    check([
        ("ATTACH 'f' AS x KEY 'k'", literal("k")),
        ("attach database 'f' as x key 'k';", literal("k")),
        ("ATTACH'f'AS'x'KEY'k'", literal("k")),
        ("ATTACH 'f' AS x KEY 'it''s'", literal("it's")),
        ("ATTACH 'f' AS x KEY 'say \"x\"'", literal("say \"x\"")),
        ("ATTACH 'f' AS x KEY 'пароль'", literal("пароль")),
        ("ATTACH 'f' AS x KEY ' k '", literal(" k ")),
        ("ATTACH 'f' AS x KEY 'a\n-- b'", literal("a\n-- b")),
        ("ATTACH 'f' AS x KEY '; -- /*'", literal("; -- /*")),
        ("ATTACH 'f' AS x KEY/**/'k'--", literal("k")),
        ("ATTACH 'f' AS x KEY 'k' /* AS y KEY 'z'", literal("k")),
        (
            "ATTACH 'f' AS x KEY 'k'; ATTACH 'g' AS y KEY 'z'",
            literal("k"),
        ),
        ("ATTACH 'f' AS x KEY ('k')", literal("k")),
        ("ATTACH 'f' AS x KEY (('k'))", literal("k")),
        ("ATTACH 'f' AS x KEY +'k'", literal("k")),
        ("ATTACH 'f' AS x KEY +(+'k')", literal("k")),
        ("ATTACH 'f' AS x KEY 'a'||'b'", literal("ab")),
        ("ATTACH 'f' AS x KEY 'a'||('b'||'')||'c'", literal("abc")),
        ("ATTACH 'f' AS x KEY ('a')||(\"b\")", literal("ab")),
        ("ATTACH 'a'||'b KEY ' AS x KEY 'k'", literal("k")),
        ("ATTACH key AS key KEY 'k'", literal("k")),
        ("ATTACH 'f' AS key KEY key", literal("key")),
        ("ATTACH 'f' AS x KEY 'x''ab'''", literal("x'ab'")),
        (
            "ATTACH CASE 1 WHEN 1 THEN 'AS' END AS x KEY 'k'",
            literal("k"),
        ),
        (
            "ATTACH CAST(? AS TEXT) AS CAST(? AS TEXT) KEY 'k'",
            literal("k"),
        ),
        ("ATTACH \" AS \" AS [ KEY ] KEY 'k'", literal("k")),
        ("ATTACH 'f' AS x COLLATE key KEY 'k'", literal("k")),
        ("ATTACH 'f' AS a.key KEY 'k'", literal("k")),
    ]);
}

#[test]
fn names_are_texts() {
    check([
        ("ATTACH 'f' AS x KEY \"k\"", literal("k")),
        ("ATTACH 'f' AS x KEY \"x'ab'\"", literal("x'ab'")),
        ("ATTACH 'f' AS x KEY \"a\"\"b\"", literal("a\"b")),
        ("ATTACH 'f' AS x KEY [a b]", literal("a b")),
        ("ATTACH 'f' AS x KEY `k`", literal("k")),
        ("ATTACH 'f' AS x KEY secret", literal("secret")),
        ("ATTACH 'f' AS x KEY Secret", literal("Secret")),
        ("ATTACH 'f' AS x KEY (secret)", literal("secret")),
        ("ATTACH 'f' AS x KEY true", literal("true")),
        ("ATTACH 'f' AS x KEY +\"k\"", literal("k")),
        ("ATTACH 'f' AS x KEY \"\"", AttachKey::Empty),
        ("ATTACH 'f' AS x KEY \"null\"", literal("null")),
        ("ATTACH 'f' AS x KEY +true", AttachKey::Numeric),
        ("ATTACH 'f' AS x KEY +secret", doubt(Doubt::Expression)),
        ("ATTACH 'f' AS x KEY +[k]", doubt(Doubt::Expression)),
    ]);
}

#[test]
fn blobs_numbers_and_nothing() {
    check([
        ("ATTACH 'f' AS x KEY x'6162'", literal("ab")),
        ("ATTACH 'f' AS x KEY X'00'", literal("\0")),
        ("ATTACH 'f' AS x KEY ''", AttachKey::Empty),
        ("ATTACH 'f' AS x KEY x''", AttachKey::Empty),
        ("ATTACH 'f' AS x KEY ('')", AttachKey::Empty),
        ("ATTACH 'f' AS x KEY ''||''", AttachKey::Empty),
        ("ATTACH 'f' AS x KEY 123", AttachKey::Numeric),
        ("ATTACH 'f' AS x KEY 1.5e3", AttachKey::Numeric),
        ("ATTACH 'f' AS x KEY 0x10", AttachKey::Numeric),
        ("ATTACH 'f' AS x KEY -5", AttachKey::Numeric),
        ("ATTACH 'f' AS x KEY +5", AttachKey::Numeric),
        ("ATTACH 'f' AS x KEY - -5", AttachKey::Numeric),
        ("ATTACH 'f' AS x KEY (-5)", AttachKey::Numeric),
        ("ATTACH 'f' AS x KEY NULL", AttachKey::Null),
        ("ATTACH 'f' AS x KEY (null)", AttachKey::Null),
        ("ATTACH 'f' AS x KEY +NULL", AttachKey::Null),
    ]);
}

#[test]
fn not_to_be_told() {
    for key in ["?", "?1", ":k", "@k", "$k", "('a'||?)", "hex(?)"] {
        let sql = format!("ATTACH 'f' AS x KEY {key}");
        assert_eq!(attach_key(sql.as_bytes()), doubt(Doubt::Parameter), "{sql}");
    }
    for key in [
        "hex('ab')",
        "'a' || 1",
        "'a' || NULL",
        "'a' || x'62'",
        "x'61' || x'62'",
        "-'5'",
        "-NULL",
        "~5",
        "'a' COLLATE nocase",
        "CASE WHEN 1 THEN 'k' END",
        "CAST('k' AS BLOB)",
        "(SELECT 'k')",
        "('a', 'b')",
        "()",
        "'a' 'b'",
        "'a' ||",
        "current_time",
        "zeroblob(16)",
        "main.key",
        "NOT 'k'",
        "'a' = 'a'",
        "1 + 1",
        "'a",
        "'k' KEY 'l'",
        "'k' AS y",
        ")",
        "(",
    ] {
        let sql = format!("ATTACH 'f' AS x KEY {key}");
        assert_eq!(
            attach_key(sql.as_bytes()),
            doubt(Doubt::Expression),
            "{sql}"
        );
    }
    for sql in [
        "ATTACH",
        "ATTACH DATABASE",
        "ATTACH 'f'",
        "ATTACH 'f' AS",
        "ATTACH AS x",
        "ATTACH 'f' x KEY 'k'",
        "ATTACH 'f' AS x KEY",
        "ATTACH 'f' KEY 'k'",
        "ATTACH 'f' KEY 'k' AS x",
        "ATTACH 'f' AS x AS y",
        "ATTACH ('f' AS x KEY 'k'",
        "ATTACH 'f') AS x KEY 'k'",
        "ATTACH CASE 'f' AS x KEY 'k'",
        "ATTACH 'f', 'g' AS x",
        "ATTACH 'f' AS x y",
        "ATTACH 'f' AS x 'KEY'",
        "ATTACH 'f' AS x \"KEY\" 'k'",
        "ATTACH 'f' AS x USING 'k'",
        "ATTACH 'f AS x KEY 'k'",
        "ATTACH 'f' AS ^ KEY 'k'",
    ] {
        assert_eq!(attach_key(sql.as_bytes()), doubt(Doubt::Statement), "{sql}");
        assert!(is_attach(sql.as_bytes()));
    }
}

/// A running statement that runs inside another one shows its text with `-- ` before
/// each line and the parameters as they are.
#[test]
fn nested() {
    check([
        ("-- ATTACH 'f' AS x", AttachKey::NoKey),
        ("-- ATTACH 'f' AS x KEY 'k'", literal("k")),
        (
            "-- ATTACH 'f'\n-- AS x\n-- KEY 'a\n-- b'\n",
            literal("a\nb"),
        ),
        ("-- -- comment\n-- ATTACH 'f' AS x KEY 'k'", literal("k")),
        ("-- ATTACH ? AS ? KEY 'k'", literal("k")),
        ("-- ATTACH ? AS ?", AttachKey::NoKey),
        ("-- ATTACH 'f' AS x KEY ?", doubt(Doubt::Parameter)),
        ("-- ATTACH 'f' AS x KEY :key", doubt(Doubt::Parameter)),
        ("-- EXPLAIN ATTACH 'f' AS x KEY ?", AttachKey::NotAttach),
        // Not nested: comments of the program's own.
        (
            "-- attach\nATTACH 'f' AS x KEY 'a\n-- b'",
            literal("a\n-- b"),
        ),
        ("--\nATTACH 'f' AS x KEY 'k'", literal("k")),
    ]);
    assert!(is_attach(b"-- ATTACH 'f' AS x"));
    assert!(is_attach(b"-- hello\nATTACH 'f' AS x"));
    assert_eq!(vacuumed_schema(b"-- VACUUM INTO 'f'"), Some(b"main".into()));
}

#[test]
fn cut_off_values() {
    check([
        ("ATTACH 'f'/*+9 bytes*/ AS x KEY 'k'", literal("k")),
        (
            "ATTACH 'f' AS x KEY 'k'/*+9 bytes*/",
            doubt(Doubt::Truncated),
        ),
        (
            "ATTACH 'f' AS x KEY x'6162'/*+12 bytes*/;",
            doubt(Doubt::Truncated),
        ),
        ("ATTACH 'f' AS x KEY 'k'/* 9 bytes */", literal("k")),
    ]);
}

#[test]
fn vacuum() {
    for (sql, schema) in [
        ("VACUUM", "main"),
        ("vacuum aux INTO 'f'", "aux"),
        ("VACUUM \"a \"\"b\" INTO 'f'", "a \"b"),
        ("VACUUM 'x y'", "x y"),
        ("VACUUM INTO 'f'", "main"),
        ("/**/;VACUUM;", "main"),
        ("VACUUM;", "main"),
    ] {
        let found = vacuumed_schema(sql.as_bytes());
        assert_eq!(found.as_deref(), Some(schema.as_bytes()), "{sql}");
        assert!(!is_attach(sql.as_bytes()), "{sql}");
    }
    for sql in [
        "VACUUMS",
        "EXPLAIN VACUUM",
        "ATTACH 'VACUUM' AS x",
        "",
        "-- VACUUM\nSELECT 1",
    ] {
        assert_eq!(vacuumed_schema(sql.as_bytes()), None, "{sql}");
    }
}

#[test]
fn deep_and_long() {
    let deep = |n| format!("ATTACH 'f' AS x KEY {}'k'{}", "(".repeat(n), ")".repeat(n));
    assert_eq!(attach_key(deep(100).as_bytes()), literal("k"));
    assert_eq!(
        attach_key(deep(100_000).as_bytes()),
        doubt(Doubt::Expression)
    );
    let plus = format!("ATTACH 'f' AS x KEY {}'k'", "+".repeat(100_000));
    assert_eq!(attach_key(plus.as_bytes()), doubt(Doubt::Expression));
    let file = format!("ATTACH {}'f' AS x KEY 'k'", "'f'||".repeat(100_000));
    assert_eq!(attach_key(file.as_bytes()), literal("k"));
}

#[test]
fn debug_shows_no_key() {
    assert_eq!(format!("{:?}", literal("5ec4e7")), "Literal(..)");
    assert_eq!(
        format!("{:?}", doubt(Doubt::Parameter)),
        "CannotTell(Parameter)"
    );
    for doubt in [
        Doubt::Parameter,
        Doubt::Expression,
        Doubt::Truncated,
        Doubt::Statement,
    ] {
        assert!(doubt.to_string().contains("key"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes(sql in vec(any::<u8>(), 0..60)) {
        let _ = attach_key(&sql);
        let mut attach = b"ATTACH 'f' AS x KEY ".to_vec();
        attach.extend_from_slice(&sql);
        prop_assert_ne!(attach_key(&attach), AttachKey::NotAttach);
        prop_assert_ne!(attach_key(&attach), AttachKey::NoKey);
    }

    #[test]
    fn any_key(key in vec(1..=u8::MAX, 1..40), blob in vec(any::<u8>(), 1..40)) {
        for (quoted, key) in [(quote_text(&key), &key), (quote_blob(&blob), &blob)] {
            let sql = [b"ATTACH 'f' AS x KEY ".as_slice(), &quoted].concat();
            prop_assert!(attach_key(&sql) == AttachKey::Literal(Zeroizing::new(key.clone())));
        }
    }

    /// As SQLite writes the text of a nested statement.
    #[test]
    fn nested_is_the_same(key in "[a-z'\n -]{0,12}", split in "[ \n]{1,3}") {
        let quoted = quote_text(key.as_bytes());
        let quoted = core::str::from_utf8(&quoted).unwrap();
        let plain = format!("ATTACH{split}'f'{split}AS x KEY{split}{quoted}");
        let nested: String = plain.split_inclusive('\n').map(|line| format!("-- {line}")).collect();
        prop_assert!(attach_key(plain.as_bytes()) == attach_key(nested.as_bytes()));
    }
}
