//! Generic parameters in scope.

use super::super::tokens::is_word;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

/// Names of the generic parameters of the enclosing items.
#[derive(Clone, Default)]
pub struct Generics(Vec<String>);

impl Generics {
    /// Adds the parameters of the item at the start of `trees`, if any.
    pub fn add(&mut self, trees: &[TokenTree]) {
        match trees {
            [word, TokenTree::Ident(_), rest @ ..]
                if is_word(word, "fn") || is_word(word, "trait") =>
            {
                self.0.extend(parameters(rest));
            }
            [word, rest @ ..] if is_word(word, "impl") => {
                self.0.extend(parameters(rest));
                self.0.push("Self".to_owned());
            }
            _ => {}
        }
    }

    /// The first parameter that the tokens mention.
    pub fn first_in(&self, tokens: &TokenStream) -> Option<Ident> {
        tokens.clone().into_iter().find_map(|tree| match tree {
            TokenTree::Ident(name) => self.0.iter().any(|it| name == it).then_some(name),
            TokenTree::Group(group) => self.first_in(&group.stream()),
            _ => None,
        })
    }
}

/// Whether an item ends with this tree.
pub fn is_end_of_item(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Group(body) => body.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == ';',
        _ => false,
    }
}

/// The types and constants of a list in angle brackets at the start of `trees`, if any.
fn parameters(trees: &[TokenTree]) -> Vec<String> {
    let mut names = Vec::new();
    let (mut depth, mut is_start, mut previous) = (0_u32, false, ' ');
    for tree in trees {
        let mark = match tree {
            TokenTree::Punct(punct) => punct.as_char(),
            TokenTree::Ident(name) if is_start && name == "const" => continue,
            TokenTree::Ident(name) if is_start && previous != '\'' => {
                names.push(name.to_string());
                is_start = false;
                ' '
            }
            _ => ' ',
        };
        match mark {
            '<' => depth += 1,
            '>' if previous != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
        is_start |= depth == 1 && matches!(mark, '<' | ',');
        is_start &= mark != ':';
        previous = mark;
    }
    names
}
