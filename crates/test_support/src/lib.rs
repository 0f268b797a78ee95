//! What tests, benchmarks and examples share: random numbers, references, error bounds.

pub mod random;
pub mod rounding;
