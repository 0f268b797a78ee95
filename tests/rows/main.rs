//! Row operations: softmax and its relatives, normalisation and cross entropy, for every type on every device at hand.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod cases;
mod cross_entropy;
mod graphs;
mod layouts;
mod norm;
mod quantize;
mod refusals;
mod softmax;
mod special;
