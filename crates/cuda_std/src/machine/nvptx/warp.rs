//! Warp-level operations (PTX ISA, 9.7.8.6 and 9.7.12.7 to 9.7.12.9).
//!
//! Every function exchanges registers and accesses no memory. An instruction whose mask omits the executing lane is
//! undefined in PTX, so [`with_own_lane`] adds that lane. If a lane in the mask does not arrive, the others wait or
//! get unspecified values. So the functions are safe.

use super::intrinsics::intrinsics;
use super::position::{lane_index, warp_width};
use core::arch::asm;

intrinsics! {
    fn shfl_idx(mask: i32, value: i32, lane: i32, clamp: i32) -> i32 = "llvm.nvvm.shfl.sync.idx.i32";
    fn shfl_up(mask: i32, value: i32, delta: i32, clamp: i32) -> i32 = "llvm.nvvm.shfl.sync.up.i32";
    fn shfl_down(mask: i32, value: i32, delta: i32, clamp: i32) -> i32 = "llvm.nvvm.shfl.sync.down.i32";
    fn shfl_bfly(mask: i32, value: i32, lanes: i32, clamp: i32) -> i32 = "llvm.nvvm.shfl.sync.bfly.i32";
    fn vote_ballot(mask: i32, predicate: bool) -> i32 = "llvm.nvvm.vote.ballot.sync";
    fn match_any_32(mask: i32, value: i32) -> i32 = "llvm.nvvm.match.any.sync.i32";
    fn match_any_64(mask: i32, value: i64) -> i32 = "llvm.nvvm.match.any.sync.i64";
}

/// Adds the calling lane to `mask`, for the other functions. A constant mask of all lanes stays a constant.
#[inline(always)]
pub fn with_own_lane(mask: u64) -> u64 {
    // Instructions take a mask of 32 bits.
    u64::from(mask as u32 | 1 << lane_index())
}

/// How a shuffle finds its source lane.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shuffle {
    Index,
    Up,
    Down,
    Xor,
}

/// The value of another lane, `bytes` bytes wide, within segments of `width` lanes.
#[inline(always)]
pub fn shuffle(kind: Shuffle, mask: u64, bits: u64, bytes: usize, lane: u32, width: u32) -> u64 {
    let low = u64::from(shuffle_word(kind, mask, bits as u32, lane, width));
    if bytes <= 4 {
        return low;
    }
    let high = shuffle_word(kind, mask, (bits >> 32) as u32, lane, width);
    low | u64::from(high) << 32
}

#[inline(always)]
fn shuffle_word(kind: Shuffle, mask: u64, word: u32, lane: u32, width: u32) -> u32 {
    // Bits 8 to 12 of the last operand divide the warp into segments. Bits 0 to 4 are the last lane
    // of a segment that may be read, or the first for `up`.
    let segments = (warp_width() - width) << 8;
    let last = segments | (warp_width() - 1);
    let (mask, word, lane) = (mask as i32, word as i32, lane as i32);
    // SAFETY: exchanges registers only; the mask has the calling lane (see the module's
    // documentation).
    let word = unsafe {
        match kind {
            Shuffle::Index => shfl_idx(mask, word, lane, last as i32),
            Shuffle::Up => shfl_up(mask, word, lane, segments as i32),
            Shuffle::Down => shfl_down(mask, word, lane, last as i32),
            Shuffle::Xor => shfl_bfly(mask, word, lane, last as i32),
        }
    };
    word as u32
}

/// The lanes of `mask` whose predicate is true.
#[inline(always)]
pub fn ballot(mask: u64, predicate: bool) -> u64 {
    // SAFETY: exchanges registers only; the mask has the calling lane (see the module's
    // documentation).
    u64::from(unsafe { vote_ballot(mask as i32, predicate) } as u32)
}

/// The lanes of `mask` with the same `bits`, compared over `bytes` bytes.
#[inline(always)]
pub fn match_any(mask: u64, bits: u64, bytes: usize) -> u64 {
    // SAFETY: exchanges registers only; the mask has the calling lane (see the module's
    // documentation).
    let lanes = unsafe {
        if bytes <= 4 {
            match_any_32(mask as i32, bits as i32)
        } else {
            match_any_64(mask as i32, bits as i64)
        }
    };
    u64::from(lanes as u32)
}

/// The lanes that run this instruction together.
#[inline(always)]
pub fn active_lanes() -> u64 {
    let mask: u32;
    // SAFETY: exchanges registers only; the mask has the calling lane (see the module's
    // documentation). Not `pure`: the result depends on where it executes.
    unsafe { asm!("activemask.b32 {0};", out(reg32) mask, options(nomem, nostack)) };
    u64::from(mask)
}

/// The converged lanes, which may then work together.
#[inline(always)]
pub fn converged_lanes() -> u64 {
    active_lanes()
}

/// The wrapping sum over the lanes of `mask`, if the machine has an instruction for it
/// (`redux.sync`, from compute capability 8.0).
#[inline(always)]
pub fn reduce_add_u32(mask: u64, value: u32) -> Option<u32> {
    #[cfg(cuda_arch_at_least = "80")]
    {
        let sum: u32;
        // SAFETY: exchanges registers only; the mask has the calling lane (see the module's
        // documentation).
        unsafe {
            asm!(
                "redux.sync.add.u32 {0}, {1}, {2};",
                out(reg32) sum,
                in(reg32) value,
                in(reg32) mask as u32,
                options(nomem, nostack),
            );
        }
        Some(sum)
    }
    #[cfg(not(cuda_arch_at_least = "80"))]
    {
        let _ = (mask, value);
        None
    }
}
