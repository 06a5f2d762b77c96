//! SQLite's tokens: just enough of its lexer to find one's way in a statement that
//! SQLite has already accepted.
//!
//! The rules are those of `sqlite3GetToken` (SQLite 3.54): comments may end with the
//! text, quotes are doubled to stand for themselves (not in `[…]`), a NUL byte ends
//! the text, every byte from 0x80 is part of a name. What is no token at all is
//! [`TokenKind::Illegal`]; no input fails, and the tokens cover all of it.

use zeroize::Zeroizing;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// Blanks, line ends, a byte order mark.
    Space,
    /// `-- …` or `/* … */`.
    Comment,
    /// A name or keyword without quotes.
    Word,
    /// A name in `"…"`, `` `…` `` or `[…]`.
    Quoted,
    /// A text in `'…'`.
    Text,
    /// A blob in `x'…'`.
    Blob,
    /// A whole or fractional number.
    Number,
    /// A parameter: `?`, `?1`, `:a`, `@b`, `$c::d(e)`, `#f`.
    Parameter,
    /// `(`.
    LeftParen,
    /// `)`.
    RightParen,
    /// `;`.
    Semicolon,
    /// `+`, `||`, `->>`, `,`, `.` and so on.
    Operator,
    /// What SQLite refuses: an unfinished literal, a stray byte, the end of the
    /// text at a NUL byte.
    Illegal,
}

/// A token with its bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// Its bytes, quotes included. They may be a key: a token has no `Debug`.
    pub text: &'a [u8],
}

impl Token<'_> {
    /// Whether it is this keyword, in either case and without quotes.
    #[must_use]
    pub fn is_word(&self, keyword: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(keyword.as_bytes())
    }

    /// Whether it is this operator.
    #[must_use]
    pub fn is_operator(&self, operator: &str) -> bool {
        self.kind == TokenKind::Operator && self.text == operator.as_bytes()
    }

    /// The bytes that a text, blob or name stands for; `None` for other tokens.
    #[must_use]
    pub fn value(&self) -> Option<Zeroizing<Vec<u8>>> {
        match self.kind {
            TokenKind::Text | TokenKind::Quoted => unquote(self.text),
            TokenKind::Blob => super::value::hex_literal(self.text),
            TokenKind::Word => Some(Zeroizing::new(self.text.to_vec())),
            _ => None,
        }
    }
}

/// Removes the quotes around a text or name, and undoubles those within.
fn unquote(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (&open, rest) = text.split_first()?;
    let (_, inner) = rest.split_last()?;
    // One allocation of full size: a growing one would leave copies behind.
    let mut value = Zeroizing::new(Vec::with_capacity(inner.len()));
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        value.push(byte);
        if byte == open && open != b'[' {
            bytes.next();
        }
    }
    Some(value)
}

/// The bytes as a text literal: `it's` as `'it''s'`. Bytes that a text can't hold
/// (NUL) need [`quote_blob`].
#[must_use]
pub fn quote_text(value: &[u8]) -> Zeroizing<Vec<u8>> {
    quote(value, b'\'')
}

/// The bytes as a name: `a"b` as `"a""b"`.
#[must_use]
pub fn quote_name(value: &[u8]) -> Zeroizing<Vec<u8>> {
    quote(value, b'"')
}

fn quote(value: &[u8], mark: u8) -> Zeroizing<Vec<u8>> {
    let mut text = Zeroizing::new(Vec::with_capacity(2 * value.len() + 2));
    text.push(mark);
    for &byte in value {
        if byte == mark {
            text.push(mark);
        }
        text.push(byte);
    }
    text.push(mark);
    text
}

/// The bytes as a blob literal: `ab` as `x'6162'`.
#[must_use]
pub fn quote_blob(value: &[u8]) -> Zeroizing<Vec<u8>> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = Zeroizing::new(Vec::with_capacity(2 * value.len() + 3));
    text.extend_from_slice(b"x'");
    for &byte in value {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
    text.push(b'\'');
    text
}

/// The tokens of a text, one after the other and without gaps.
#[derive(Clone)]
pub struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    /// Starts at the start of `sql`.
    #[must_use]
    pub fn new(sql: &'a [u8]) -> Self {
        Self { rest: sql }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (kind, len) = scan(self.rest);
        let (text, rest) = self.rest.split_at(len);
        self.rest = rest;
        Some(Token { kind, text })
    }
}

/// Kind and length of the token at the start of `sql`, which is not empty.
fn scan(sql: &[u8]) -> (TokenKind, usize) {
    // Behind the end SQLite sees the NUL of a C string.
    let at = |index: usize| sql.get(index).copied().unwrap_or(0);
    let operator = |len| (TokenKind::Operator, len);
    match sql[0] {
        0 => (TokenKind::Illegal, sql.len()),
        b' ' | b'\t' | b'\n' | b'\x0c' | b'\r' => {
            // A vertical tab goes on with white space but does not start it.
            let blank = |byte: u8| byte.is_ascii_whitespace() || byte == b'\x0b';
            (TokenKind::Space, run(sql, 1, blank))
        }
        0xef if at(1) == 0xbb && at(2) == 0xbf => (TokenKind::Space, 3),
        b'-' if at(1) == b'-' => (
            TokenKind::Comment,
            run(sql, 2, |byte| byte != b'\n' && byte != 0),
        ),
        b'-' if at(1) == b'>' => operator(2 + usize::from(at(2) == b'>')),
        b'/' if at(1) == b'*' && at(2) != 0 => (TokenKind::Comment, block_comment(sql)),
        b'(' => (TokenKind::LeftParen, 1),
        b')' => (TokenKind::RightParen, 1),
        b';' => (TokenKind::Semicolon, 1),
        b'-' | b'+' | b'*' | b'/' | b'%' | b',' | b'&' | b'~' => operator(1),
        b'=' => operator(1 + usize::from(at(1) == b'=')),
        b'<' => operator(1 + usize::from(matches!(at(1), b'=' | b'>' | b'<'))),
        b'>' => operator(1 + usize::from(matches!(at(1), b'=' | b'>'))),
        b'!' if at(1) == b'=' => operator(2),
        b'|' => operator(1 + usize::from(at(1) == b'|')),
        b'\'' => quoted(sql, TokenKind::Text),
        b'"' | b'`' => quoted(sql, TokenKind::Quoted),
        b'[' => match run(sql, 1, |byte| byte != b']' && byte != 0) {
            end if at(end) == b']' => (TokenKind::Quoted, end + 1),
            end => (TokenKind::Illegal, end),
        },
        b'.' if !at(1).is_ascii_digit() => operator(1),
        b'.' | b'0'..=b'9' => number(sql),
        b'?' => (
            TokenKind::Parameter,
            run(sql, 1, |byte| byte.is_ascii_digit()),
        ),
        b'$' | b'@' | b':' | b'#' => parameter(sql),
        b'x' | b'X' if at(1) == b'\'' => blob(sql),
        first if is_name(first) => (TokenKind::Word, run(sql, 1, is_name)),
        _ => (TokenKind::Illegal, 1),
    }
}

/// Whether a byte can stand in a name without quotes.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Index of the first byte, not before `from`, that is none of these.
fn run(sql: &[u8], from: usize, these: impl Fn(u8) -> bool) -> usize {
    sql[from..]
        .iter()
        .position(|&byte| !these(byte))
        .map_or(sql.len(), |len| from + len)
}

/// Length of `/* … */`, or of all that is left where it has no end.
fn block_comment(sql: &[u8]) -> usize {
    for (index, pair) in sql.windows(2).enumerate().skip(2) {
        if pair == b"*/" {
            return index + 2;
        }
        if pair[0] == 0 {
            return index;
        }
    }
    // A NUL in the last place is in no pair's first.
    sql.len() - usize::from(sql.last() == Some(&0))
}

/// A text or name whose quotes are its first byte, doubled to stand for itself.
fn quoted(sql: &[u8], kind: TokenKind) -> (TokenKind, usize) {
    let mark = sql[0];
    let mut index = 1;
    loop {
        index = run(sql, index, |byte| byte != mark && byte != 0);
        match (sql.get(index), sql.get(index + 1)) {
            (Some(&byte), Some(&next)) if byte == mark && next == mark => index += 2,
            (Some(&byte), _) if byte == mark => return (kind, index + 1),
            _ => return (TokenKind::Illegal, index),
        }
    }
}

/// `x'…'` with an even number of digits.
fn blob(sql: &[u8]) -> (TokenKind, usize) {
    let digits = run(sql, 2, |byte| byte.is_ascii_hexdigit());
    if sql.get(digits) == Some(&b'\'') && digits % 2 == 0 {
        return (TokenKind::Blob, digits + 1);
    }
    let end = run(sql, digits, |byte| byte != b'\'' && byte != 0);
    let closed = sql.get(end) == Some(&b'\'');
    (TokenKind::Illegal, end + usize::from(closed))
}

/// A number: whole, hexadecimal or fractional, with `_` between digits.
fn number(sql: &[u8]) -> (TokenKind, usize) {
    let at = |index: usize| sql.get(index).copied().unwrap_or(0);
    let digits = |from| run(sql, from, |byte| byte.is_ascii_digit() || byte == b'_');
    let mut end;
    if at(0) == b'0' && matches!(at(1), b'x' | b'X') && at(2).is_ascii_hexdigit() {
        end = run(sql, 3, |byte| byte.is_ascii_hexdigit() || byte == b'_');
    } else {
        end = digits(0);
        if at(end) == b'.' {
            end = digits(end + 1);
        }
        if matches!(at(end), b'e' | b'E') {
            let sign = usize::from(matches!(at(end + 1), b'+' | b'-'));
            if at(end + 1 + sign).is_ascii_digit() {
                end = digits(end + 1 + sign);
            }
        }
    }
    match run(sql, end, is_name) {
        same if same == end => (TokenKind::Number, end),
        longer => (TokenKind::Illegal, longer),
    }
}

/// A named parameter, with the `::` and the `(…)` of Tcl's variables.
fn parameter(sql: &[u8]) -> (TokenKind, usize) {
    let at = |index: usize| sql.get(index).copied().unwrap_or(0);
    let mut end = 1;
    let mut named = false;
    loop {
        match at(end) {
            byte if is_name(byte) => {
                named = true;
                end += 1;
            }
            b'(' if named => {
                let inside = |byte: u8| {
                    byte != 0 && byte != b')' && byte != b'\x0b' && !byte.is_ascii_whitespace()
                };
                end = run(sql, end + 1, inside);
                return match at(end) {
                    b')' => (TokenKind::Parameter, end + 1),
                    _ => (TokenKind::Illegal, end),
                };
            }
            b':' if at(end + 1) == b':' => end += 2,
            _ if named => return (TokenKind::Parameter, end),
            _ => return (TokenKind::Illegal, end),
        }
    }
}

#[cfg(test)]
mod tests;
