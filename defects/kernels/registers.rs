//! Mistakes with `setmaxnreg`.

use crate::{me, twins};
use cuda_std::prelude::*;
use cuda_std::warpgroup::{self, decrease_registers, increase_registers};

twins! {
    /// More registers than a thread can have.
    more_registers_than_a_thread_has more_registers_than_a_thread_has_twin(memory, parts) {
        if RIGHT {
            increase_registers::<248>();
        } else {
            increase_registers::<256>();
        }
    }

    /// Two warpgroups wait for more registers than the third gives back.
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
