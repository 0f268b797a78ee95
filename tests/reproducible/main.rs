//! Reproducible sums: exact, whatever the order and the division.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

#[allow(dead_code, reason = "those of other sums")]
#[path = "../reduce/samples.rs"]
mod samples;

mod order;
mod sample;
mod state;
mod values;
