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
const COPYING: u32 = 40;

/// Registers of a thread that multiplies, if one warpgroup does in each of two resident blocks.
const MULTIPLYING_ALONE: u32 = 208;
const _: () = assert!(
    MULTIPLYING_ALONE <= multiplying(1, 2),
    "a thread would wait for registers that no other thread releases"
);

/// The most registers of a thread that multiplies, if `warpgroups` warpgroups do in each of `resident` blocks.
const fn multiplying(warpgroups: u32, resident: u32) -> u32 {
    let of_all = 1 + warpgroups;
    let start = REGISTERS / (warpgroup::THREADS * of_all * resident) / STEP * STEP;
    assert!(
        start >= COPYING,
        "the warpgroup that copies starts with the registers that it keeps"
    );
    (of_all * start - COPYING) / warpgroups / STEP * STEP
}

/// Releases the registers of the warpgroup that copies, if `is_needed`.
///
/// # Safety
/// 1. All threads of the warpgroup make the call together, converged, once.
/// 2. The kernel states the launch bounds of its tile, which fix the number of registers that a thread starts with.
#[inline(always)]
pub unsafe fn release(is_needed: bool) {
    if is_needed {
        // SAFETY: the whole warpgroup is here, converged, once, and the kernel states its bounds: the caller's
        // contract. Every tile's threads start with at least `COPYING` registers, as `multiplying` asserts.
        unsafe { warpgroup::decrease_registers::<COPYING>() };
    }
}

/// Takes registers for the calling warpgroup, one of `warpgroups` that multiply, if it `is_needed`.
///
/// # Safety
/// 1. and 2. as for [`release`], which the warpgroup that copies calls with the same `is_needed`.
#[inline(always)]
pub unsafe fn take(warpgroups: usize, is_needed: bool) {
    // SAFETY: the whole warpgroup is here, converged, once, and the kernel states its bounds: the caller's contract.
    // No tile's threads start with as many registers (the table above), and the warpgroup that copies releases them.
    unsafe {
        match (is_needed, warpgroups) {
            (false, _) => {}
            (true, 1) => warpgroup::increase_registers::<MULTIPLYING_ALONE>(),
            (true, 2) => warpgroup::increase_registers::<{ multiplying(2, 1) }>(),
            (true, _) => warpgroup::increase_registers::<{ multiplying(3, 1) }>(),
        }
    }
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
