//! The selection of a kernel: a pure function of the problem and of a few facts about the device.

use super::kernels::{ElementType, GemmKernel, KERNELS, Method, TileConfig};
use super::problem::{Parts, Problem, VectorProduct};
use crate::matrix::Order;
use std::fmt::{self, Display, Formatter};
use tilewright_kernels::matmul::OperandLayout;
use tilewright_kernels::tensor::ClusterTile;

/// Large blocks for each multiprocessor, in halves, from which on they are faster than small ones.
///
/// On an H200 with 132 multiprocessors, f32, small against large in TFLOP/s: 9.7 and 4.3 at 512
/// (16 large blocks), 29.7 and 18.9 at 1024 (64), 30.2 and 24.4 at 1536 (144), 34.8 and 44.3 at
/// 2048 (256): between 1.1 and 1.9 blocks.
const LARGE_FROM_HALVES: u32 = 3;

/// Multiply-adds of an f32 product from which on tensor cores are faster, with the passes that take the
/// operands apart.
///
/// On an H200, split and chain in TFLOP/s: 10.8 and 17.4 at 640, 17.8 and 17.6 at 768, 26.4 and 24.2 at
/// 896, 38.3 and 31.8 at 1024.
const SPLIT_FROM: u128 = 768 * 768 * 768;

/// Whether large tiles, which cover so many outputs with those that lie outside, are faster than small ones: by
/// a quarter, where both lie within.
pub fn large_tiles_pay(large: u64, small: u64) -> bool {
    large.saturating_mul(4) <= small.saturating_mul(5)
}

/// What the selection depends on of a device.
#[derive(Clone, Copy, Debug)]
pub struct DeviceFacts {
    pub multiprocessors: u32,
    /// `None` on a simulator that stands for no NVIDIA device: it runs every kernel.
    pub compute_capability: Option<(u32, u32)>,
    /// Kernels that do not run on this compute capability, either, are left out.
    pub limit: Option<(u32, u32)>,
    pub warp_threads: u32,
}

impl DeviceFacts {
    /// The device without the kernels that one of compute capability `capability` does not run, where its own
    /// is not lower.
    fn at_most(self, capability: (u32, u32)) -> Self {
        /// That of the newest kernels, all of which a simulator of no device runs.
        const NEWEST: (u32, u32) = (9, 0);
        let own = self.compute_capability.unwrap_or(NEWEST);
        // No minor number has two digits.
        let (major, minor) = own.min(capability);
        Self {
            limit: Some((major, minor.min(9))),
            ..self
        }
    }
}

/// The kernels to select from.
#[derive(Clone, Copy, Debug)]
pub enum Request {
    /// The tiled ones.
    Tiled,
    /// The coarsened ones, with tiles of the caller's choice, if any.
    Coarsened(Option<TileConfig>),
    /// The fastest of those that compute in this way, with tiles of the caller's choice, if any.
    Fastest(Arithmetic, Option<TileConfig>),
    /// The same on a device of this compute capability, if its own is not lower.
    FastestAt((u32, u32), Arithmetic, Option<TileConfig>),
    /// Those that compute what products of taken apart operands leave out.
    Wide,
    /// Those that compute products of unequal shapes.
    Grouped(TileConfig),
}

/// How a product is computed.
///
/// ```
/// use tilewright::{Arithmetic, Device, Matmul};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let a = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0])?;
/// let chain = Matmul::new(&a, &a).arithmetic(Arithmetic::Chain);
/// println!("{}", chain.plan()?);
/// assert_eq!(chain.run()?.to_vec()?, [7.0, 10.0, 15.0, 22.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Arithmetic {
    /// The fastest way that keeps the promise of the type. A product of a matrix and a vector, M or N = 1,
    /// and one of f32 or f64 with a small result, for which K is divided
    /// ([`SelectionReason::InParts`](crate::SelectionReason::InParts)), have the same bits on every device.
    #[default]
    Auto,
    /// f32 and f64: the products of an output are added in order, each by a fused multiply-add. The bits
    /// are those of [`Device::matmul_tiled`](crate::Device::matmul_tiled), on every device. i8: on the ordinary
    /// units, with the same exact sums.
    Chain,
    /// f32 on tensor cores: each element as two halves, three products for each. Closer to the exact
    /// result than a chain, with other bits, and not bound to an order of the elements.
    Split,
}

/// A kernel for a problem.
pub struct Selection {
    pub kernel: &'static GemmKernel,
    pub reason: SelectionReason,
    /// If K is divided: the kernel is that of the parts.
    pub parts: Option<Parts>,
}

/// Why a product uses the tiles that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectionReason {
    /// There are no others.
    OnlyTiles,
    /// One of the operands is a vector.
    Vector,
    /// The result is so small that K is divided, for more blocks.
    InParts {
        /// Parts of equal length; what is left is another one.
        parts: usize,
    },
    /// On tensor cores: the device computes so many tiles at a time as it has room for.
    Rounds {
        /// Rounds of small tiles.
        small: u64,
        /// Rounds of large ones.
        large: u64,
    },
    /// The product is large enough for tensor cores, and for the passes before them.
    LargeProduct,
    /// The caller requested them.
    Requested,
    /// The result has enough large blocks for each multiprocessor.
    EnoughBlocks {
        /// Large blocks of the result; `None` if they are more than a grid can have.
        blocks: Option<u32>,
        /// The fewest for which the large tiles are selected.
        needed: u32,
    },
    /// Much of the large tiles of a batch would lie outside of its results.
    EmptyTiles {
        /// Outputs of all large tiles, with those outside.
        large: u64,
        /// The same of small ones.
        small: u64,
    },
    /// The result would not fill the device with large blocks.
    TooFewBlocks {
        /// Large blocks of the result.
        blocks: u32,
        /// The fewest for which the large tiles are selected.
        needed: u32,
    },
}

impl Display for SelectionReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OnlyTiles => write!(f, "the method has one size of tiles"),
            Self::Vector => write!(f, "one of the operands is a vector"),
            Self::InParts { parts } => {
                write!(f, "the result is small, so K is divided into {parts} parts")
            }
            Self::Requested => write!(f, "it was requested"),
            Self::Rounds { small, large } => write!(
                f,
                "the result is {large} round(s) of large tiles, or {small} of small ones"
            ),
            Self::LargeProduct => write!(f, "the product is large enough for tensor cores"),
            Self::EnoughBlocks {
                blocks: Some(blocks),
                needed,
            } => write!(
                f,
                "{blocks} large blocks fill the device, which takes {needed}"
            ),
            Self::EnoughBlocks {
                blocks: None,
                needed,
            } => write!(
                f,
                "more large blocks than a grid can have fill the device, which takes {needed}"
            ),
            Self::EmptyTiles { large, small } => write!(
                f,
                "large tiles would have {large} outputs, with those outside of the result, and small ones have {small}"
            ),
            Self::TooFewBlocks { blocks, needed } => write!(
                f,
                "{blocks} large blocks do not fill the device, which takes {needed}"
            ),
        }
    }
}

/// The kernel for `problem`, whose result is row-major, among those of `request`; `None` if no
/// kernel of the table computes it on the device.
pub fn select(problem: &Problem, device: DeviceFacts, request: Request) -> Option<Selection> {
    if let Request::FastestAt(capability, arithmetic, tiles) = request {
        let device = device.at_most(capability);
        return select(problem, device, Request::Fastest(arithmetic, tiles));
    }
    if let (Request::Fastest(Arithmetic::Auto, _), Some(parts)) = (request, problem.parts()) {
        return in_parts(problem, device, parts);
    }
    let (method, reason) = match request {
        Request::Tiled => (Method::Tiled, SelectionReason::OnlyTiles),
        Request::Coarsened(tiles) => coarsened(problem, device, tiles)?,
        Request::Fastest(arithmetic, tiles) | Request::FastestAt(_, arithmetic, tiles) => {
            fastest(problem, device, arithmetic, tiles)?
        }
        Request::Wide => (Method::Wide, SelectionReason::OnlyTiles),
        Request::Grouped(tiles) => (Method::Grouped(tiles), SelectionReason::Requested),
    };
    let kernel = KERNELS
        .iter()
        .filter(|kernel| kernel.method == method && kernel.computes(problem, device))
        // The widest copies that the operands allow.
        .max_by_key(|kernel| kernel.descriptor.b_row_alignment)?;
    Some(Selection {
        kernel,
        reason,
        parts: None,
    })
}

/// The kernel for products of `parts` of K.
fn in_parts(problem: &Problem, device: DeviceFacts, parts: Parts) -> Option<Selection> {
    let of_parts = Problem {
        k: parts.len,
        batch: parts.count,
        is_plain: true,
        ..*problem
    };
    let chain = select(&of_parts, device, Request::Fastest(Arithmetic::Chain, None))?;
    Some(Selection {
        reason: SelectionReason::InParts { parts: parts.count },
        parts: Some(parts),
        ..chain
    })
}

/// The fastest way of `arithmetic`.
fn fastest(
    problem: &Problem,
    device: DeviceFacts,
    arithmetic: Arithmetic,
    tiles: Option<TileConfig>,
) -> Option<(Method, SelectionReason)> {
    let has_tensor_cores = |method| {
        let is_of = |it: &&GemmKernel| it.method == method && it.element == problem.element;
        KERNELS.iter().filter(is_of).any(|it| it.runs_on(device))
    };
    let has_warpgroups =
        problem.fits_tensor_maps() && has_tensor_cores(Method::Wgmma(TileConfig::Large));
    let has_warps = has_tensor_cores(Method::Mma(TileConfig::Large));
    let is_narrow = matches!(
        problem.element,
        ElementType::F16
            | ElementType::Bf16
            | ElementType::F8E4M3
            | ElementType::F8E5M2
            | ElementType::I8
    );
    if let (Arithmetic::Auto, Some(VectorProduct { lines, .. })) = (arithmetic, problem.vector())
        && has_kernel(problem, Method::Vector(lines))
    {
        return Some((Method::Vector(lines), SelectionReason::Vector));
    }
    match (problem.element, arithmetic) {
        (_, Arithmetic::Auto) if is_narrow && has_warpgroups => {
            Some(wgmma_in(problem, device, tiles))
        }
        (_, Arithmetic::Auto) if is_narrow && has_warps => mma_in(problem, device, tiles),
        (ElementType::F32, Arithmetic::Split) => Some((Method::Split, SelectionReason::Requested)),
        (ElementType::F32, Arithmetic::Auto)
            if problem.multiply_adds() >= SPLIT_FROM
                && problem.can_be_split()
                && has_tensor_cores(Method::Split) =>
        {
            Some((Method::Split, SelectionReason::LargeProduct))
        }
        (ElementType::F64, Arithmetic::Auto | Arithmetic::Chain) if has_warps => {
            mma_in(problem, device, tiles)
        }
        (
            ElementType::F32 | ElementType::F64 | ElementType::I8,
            Arithmetic::Auto | Arithmetic::Chain,
        ) => coarsened(problem, device, tiles),
        _ => None,
    }
}

/// Whether the table has the method for the types of the problem.
fn has_kernel(problem: &Problem, method: Method) -> bool {
    let types = (problem.element, problem.output);
    let mut kernels = KERNELS.iter();
    kernels.any(|it| it.method == method && (it.element, it.output) == types)
}

/// How long rounds of tiles take on tensor cores, in units of a method's own.
struct RoundTimes {
    small: u64,
    large: u64,
}

/// By products of warpgroups; large tiles have four times as many outputs. Blocks stay, and compute a tile in each round.
const ROUNDS_OF_WGMMA: RoundTimes = RoundTimes {
    small: 5,
    large: 16,
};

/// Of f64 by warps; large tiles have four times as many outputs. A multiprocessor computes one large tile at a
/// time, or three small ones.
const ROUNDS_OF_F64: RoundTimes = RoundTimes { small: 4, large: 5 };

/// Of f16, bf16 and i8 by warps; large tiles have four times as many outputs. A multiprocessor computes two large
/// tiles at a time, or three small ones, for which it reads nearly three times as much shared memory for each
/// output. A guess: not measured.
const ROUNDS_OF_NARROW: RoundTimes = RoundTimes { small: 4, large: 8 };

/// Of 8-bit floats; large tiles have twice as many outputs.
const ROUNDS_OF_F8: RoundTimes = RoundTimes { small: 5, large: 8 };

/// Blocks by warps that a multiprocessor has room for: small ones, and large ones.
const F64_BLOCKS: (u64, u64) = (3, 1);
const NARROW_BLOCKS: (u64, u64) = (3, 2);

/// Products of warpgroups in `tiles`, or in those that take less time.
fn wgmma_in(
    problem: &Problem,
    device: DeviceFacts,
    tiles: Option<TileConfig>,
) -> (Method, SelectionReason) {
    let rounds = |tile: &ClusterTile| {
        let resident = (device.multiprocessors as usize / tile.blocks).max(1);
        let tiles = tile.count((problem.m, problem.n), problem.is_gram);
        tiles.saturating_mul(problem.batch).div_ceil(resident) as u64
    };
    let rounds = |tiles| rounds(problem.element.cluster_tile(tiles));
    let rounds = (rounds(TileConfig::Small), rounds(TileConfig::Large));
    let times = match problem.element {
        ElementType::F8E4M3 | ElementType::F8E5M2 => &ROUNDS_OF_F8,
        _ => &ROUNDS_OF_WGMMA,
    };
    in_fewest_rounds(Method::Wgmma, rounds, times, tiles)
}

/// Products of warps on tensor cores in `tiles`, or in those that take less time.
fn mma_in(
    problem: &Problem,
    device: DeviceFacts,
    tiles: Option<TileConfig>,
) -> Option<(Method, SelectionReason)> {
    let (blocks, times) = match problem.element {
        ElementType::F64 => (F64_BLOCKS, &ROUNDS_OF_F64),
        _ => (NARROW_BLOCKS, &ROUNDS_OF_NARROW),
    };
    let rounds = |tiles, blocks: u64| {
        let resident = (u64::from(device.multiprocessors) * blocks).max(1);
        let is_of =
            |it: &&GemmKernel| it.method == Method::Mma(tiles) && it.element == problem.element;
        let kernel = KERNELS.iter().find(is_of)?;
        let blocks = problem.blocks(&kernel.descriptor.tile);
        let blocks = blocks.map_or(u64::MAX, u64::from);
        Some(
            blocks
                .saturating_mul(problem.batch as u64)
                .div_ceil(resident),
        )
    };
    let rounds = (
        rounds(TileConfig::Small, blocks.0)?,
        rounds(TileConfig::Large, blocks.1)?,
    );
    Some(in_fewest_rounds(Method::Mma, rounds, times, tiles))
}

/// A method in `tiles`, or in those whose rounds, of small tiles and of large ones, take less time.
fn in_fewest_rounds(
    method: fn(TileConfig) -> Method,
    (small, large): (u64, u64),
    times: &RoundTimes,
    tiles: Option<TileConfig>,
) -> (Method, SelectionReason) {
    if let Some(tiles) = tiles {
        return (method(tiles), SelectionReason::Requested);
    }
    let tiles = match small.saturating_mul(times.small) < large.saturating_mul(times.large) {
        true => TileConfig::Small,
        false => TileConfig::Large,
    };
    (method(tiles), SelectionReason::Rounds { small, large })
}

/// A block of outputs for each thread, in `tiles` or in those that fill the device.
fn coarsened(
    problem: &Problem,
    device: DeviceFacts,
    tiles: Option<TileConfig>,
) -> Option<(Method, SelectionReason)> {
    let (tiles, reason) = match tiles {
        Some(tiles) => (tiles, SelectionReason::Requested),
        // Large ones leave nothing out.
        None if problem.is_gram && problem.element == ElementType::F64 => {
            (TileConfig::Small, SelectionReason::OnlyTiles)
        }
        None => tiles_for(problem, device)?,
    };
    Some((Method::Coarsened(tiles), reason))
}

impl DeviceFacts {
    /// Large blocks from which on they are faster than small ones.
    pub fn large_blocks(self) -> u32 {
        self.multiprocessors.saturating_mul(LARGE_FROM_HALVES) / 2
    }
}

/// Whether the products have enough large blocks on the ordinary units.
pub fn fills_device(problem: &Problem, device: DeviceFacts) -> bool {
    matches!(tiles_for(problem, device), Some((TileConfig::Large, _)))
}

/// The large tiles if they give each multiprocessor at least one and a half blocks, and those of a batch lie
/// within its results.
fn tiles_for(problem: &Problem, device: DeviceFacts) -> Option<(TileConfig, SelectionReason)> {
    let tile = |tiles| {
        let method = Method::Coarsened(tiles);
        let mut kernels = KERNELS.iter();
        let kernel = kernels.find(|it| it.method == method && it.element == problem.element)?;
        Some(&kernel.descriptor.tile)
    };
    let (large, small) = (tile(TileConfig::Large)?, tile(TileConfig::Small)?);
    let needed = device.large_blocks();
    let is_batch = problem.batch > 1;
    if let (true, Some(large), Some(small)) =
        (is_batch, problem.covered(large), problem.covered(small))
        && !large_tiles_pay(large, small)
    {
        let reason = SelectionReason::EmptyTiles { large, small };
        return Some((TileConfig::Small, reason));
    }
    let blocks = problem.blocks(large);
    let blocks = blocks.and_then(|it| it.checked_mul(u32::try_from(problem.batch).ok()?));
    Some(match blocks {
        Some(blocks) if blocks < needed => (
            TileConfig::Small,
            SelectionReason::TooFewBlocks { blocks, needed },
        ),
        blocks => (
            TileConfig::Large,
            SelectionReason::EnoughBlocks { blocks, needed },
        ),
    })
}

impl GemmKernel {
    fn runs_on(&self, device: DeviceFacts) -> bool {
        let capabilities = [device.compute_capability, device.limit];
        let mut capabilities = capabilities.into_iter().flatten();
        capabilities.all(|it| self.architecture.runs_on(it))
            // Warps of NVIDIA's GPUs, which tensor cores multiply for.
            && (device.warp_threads == 32 || self.method.has_any_warps())
    }

    /// Whether the kernel computes the problem on the device.
    fn computes(&self, problem: &Problem, device: DeviceFacts) -> bool {
        let element_bytes = problem.element.bytes();
        self.element == problem.element
            && self.output == problem.output
            && problem.c.order == Order::RowMajor
            && reads(self.descriptor.a, problem.a.order)
            && reads(self.descriptor.b, problem.b.order)
            && (self.descriptor.b == OperandLayout::Either
                || (problem.b)
                    .rows_are_multiples_of(self.descriptor.b_row_alignment, element_bytes))
            && match self.method {
                Method::Tiled => problem.is_plain && problem.batch == 1,
                Method::Coarsened(_) | Method::Mma(_) => true,
                Method::Grouped(_) => problem.batch == 1 && !problem.is_gram,
                Method::Vector(lines) => problem.vector().is_some_and(|it| it.lines == lines),
                Method::Wgmma(_) => problem.fits_tensor_maps(),
                Method::Split | Method::Wide => problem.can_be_split(),
            }
            && self.runs_on(device)
    }
}

/// Whether a kernel for operands of `layout` takes one in this order.
fn reads(layout: OperandLayout, order: Order) -> bool {
    match layout {
        OperandLayout::RowMajor => order == Order::RowMajor,
        OperandLayout::ColumnMajor => order == Order::ColumnMajor,
        OperandLayout::Either => true,
    }
}

#[cfg(test)]
mod tests;
