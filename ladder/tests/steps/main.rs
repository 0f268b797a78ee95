//! The steps of the ladders, on every machine, against a reference.

#[path = "../../../tests/common/mod.rs"]
#[macro_use]
mod common;

mod divergence;
mod histogram;
mod memory;
mod prefetch;
mod product;
mod sum;
mod tensor;
