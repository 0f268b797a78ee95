//! Rewrites LLVM's textual IR to add what Rust cannot express.
//!
//! [`prepare`] works on the linked module before any optimisation, [`finish`] on the optimised one. Both read line by
//! line, which LLVM's printer allows: a global, a function's head, a declaration and a call are each on one line.
//! Neither a string nor a quoted name contains a newline or an unescaped quote.

mod annotation;
mod architecture;
mod convergent;
mod copies;
mod finish;
mod global;
mod kernel;
mod names;
mod prepare;
mod remainder;
mod split;
mod text;

pub(crate) use architecture::for_architecture;
pub(crate) use finish::finish;
pub(crate) use names::undefined_symbols;
pub(crate) use prepare::{Prepared, prepare};
pub(crate) use split::Splitter;
