//! The text by which a table or index was made.

use crate::pragma::sql::{TokenKind, Tokens};

/// `CREATE TABLE t(…)` as `CREATE TABLE schema.t(…)`, and so for indexes; `None`
/// where the text is neither. SQLite keeps the text from the name on, so what it
/// stores is the text without the schema again.
pub(super) fn qualify(sql: &str, quoted_schema: &str) -> Option<String> {
    let mut start = 0;
    let mut found = false;
    for token in Tokens::new(sql.as_bytes()) {
        match token.kind {
            TokenKind::Space | TokenKind::Comment => {}
            _ if found => {
                let (before, name) = sql.split_at_checked(start)?;
                return Some(format!("{before}{quoted_schema}.{name}"));
            }
            _ if token.is_word("TABLE") || token.is_word("INDEX") => found = true,
            _ if token.is_word("CREATE") || token.is_word("UNIQUE") => {}
            _ => return None,
        }
        start += token.text.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::qualify;

    #[test]
    fn the_schema_goes_before_the_name() {
        for (sql, qualified) in [
            ("CREATE TABLE t(a)", "CREATE TABLE \"x\".t(a)"),
            ("CREATE TABLE \"t\"(a)", "CREATE TABLE \"x\".\"t\"(a)"),
            ("create table 'it''s' (a)", "create table \"x\".'it''s' (a)"),
            ("CREATE TABLE[t](a)", "CREATE TABLE\"x\".[t](a)"),
            (
                "CREATE UNIQUE INDEX i ON t(a)",
                "CREATE UNIQUE INDEX \"x\".i ON t(a)",
            ),
            (
                "CREATE /* TABLE u */ TABLE\n-- name\n  größe(a)",
                "CREATE /* TABLE u */ TABLE\n-- name\n  \"x\".größe(a)",
            ),
        ] {
            assert_eq!(qualify(sql, "\"x\"").as_deref(), Some(qualified));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for sql in [
            "",
            "CREATE",
            "CREATE TABLE",
            "CREATE VIEW v AS SELECT 1",
            "t",
        ] {
            assert_eq!(qualify(sql, "\"x\""), None, "{sql}");
        }
    }
}
