//! Float methods that exist on a host but not on a GPU.

use super::super::tokens::{device_code, is_word};
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// The float methods that the standard library adds to `core`'s. `mul_add`, `rem_euclid` and `div_euclid` are left
/// out: `cuda_std::float::Float` has them on both machines, with equal results.
const METHODS: [&str; 30] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "exp_m1",
    "floor",
    "fract",
    "gamma",
    "ln",
    "ln_1p",
    "ln_gamma",
    "log10",
    "log2",
    "round",
    "round_ties_even",
    "sin",
    "sin_cos",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
];
const METHODS_WITH_ARGUMENTS: [&str; 5] = ["atan2", "hypot", "log", "powf", "powi"];

/// Methods of the same names that the crate defines for its own types, which are allowed.
pub fn own_methods<'a>(files: impl Iterator<Item = &'a TokenStream>) -> BTreeSet<String> {
    let mut methods = BTreeSet::new();
    for tokens in files {
        collect_methods(tokens, &mut methods);
    }
    methods
}

fn collect_methods(tokens: &TokenStream, methods: &mut BTreeSet<String>) {
    let trees = device_code(tokens);
    for (index, tree) in trees.iter().enumerate() {
        match (tree, trees.get(index + 1)) {
            // Not for floats: in the simulator the standard library's method would run instead.
            (TokenTree::Group(body), _) if !is_body_of_float_impl(&trees[..index]) => {
                collect_methods(&body.stream(), methods);
            }
            (word, Some(TokenTree::Ident(name))) if is_word(word, "fn") => {
                let mut rest = trees[index..].iter();
                let takes_self = rest.find_map(|tree| match tree {
                    TokenTree::Group(it) if it.delimiter() == Delimiter::Parenthesis => {
                        let mut parameters = it.stream().into_iter();
                        Some(parameters.any(|tree| is_word(&tree, "self")))
                    }
                    _ => None,
                });
                if takes_self == Some(true) {
                    methods.insert(name.to_string());
                }
            }
            _ => {}
        }
    }
}

/// Whether the tokens before a body end with `for f32` or `for f64`.
fn is_body_of_float_impl(before: &[TokenTree]) -> bool {
    let [.., word, float] = before else {
        return false;
    };
    is_word(word, "for") && (is_word(float, "f32") || is_word(float, "f64"))
}

/// Whether `name` is a float method of the standard library, with any arguments.
pub fn is_name_of_method(name: &Ident) -> bool {
    let mut names = METHODS.iter().chain(&METHODS_WITH_ARGUMENTS);
    names.any(|it| name == it)
}

/// Whether `.name(arguments)` calls one of the methods.
pub fn is_method_call(name: &Ident, arguments: &Group) -> bool {
    let methods: &[&str] = match arguments.stream().is_empty() {
        true => &METHODS,
        false => &METHODS_WITH_ARGUMENTS,
    };
    methods.iter().any(|it| name == it)
}

/// The error message for a method.
pub fn message(name: &Ident) -> String {
    format!(
        "`{name}` is a method of the standard library, which the simulator has and a GPU does not: {}",
        remedy(&name.to_string())
    )
}

/// The replacement to suggest for a method.
fn remedy(method: &str) -> String {
    match method {
        "ceil" | "cos" | "exp" | "exp2" | "floor" | "ln" | "log2" | "round" | "round_ties_even"
        | "sin" | "sqrt" | "tan" | "tanh" | "trunc" => {
            format!("write `cuda_std::math::{method}(x)`")
        }
        "powf" | "powi" => "write `cuda_std::math::pow(x, y)`".to_owned(),
        "sin_cos" => "write `(cuda_std::math::sin(x), cuda_std::math::cos(x))`".to_owned(),
        "fract" => "write `x - cuda_std::math::trunc(x)`".to_owned(),
        _ => "compute it with the functions of `cuda_std::math`".to_owned(),
    }
}
