//! The key that pageseal finds in the text of an `ATTACH` is the one that SQLite
//! computes.
//!
//! Stock SQLite drops the key, but `EXPLAIN ATTACH …` shows the program that would
//! compute it: `Function` calls `sqlite_attach` with three registers, and the third
//! holds the key.

use pageseal::pragma::attach::{AttachKey, Doubt, attach_key, is_attach, vacuumed_schema};
use pageseal::pragma::sql::{TokenKind, Tokens, quote_name, quote_text};
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;

/// What SQLite has in the key's register.
#[derive(Debug, PartialEq)]
enum Computed {
    /// No key or `NULL`: the program is the same.
    Null,
    Number,
    /// A text, or a blob as `x'…'`.
    Text(String),
    Blob(Vec<u8>),
    /// The result of some operation.
    Other,
}

/// `None`: SQLite does not accept the statement.
fn explain(db: &Connection, attach: &str) -> Option<Computed> {
    struct Op {
        name: String,
        p: [i64; 3],
        p4: Option<Vec<u8>>,
    }
    let mut statement = db.prepare(&format!("EXPLAIN {attach}")).ok()?;
    // Parameters may stay unbound: only the program is of interest.
    let mut rows = statement.raw_query();
    let mut program = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        program.push(Op {
            name: row.get(1).unwrap(),
            p: [2, 3, 4].map(|column| row.get(column).unwrap()),
            p4: match row.get(5).unwrap() {
                Value::Text(text) => Some(text.into_bytes()),
                Value::Blob(blob) => Some(blob),
                _ => None,
            },
        });
    }
    let call = program.iter().find(|op| {
        op.name == "Function"
            && op
                .p4
                .as_deref()
                .is_some_and(|name| name.starts_with(b"sqlite_attach"))
    })?;
    let key = call.p[1] + 2;
    let text = |op: &Op| String::from_utf8(op.p4.clone().unwrap_or_default()).unwrap();
    // The last to write the register; constants may be in the part run first.
    let writer = program.iter().rev().find(|op| match op.name.as_str() {
        "Null" => (op.p[1]..=op.p[2].max(op.p[1])).contains(&key),
        "Integer" | "String8" | "String" | "Blob" | "Real" | "Int64" => op.p[1] == key,
        "SCopy" | "Copy" | "IntCopy" | "Variable" => op.p[1] == key,
        "Function" | "Concat" | "Add" | "Subtract" | "Multiply" | "BitAnd" | "BitOr" => {
            op.p[2] == key
        }
        "Cast" | "Noop" => false,
        _ => op.p[1] == key,
    });
    Some(match writer {
        Some(op) if op.name == "Null" => Computed::Null,
        Some(op) if matches!(op.name.as_str(), "Integer" | "Int64" | "Real") => Computed::Number,
        Some(op) if matches!(op.name.as_str(), "String8" | "String") => Computed::Text(text(op)),
        Some(op) if op.name == "Blob" => Computed::Blob(op.p4.clone().unwrap_or_default()),
        _ => Computed::Other,
    })
}

/// Checks one statement that SQLite accepts; `false` where it does not.
fn agree(db: &Connection, sql: &str) -> bool {
    let Some(computed) = explain(db, sql) else {
        return false;
    };
    let found = attach_key(sql.as_bytes());
    assert_eq!(
        attach_key(format!("EXPLAIN {sql}").as_bytes()),
        AttachKey::NotAttach
    );
    assert!(is_attach(sql.as_bytes()) && vacuumed_schema(sql.as_bytes()).is_none());
    let right = match (&found, &computed) {
        (AttachKey::NoKey | AttachKey::Null, Computed::Null) => true,
        (AttachKey::Numeric, Computed::Number) => true,
        (AttachKey::Empty, Computed::Text(text)) => text.is_empty(),
        (AttachKey::Literal(key), Computed::Text(text)) => key.as_slice() == text.as_bytes(),
        (AttachKey::Empty, Computed::Blob(_)) => true,
        (AttachKey::Literal(key), Computed::Blob(blob)) => key.as_slice() == blob.as_slice(),
        // Joined texts and signs are operations to SQLite, and checked elsewhere.
        (AttachKey::Literal(_) | AttachKey::Empty, Computed::Other) => sql.contains("||"),
        (AttachKey::Numeric, Computed::Other) => sql.contains('-'),
        (AttachKey::CannotTell(Doubt::Expression | Doubt::Parameter), _) => true,
        _ => false,
    };
    assert!(right, "{sql}\nfound {found:?}, SQLite has {computed:?}");
    true
}

#[test]
fn statements_that_sqlite_accepts() {
    let db = Connection::open_in_memory().unwrap();
    for sql in [
        "ATTACH 'f' AS x",
        "ATTACH DATABASE 'f' AS x KEY 'k'",
        "ATTACH 'f' AS x KEY \"k\"",
        "ATTACH 'f' AS x KEY [k k]",
        "ATTACH 'f' AS x KEY `k``k`",
        "ATTACH 'f' AS x KEY secret",
        "ATTACH 'f' AS x KEY (secret)",
        "ATTACH 'f' AS x KEY ((\"x'ab'\"))",
        "ATTACH 'f' AS x KEY true",
        "ATTACH 'f' AS x KEY (false)",
        "ATTACH 'f' AS x KEY +true",
        "ATTACH 'f' AS x KEY key",
        "ATTACH 'f' AS x KEY end",
        "ATTACH 'f' AS key KEY 'k'",
        "ATTACH 'f' AS key",
        "ATTACH key AS key KEY key",
        "ATTACH like AS glob KEY match",
        "ATTACH end AS x KEY 'k'",
        "ATTACH 'f' AS x KEY ''",
        "ATTACH 'f' AS x KEY x''",
        "ATTACH 'f' AS x KEY x'6162'",
        "ATTACH 'f' AS x KEY X'017F'",
        "ATTACH 'f' AS x KEY NULL",
        "ATTACH 'f' AS x KEY (NULL)",
        "ATTACH 'f' AS x KEY +NULL",
        "ATTACH 'f' AS x KEY 5",
        "ATTACH 'f' AS x KEY -5",
        "ATTACH 'f' AS x KEY +5",
        "ATTACH 'f' AS x KEY - -5",
        "ATTACH 'f' AS x KEY 1.5",
        "ATTACH 'f' AS x KEY 1_000",
        "ATTACH 'f' AS x KEY 0x1F",
        "ATTACH 'f' AS x KEY 99999999999999999999",
        "ATTACH 'f' AS x KEY +'k'",
        "ATTACH 'f' AS x KEY +\"k\"",
        "ATTACH 'f' AS x KEY +(+('k'))",
        "ATTACH 'f' AS x KEY 'a'||'b'",
        "ATTACH 'f' AS x KEY 'k' COLLATE nocase",
        "ATTACH 'f' AS x KEY hex('k')",
        "ATTACH 'f' AS x KEY CASE WHEN 1 THEN 'k' END",
        "ATTACH 'f' AS x KEY current_date",
        "ATTACH 'f' AS x KEY ?",
        "ATTACH CASE 1 WHEN 2 THEN 'a' ELSE 'b' END AS x KEY 'k'",
        "ATTACH CASE WHEN 1 THEN CASE WHEN 2 THEN 'AS' END END AS x KEY 'k'",
        "ATTACH CAST('f' AS TEXT) AS x KEY 'k'",
        "ATTACH 'f' IS NOT DISTINCT FROM 'g' AS x KEY 'k'",
        "ATTACH 'f' IS NOT NULL AS x KEY 'k'",
        "ATTACH 'f' NOT NULL AS x KEY 'k'",
        "ATTACH 'f' NOTNULL AS x KEY 'k'",
        "ATTACH 'f' NOT LIKE 'g' ESCAPE 'h' AS x KEY 'k'",
        "ATTACH 'f' NOT BETWEEN 'a' AND 'z' AS x KEY 'k'",
        "ATTACH 'f' NOT IN (1, 2) AS x KEY 'k'",
        "ATTACH 'f' COLLATE nocase AS x KEY 'k'",
        "ATTACH NOT 'f' AS x KEY 'k'",
        "ATTACH 'f' -> 'a' ->> 'b' AS x KEY 'k'",
        "ATTACH printf('%s AS %s', 'a', 'KEY') AS 'x'||'y' KEY 'k'",
        "ATTACH ~1 AS -1 KEY 'k'",
        "ATTACH 'a'||'b KEY ' AS ' AS ' KEY 'k' -- KEY 'z'",
        "ATTACH/**/'f'/* AS */AS/* KEY */x/**/KEY/**/'k'/* ",
        "ATTACH 'f' AS x KEY 'k';",
    ] {
        assert!(agree(&db, sql), "SQLite does not accept {sql}");
    }
}

/// A name or text anywhere in the statement, evaluated by SQLite as the name of the
/// new schema.
#[test]
fn joined_texts() {
    let db = Connection::open_in_memory().unwrap();
    for (number, key) in [
        "'a'||'b'",
        "'a'||('b'||'')||\"c\"",
        "+'+'||+'b'",
        "('it''s')||' '||'AS KEY'",
        "'пар'||'оль'",
    ]
    .into_iter()
    .enumerate()
    {
        db.execute_batch(&format!("ATTACH ':memory:' AS {key}"))
            .unwrap();
        let name: String = db
            .query_row(
                "SELECT name FROM pragma_database_list WHERE seq = ?",
                [number as i64 + 2],
                |row| row.get(0),
            )
            .unwrap();
        let found = attach_key(format!("ATTACH 'f' AS x KEY {key}").as_bytes());
        assert!(
            matches!(&found, AttachKey::Literal(bytes) if bytes.as_slice() == name.as_bytes()),
            "{key}: {found:?}"
        );
    }
}

/// Bound values as SQLite shows them.
#[test]
fn bound_values() {
    let db = Connection::open_in_memory().unwrap();
    let mut statement = db.prepare("ATTACH ?2 AS :schema KEY ?1").unwrap();
    for (value, shown) in [
        (
            Value::Text("it's \"x\"\n-- y".into()),
            Some(b"it's \"x\"\n-- y".to_vec()),
        ),
        (
            Value::Text("пароль".into()),
            Some("пароль".as_bytes().to_vec()),
        ),
        (Value::Blob(vec![0, 1, 255]), Some(vec![0, 1, 255])),
        (Value::Text(String::new()), None),
        (Value::Integer(-5), None),
        (Value::Real(1.5), None),
        (Value::Null, None),
    ] {
        statement.raw_bind_parameter(1, &value).unwrap();
        statement.raw_bind_parameter(2, "a AS b KEY 'c").unwrap();
        statement.raw_bind_parameter(3, "x' KEY y").unwrap();
        let sql = statement.expanded_sql().unwrap();
        match (attach_key(sql.as_bytes()), &value, shown) {
            (AttachKey::Literal(key), _, Some(shown)) => assert_eq!(*key, shown),
            (AttachKey::Empty, Value::Text(_), None) => {}
            (AttachKey::Numeric, Value::Integer(_) | Value::Real(_), None) => {}
            (AttachKey::Null, Value::Null, None) => {}
            (found, ..) => panic!("{sql}: {found:?}"),
        }
    }
}

/// The pieces of an expression; SQLite rejects what makes none.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => "[a-zA-Z' ;-]{0,6}".prop_map(|text| {
            String::from_utf8(quote_text(text.as_bytes()).to_vec()).unwrap()
        }),
        2 => "[a-zA-Z\" ]{1,6}".prop_map(|text| {
            String::from_utf8(quote_name(text.as_bytes()).to_vec()).unwrap()
        }),
        4 => prop::sample::select(vec![
            "key", "KEY", "end", "like", "match", "f", "x'6162'", "NULL", "true", "5", "-1.5", "[ AS ]",
            "`KEY`", "?1", ":k", "'AS'", "current_time", "database", "attach",
        ]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("+{a}")),
            inner.clone().prop_map(|a| format!("NOT {a}")),
            inner.clone().prop_map(|a| format!("{a} NOTNULL")),
            inner.clone().prop_map(|a| format!("{a} NOT NULL")),
            inner.clone().prop_map(|a| format!("{a} COLLATE nocase")),
            inner.clone().prop_map(|a| format!("CAST({a} AS TEXT)")),
            inner.clone().prop_map(|a| format!("hex({a})")),
            inner.clone().prop_map(|a| format!("(SELECT {a} AS key)")),
            two.clone().prop_map(|(a, b)| format!("{a}||{b}")),
            two.clone().prop_map(|(a, b)| format!("{a} NOT LIKE {b}")),
            two.clone().prop_map(|(a, b)| format!("{a} IS NOT {b}")),
            two.clone().prop_map(|(a, b)| format!("{a} IN ({b})")),
            two.clone()
                .prop_map(|(a, b)| format!("{a} BETWEEN {a} AND {b}")),
            two.clone()
                .prop_map(|(a, b)| format!("CASE {a} WHEN {b} THEN {a} ELSE {b} END")),
            two.prop_map(|(a, b)| format!("CASE WHEN {a} THEN {b} END")),
        ]
    })
}

/// Mostly what can be told: literals, signs, parentheses, joins.
fn key() -> impl Strategy<Value = String> {
    let quoted = |text: String| String::from_utf8(quote_text(text.as_bytes()).to_vec()).unwrap();
    let leaf = prop_oneof![
        6 => "[a-z' |;-]{0,4}".prop_map(quoted),
        2 => "[a-z\" |]{1,4}".prop_map(|text| {
            String::from_utf8(quote_name(text.as_bytes()).to_vec()).unwrap()
        }),
        1 => prop::sample::select(vec!["x'6162'", "NULL", "1", "[k]", "name", "true"])
            .prop_map(str::to_owned),
    ];
    let told = leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("+{a}")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("{a}||{b}")),
        ]
    });
    prop_oneof![3 => told, 1 => expression()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    #[test]
    fn any_statement(
        file in expression(),
        name in expression(),
        key in prop::option::weighted(0.8, key()),
        database in any::<bool>(),
        space in prop::sample::select(vec![" ", "\n", "/* AS KEY */", " --KEY 'x'\n"]),
    ) {
        let db = Connection::open_in_memory().unwrap();
        let database = if database { "DATABASE" } else { "" };
        let mut sql = format!("ATTACH {database}{space}{file}{space}AS{space}{name}");
        if let Some(key) = &key {
            sql = format!("{sql}{space}KEY{space}{key}");
        }
        // `database` may be taken for the keyword, and columns do not exist.
        if agree(&db, &sql) {
            let found = attach_key(sql.as_bytes());
            prop_assert_eq!(found == AttachKey::NoKey, key.is_none());
            // Only the key itself can be in doubt, never where it stands.
            prop_assert_ne!(&found, &AttachKey::CannotTell(Doubt::Statement));
            // What `EXPLAIN` shows of a joined text is not the text.
            if let (AttachKey::Literal(found), Some(key)) = (found, key)
                && key.contains("||")
                && let Ok((form, value)) = db.query_row(
                    &format!("SELECT typeof({key}), CAST(({key}) AS BLOB)"),
                    [],
                    |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?)),
                )
            {
                prop_assert_eq!(&*found, &value, "{}", key);
                prop_assert_eq!(form, "text", "{}", key);
            }
        }
    }

    /// SQLite finds the same parameters as we do.
    #[test]
    fn parameters(sql in "[?:@$#a-c0-2 '\"\\[\\]()x.-]{0,16}") {
        let db = Connection::open_in_memory().unwrap();
        let sql = format!("SELECT {sql}");
        if let Ok(statement) = db.prepare(&sql) {
            // Behind a semicolon is another statement.
            let mut names: Vec<&[u8]> = Tokens::new(sql.as_bytes())
                .filter(|token| token.kind == TokenKind::Parameter)
                .map(|token| token.text)
                .collect();
            let illegal = Tokens::new(sql.as_bytes()).any(|token| token.kind == TokenKind::Illegal);
            prop_assert!(!illegal, "{}", sql);
            names.retain(|name| *name == b"?" || !name.starts_with(b"?"));
            let anonymous = names.iter().filter(|name| **name == b"?").count();
            names.retain(|name| *name != b"?");
            names.sort_unstable();
            names.dedup();
            let known: Vec<_> = (1..=statement.parameter_count())
                .filter_map(|index| statement.parameter_name(index))
                .filter(|name| !name.starts_with('?'))
                .collect();
            prop_assert_eq!(known.len(), names.len(), "{}", sql);
            prop_assert!(statement.parameter_count() >= anonymous);
        }
    }
}
