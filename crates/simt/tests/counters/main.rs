//! The costs of a launch, line by line.

#[path = "../borrowed/mod.rs"]
mod borrowed;
#[path = "../common/mod.rs"]
mod common;
mod divergence;
mod harness;
mod kernel;
mod model;
mod operations;
mod program;
mod properties;
mod requests;
mod rounds;
mod shared;
mod strategies;
