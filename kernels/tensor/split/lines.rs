//! The words about an operand's lines: whether a line is outside the split's range, and the scales of the others.

use cuda_std::prelude::*;
use cuda_std::warp::LaneMask;

/// Lines that are in or out of the split's range together: those of a block's tile.
pub const PANEL: usize = 128;

/// Lines with one word that tells whether one of them is outside the split's range: the fewest lines that a block
/// splits.
pub const GROUP: usize = 8;

/// Exponent of the largest element of a scaled line.
const TOP: i32 = 14;

/// The layout of the words about an operand's lines: first, for each line, the bits of its largest magnitude; then, for
/// each line, [`u32::MAX`] minus the bits of its smallest nonzero magnitude, if one launch passes it to the next; then,
/// for each [`GROUP`] lines, whether one is outside the split's range.
#[derive(Clone, Copy, Debug)]
pub struct LineWords {
    /// Rows of A, or columns of B.
    pub lines: usize,
}

impl LineWords {
    /// The number of words.
    #[must_use]
    pub const fn len(self) -> usize {
        2 * self.lines + self.lines.div_ceil(GROUP)
    }

    /// Whether there are no lines.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.lines == 0
    }

    /// The word of the smallest nonzero magnitude of `line`.
    #[inline(always)]
    pub const fn smallest(self, line: usize) -> usize {
        self.lines + line
    }

    /// The word of the group of `line`.
    #[inline(always)]
    pub(super) const fn group(self, line: usize) -> usize {
        2 * self.lines + line / GROUP
    }

    /// Writes which groups have a line outside the split's range. Consecutive lanes have consecutive lines, from the
    /// first of a group on, with these two words. A lane whose line does not exist has none.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, and no other warp of the launch accesses these groups' words.
    /// 2. `words` has the words of the lines.
    #[inline(always)]
    pub(super) unsafe fn note_groups(
        self,
        words: GlobalMut<'_, u32>,
        line: usize,
        [largest, smallest]: [u32; 2],
        lowest: i32,
    ) {
        let is_there = line < self.lines;
        let is_wide = is_there && is_wide(largest, u32::MAX - smallest, lowest);
        let are_wide = warp::ballot(LaneMask::all(), is_wide).bits();
        let lane = warp::lane() as usize;
        if is_there && lane.is_multiple_of(GROUP) {
            let of_group = are_wide >> lane & const { (1 << GROUP) - 1 };
            // SAFETY: the group's first line exists, so `words` has the group's word, which no other warp accesses: the
            // caller's contract.
            unsafe { words.store(self.group(line), u32::from(of_group != 0)) };
        }
    }

    /// Whether the panel from `line` on has a line outside the split's range.
    ///
    /// # Safety
    /// 1. `words` has the words of the lines, as the splits left them, and `line` is one of the lines.
    /// 2. All lanes of the warp make the call for the same panel.
    #[inline(always)]
    pub(crate) unsafe fn is_panel_wide(self, words: Global<'_, u32>, line: usize) -> bool {
        let line = line + warp::lane() as usize % const { PANEL / GROUP } * GROUP;
        // SAFETY: the line exists, compared here, so `words` has its group's word: the caller's contract.
        let is_wide = line < self.lines && unsafe { words.load(self.group(line)) } != 0;
        warp::any(LaneMask::all(), is_wide)
    }
}

/// The lowest exponent of an element of a scaled line with which every output of a product of length `k` stays within
/// gamma_k |A||B|. `None` if `k` is too small for any.
///
/// In units of u = 2^-24 of |A||B|, an output's error is at most 8 for the halves (2 for each operand,
/// 4 for the product of both `lo`), 8 for `lo`'s accumulators and the last roundings, and
///
/// - of warpgroups, 42 for four instructions' truncations of 17 terms at 2^-25 and their rounding toward zero,
///   k / 64 for the totals, k / 4096 for adding `lo`;
/// - of warps, on the oldest tensor cores, 44 for four steps' truncations of 9 terms at 2^-24 and their rounding
///   toward zero, k / 32 for the totals. (Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor
///   cores, 2021, has the A100's steps of 8 products, with a bit more than f32.)
///
/// The larger bound, that of warps, applies to all, so the split's range does not depend on the device. The operands'
/// errors of 2^-36 for small elements share what is left of k.
#[must_use]
pub const fn lowest_exponent(k: usize) -> Option<i32> {
    let needed = 60 + k / 32;
    if k < needed + 2 {
        return None;
    }
    let units = (k - needed) / 2;
    Some(-12 - units.ilog2() as i32)
}

/// The exponent of the finite nonzero number with these bits, which have no sign.
#[inline(always)]
const fn exponent(bits: u32) -> i32 {
    const SUBNORMAL: i32 = -149;
    match bits >> 23 {
        0 => 31 - bits.leading_zeros() as i32 + SUBNORMAL,
        biased => biased as i32 - 127,
    }
}

/// The exponent of the scale of a line whose largest magnitude has these bits.
#[inline(always)]
pub const fn scale_of(largest: u32) -> i32 {
    match largest {
        0 => 0,
        bits => TOP - exponent(bits),
    }
}

/// Whether the line is outside the split's range, so that its outputs need the CUDA cores.
#[inline(always)]
pub const fn is_wide(largest: u32, smallest: u32, lowest: i32) -> bool {
    const INFINITY: u32 = 0x7f80_0000;
    largest >= INFINITY || (largest != 0 && exponent(smallest) + scale_of(largest) < lowest)
}

/// 2^`exponent`, which is a normal number.
#[inline(always)]
pub const fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}
