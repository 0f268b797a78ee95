//! Finds uses of the standard library, and of other host-only features, in tokens.

mod float_methods;
mod generics;
#[cfg(test)]
mod tests;

pub use float_methods::own_methods;

use super::tokens::{device_code, device_code_outside_kernels, is_word};
use generics::Generics;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// Macros of the standard library, each with the reason why a GPU does not have it.
const MACROS: [(&str, &str); 8] = [
    ("dbg", NO_OUTPUT),
    ("eprint", NO_OUTPUT),
    ("eprintln", NO_OUTPUT),
    ("format", NO_HEAP),
    ("print", NO_OUTPUT),
    ("println", NO_OUTPUT),
    ("thread_local", NO_THREAD_LOCALS),
    ("vec", NO_HEAP),
];
const NO_OUTPUT: &str = "a GPU has no output of its own: `gpu_println!` prints on both machines";
const NO_THREAD_LOCALS: &str = "a GPU has no thread-locals, and simulated threads of one host thread would share \
     them: one whose initialiser waits is replaced while another thread borrows its value";
const NO_HEAP: &str = "a GPU has no heap: use an array, or a buffer that the host passes";

/// Macros that declare a static array, with the parameter type that takes the array.
const SHARED: [(&str, &str); 2] = [
    ("shared_array", "&SharedArray<..>"),
    ("shared_tile", "&SharedTile<..>"),
];

/// Code that a library with kernels must not contain.
pub struct Finding {
    pub span: Span,
    pub message: String,
}

impl Finding {
    fn new(at: &Ident, message: String) -> Option<Self> {
        let span = at.span();
        Some(Self { span, message })
    }
}

/// Code in a kernel that a GPU does not support.
pub fn findings(kernel: &TokenStream, own_methods: &BTreeSet<String>) -> Vec<Finding> {
    let mut search = Search {
        items: device_code,
        own_methods,
        findings: Vec::new(),
    };
    search.tokens(kernel, &Generics::default());
    search.findings
}

/// Code outside a file's kernels that a GPU does not support.
pub fn findings_outside_kernels(
    file: &TokenStream,
    own_methods: &BTreeSet<String>,
) -> Vec<Finding> {
    let mut search = Search {
        items: device_code_outside_kernels,
        own_methods,
        findings: Vec::new(),
    };
    search.tokens(file, &Generics::default());
    search.findings
}

struct Search<'a> {
    /// Selects the trees to search.
    items: fn(&TokenStream) -> Vec<TokenTree>,
    own_methods: &'a BTreeSet<String>,
    findings: Vec<Finding>,
}

impl Search<'_> {
    /// Searches tokens within items with generic parameters.
    fn tokens(&mut self, tokens: &TokenStream, outer: &Generics) {
        let trees = (self.items)(tokens);
        let mut generics = outer.clone();
        for (index, tree) in trees.iter().enumerate() {
            generics.add(&trees[index..]);
            let found = finding(&trees[index..], self.own_methods, &generics);
            self.findings.extend(found);
            if let TokenTree::Group(group) = tree {
                self.tokens(&group.stream(), &generics);
            }
            if generics::is_end_of_item(tree) {
                generics = outer.clone();
            }
        }
    }
}

/// The finding at the start of `trees`, if any.
fn finding(
    trees: &[TokenTree],
    own_methods: &BTreeSet<String>,
    generics: &Generics,
) -> Option<Finding> {
    match trees {
        [TokenTree::Ident(word), rest @ ..] if word == "static" => written_static(word, rest),
        [TokenTree::Ident(word), second, TokenTree::Ident(name), ..]
            if word == "extern" && is_word(second, "crate") =>
        {
            let reason = match name.to_string().as_str() {
                "alloc" => NO_HEAP,
                "std" => "a GPU has no standard library: kernels use `core` and `cuda_std`",
                _ => return None,
            };
            Finding::new(word, format!("`extern crate {name}`: {reason}"))
        }
        [
            TokenTree::Punct(dot),
            TokenTree::Ident(name),
            TokenTree::Group(arguments),
            ..,
        ] if dot.as_char() == '.' && is_call(arguments) => {
            let is_own = own_methods.contains(&name.to_string());
            let is_float = float_methods::is_method_call(name, arguments) && !is_own;
            is_float.then(|| Finding::new(name, float_methods::message(name)))?
        }
        [
            float,
            TokenTree::Punct(colon),
            TokenTree::Punct(_),
            TokenTree::Ident(name),
            ..,
        ] if colon.as_char() == ':' && (is_word(float, "f32") || is_word(float, "f64")) => {
            let is_method = float_methods::is_name_of_method(name);
            is_method.then(|| Finding::new(name, float_methods::message(name)))?
        }
        [
            TokenTree::Ident(name),
            TokenTree::Punct(mark),
            TokenTree::Group(arguments),
            ..,
        ] if mark.as_char() == '!' => macro_call(name, arguments, generics),
        _ => None,
    }
}

/// A static that threads can write. `rest` follows its keyword.
fn written_static(keyword: &Ident, rest: &[TokenTree]) -> Option<Finding> {
    let is_end = |tree: &TokenTree| matches!(tree, TokenTree::Punct(it) if it.as_char() == '=');
    let what = match rest {
        [second, ..] if is_word(second, "mut") => "`static mut`",
        [_, TokenTree::Punct(colon), ty @ ..]
            if colon.as_char() == ':' && ty.iter().take_while(|it| !is_end(it)).any(is_written) =>
        {
            "`static` of atomics or cells"
        }
        _ => return None,
    };
    let message = format!(
        "a {what} is one variable for all threads on a GPU and for all devices in the simulator, \
         which does not check it: use `global_array!`, or `shared_array!` for the threads of a block"
    );
    Finding::new(keyword, message)
}

/// Whether the token names an atomic type or a cell of `core`.
fn is_written(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Ident(name) => {
            let name = name.to_string();
            name.starts_with("Atomic") || name.ends_with("Cell")
        }
        TokenTree::Group(group) => group.stream().into_iter().any(|it| is_written(&it)),
        _ => false,
    }
}

fn macro_call(name: &Ident, arguments: &Group, generics: &Generics) -> Option<Finding> {
    if let Some((name_text, reason)) = MACROS.iter().find(|(it, _)| name == it) {
        return Finding::new(name, format!("`{name_text}!`: {reason}"));
    }
    let (name_text, parameter) = SHARED.iter().find(|(it, _)| name == it)?;
    let generic = generics.first_in(&arguments.stream())?;
    let message = format!(
        "`{name_text}!` with the generic `{generic}`: shared memory is a static, and statics are \
         not generic: declare the array in each kernel, and pass it to this function as a parameter \
         `{parameter}`"
    );
    Finding::new(&generic, message)
}

fn is_call(group: &Group) -> bool {
    group.delimiter() == Delimiter::Parenthesis
}
