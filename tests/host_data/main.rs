//! Reductions of host data in chunks: the bits of a reduction of a buffer with all elements.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod chunks;
mod products;
mod refusals;
mod values;
