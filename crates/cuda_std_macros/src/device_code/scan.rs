//! What tokens say that only the standard library, or only a host, can do.

use super::tokens::{device_code, is_word};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// The methods of floats that the standard library adds to those of `core`, without arguments and
/// with some. `mul_add` is not among them: `cuda_std::float::Float` has it on both machines, with
/// the same result.
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

/// Macros of the standard library, each with why a GPU does not have it.
const MACROS: [(&str, &str); 7] = [
    ("dbg", NO_OUTPUT),
    ("eprint", NO_OUTPUT),
    ("eprintln", NO_OUTPUT),
    ("format", NO_HEAP),
    ("print", NO_OUTPUT),
    ("println", NO_OUTPUT),
    ("vec", NO_HEAP),
];
const NO_OUTPUT: &str = "a GPU has no output: write to a `GlobalMut`, and print it on the host";
const NO_HEAP: &str = "a GPU has no heap: use an array, or a buffer that the host passes";

/// Something that a library with kernels must not contain.
pub struct Finding {
    /// Line and column, from 1.
    pub place: (usize, usize),
    pub message: String,
}

/// The methods that the crate defines for types of its own: they may be called as those of floats.
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
            // In the simulator the standard library's method would run instead.
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

/// Whether what stands before a body ends with `for f32` or `for f64`.
fn is_body_of_float_impl(before: &[TokenTree]) -> bool {
    let [.., word, float] = before else {
        return false;
    };
    is_word(word, "for") && (is_word(float, "f32") || is_word(float, "f64"))
}

/// What the tokens of a file contain that a GPU does not have.
pub fn findings(tokens: &TokenStream, own_methods: &BTreeSet<String>) -> Vec<Finding> {
    let trees = device_code(tokens);
    let mut findings = Vec::new();
    for (index, tree) in trees.iter().enumerate() {
        if let TokenTree::Group(group) = tree {
            findings.extend(self::findings(&group.stream(), own_methods));
        }
        if let Some((span, message)) = finding(&trees[index..], own_methods) {
            let start = span.start();
            findings.push(Finding {
                place: (start.line, start.column + 1),
                message,
            });
        }
    }
    findings
}

/// What the first trees are, if it is something that a GPU does not have.
fn finding(trees: &[TokenTree], own_methods: &BTreeSet<String>) -> Option<(Span, String)> {
    match trees {
        [TokenTree::Ident(word), second, ..] if word == "static" && is_word(second, "mut") => {
            let message = "a `static mut` is one variable for all threads on a GPU and for all \
                           devices in the simulator, which does not check it: use `global_array!`, \
                           or `shared_array!` for the threads of a block";
            Some((word.span(), message.to_owned()))
        }
        [TokenTree::Ident(word), second, TokenTree::Ident(name), ..]
            if word == "extern" && is_word(second, "crate") =>
        {
            let reason = match name.to_string().as_str() {
                "alloc" => NO_HEAP,
                "std" => "a GPU has no standard library: kernels use `core` and `cuda_std`",
                _ => return None,
            };
            Some((word.span(), format!("`extern crate {name}`: {reason}")))
        }
        [
            TokenTree::Punct(dot),
            TokenTree::Ident(name),
            TokenTree::Group(arguments),
            ..,
        ] if dot.as_char() == '.' && is_call(arguments) => {
            let is_own = own_methods.contains(&name.to_string());
            let is_float = is_method_of_std(name, arguments) && !is_own;
            is_float.then(|| (name.span(), no_method(name)))
        }
        [
            float,
            TokenTree::Punct(colon),
            TokenTree::Punct(_),
            TokenTree::Ident(name),
            ..,
        ] if colon.as_char() == ':' && (is_word(float, "f32") || is_word(float, "f64")) => {
            let name_text = name.to_string();
            let names = METHODS.iter().chain(&METHODS_WITH_ARGUMENTS);
            let is_float = names.into_iter().any(|it| *it == name_text);
            is_float.then(|| (name.span(), no_method(name)))
        }
        [
            TokenTree::Ident(name),
            TokenTree::Punct(mark),
            TokenTree::Group(_),
            ..,
        ] if mark.as_char() == '!' => {
            let (name_text, reason) = MACROS.iter().find(|(it, _)| name == it)?;
            Some((name.span(), format!("`{name_text}!`: {reason}")))
        }
        _ => None,
    }
}

fn is_method_of_std(name: &Ident, arguments: &Group) -> bool {
    let methods: &[&str] = match arguments.stream().is_empty() {
        true => &METHODS,
        false => &METHODS_WITH_ARGUMENTS,
    };
    methods.iter().any(|it| name == it)
}

fn no_method(name: &Ident) -> String {
    format!(
        "`{name}` is a method of the standard library, which the simulator has and a GPU does not: {}",
        remedy(&name.to_string())
    )
}

/// What to write instead of a method.
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

fn is_call(group: &Group) -> bool {
    group.delimiter() == Delimiter::Parenthesis
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings as `line:column start of the message`.
    fn found(source: &str) -> Vec<String> {
        let tokens: TokenStream = source.parse().unwrap();
        let own = own_methods([&tokens].into_iter());
        let findings = findings(&tokens, &own).into_iter();
        let line = |Finding { place, message }| {
            let start = message
                .split(['`', ':'])
                .nth(1)
                .unwrap_or_default()
                .to_owned();
            format!("{}:{} {start}", place.0, place.1)
        };
        findings.map(line).collect()
    }

    #[test]
    fn methods_of_std_are_found_and_those_of_core_are_not() {
        assert_eq!(found("fn f(x: f32) { x.exp() }"), ["1:18 exp"]);
        assert_eq!(found("fn f() {\n  (1.0_f64).powf(2.0)\n}"), ["2:13 powf"]);
        assert_eq!(
            found("fn f(x: f32) { f32::sqrt(x) + f64::consts() }"),
            ["1:21 sqrt"]
        );
        assert_eq!(found("m! { x.sin_cos() }"), ["1:8 sin_cos"]);
        let core = "fn f(x: f32) { x.abs().max(1.0).mul_add(x, x).to_bits(); exp(x); x.exp }";
        assert_eq!(found(core), [""; 0]);
    }

    #[test]
    fn a_method_s_message_says_what_to_write() {
        let messages = |source: &str| {
            let tokens: TokenStream = source.parse().unwrap();
            let found = findings(&tokens, &BTreeSet::new()).into_iter();
            found.map(|it| it.message).collect::<Vec<_>>()
        };
        let [exp, power] = &messages("fn f(x: f32) { x.exp() + x.powf(x) }")[..] else {
            panic!("two findings");
        };
        assert!(exp.ends_with("write `cuda_std::math::exp(x)`"), "{exp}");
        assert!(
            power.ends_with("write `cuda_std::math::pow(x, y)`"),
            "{power}"
        );
    }

    #[test]
    fn methods_of_the_crate_s_own_types_are_its_own() {
        let own = "impl Dual { fn exp(self) -> Dual { self } } fn f(x: Dual) { x.exp() }";
        assert_eq!(found(own), [""; 0]);
        // In the simulator the inherent method of f32 is called, and not this one.
        let hidden = "impl Math for f32 { fn exp(self) -> f32 { self } } fn f(x: f32) { x.exp() }";
        assert_eq!(found(hidden), ["1:69 exp"]);
    }

    #[test]
    fn items_and_macros_of_a_host_are_found() {
        assert_eq!(found("extern crate alloc;"), ["1:1 extern crate alloc"]);
        assert_eq!(found("extern crate std as s;"), ["1:1 extern crate std"]);
        assert_eq!(found("extern crate core;"), [""; 0]);
        assert_eq!(found("fn f() { println!(\"x\") }"), ["1:10 println!"]);
        assert_eq!(
            found("fn f() { static mut N: u32 = 0; }"),
            ["1:10 static mut"]
        );
    }

    #[test]
    fn code_for_hosts_and_tests_is_their_own() {
        for condition in ["test", "not(target_arch = \"nvptx64\")"] {
            let items =
                format!("#[cfg({condition})] #[x] mod tests {{ fn f() {{ vec![1.0.exp()] }} }}");
            assert_eq!(found(&items), [""; 0]);
            let item = format!("#[cfg({condition})] extern crate alloc; static mut N: u32 = 0;");
            assert_eq!(found(&item).len(), 1);
        }
        assert_eq!(
            found("#[cfg(target_arch = \"nvptx64\")] fn f() { 1.0.exp() }").len(),
            1
        );
    }
}
