//! Sums and the other reductions, for every type on every device at hand.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod custom;
mod errors;
mod keys;
mod lengths;
mod lines;
mod operations;
mod pairs;
mod parts;
mod plans;
mod samples;
mod segments;
mod threads;
mod top_k;
mod tree;
mod values;
