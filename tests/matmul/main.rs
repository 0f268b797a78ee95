//! Products of matrices, by every kernel, for every type, on every device at hand.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod batches;
mod cases;
mod counted;
mod dequantized;
mod epilogues;
mod errors;
mod fastest;
mod float8;
mod gram;
mod groups;
mod harness;
mod integers;
mod invariant;
mod layouts;
mod leading_dimensions;
mod level3;
mod narrow_parts;
mod parts;
mod prepared;
mod scaled;
mod shapes;
mod skinny;
mod small_results;
mod split;
mod turned;
mod values;
mod vectors;
mod views;
mod warps;
