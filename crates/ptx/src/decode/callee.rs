//! Functions that are called, with their parameters and results.

use super::names::{Named, Names};
use crate::words::Type;

/// A function that is called.
pub(super) struct Callee<'a> {
    pub name: &'a str,
    /// The number of its first instruction, once it is decoded.
    pub start: usize,
    /// Its parameters and results, with their types.
    pub names: Names,
    pub parameters: Vec<(Named, Type)>,
    pub results: Vec<(Named, Type)>,
    /// The numbers of the functions that it calls.
    pub calls: Vec<usize>,
}
