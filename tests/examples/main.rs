//! The examples as programs: their output, their files, their failures.
//!
//! `cargo test` builds them first; `cargo test --test examples` takes those that were built last,
//! which `cargo build --examples` renews.

#![cfg(feature = "ndarray")]

mod analyses;
mod array_products;
mod arrays;
mod attention;
mod command_lines;
#[path = "../common/mod.rs"]
mod common;
mod files;
mod harness;
mod headers;
mod output;
mod products;
mod sums;
mod tables;
