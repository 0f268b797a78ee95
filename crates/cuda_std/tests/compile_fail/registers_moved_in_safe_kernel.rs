//! Moving registers is undefined if a thread of the warpgroup has branched away.

use cuda_std::prelude::*;
use cuda_std::warpgroup;

#[kernel(arch = "sm_90a", max_threads = 256, min_blocks = 1)]
pub fn move_registers_of_one_thread() {
    match thread::rank_in_block() {
        0 => warpgroup::decrease_registers::<40>(),
        128 => warpgroup::increase_registers::<240>(),
        _ => {}
    }
}

fn main() {}
