//! Mistakes with `setmaxnreg`.

use crate::{me, twins};
use cuda_std::prelude::*;
use cuda_std::warpgroup::{self, decrease_registers, increase_registers};

twins! {
    /// A warpgroup waits for more registers than the block has.
    more_registers_than_the_block_has more_registers_than_the_block_has_twin(memory, parts) {
        decrease_registers::<24>();
        thread::sync_threads();
        if RIGHT {
            increase_registers::<160>();
        } else {
            increase_registers::<248>();
        }
    }

    /// Two warpgroups wait for more registers than the third releases.
    registers_that_nothing_gives_back registers_that_nothing_gives_back_twin(memory, parts) {
        if warpgroup::index() == 0 {
            decrease_registers::<24>();
        } else if RIGHT {
            increase_registers::<240>();
        } else {
            increase_registers::<248>();
        }
    }

    /// A warp of the warpgroup does not take part.
    registers_of_three_warps registers_of_three_warps_twin(memory, parts) {
        if RIGHT || me() >= 32 {
            decrease_registers::<40>();
        }
    }
}
