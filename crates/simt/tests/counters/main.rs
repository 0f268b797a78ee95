//! What a launch costs, line by line.

#[path = "../common/mod.rs"]
mod common;
mod divergence;
mod harness;
mod operations;
mod requests;
mod rounds;
mod shared;
