//! The rules of a plan: by which method a product is computed, and into which parts K is divided.

use super::cost::blocks::{coarsened, mma_in, split_mma_in};
use super::cost::scaled::scaled_in;
use super::cost::{split_in, wgmma_in};
use super::problem::{DeviceFacts, Problem, VectorProduct, computes};
use super::reason::SelectionReason;
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::kernel::{Method, TileSize, WgmmaTile};
use crate::matmul::table::kernels_of;
use crate::matmul::types::ElementType;
use std::ops::RangeInclusive;
use tilewright_kernels::tensor::HALF_DEPTH;

/// The kernels to select from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The tiled kernels.
    Tiled,
    /// The coarsened kernels, with tiles of the caller's choice, if any.
    Coarsened(Option<TileSize>),
    /// The fastest kernel with this arithmetic, with tiles of the caller's choice, if any.
    Fastest(Arithmetic, Option<TileSize>),
    /// The fastest kernel of a device of this compute capability, used on this device if it is not older.
    FastestAt((u32, u32), Arithmetic, Option<TileSize>),
    /// The fastest kernel for some of the rows and columns of an `m` x `n` product, by the method of the whole:
    /// each output has the bits that it has there.
    PartOf {
        m: usize,
        n: usize,
        arithmetic: Arithmetic,
    },
    /// The kernels for products of unequal shapes.
    Grouped(TileSize),
}

impl Request {
    /// The request with its arithmetic, if any, replaced by `change`.
    pub fn map_arithmetic(self, change: impl FnOnce(Arithmetic) -> Arithmetic) -> Self {
        match self {
            Self::Fastest(arithmetic, tiles) => Self::Fastest(change(arithmetic), tiles),
            Self::FastestAt(capability, arithmetic, tiles) => {
                Self::FastestAt(capability, change(arithmetic), tiles)
            }
            Self::PartOf { m, n, arithmetic } => Self::PartOf {
                m,
                n,
                arithmetic: change(arithmetic),
            },
            Self::Tiled | Self::Coarsened(_) | Self::Grouped(_) => self,
        }
    }
}

/// The arithmetic of a request for these elements: f32 and f64 are batch-invariant as chains, and sums of i8 always are.
pub fn arithmetic_of(element: ElementType, requested: Arithmetic) -> Arithmetic {
    match (requested, element) {
        (Arithmetic::BatchInvariant, ElementType::F32 | ElementType::F64) => Arithmetic::Chain,
        (Arithmetic::BatchInvariant, ElementType::I8) => Arithmetic::Auto,
        _ => requested,
    }
}

/// Smallest f32 product, in multiply-adds, for which the tensor-core path wins, the split included.
///
/// Measured on an H200, in TFLOP/s, split and chain: 7.2 and 12.0 at 384, 15.4 and 22.7 at 512, 20.3 and 18.4 at
/// 576, 40.4 and 23.8 at 768, 80.4 and 37.3 at 1024.
const SPLIT_FROM: u128 = 520 * 520 * 520;

/// The same for each product of a batch.
///
/// Measured on an H200, in TFLOP/s, split and chain: 28.3 and 37.3 for 1000 products of 192, 45.5 and 44.6 for 1000
/// of 256, 55.6 and 46.0 for 500 of 384.
const SPLIT_FROM_OF_BATCH: u128 = 256 * 256 * 256;

/// The same for warp-level kernels, for one product or for each of a batch.
///
/// Measured on an H200, in TFLOP/s, split and chain: 9.7 and 22.1 at 512, 22.6 and 24.0 at 768, 43 and 37 at 1024.
const SPLIT_FROM_BY_WARPS: u128 = 832 * 832 * 832;

/// The same for each product of unequal shapes, which would otherwise share a launch on CUDA cores.
pub const SPLIT_FROM_OF_GROUP: u128 = 768 * 768 * 768;

/// M, N and K of f16 and bf16 products in a batch up to which warp-level kernels, which read unaligned rows, are
/// faster than copies of the operands.
const BY_WARPS_UP_TO: usize = 32;

/// The fastest method with this arithmetic for `problem`, which is all of `whole` or some of its rows and columns.
/// The method is selected for the whole, and the tiles for the problem.
///
/// All methods on tensor cores add the products of narrow elements in one order, so each is batch-invariant.
pub fn fastest(
    problem: &Problem,
    whole: &Problem,
    device: DeviceFacts,
    (arithmetic, tiles): (Arithmetic, Option<TileSize>),
) -> Option<(Method, SelectionReason)> {
    let kernels_of = |method| kernels_of(method, problem.element, problem.output);
    if arithmetic == Arithmetic::Exact {
        return Some((Method::Exact, SelectionReason::OnlyTiles));
    }
    if problem.is_scaled || problem.is_counted {
        return match arithmetic {
            Arithmetic::Auto | Arithmetic::BatchInvariant => {
                Some(scaled_in(problem, device, tiles))
            }
            _ => None,
        };
    }
    let has_tensor_cores = |method| kernels_of(method).iter().any(|it| device.has(it));
    let has_warpgroups =
        problem.fits_tensor_maps() && has_tensor_cores(Method::Wgmma(WgmmaTile::Large));
    let has_warps = has_tensor_cores(Method::Mma(TileSize::Large));
    let has_split_by_warpgroups = has_tensor_cores(Method::Split(TileSize::Large));
    let is_split = whole.multiply_adds() >= split_from(problem.batch) && problem.can_be_split();
    if let (Arithmetic::Auto, None) = (arithmetic, tiles)
        && problem.element == ElementType::F64
        && whole.is_worth_residues()
        && !problem.is_gram
        && kernels_of(Method::Left).iter().any(|it| device.has(it))
    {
        let method = match has_tensor_cores(Method::LeftMma) && problem.fits_tensor_maps() {
            true => Method::LeftMma,
            false => Method::Left,
        };
        return Some((method, SelectionReason::OnlyTiles));
    }
    let is_narrow = matches!(
        problem.element,
        ElementType::F16
            | ElementType::Bf16
            | ElementType::F8E4M3
            | ElementType::F8E5M2
            | ElementType::I8
    );
    // Unpacking 8-bit floats takes longer than loading them, so an H200 multiplies them by a vector as fast on its
    // tensor cores.
    let is_float8 = matches!(problem.element, ElementType::F8E4M3 | ElementType::F8E5M2);
    if let (Arithmetic::Auto, Some(VectorProduct { rows, .. })) = (arithmetic, problem.vector())
        && whole.vector().is_some()
        && !(is_float8 && has_warpgroups)
        && kernels_of(Method::Vector(rows))
            .iter()
            .any(|it| device.has(it))
    {
        return Some((Method::Vector(rows), SelectionReason::Vector));
    }
    let is_small = problem.m.max(problem.n).max(problem.k) <= BY_WARPS_UP_TO;
    if let (Arithmetic::Auto | Arithmetic::BatchInvariant, None) = (arithmetic, tiles)
        && problem.element.is_half()
        && is_small
        && problem.batch > 1
        && has_warps
        && !(has_warpgroups && problem.has_aligned_lines())
    {
        return mma_in(problem, device, tiles);
    }
    if let (Arithmetic::Auto | Arithmetic::BatchInvariant, None) = (arithmetic, tiles)
        && has_tensor_cores(Method::Single)
        && problem.is_small_result(device.multiprocessors)
    {
        return Some((Method::Single, SelectionReason::SmallResult));
    }
    if let (Arithmetic::Auto | Arithmetic::BatchInvariant, None) = (arithmetic, tiles)
        && let Some(tiles) = problem.skinny(device.multiprocessors)
        && has_warpgroups
        && !problem.is_gram
        && kernels_of(Method::Skinny(tiles))
            .iter()
            .any(|it| computes(it, problem, device))
    {
        return Some((Method::Skinny(tiles), SelectionReason::Skinny));
    }
    match (problem.element, arithmetic) {
        (_, Arithmetic::Auto | Arithmetic::BatchInvariant) if is_narrow && has_warpgroups => {
            Some(wgmma_in(problem, device, tiles))
        }
        (_, Arithmetic::Auto | Arithmetic::BatchInvariant) if is_narrow && has_warps => {
            mma_in(problem, device, tiles)
        }
        (ElementType::F32, Arithmetic::Split) => match has_split_by_warpgroups {
            true => Some(split_in(problem, device, tiles)),
            false => split_mma_in(problem, device, tiles),
        },
        (ElementType::F32, Arithmetic::Auto) if is_split && has_split_by_warpgroups => {
            Some(split_in(problem, device, tiles))
        }
        (ElementType::F32, Arithmetic::Auto)
            if is_split
                && whole.multiply_adds() >= SPLIT_FROM_BY_WARPS
                && device.has_fast_halves()
                && has_tensor_cores(Method::SplitMma(TileSize::Large)) =>
        {
            split_mma_in(problem, device, tiles)
        }
        // Blocks at the edge count rows of f64 with 32 bits.
        (ElementType::F64, Arithmetic::Auto | Arithmetic::Chain)
            if has_warps && problem.fits_tensor_maps() =>
        {
            mma_in(problem, device, tiles)
        }
        (
            ElementType::F32 | ElementType::F64 | ElementType::I8,
            Arithmetic::Auto | Arithmetic::Chain,
        ) => coarsened(problem, device, tiles),
        _ => None,
    }
}

/// Smallest product, in multiply-adds, for which the tensor-core path wins, for each of `count` products.
const fn split_from(count: usize) -> u128 {
    match count {
        1 => SPLIT_FROM,
        _ => SPLIT_FROM_OF_BATCH,
    }
}

/// The parts into which K is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The number of parts.
    pub count: usize,
    /// The elements of each part but the last, which has the rest.
    pub len: usize,
}

/// The rule for when K is split, and into how many parts.
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
        let is_whole = self.is_scaled || self.is_counted;
        if is_whole || self.batch != 1 || self.vector().is_some() || self.k < rule.shortest_k {
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
