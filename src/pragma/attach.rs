//! The key of a running `ATTACH`, found in its text.
//!
//! ```text
//! ATTACH [DATABASE] expr AS expr [KEY expr]
//! ```
//!
//! Stock SQLite parses the `KEY` clause, computes its value and drops it. What is
//! left for a VFS is the statement's text with the bound values filled in
//! (`sqlite3_expanded_sql`): enough for a key that is a literal or a parameter. The
//! two other expressions may hold anything, `AS` and `KEY` included; they are not
//! evaluated, only skipped. SQLite has accepted the statement, so that where the
//! words can stand decides what they are: behind a value `KEY` opens the clause, in
//! a value's place it is a name.
//!
//! Where anything is in doubt the answer is [`AttachKey::CannotTell`], never "no
//! key": without a key the database would inherit another one.

use core::fmt;

use zeroize::Zeroizing;

use super::sql::{Token, TokenKind, Tokens};

mod expression;
mod key;

/// What an `ATTACH` says about the key.
#[derive(Clone, PartialEq, Eq)]
pub enum AttachKey {
    /// The statement is no `ATTACH` (`EXPLAIN ATTACH` opens nothing either).
    NotAttach,
    /// There is no `KEY`: the key is the URI's or else the main database's.
    NoKey,
    /// The key's bytes: a text, a blob or a name.
    Literal(Zeroizing<Vec<u8>>),
    /// `KEY ''`: a database without encryption.
    Empty,
    /// `KEY 123`: SQLCipher's error is "Invalid key value".
    Numeric,
    /// `KEY NULL`, also from a parameter: as without `KEY`.
    Null,
    /// There is a key, or may be one, and the text does not show which.
    CannotTell(Doubt),
}

impl fmt::Debug for AttachKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAttach => f.write_str("NotAttach"),
            Self::NoKey => f.write_str("NoKey"),
            Self::Literal(_) => f.write_str("Literal(..)"),
            Self::Empty => f.write_str("Empty"),
            Self::Numeric => f.write_str("Numeric"),
            Self::Null => f.write_str("Null"),
            Self::CannotTell(doubt) => write!(f, "CannotTell({doubt:?})"),
        }
    }
}

/// Why the key of an `ATTACH` can't be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Doubt {
    /// It is a parameter, and SQLite does not show the value: it shows none while
    /// another statement is running.
    Parameter,
    /// It is to be computed.
    Expression,
    /// SQLite was compiled to cut long values off in the text.
    Truncated,
    /// The statement is not understood.
    Statement,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Parameter => {
                "the key of an ATTACH that runs inside another statement can't be a parameter; give it as a literal, or in the file's URI"
            }
            Self::Expression => {
                "the key of an ATTACH can't be an expression to be computed; give it as a literal, as a bound parameter, or in the file's URI"
            }
            Self::Truncated => {
                "the key of this ATTACH is longer than SQLite shows it (SQLITE_TRACE_SIZE_LIMIT); give it in the file's URI"
            }
            Self::Statement => {
                "the key of this ATTACH can't be made out; give it as a literal, as a bound parameter, or in the file's URI"
            }
        })
    }
}

/// What the text of a running statement, with the bound values as literals, says
/// about the key of the database that it attaches.
#[must_use]
pub fn attach_key(expanded_sql: &[u8]) -> AttachKey {
    let unnested = unnest(expanded_sql);
    let tokens = statement(unnested.as_deref().map_or(expanded_sql, Vec::as_slice));
    let Some((first, mut rest)) = tokens.split_first() else {
        return AttachKey::NotAttach;
    };
    if !first.token.is_word("ATTACH") {
        return AttachKey::NotAttach;
    }
    if let Some((next, behind)) = rest.split_first()
        && next.token.is_word("DATABASE")
    {
        rest = behind;
    }
    let doubt = AttachKey::CannotTell(Doubt::Statement);
    let Some((Some(b"AS"), rest)) = expression::skip(rest) else {
        return doubt;
    };
    match expression::skip(rest) {
        Some((None, [])) => AttachKey::NoKey,
        Some((Some(b"KEY"), key)) => key::evaluate(key),
        _ => doubt,
    }
}

/// Whether the running statement attaches a database. Plain and expanded text will
/// do.
#[must_use]
pub fn is_attach(sql: &[u8]) -> bool {
    starts_with(sql, "ATTACH")
}

/// The schema that a running `VACUUM`, with or without `INTO`, is of; `None` where
/// the statement is none.
#[must_use]
pub fn vacuumed_schema(sql: &[u8]) -> Option<Vec<u8>> {
    let unnested = unnest(sql);
    let mut tokens = meaningful(unnested.as_deref().map_or(sql, Vec::as_slice));
    if !tokens.next()?.is_word("VACUUM") {
        return None;
    }
    Some(match tokens.next() {
        Some(name)
            if matches!(
                name.kind,
                TokenKind::Word | TokenKind::Quoted | TokenKind::Text
            ) && !name.is_word("INTO") =>
        {
            name.value()?.to_vec()
        }
        _ => b"main".to_vec(),
    })
}

fn starts_with(sql: &[u8], keyword: &str) -> bool {
    let unnested = unnest(sql);
    meaningful(unnested.as_deref().map_or(sql, Vec::as_slice))
        .next()
        .is_some_and(|first| first.is_word(keyword))
}

/// Takes the `-- ` off each line that SQLite puts there for a statement that runs
/// inside another one. `None` where the text is not of that form: a statement whose
/// every line is a comment would not be running.
fn unnest(sql: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    const PREFIX: &[u8] = b"-- ";
    let mut text = Zeroizing::new(Vec::with_capacity(sql.len()));
    for line in sql.split_inclusive(|&byte| byte == b'\n') {
        text.extend_from_slice(line.strip_prefix(PREFIX)?);
    }
    Some(text)
}

/// The tokens that mean something, without empty statements before them.
fn meaningful(sql: &[u8]) -> impl Iterator<Item = Token<'_>> {
    Tokens::new(sql)
        .filter(|token| !matches!(token.kind, TokenKind::Space | TokenKind::Comment))
        .skip_while(|token| token.kind == TokenKind::Semicolon)
}

/// A token of a statement.
#[derive(Clone, Copy)]
struct Lexeme<'a> {
    token: Token<'a>,
    /// Whether SQLite notes behind it that it does not show all of it.
    truncated: bool,
}

/// The tokens of the text's first statement, to its semicolon.
fn statement(sql: &[u8]) -> Vec<Lexeme<'_>> {
    let mut lexemes: Vec<Lexeme<'_>> = Vec::new();
    for token in Tokens::new(sql) {
        match token.kind {
            TokenKind::Space => {}
            TokenKind::Comment => {
                if let Some(last) = lexemes.last_mut() {
                    last.truncated |= is_truncation_note(token.text);
                }
            }
            TokenKind::Semicolon if lexemes.is_empty() => {}
            TokenKind::Semicolon => break,
            // The end of a C string.
            TokenKind::Illegal if token.text.starts_with(&[0]) => break,
            _ => lexemes.push(Lexeme {
                token,
                truncated: false,
            }),
        }
    }
    lexemes
}

/// `/*+123 bytes*/`, as `SQLITE_TRACE_SIZE_LIMIT` has it written.
fn is_truncation_note(comment: &[u8]) -> bool {
    comment
        .strip_prefix(b"/*+")
        .and_then(|text| text.strip_suffix(b" bytes*/"))
        .is_some_and(|count| count.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests;
