//! The registers of a block's threads.
//!
//! All threads start with the number that the launch bounds fix. The warpgroup that copies releases registers, and the
//! warpgroups that multiply take them:
//!
//! | warpgroups that multiply | resident blocks | start with | copy with | multiply with, at most |
//! |---|---|---|---|---|
//! | 1 | 2 | 128 | 40 | 216 |
//! | 2 | 1 | 168 | 40 | 232 |
//! | 3 | 1 | 128 | 40 | 152 |

use cuda_std::warpgroup;

/// Registers of a multiprocessor.
const REGISTERS: u32 = 64 << 10;

/// The number of a thread's registers is a multiple of this.
const STEP: u32 = 8;

/// Registers of a thread that copies.
pub const COPYING: u32 = 40;

/// Registers of a thread that multiplies, if one warpgroup does in each of two resident blocks.
pub const MULTIPLYING_ALONE: u32 = 208;
const _: () = assert!(
    MULTIPLYING_ALONE <= multiplying(1, 2),
    "a thread would wait for registers that no other thread releases"
);

/// The most registers of a thread that multiplies, if `warpgroups` warpgroups do in each of `resident` blocks.
pub const fn multiplying(warpgroups: u32, resident: u32) -> u32 {
    let of_all = 1 + warpgroups;
    let start = REGISTERS / (warpgroup::THREADS * of_all * resident) / STEP * STEP;
    assert!(
        start >= COPYING,
        "the warpgroup that copies starts with the registers that it keeps"
    );
    (of_all * start - COPYING) / warpgroups / STEP * STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_registers_are_divided_among_threads_that_multiply() {
        let cases = [(1, 2), (2, 1), (3, 1)];
        assert_eq!(
            cases.map(|(warpgroups, resident)| multiplying(warpgroups, resident)),
            [216, 232, 152]
        );
    }
}
