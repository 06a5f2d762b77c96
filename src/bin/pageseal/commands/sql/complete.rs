//! Whether a text is a whole statement, as `sqlite3_complete` decides it: it ends
//! with a semicolon, and a trigger with `END;`.

use pageseal::pragma::sql::{Token, TokenKind, Tokens};

/// Whether `sql` ends with the end of a statement, or holds none.
pub(super) fn is_complete(sql: &str) -> bool {
    let significant =
        |token: &Token<'_>| !matches!(token.kind, TokenKind::Space | TokenKind::Comment);
    let tokens: Vec<_> = Tokens::new(sql.as_bytes()).filter(significant).collect();
    let mut at = 0;
    while at < tokens.len() {
        match statement_end(&tokens[at..]) {
            Some(len) => at += len,
            None => return false,
        }
    }
    // An unfinished comment goes on.
    !sql.rfind("/*").is_some_and(|open| {
        let last = Tokens::new(sql.as_bytes()).last();
        last.is_some_and(|token| {
            token.kind == TokenKind::Comment
                && token.text.starts_with(b"/*")
                && !token.text.ends_with(b"*/")
                && open + token.text.len() >= sql.len()
        })
    })
}

/// Tokens of the statement that they begin with; `None` if it does not end.
fn statement_end(tokens: &[Token<'_>]) -> Option<usize> {
    let mut words = tokens.iter().skip_while(|token| {
        token.is_word("EXPLAIN") || token.is_word("QUERY") || token.is_word("PLAN")
    });
    let creates = words.next().is_some_and(|token| token.is_word("CREATE"));
    let mut words = words.skip_while(|token| token.is_word("TEMP") || token.is_word("TEMPORARY"));
    let trigger = creates && words.next().is_some_and(|token| token.is_word("TRIGGER"));
    let mut previous_is_end = false;
    let mut after_semicolon = false;
    for (index, token) in tokens.iter().enumerate() {
        if token.kind == TokenKind::Semicolon {
            if !trigger || previous_is_end {
                return Some(index + 1);
            }
            after_semicolon = true;
            previous_is_end = false;
        } else {
            previous_is_end = after_semicolon && token.is_word("END");
            after_semicolon = false;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::is_complete;

    #[test]
    fn statements_end_with_a_semicolon() {
        for whole in [
            "",
            "  -- nothing",
            "SELECT 1;",
            "SELECT ';';",
            "SELECT 1; SELECT 2; -- done",
            "SELECT 1; /* done */",
            "CREATE TABLE t(a);",
            "CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; SELECT CASE WHEN 1 THEN 2 END; END;",
        ] {
            assert!(is_complete(whole), "{whole}");
        }
        for half in [
            "SELECT 1",
            "SELECT ';",
            "SELECT 1; SELECT 2",
            "SELECT 1 -- ;",
            "SELECT 1; /* not",
            "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1;",
            "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END",
            "EXPLAIN CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT CASE WHEN 1 THEN 2 END;",
        ] {
            assert!(!is_complete(half), "{half}");
        }
    }
}
