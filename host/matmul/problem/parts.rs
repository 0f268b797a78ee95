//! When K of a product is split, and into which parts.

use super::Problem;
use crate::matmul::element_type::ElementType;
use std::ops::RangeInclusive;
use tilewright_kernels::tensor::HALF_DEPTH;

/// The parts into which K is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The number of parts.
    pub count: usize,
    /// The elements of each part but the last, which has the rest.
    pub len: usize,
}

/// A rule: when K is split, and into how many parts.
struct Division {
    /// Rows and columns of a tile, whose outputs are computed together.
    tile: usize,
    /// The number of tiles that fill a device.
    blocks: usize,
    /// The fewest parts that gain time: their sums are written and read once more.
    fewest: usize,
    shortest_k: usize,
    shortest_part: usize,
    /// A part must be shorter than K by this number of elements.
    least_saved: usize,
    /// Parts have a length that is a multiple of this, so that they are aligned as the matrices are, and have whole
    /// stages on tensor cores.
    multiple: usize,
    /// Results that fill a device without parts, in two smaller tiles along the short side.
    full: Option<Full>,
}

/// Results whose short side is two tiles that are smaller than the [`Division`]'s.
struct Full {
    /// The length of the short side.
    lines: RangeInclusive<usize>,
    /// The number of the division's tiles.
    tiles: RangeInclusive<usize>,
}

/// For f32 and f64, in parts that are chains. With a shorter K, the second launch takes longer than the chains
/// save: 512 x 512 x 512 of f64 took 37 us on an H200 instead of 21.
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

/// For f32 in split parts: as many blocks compute small tiles of 128 x 64. Measured on an H200, in us, parts as
/// chains and split: 47 and 24 for 512 x 512 with K = 2048, 912 and 375 with K = 65536, 26 and 23 for 256 x 256
/// with K = 4096. In one split part and in two or more: 54 and 47 for 640 x 640 with K = 4096.
const OF_SPLIT: Division = Division {
    fewest: 2,
    shortest_part: 512,
    multiple: HALF_DEPTH,
    ..OF_CHAINS
};

/// Parts are split from this number of rows and columns, of outputs, and of multiply-adds on. With K = 65536, 128 x
/// 128 outputs take 68 us as chains and 72 split; with K = 8192, 1024 x 128 take 69 and 46.
const LINES_OF_SPLIT_PARTS: usize = 128;
/// See [`LINES_OF_SPLIT_PARTS`].
const OUTPUTS_OF_SPLIT_PARTS: usize = 256 * 256;
/// See [`LINES_OF_SPLIT_PARTS`].
const SPLIT_PARTS_FROM: u128 = 1 << 28;

/// For f16 and bf16 on tensor cores. The tile is that of a pair of small blocks: an H200 holds 132 such pairs, two
/// on each pair of multiprocessors. Parts have whole stages. With K = 7168 on an H200, 17 tiles take 0.63 of the
/// time in 7 parts and 0.92 in 3; 32 tiles take 0.84 in 4 parts and 0.93 in 2.
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

/// For 8-bit elements: a stage has twice as many. With K = 7168 on an H200, 17 tiles take 0.85 of the time in 7
/// parts, but 32 tiles 1.05 in 4.
const OF_BYTES: Division = Division {
    fewest: 6,
    shortest_k: 6144,
    shortest_part: 1024,
    least_saved: 4096,
    full: None,
    ..OF_HALVES
};

/// For f16 and bf16 with at most 64 rows or columns. At 64 x 4096 with K = 7168, four parts take 0.9 of the time
/// without the pass that adds them; at 64 x 7168 with K = 16384, two parts take 1.08.
const OF_FEW_HALVES: Division = Division {
    fewest: 5,
    full: None,
    ..OF_HALVES
};

/// A short side of f16 or bf16 of this length is two tiles of 64. They fill a device without parts if the long side
/// has this number of tiles of 128: at 128 x 4096 with K = 7168 an H200 takes 26 us, and in four parts 22 and the
/// pass that adds them.
const TWO_TILES: Full = Full {
    lines: 65..=128,
    tiles: 27..=33,
};

impl Problem {
    /// The parts into which K is split, if the result is so small that only few blocks would compute it.
    ///
    /// They depend only on the shape, on the size of the elements and on whether CUDA cores compute them. So the
    /// order of the sums depends on nothing else.
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

    /// The parts with split operands, instead of [`parts`](Self::parts), for devices with warpgroup products.
    pub fn split_parts(&self) -> Option<Parts> {
        let is_large = || {
            self.m.min(self.n) >= LINES_OF_SPLIT_PARTS
                && self.m * self.n >= OUTPUTS_OF_SPLIT_PARTS
                && self.multiply_adds() >= SPLIT_PARTS_FROM
                && self.can_be_split()
        };
        let is_split = self.element == ElementType::F32 && !self.is_gram;
        // The outputs of a result with a split K can be counted: they are few.
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
        // The rest would be one more part.
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
