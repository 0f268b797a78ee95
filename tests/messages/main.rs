//! Every message of the library as a caller reads it: the call, and the whole sentence. A kind of error without a
//! sentence here fails.

#![cfg(feature = "ndarray")]

mod arguments;
mod built;
mod devices;
mod groups;
mod plans;
mod products;

use std::collections::HashSet;
use tilewright::{Error, ErrorKind, Result};

/// A message, and the expected text.
struct Line {
    /// The kind of the error and its data.
    kind: String,
    said: String,
    expected: &'static str,
}

/// The message of a call that fails, with the name of the call.
#[track_caller]
fn says<T>(result: Result<T>, expected: &'static str) -> Line {
    let Err(error) = result else {
        panic!("it works, and should say: {expected}");
    };
    line(&error, expected)
}

/// The message of a kind of error that takes a GPU, an old driver or another process, without a call.
fn built(kind: impl Into<ErrorKind>, expected: &'static str) -> Line {
    let mut line = line(&kind.into().during("call"), expected);
    line.said = line.said.replace("call: ", "");
    line
}

fn line(error: &Error, expected: &'static str) -> Line {
    Line {
        kind: format!("{:?}", error.kind()),
        said: renumbered(&error.to_string()),
        expected,
    }
}

/// The text with its simulators numbered as it mentions them: their own numbers depend on the devices that other tests
/// have made.
fn renumbered(text: &str) -> String {
    const NAME: &str = "simulator #";
    let mut numbers: Vec<&str> = Vec::new();
    let mut parts = text.split(NAME);
    let mut renumbered = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = part.split_at(digits);
        let place = numbers.iter().position(|it| *it == number);
        let place = place.unwrap_or_else(|| {
            numbers.push(number);
            numbers.len() - 1
        });
        renumbered += &format!("{NAME}{}{rest}", place + 1);
    }
    renumbered
}

fn all() -> Vec<Line> {
    let tables = [
        arguments::table(),
        products::table(),
        devices::table(),
        groups::table(),
        built::table(),
        #[cfg(feature = "dlpack")]
        built::tensors(),
    ];
    tables.into_iter().flatten().collect()
}

#[test]
fn each_error_says_what_is_wrong_and_what_to_do() {
    let wrong: Vec<String> = all()
        .into_iter()
        .filter(|line| line.said != line.expected)
        .map(|line| format!("said:     {}\nexpected: {}\n", line.said, line.expected))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn no_message_leaves_the_plural_to_the_reader() {
    for Line { said, .. } in all() {
        assert!(!said.contains("(s)"), "{said}");
        for one in [" 1 elements", " 1 rows", " 1 bytes", " 1 blocks"] {
            assert!(!said.contains(one), "{said}");
        }
    }
}

/// The variants of the enums of errors, by their sources.
#[test]
fn every_kind_of_error_is_in_a_table() {
    let lines = all();
    let seen: HashSet<&str> = lines
        .iter()
        .flat_map(|line| line.kind.split(|it: char| !it.is_alphanumeric()))
        .collect();
    let sources = [
        include_str!("../../host/error/kind.rs"),
        include_str!("../../host/error/group.rs"),
        include_str!("../../host/error/simulator.rs"),
        include_str!("../../host/error/tensor_map_rule.rs"),
        #[cfg(feature = "dlpack")]
        include_str!("../../host/error/tensor.rs"),
    ];
    let mut variants = 0;
    for variant in sources.iter().flat_map(|source| source.lines()) {
        let Some(rest) = variant.strip_prefix("    ") else {
            continue;
        };
        let len = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (name, rest) = rest.split_at(len);
        let is_variant = name.starts_with(|it: char| it.is_ascii_uppercase())
            && [",", " {", "("].iter().any(|it| rest.starts_with(it));
        let is_there = (name != "Interop" || cfg!(feature = "cust"))
            && (name != "Tensor" || cfg!(feature = "dlpack"));
        if is_variant && is_there {
            variants += 1;
            assert!(seen.contains(name), "no message of {name} is in a table");
        }
    }
    assert!(variants > 50, "{variants}");
}
