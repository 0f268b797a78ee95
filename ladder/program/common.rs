//! The parts of the benchmarks that rivals and samples use.

#![allow(dead_code, reason = "each program uses a part of it")]

#[path = "../../benches/common/samples.rs"]
pub mod samples;

use std::error::Error;

/// The result of a step of a benchmark; the error is one line for a person.
pub type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;
