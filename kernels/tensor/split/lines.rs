//! Scales of an operand's lines, and which of them are outside the split's range.

use cuda_std::prelude::*;
use cuda_std::warp::LaneMask;

/// Lines of a panel. If one of them is outside the split's range, all count as outside. Tiles lie within a panel.
pub const PANEL: usize = 128;

/// Lines that share a word that says whether one of them is outside the split's range. No block splits fewer lines.
pub const GROUP: usize = 8;

/// Exponent of the largest element of a scaled line.
const TOP: i32 = 14;

/// The layout of the words about a matrix's lines.
///
/// | words | meaning |
/// |---|---|
/// | one for each line | bits of its largest magnitude |
/// | one for each line | [`u32::MAX`] minus the bits of its smallest nonzero magnitude, if two launches split |
/// | one for each [`GROUP`] lines | whether one of them is outside the split's range |
#[derive(Clone, Copy, Debug)]
pub struct RangeWords {
    /// Rows of A, or columns of B.
    pub lines: usize,
}

impl RangeWords {
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

    /// The index of the word for the smallest nonzero magnitude of `line`.
    #[inline(always)]
    pub const fn smallest(self, line: usize) -> usize {
        self.lines + line
    }

    /// The index of the word for the group of `line`.
    #[inline(always)]
    pub(super) const fn group(self, line: usize) -> usize {
        2 * self.lines + line / GROUP
    }

    /// Writes, for each group, whether one of its lines is outside the split's range.
    ///
    /// The lanes have consecutive lines, from the first line of a group on, each with its line's two words. A lane
    /// whose line is outside the matrix has none.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, and no other thread of the launch accesses the words of these groups.
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
        let is_out_of_range = is_there && is_out_of_range(largest, u32::MAX - smallest, lowest);
        let are_out_of_range = warp::ballot(LaneMask::all(), is_out_of_range).bits();
        let lane = warp::lane() as usize;
        if is_there && lane.is_multiple_of(GROUP) {
            let of_group = are_out_of_range >> lane & const { (1 << GROUP) - 1 };
            // SAFETY: the matrix has the line, so the group has a word. No other thread accesses it: the caller's
            // contract. One lane writes it.
            unsafe { words.store(self.group(line), u32::from(of_group != 0)) };
        }
    }

    /// Whether a line of the panel that begins with `line` is outside the split's range.
    ///
    /// # Safety
    /// 1. `words` has the words of the lines, as the splits left them.
    /// 2. All lanes of the warp make the call for the same panel.
    #[inline(always)]
    pub(crate) unsafe fn is_panel_out_of_range(self, words: Global<'_, u32>, line: usize) -> bool {
        let line = line + warp::lane() as usize % const { PANEL / GROUP } * GROUP;
        // SAFETY: the line was compared, and `words` has the words of the lines: the caller's contract.
        let is_out_of_range = line < self.lines && unsafe { words.load(self.group(line)) } != 0;
        warp::any(LaneMask::all(), is_out_of_range)
    }
}

/// The lowest exponent of an element of a scaled line with which products of length `k` meet their error bound.
///
/// The bound is gamma_k |A||B| for every output. `None` if `k` is too small for any exponent.
///
/// An output's error, in units of 2^-24 |A||B|, is at most the sum of a column:
///
/// | source | by warpgroups | by warps, on the oldest tensor cores |
/// |---|---|---|
/// | the halves: 2 for each operand, 4 for the product of both `lo` | 8 | 8 |
/// | `lo`'s accumulators and the last roundings | 8 | 8 |
/// | truncations and rounding toward zero of four steps | 42: 17 terms at 2^-25 each | 44: 9 terms at 2^-24 each |
/// | totals | k / 64 | k / 32 |
/// | adding `lo` to the totals | k / 4096 | |
///
/// (Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores, 2021, measured the A100's steps: 8
/// products, with a bit more than f32.)
///
/// The larger sum, that of warps, holds for all, so that the split's range does not depend on the device. The rest of k
/// is left for the errors of small elements, 2^-36 in each operand.
#[must_use]
pub const fn lowest_exponent(k: usize) -> Option<i32> {
    let needed = 60 + k / 32;
    if k < needed + 2 {
        return None;
    }
    let units = (k - needed) / 2;
    Some(-12 - units.ilog2() as i32)
}

/// The exponent of a finite, nonzero magnitude with these bits.
#[inline(always)]
const fn exponent(bits: u32) -> i32 {
    const SUBNORMAL: i32 = -149;
    match bits >> 23 {
        0 => 31 - bits.leading_zeros() as i32 + SUBNORMAL,
        biased => biased as i32 - 127,
    }
}

/// The exponent of the power of two that scales a line whose largest magnitude has these bits.
#[inline(always)]
pub const fn scale_of(largest: u32) -> i32 {
    match largest {
        0 => 0,
        bits => TOP - exponent(bits),
    }
}

/// Whether a line with these extremes is outside the split's range.
#[inline(always)]
pub const fn is_out_of_range(largest: u32, smallest: u32, lowest: i32) -> bool {
    const INFINITY: u32 = 0x7f80_0000;
    largest >= INFINITY || (largest != 0 && exponent(smallest) + scale_of(largest) < lowest)
}

/// 2^`exponent`, if it is a normal number.
#[inline(always)]
pub const fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}
