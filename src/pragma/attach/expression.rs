//! Where an expression of an `ATTACH` ends.
//!
//! An expression alternates between values and what stands behind values. The words
//! that end it, `AS` and `KEY`, stand behind a value and outside parentheses and
//! `CASE … END`. (`KEY` in a value's place is a name. So is `END`; `AS` never is.)

use super::super::sql::{Token, TokenKind};
use super::Lexeme;

/// Skips one expression. Returns the word that ends it, `AS` or `KEY` in capitals or
/// `None` for the end of the statement, and what follows that word; `None` where
/// this is no expression.
pub(super) fn skip<'s, 'a>(
    lexemes: &'s [Lexeme<'a>],
) -> Option<(Option<&'static [u8]>, &'s [Lexeme<'a>])> {
    let mut parens = 0_usize;
    let mut cases = 0_usize;
    // Whether a value is complete.
    let mut complete = false;
    for (index, lexeme) in lexemes.iter().enumerate() {
        let token = &lexeme.token;
        match token.kind {
            TokenKind::LeftParen => parens += 1,
            TokenKind::RightParen => {
                parens = parens.checked_sub(1)?;
                complete = true;
            }
            // Nothing within parentheses can end the expression.
            _ if parens > 0 => {}
            TokenKind::Word if complete => match behind_a_value(token, cases)? {
                Behind::Value => complete = false,
                Behind::Nothing => {}
                Behind::EndOfCase => cases -= 1,
                Behind::End(word) => return Some((Some(word), &lexemes[index + 1..])),
            },
            TokenKind::Word => match token.text.to_ascii_uppercase().as_slice() {
                b"CASE" => cases += 1,
                b"NOT" | b"EXISTS" | b"DISTINCT" | b"FROM" => {}
                b"WHEN" if cases > 0 => {}
                b"AS" => return None,
                _ => complete = true,
            },
            TokenKind::Operator if token.text == b"," => return None,
            TokenKind::Operator => complete = false,
            TokenKind::Quoted
            | TokenKind::Text
            | TokenKind::Blob
            | TokenKind::Number
            | TokenKind::Parameter
                if !complete =>
            {
                complete = true;
            }
            _ => return None,
        }
    }
    (complete && parens == 0 && cases == 0).then_some((None, &[]))
}

/// What a word behind a value leads to.
enum Behind {
    /// Another value.
    Value,
    /// Nothing: it belongs to the value.
    Nothing,
    /// The end of a `CASE`, which is a value.
    EndOfCase,
    /// The end of the expression.
    End(&'static [u8]),
}

fn behind_a_value(token: &Token<'_>, cases: usize) -> Option<Behind> {
    Some(match token.text.to_ascii_uppercase().as_slice() {
        b"AND" | b"OR" | b"IS" | b"IN" | b"LIKE" | b"GLOB" | b"REGEXP" | b"MATCH" | b"BETWEEN"
        | b"ESCAPE" | b"COLLATE" | b"FILTER" | b"OVER" => Behind::Value,
        // `NOT` goes on with an operator, as in `NOT LIKE`, or with `NULL`.
        b"ISNULL" | b"NOTNULL" | b"NOT" | b"NULL" => Behind::Nothing,
        b"WHEN" | b"THEN" | b"ELSE" if cases > 0 => Behind::Value,
        b"END" if cases > 0 => Behind::EndOfCase,
        b"AS" if cases == 0 => Behind::End(b"AS"),
        b"KEY" if cases == 0 => Behind::End(b"KEY"),
        _ => return None,
    })
}
