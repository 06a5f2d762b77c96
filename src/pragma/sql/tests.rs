//! The lexer against a table, against any bytes, and quoting there and back.

use proptest::collection::vec;
use proptest::prelude::*;

use super::TokenKind::*;
use super::*;

fn tokens(sql: &str) -> Vec<(TokenKind, &str)> {
    Tokens::new(sql.as_bytes())
        .map(|token| (token.kind, core::str::from_utf8(token.text).unwrap()))
        .collect()
}

#[test]
fn one_token() {
    for (kind, all) in [
        (Space, vec![" ", "\t\n\r\x0c ", " \x0b ", "\u{feff}"]),
        (
            Comment,
            vec![
                "--", "-- x", "--'", "/* */", "/* ' */", "/* open", "/***/", "/* * /", "/*a",
            ],
        ),
        (
            Word,
            vec![
                "a",
                "KEY",
                "_x1",
                "a$b",
                "пароль",
                "x",
                "X1",
                "xyz",
                "naïve",
                "é",
            ],
        ),
        (
            Quoted,
            vec![
                "\"\"",
                "\"a\"\"b\"",
                "`a``b`",
                "[a b]",
                "[]",
                "[it's \"]",
                "\"x'ab'\"",
            ],
        ),
        (
            Text,
            vec!["''", "'a'", "'it''s'", "''''", "'-- no'", "'/*'", "'a\nb'"],
        ),
        (Blob, vec!["x''", "X'aB01'"]),
        (
            Number,
            vec![
                "0", "123", "1.5", "1.", ".5", "1e5", "1E+5", "1.5e-3", "0x1F", "0X0", "1_000",
                "0x1_0",
            ],
        ),
        (
            Parameter,
            vec![
                "?", "?12", ":a", "@b", "$c", "$a::b", "#f", ":1", "$a::b(c)",
            ],
        ),
        (
            Operator,
            vec![
                "+", "-", "*", "/", "%", "=", "==", "<", "<=", "<>", "<<", ">", ">=", ">>", "!=",
                "|", "||", "&", "~", "->", "->>", ",", ".",
            ],
        ),
        (LeftParen, vec!["("]),
        (RightParen, vec![")"]),
        (Semicolon, vec![";"]),
        (
            Illegal,
            vec![
                "'", "'a", "'a''", "\"a", "`", "[a", "x'", "x'a'", "x'0g'", "x'abc'", "12a",
                "1.5x", "0x1G", "!", "^", "{", "\\", ":", "@", "$", "$a(b", "\0", "\0rest",
                "\u{1}", "\x0b",
            ],
        ),
    ] {
        for sql in all {
            assert_eq!(tokens(sql), [(kind, sql)], "{sql:?}");
        }
    }
}

#[test]
fn several_tokens() {
    for (sql, expected) in [
        (
            "a--b\nc",
            vec![(Word, "a"), (Comment, "--b"), (Space, "\n"), (Word, "c")],
        ),
        ("a/**/b", vec![(Word, "a"), (Comment, "/**/"), (Word, "b")]),
        ("/*/ */x", vec![(Comment, "/*/ */"), (Word, "x")]),
        ("/*", vec![(Operator, "/"), (Operator, "*")]),
        ("/* a\0b", vec![(Comment, "/* a"), (Illegal, "\0b")]),
        ("/* a\0", vec![(Comment, "/* a"), (Illegal, "\0")]),
        ("--a\0b", vec![(Comment, "--a"), (Illegal, "\0b")]),
        ("'a\0'", vec![(Illegal, "'a"), (Illegal, "\0'")]),
        ("a-->", vec![(Word, "a"), (Comment, "-->")]),
        ("a->>b", vec![(Word, "a"), (Operator, "->>"), (Word, "b")]),
        ("a.b", vec![(Word, "a"), (Operator, "."), (Word, "b")]),
        ("a.5", vec![(Word, "a"), (Number, ".5")]),
        ("1..2", vec![(Number, "1."), (Number, ".2")]),
        ("1e", vec![(Illegal, "1e")]),
        ("1e+", vec![(Illegal, "1e"), (Operator, "+")]),
        ("0x", vec![(Illegal, "0x")]),
        ("x 'ab'", vec![(Word, "x"), (Space, " "), (Text, "'ab'")]),
        ("xx'ab'", vec![(Word, "xx"), (Text, "'ab'")]),
        ("x'zz'y", vec![(Illegal, "x'zz'"), (Word, "y")]),
        ("'a'\"b\"", vec![(Text, "'a'"), (Quoted, "\"b\"")]),
        ("[a]]", vec![(Quoted, "[a]"), (Illegal, "]")]),
        (
            "$a(b c)",
            vec![
                (Illegal, "$a(b"),
                (Space, " "),
                (Word, "c"),
                (RightParen, ")"),
            ],
        ),
        ("?a", vec![(Parameter, "?"), (Word, "a")]),
        ("a||'b'", vec![(Word, "a"), (Operator, "||"), (Text, "'b'")]),
        ("!a", vec![(Illegal, "!"), (Word, "a")]),
        (
            "(1,2);",
            vec![
                (LeftParen, "("),
                (Number, "1"),
                (Operator, ","),
                (Number, "2"),
                (RightParen, ")"),
                (Semicolon, ";"),
            ],
        ),
    ] {
        assert_eq!(tokens(sql), expected, "{sql:?}");
    }
    assert_eq!(tokens(""), []);
}

#[test]
fn values() {
    for (sql, value) in [
        ("'it''s'", Some("it's")),
        ("''", Some("")),
        ("''''", Some("'")),
        ("\"a\"\"b\"", Some("a\"b")),
        ("\"a''b\"", Some("a''b")),
        ("`a``b`", Some("a`b")),
        ("[a b]", Some("a b")),
        ("[[]", Some("[")),
        ("x'6162'", Some("ab")),
        ("X''", Some("")),
        ("word", Some("word")),
        ("12", None),
        ("?", None),
        ("'open", None),
    ] {
        let token = Tokens::new(sql.as_bytes()).next().unwrap();
        let found = token.value();
        assert_eq!(
            found.as_deref().map(Vec::as_slice),
            value.map(str::as_bytes),
            "{sql}"
        );
    }
}

#[test]
fn words_and_operators_by_name() {
    let first = |sql| Tokens::new(sql).next().unwrap();
    assert!(first(b"AtTaCh x").is_word("ATTACH"));
    assert!(!first(b"attach2").is_word("ATTACH"));
    assert!(!first(b"\"attach\"").is_word("ATTACH"));
    assert!(first(b"||").is_operator("||"));
    assert!(!first(b"|").is_operator("||"));
}

/// Bytes that often make tokens, and any others.
fn sql() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(
            [
                "'", "''", "\"", "`", "[", "]", "--", "/*", "*/", "\n", " ", "x'", "X'ab'", "?", ":a", "$",
                "::", "(", ")", ";", "0x", "1", ".", "e", "+", "_", "||", "->>", "!", "\0", "\u{feff}",
                "\u{b}", "ATTACH", "é",
            ]
            .map(|piece| piece.as_bytes().to_vec())
            .to_vec()
        ),
        1 => vec(any::<u8>(), 0..4),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn tokens_cover_any_input(sql in sql()) {
        let mut joined = Vec::new();
        for token in Tokens::new(&sql) {
            prop_assert!(!token.text.is_empty());
            let _ = token.value();
            joined.extend_from_slice(token.text);
        }
        prop_assert_eq!(joined, sql);
    }

    /// A token's own bytes are that token: its end depends on nothing behind it.
    #[test]
    fn tokens_stand_alone(sql in sql()) {
        for token in Tokens::new(&sql) {
            let again: Vec<_> = Tokens::new(token.text).map(|token| token.kind).collect();
            prop_assert_eq!(again, vec![token.kind]);
        }
    }

    #[test]
    fn quoting_there_and_back(value in vec(any::<u8>(), 0..40)) {
        let no_nul: Vec<u8> = value.iter().copied().filter(|&byte| byte != 0).collect();
        for (quoted, kind, value) in [
            (quote_text(&no_nul), Text, &no_nul),
            (quote_name(&no_nul), Quoted, &no_nul),
            (quote_blob(&value), Blob, &value),
        ] {
            let tokens: Vec<_> = Tokens::new(&quoted).collect();
            prop_assert_eq!(tokens.len(), 1);
            prop_assert_eq!(tokens[0].kind, kind);
            prop_assert_eq!(&*tokens[0].value().unwrap(), value);
        }
    }
}
