//! An atomic view has only atomic operations.

use cuda_std::prelude::*;

#[kernel]
pub fn write(y: GlobalAtomic<u32>) {
    let _ = y.own(thread::unique_index());
}

fn main() {}
