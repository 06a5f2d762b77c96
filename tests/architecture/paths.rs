//! The paths that a source file names, resolved to modules of the crate.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path into the crate, or to another crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    /// The first segment below the crate's root.
    Here(String),
    /// Another crate's name and the first segment in it.
    Elsewhere(String, String),
}

/// The module that a file is, from its path below `src/`.
pub(crate) fn module_of(file: &str) -> Vec<String> {
    let path = file.strip_prefix("src/").unwrap_or(file);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let mut segments: Vec<String> = path.split('/').map(str::to_owned).collect();
    if segments
        .last()
        .is_some_and(|last| last == "mod" || last == "lib")
    {
        segments.pop();
    }
    segments
}

pub(crate) fn tokens(source: &str) -> TokenStream {
    source.parse().expect("Rust")
}

/// Every path in the tokens, macros' included, as seen from `module`.
pub(crate) fn named(tokens: TokenStream, module: &[String]) -> Vec<Named> {
    let mut found = Vec::new();
    walk(&tokens.into_iter().collect::<Vec<_>>(), module, &mut found);
    found
}

fn ident(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    }
}

fn is_path_separator(tokens: &[TokenTree]) -> bool {
    let colon = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == ':');
    colon(tokens.first()) && colon(tokens.get(1))
}

fn braces(token: Option<&TokenTree>) -> Option<Vec<TokenTree>> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            Some(group.stream().into_iter().collect())
        }
        _ => None,
    }
}

fn walk(tokens: &[TokenTree], module: &[String], found: &mut Vec<Named>) {
    let mut at = 0;
    while at < tokens.len() {
        // `mod name { … }`: `super` means one more there.
        if ident(tokens.get(at)).as_deref() == Some("mod")
            && let Some(name) = ident(tokens.get(at + 1))
            && let Some(body) = braces(tokens.get(at + 2))
        {
            let mut inner = module.to_vec();
            inner.push(name);
            walk(&body, &inner, found);
            at += 3;
            continue;
        }
        if let TokenTree::Group(group) = &tokens[at] {
            let inside: Vec<_> = group.stream().into_iter().collect();
            walk(&inside, module, found);
        }
        // Only the start of a path: `a::crate` does not exist, `a::super` neither.
        let starts = at < 2 || !is_path_separator(&tokens[at - 2..]);
        if starts
            && let Some(first) = ident(tokens.get(at))
            && is_path_separator(&tokens[at + 1..])
        {
            path(&first, &tokens[at + 3..], module, found);
        }
        at += 1;
    }
}

/// A path that starts with `first`; `rest` is behind its separator.
fn path(first: &str, rest: &[TokenTree], module: &[String], found: &mut Vec<Named>) {
    match first {
        "crate" => resolve(&[], rest, found),
        "self" => resolve(module, rest, found),
        "super" => resolve(&module[..module.len().saturating_sub(1)], rest, found),
        other => {
            for next in heads(rest) {
                found.push(Named::Elsewhere(other.to_owned(), next));
            }
        }
    }
}

fn resolve(base: &[String], rest: &[TokenTree], found: &mut Vec<Named>) {
    if ident(rest.first()).as_deref() == Some("super") && is_path_separator(&rest[1..]) {
        return resolve(&base[..base.len().saturating_sub(1)], &rest[3..], found);
    }
    match base.first() {
        Some(room) => found.push(Named::Here(room.clone())),
        None => found.extend(heads(rest).into_iter().map(Named::Here)),
    }
}

/// The first segments of what follows: one, or as many as a group has parts.
fn heads(rest: &[TokenTree]) -> Vec<String> {
    if let Some(name) = ident(rest.first()) {
        return vec![name];
    }
    let Some(parts) = braces(rest.first()) else {
        // `*` and the like.
        return vec!["*".to_owned()];
    };
    parts
        .split(|token| matches!(token, TokenTree::Punct(p) if p.as_char() == ','))
        .filter_map(|part| ident(part.first()))
        .collect()
}

/// Whether the word stands anywhere in the code.
pub(crate) fn has_word(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => has_word(group.stream(), word),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(file: &str, source: &str) -> Vec<String> {
        named(tokens(source), &module_of(file))
            .into_iter()
            .filter_map(|named| match named {
                Named::Here(room) => Some(room),
                Named::Elsewhere(..) => None,
            })
            .collect()
    }

    #[test]
    fn modules() {
        assert_eq!(module_of("src/vfs/ffi/io.rs"), ["vfs", "ffi", "io"]);
        assert_eq!(module_of("src/vfs/mod.rs"), ["vfs"]);
        assert_eq!(module_of("src/session.rs"), ["session"]);
        assert_eq!(module_of("src/lib.rs"), [""; 0]);
    }

    #[test]
    fn every_form_of_path() {
        let file = "src/format/codec.rs";
        assert_eq!(here(file, "use crate::vfs::code::Code;"), ["vfs"]);
        assert_eq!(
            here(file, "use crate::{error, vfs::{a, b}};"),
            ["error", "vfs"]
        );
        assert_eq!(here(file, "use super::super::vfs;"), ["vfs"]);
        assert_eq!(here(file, "use super::keys;"), ["format"]);
        assert_eq!(here(file, "fn f() { crate::vfs::g(); }"), ["vfs"]);
        assert_eq!(here(file, "fn f() { g!(1, crate::vfs::h()); }"), ["vfs"]);
        assert_eq!(
            here(file, "mod t { use super::super::super::vfs; }"),
            ["vfs"]
        );
        assert_eq!(here(file, "mod t { use super::super::keys; }"), ["format"]);
        assert_eq!(here(file, "pub(in crate::vfs) fn f() {}"), ["vfs"]);
        assert_eq!(here(file, "use crate::*;"), ["*"]);
    }

    #[test]
    fn comments_and_strings_name_nothing() {
        let source = "/// [`crate::vfs`]\n// crate::vfs::a\nconst A: &str = \"crate::vfs::b\";";
        assert_eq!(here("src/format/mod.rs", source), [""; 0]);
        assert!(!has_word(
            tokens("/// unsafe\nconst A: &str = \"unsafe\";"),
            "unsafe"
        ));
        assert!(has_word(
            tokens("fn f() { a!({ unsafe { g() } }) }"),
            "unsafe"
        ));
        assert!(!has_word(tokens("#![allow(unsafe_code)]"), "unsafe"));
    }
}
