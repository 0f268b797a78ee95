//! When K of a product is divided, and into which parts.

use super::Problem;
use crate::matmul::element_type::ElementType;
use std::ops::RangeInclusive;
use tilewright_kernels::tensor::HALF_DEPTH;

/// The parts into which K is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// So many.
    pub count: usize,
    /// Elements of each but the last, which has what is left.
    pub len: usize,
}

/// When K is divided, and into how many parts.
struct Division {
    /// Rows and columns of the outputs that are computed together.
    tile: usize,
    /// So many of these tiles fill a device.
    blocks: usize,
    /// Fewer parts would be no gain: their sums are written and read once more.
    fewest: usize,
    shortest_k: usize,
    shortest_part: usize,
    /// Elements by which a part has to be shorter than K.
    least_saved: usize,
    /// What the lengths of parts are multiples of, so that they start as the matrices do, and on tensor cores have
    /// whole stages.
    multiple: usize,
    /// Results that fill a device without parts, by two tiles of fewer lines.
    full: Option<Full>,
}

/// Results whose shorter side is two tiles of fewer lines than the [`Division`]'s.
struct Full {
    /// Lines of the shorter side.
    lines: RangeInclusive<usize>,
    /// Tiles of the division.
    tiles: RangeInclusive<usize>,
}

/// For f32 and f64, whose parts are chains. With a shorter K the second launch takes longer than the chains
/// that it shortens: 512 x 512 x 512 of f64 took an H200 37 us instead of 21.
const OF_CHAINS: Division = Division {
    tile: 64,
    blocks: 264,
    fewest: 3,
    shortest_k: 1024,
    shortest_part: 64,
    least_saved: 0,
    multiple: 16,
    full: None,
};

/// For f32 whose parts are taken apart into halves: as many blocks compute small tiles of 128 x 64. On an H200, in
/// parts of chains and of halves: 47 and 24 us for 512 x 512 with K = 2048, 912 and 375 with K = 65536, 26 and 23 for
/// 256 x 256 with K = 4096; and in one part of halves and in two or more 54 and 47 us for 640 x 640 with K = 4096.
const OF_SPLIT: Division = Division {
    fewest: 2,
    shortest_part: 512,
    multiple: HALF_DEPTH,
    ..OF_CHAINS
};

/// Rows and columns, outputs, and multiply-adds, from which parts are taken apart. 128 x 128 outputs of K = 65536 take
/// 68 us by chains and 72 by halves, 1024 x 128 of K = 8192 69 and 46.
const LINES_OF_SPLIT_PARTS: usize = 128;
/// See [`LINES_OF_SPLIT_PARTS`].
const OUTPUTS_OF_SPLIT_PARTS: usize = 256 * 256;
/// See [`LINES_OF_SPLIT_PARTS`].
const SPLIT_PARTS_FROM: u128 = 1 << 28;

/// For halves, on tensor cores. The tile is that of a pair of small blocks, of which an H200 has room for 132, two on
/// each pair of multiprocessors; the lengths are whole stages. At K = 7168 it multiplies 17 tiles in 7 parts in 0.63
/// of the time, in 3 parts in 0.92, and 32 tiles in 4 parts in 0.84, in 2 in 0.93.
const OF_HALVES: Division = Division {
    tile: 128,
    blocks: 132,
    fewest: 2,
    shortest_k: 3072,
    shortest_part: 512,
    least_saved: 2048,
    multiple: 128,
    full: Some(TWO_TILES),
};

/// For elements of 8 bits, of which a stage has twice as many. At K = 7168 an H200 multiplies 17 tiles in 7 parts in
/// 0.85 of the time, but 32 tiles in 4 parts in 1.05.
const OF_BYTES: Division = Division {
    fewest: 6,
    shortest_k: 6144,
    shortest_part: 1024,
    least_saved: 4096,
    full: None,
    ..OF_HALVES
};

/// For halves of few rows or columns, 64 at most. At 64 x 4096 and K = 7168 four parts take 0.9 of the time, without the
/// pass that adds them, and at 64 x 7168 and K = 16384 two parts 1.08.
const OF_FEW_HALVES: Division = Division {
    fewest: 5,
    full: None,
    ..OF_HALVES
};

/// Halves of so few lines are two tiles of 64 lines, which fill a device without parts where the other lines are so many
/// tiles of 128: 128 x 4096 with K = 7168 takes an H200 26 us, and in four parts 22 and the pass that adds them.
const TWO_TILES: Full = Full {
    lines: 65..=128,
    tiles: 27..=33,
};

impl Problem {
    /// The parts into which K is divided, if the result is so small that few blocks would compute it. They
    /// depend on the shape and on whether the elements are on the ordinary units, or how narrow they are, alone: so
    /// does the order of the sums.
    pub fn parts(&self) -> Option<Parts> {
        const FEW_LINES: usize = 64;
        let has_few_lines = self.m.min(self.n) <= FEW_LINES;
        let is_half = self.element.is_half();
        let rule = match self.element {
            ElementType::F32 | ElementType::F64 => &OF_CHAINS,
            _ if is_half && has_few_lines => &OF_FEW_HALVES,
            _ if is_half => &OF_HALVES,
            _ => &OF_BYTES,
        };
        self.parts_by(rule)
    }

    /// The parts that are taken apart into halves, in place of [`parts`](Self::parts), by a device that does so fast.
    pub fn split_parts(&self) -> Option<Parts> {
        let is_large = || {
            self.m.min(self.n) >= LINES_OF_SPLIT_PARTS
                && self.m * self.n >= OUTPUTS_OF_SPLIT_PARTS
                && self.multiply_adds() >= SPLIT_PARTS_FROM
                && self.can_be_split()
        };
        let is_split = self.element == ElementType::F32 && !self.is_gram;
        // Outputs of a result that is divided are few enough to be counted.
        let parts = is_split.then(|| self.parts_by(&OF_SPLIT)).flatten();
        parts.filter(|_| is_large())
    }

    fn parts_by(&self, rule: &Division) -> Option<Parts> {
        if self.batch != 1 || self.vector().is_some() || self.k < rule.shortest_k {
            return None;
        }
        let tiles = |outputs: usize| outputs.div_ceil(rule.tile);
        let blocks = tiles(self.m).saturating_mul(tiles(self.n));
        let is_full =
            |full: &Full| full.lines.contains(&self.m.min(self.n)) && full.tiles.contains(&blocks);
        if rule.full.as_ref().is_some_and(is_full) {
            return None;
        }
        let count = (rule.blocks / blocks.max(1)).min(self.k / rule.shortest_part);
        if count < rule.fewest {
            return None;
        }
        let len = self.k / count / rule.multiple * rule.multiple;
        // What is left would be one part more.
        let len = match self.k.div_ceil(len) * blocks.max(1) <= rule.blocks {
            true => len,
            false => self.k.div_ceil(count).next_multiple_of(rule.multiple),
        };
        (self.k - len >= rule.least_saved).then(|| Parts {
            count: self.k.div_ceil(len),
            len,
        })
    }
}
