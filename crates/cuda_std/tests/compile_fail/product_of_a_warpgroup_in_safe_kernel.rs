//! A group of products, even an empty one, is undefined if a thread of the warpgroup has branched away.

use cuda_std::prelude::*;
use cuda_std::wgmma::{M64N8, Registers};

#[kernel(arch = "sm_90a", max_threads = 128)]
pub fn multiply_in_one_thread(c: GlobalMut<f32>) {
    let own = thread::unique_index();
    if own.get() == 0 {
        let sums = M64N8::zero().accumulate().begin().commit().wait();
        let sums = sums.overwrite().wait();
        let mut registers = *sums.as_array();
        registers.wait::<0>();
        if let Some(c) = c.own(own) {
            c.set(registers[0]);
        }
    }
}

fn main() {}
