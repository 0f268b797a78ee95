//! Tokens of source files.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

pub fn is_word(tree: &TokenTree, word: &str) -> bool {
    matches!(tree, TokenTree::Ident(ident) if ident == word)
}

/// The trees without the items and statements that are compiled for a host or a test alone.
pub fn device_code(tokens: &TokenStream) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut trees = tokens.clone().into_iter().peekable();
    while let Some(tree) = trees.next() {
        if let TokenTree::Punct(hash) = &tree
            && hash.as_char() == '#'
            && let Some(TokenTree::Group(attribute)) = trees.peek()
            && is_host_only(attribute)
        {
            let is_end = |tree: &TokenTree| match tree {
                TokenTree::Punct(mark) => matches!(mark.as_char(), ';' | ','),
                TokenTree::Group(body) => body.delimiter() == Delimiter::Brace,
                _ => false,
            };
            let _ = trees.by_ref().find(is_end);
            continue;
        }
        kept.push(tree);
    }
    kept
}

fn is_host_only(attribute: &Group) -> bool {
    let text = text_of(attribute);
    text == "cfg(test)" || text == "cfg(not(target_arch=\"nvptx64\"))"
}

/// The text in brackets, without spaces.
pub fn text_of(attribute: &Group) -> String {
    let text = attribute.stream().to_string();
    text.split_whitespace().collect()
}
