//! Random numbers, references, error bounds and choices for tests, benchmarks and examples.

pub mod programs;
pub mod random;
pub mod rounding;
pub mod selection;
