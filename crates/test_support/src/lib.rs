//! Random numbers, references and error bounds for tests, benchmarks and examples.

pub mod programs;
pub mod random;
pub mod rounding;
