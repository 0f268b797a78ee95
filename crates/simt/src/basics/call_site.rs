//! Lines of instructions.

use std::panic::Location;

/// The line at which an instruction is called.
pub(crate) type CallSite = &'static Location<'static>;
