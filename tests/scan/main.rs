//! Prefix sums, for every type on every device at hand.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod by;
mod custom;
mod errors;
mod groups;
mod lengths;
mod lines;
mod model;
mod parts;
mod samples;
mod values;
