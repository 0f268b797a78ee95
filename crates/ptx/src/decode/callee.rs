//! Functions that are called, with what they take and return.

use super::names::{Named, Names};

/// A function that is called.
pub(super) struct Callee<'a> {
    pub name: &'a str,
    /// The number of its first instruction, once it is decoded.
    pub start: usize,
    /// Its parameters and results.
    pub names: Names,
    pub parameters: Vec<Named>,
    pub results: Vec<Named>,
    /// The numbers of the functions that it calls.
    pub calls: Vec<usize>,
}
