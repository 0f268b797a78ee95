//! All parameters together have 4096 bytes.

use cuda_std::prelude::*;

#[kernel]
pub fn read(table: GridConstant<[u32; 1025]>, out: GlobalMut<u32>) {
    if let Some(out) = out.own(thread::unique_index()) {
        out.set(table[1024]);
    }
}

fn main() {}
