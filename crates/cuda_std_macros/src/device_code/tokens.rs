//! Tokens of source files.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

pub fn is_word(tree: &TokenTree, word: &str) -> bool {
    matches!(tree, TokenTree::Ident(ident) if ident == word)
}

/// The trees without items and statements that are compiled only for a host or a test.
pub fn device_code(tokens: &TokenStream) -> Vec<TokenTree> {
    without_items(tokens, is_host_only)
}

/// [`device_code`] without kernels.
pub fn device_code_outside_kernels(tokens: &TokenStream) -> Vec<TokenTree> {
    without_items(tokens, |attribute| {
        is_host_only(attribute) || is_kernel(attribute)
    })
}

/// The trees without items and statements that have an attribute for which `is_refused` is true.
fn without_items(tokens: &TokenStream, is_refused: fn(&Group) -> bool) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut trees = tokens.clone().into_iter().peekable();
    while let Some(tree) = trees.next() {
        if let TokenTree::Punct(hash) = &tree
            && hash.as_char() == '#'
            && let Some(TokenTree::Group(attribute)) = trees.peek()
            && is_refused(attribute)
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

/// Whether the attribute is `#[kernel]`, with or without a path and arguments.
fn is_kernel(attribute: &Group) -> bool {
    let text = text_of(attribute);
    let path = text.split('(').next().unwrap_or_default();
    path.rsplit("::").next() == Some("kernel")
}

/// The text in brackets, without spaces.
pub fn text_of(attribute: &Group) -> String {
    let text = attribute.stream().to_string();
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_told_from_other_items() {
        let items = "#[kernel] fn a() {} #[cuda_std::kernel(max_threads = 256)] pub fn b(x: u8) {}
            #[inline] fn c(kernel: u32) {} #[cfg(test)] fn d() {}";
        let names = |trees: Vec<TokenTree>| {
            let words = trees.iter().map(ToString::to_string);
            words
                .filter(|it| ["a", "b", "c", "d"].contains(&it.as_str()))
                .collect::<String>()
        };
        let items = items.parse().unwrap();
        assert_eq!(names(device_code(&items)), "abc");
        assert_eq!(names(device_code_outside_kernels(&items)), "c");
    }
}
