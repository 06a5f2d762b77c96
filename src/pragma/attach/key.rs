//! The value behind `KEY`: literals, in parentheses, behind a plus sign, or several
//! texts joined with `||`. Everything else is for SQLite to compute, and can't be
//! told from the text.
//!
//! As the whole of the expression a name is a text (`resolveAttachExpr` in SQLite),
//! which is how `KEY "x'…'"` works. In a part of it only a name in double quotes can
//! be one, and is, or SQLite would not have accepted the statement.

use zeroize::Zeroizing;

use super::super::sql::TokenKind;
use super::{AttachKey, Doubt, Lexeme};

/// What an operand is.
enum Operand {
    Text(Zeroizing<Vec<u8>>),
    Blob(Zeroizing<Vec<u8>>),
    Number,
    Null,
}

/// More tokens than this are no key that anybody wrote, and would go deep: SQLite
/// itself stops at expressions 1000 deep, but does not count parentheses.
const MOST_TOKENS: usize = 256;

/// Finds the value of the expression behind `KEY`.
pub(super) fn evaluate(lexemes: &[Lexeme<'_>]) -> AttachKey {
    if lexemes.is_empty() {
        return AttachKey::CannotTell(Doubt::Statement);
    }
    if lexemes.iter().any(|lexeme| lexeme.truncated) {
        return AttachKey::CannotTell(Doubt::Truncated);
    }
    let parameter = |lexeme: &Lexeme<'_>| lexeme.token.kind == TokenKind::Parameter;
    if lexemes.iter().any(parameter) {
        return AttachKey::CannotTell(Doubt::Parameter);
    }
    if lexemes.len() > MOST_TOKENS {
        return AttachKey::CannotTell(Doubt::Expression);
    }
    match whole(lexemes) {
        Some(Operand::Text(bytes) | Operand::Blob(bytes)) if bytes.is_empty() => AttachKey::Empty,
        Some(Operand::Text(bytes) | Operand::Blob(bytes)) => AttachKey::Literal(bytes),
        Some(Operand::Number) => AttachKey::Numeric,
        Some(Operand::Null) => AttachKey::Null,
        None => AttachKey::CannotTell(Doubt::Expression),
    }
}

/// The expression as a whole: a name in parentheses still is a text.
fn whole(mut lexemes: &[Lexeme<'_>]) -> Option<Operand> {
    while let Some(inner) = in_parens(lexemes) {
        lexemes = inner;
    }
    if let [name] = lexemes
        && matches!(name.token.kind, TokenKind::Word | TokenKind::Quoted)
        && !is_value_word(name)
    {
        return name.token.value().map(Operand::Text);
    }
    joined(lexemes)
}

/// Words that are no names where a value is expected.
fn is_value_word(name: &Lexeme<'_>) -> bool {
    ["NULL", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"]
        .into_iter()
        .any(|word| name.token.is_word(word))
}

/// One operand, or texts joined with `||`.
fn joined(lexemes: &[Lexeme<'_>]) -> Option<Operand> {
    let mut parts = Vec::new();
    let mut rest = lexemes;
    loop {
        let (part, behind) = operand(rest)?;
        parts.push(part);
        match behind.split_first() {
            None => break,
            Some((next, behind)) if next.token.is_operator("||") => rest = behind,
            Some(_) => return None,
        }
    }
    if parts.len() == 1 {
        return parts.pop();
    }
    // Of blobs, numbers and NULL the `||` makes something else than their bytes.
    let texts: Vec<_> = parts
        .into_iter()
        .map(|part| match part {
            Operand::Text(text) => Some(text),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let len = texts.iter().map(|text| text.len()).sum();
    let mut all = Zeroizing::new(Vec::with_capacity(len));
    for text in &texts {
        all.extend_from_slice(text);
    }
    Some(Operand::Text(all))
}

/// The operand at the start, and what follows it.
fn operand<'s, 'a>(lexemes: &'s [Lexeme<'a>]) -> Option<(Operand, &'s [Lexeme<'a>])> {
    let (first, rest) = lexemes.split_first()?;
    let token = &first.token;
    let operand = match token.kind {
        TokenKind::LeftParen => {
            let end = closing_paren(lexemes)?;
            return Some((joined(&lexemes[1..end])?, &lexemes[end + 1..]));
        }
        TokenKind::Operator if token.text == b"+" => return self::operand(rest),
        // The negative of a number is one; of a text it is something to compute.
        TokenKind::Operator if token.text == b"-" => match self::operand(rest)? {
            (Operand::Number, rest) => return Some((Operand::Number, rest)),
            _ => return None,
        },
        TokenKind::Text => Operand::Text(token.value()?),
        TokenKind::Quoted if token.text.starts_with(b"\"") => Operand::Text(token.value()?),
        TokenKind::Blob => Operand::Blob(token.value()?),
        TokenKind::Number => Operand::Number,
        TokenKind::Word if token.is_word("NULL") => Operand::Null,
        // Not as the whole of the expression, where they would be names.
        TokenKind::Word if token.is_word("TRUE") || token.is_word("FALSE") => Operand::Number,
        _ => return None,
    };
    Some((operand, rest))
}

/// What stands in the parentheses that are all of the expression.
fn in_parens<'s, 'a>(lexemes: &'s [Lexeme<'a>]) -> Option<&'s [Lexeme<'a>]> {
    let end = closing_paren(lexemes)?;
    (end + 1 == lexemes.len()).then_some(&lexemes[1..end])
}

/// Index of the parenthesis that closes the one at the start.
fn closing_paren(lexemes: &[Lexeme<'_>]) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, lexeme) in lexemes.iter().enumerate() {
        match lexeme.token.kind {
            TokenKind::LeftParen => depth += 1,
            TokenKind::RightParen => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return (index > 0).then_some(index);
        }
    }
    None
}
