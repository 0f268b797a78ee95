//! The selection of a kernel: a pure function of the problem and of a few facts about the device.

mod device;
mod for_device;
mod group;
mod obstacle;
mod reason;
mod tiles;

pub use device::DeviceFacts;
pub use group::{blocks_in_group, is_alone};
pub use reason::SelectionReason;

use super::arithmetic::Arithmetic;
use super::kernel::{ElementType, GemmKernel, Method, TileConfig, WgmmaTile};
use super::problem::{Parts, Problem, VectorProduct};
use super::table::kernels_of;
use crate::matrix::Order;
use tiles::{coarsened, mma_in, split_in, split_mma_in, wgmma_in};
use tilewright_kernels::matmul::OperandLayout;

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
const SPLIT_FROM_OF_GROUP: u128 = 768 * 768 * 768;

/// M, N and K of f16 and bf16 products in a batch up to which warp-level kernels, which read unaligned rows, are
/// faster than copies of the operands.
const BY_WARPS_UP_TO: usize = 32;

/// The kernels to select from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The tiled kernels.
    Tiled,
    /// The coarsened kernels, with tiles of the caller's choice, if any.
    Coarsened(Option<TileConfig>),
    /// The fastest kernel with this arithmetic, with tiles of the caller's choice, if any.
    Fastest(Arithmetic, Option<TileConfig>),
    /// The fastest kernel that a device of this compute capability has, on this device if it is not older.
    FastestAt((u32, u32), Arithmetic, Option<TileConfig>),
    /// The fastest kernel for some of the rows and columns of an `m` x `n` product, by the method of the whole:
    /// each output has the bits that it has there.
    PartOf {
        m: usize,
        n: usize,
        arithmetic: Arithmetic,
    },
    /// The kernels for the outputs that this method of split operands leaves out.
    LeftOutBy(Method),
    /// The kernels for products of unequal shapes.
    Grouped(TileConfig),
}

/// A kernel for a problem.
pub struct Selection {
    pub kernel: &'static GemmKernel,
    pub reason: SelectionReason,
    /// If K is split: the kernel is that of the parts.
    pub division: Option<DividedK>,
}

/// How K is split.
#[derive(Clone, Copy, Debug)]
pub struct DividedK {
    pub parts: Parts,
    /// Selects the kernel of the parts.
    pub request: Request,
}

/// The kernel that `request` selects for `problem`, whose result is row-major; `None` if no kernel of the table
/// computes it on the device.
pub fn select(problem: &Problem, device: DeviceFacts, request: Request) -> Option<Selection> {
    if let Request::FastestAt(capability, arithmetic, tiles) = request {
        let device = device.at_most(capability);
        let mut selection = select(problem, device, Request::Fastest(arithmetic, tiles))?;
        if let Some(DividedK { request, .. }) = &mut selection.division
            && let Request::Fastest(arithmetic, tiles) = *request
        {
            *request = Request::FastestAt(capability, arithmetic, tiles);
        }
        return Some(selection);
    }
    let whole = match request {
        Request::PartOf { m, n, .. } => &Problem { m, n, ..*problem },
        _ => problem,
    };
    let divisible = match request {
        Request::Fastest(Arithmetic::Auto, tiles) => Some(tiles),
        Request::PartOf {
            arithmetic: Arithmetic::Auto,
            ..
        } => Some(None),
        _ => None,
    };
    if let (Some(tiles), Some(parts)) = (divisible, whole.split_parts()) {
        let split = Request::Fastest(Arithmetic::Split, tiles);
        let selection = in_parts(problem, device, parts, split);
        // Warp-level kernels also split operands, but were not compared.
        if let Some(selection) = selection.filter(|it| matches!(it.kernel.method, Method::Split(_)))
        {
            return Some(selection);
        }
    }
    if let (Some(tiles), Some(parts)) = (divisible, whole.parts()) {
        let request = match problem.element {
            ElementType::F32 => Request::Fastest(Arithmetic::Chain, None),
            // Larger tiles have no registers for parts.
            ElementType::F64 => Request::Fastest(Arithmetic::Chain, Some(TileConfig::Small)),
            _ => Request::Fastest(Arithmetic::Auto, tiles),
        };
        return in_parts(problem, device, parts, request);
    }
    let (method, reason) = match request {
        Request::Tiled => (Method::Tiled, SelectionReason::OnlyTiles),
        Request::Coarsened(tiles) => coarsened(problem, device, tiles)?,
        Request::Fastest(arithmetic, tiles) | Request::FastestAt(_, arithmetic, tiles) => {
            fastest(problem, whole, device, (arithmetic, tiles))?
        }
        Request::PartOf { arithmetic, .. } => fastest(problem, whole, device, (arithmetic, None))?,
        Request::LeftOutBy(Method::SplitMma(_)) => (Method::WideMma, SelectionReason::OnlyTiles),
        Request::LeftOutBy(_) => (Method::Wide, SelectionReason::OnlyTiles),
        Request::Grouped(tiles) => {
            let method = match problem.element {
                ElementType::F16 | ElementType::Bf16 => Method::GroupedMma,
                _ => Method::Grouped(tiles),
            };
            (method, SelectionReason::Requested)
        }
    };
    let kernel = kernels_of(method, problem.element, problem.output)
        .iter()
        .filter(|kernel| kernel.computes(problem, device))
        // The widest copies that the operands allow.
        .max_by_key(|kernel| kernel.descriptor.b_row_alignment)?;
    Some(Selection {
        kernel,
        reason,
        division: None,
    })
}

/// The kernel that `request` selects for products of `parts` of K.
fn in_parts(
    problem: &Problem,
    device: DeviceFacts,
    parts: Parts,
    request: Request,
) -> Option<Selection> {
    let of_part = Problem {
        output: problem.element.of_sums(),
        k: parts.len,
        batch: parts.count,
        is_plain: true,
        ..*problem
    };
    let of_parts = select(&of_part, device, request)?;
    // The launch takes the parts from the whole operands.
    let whole = Problem {
        k: problem.k,
        ..of_part
    };
    of_parts
        .kernel
        .computes(&whole, device)
        .then_some(Selection {
            reason: SelectionReason::InParts { parts: parts.count },
            division: Some(DividedK { parts, request }),
            ..of_parts
        })
}

/// The fastest method with this arithmetic for `problem`, which is all of `whole` or some of its rows and columns.
/// The method is selected for the whole, and the tiles for the problem.
fn fastest(
    problem: &Problem,
    whole: &Problem,
    device: DeviceFacts,
    (arithmetic, tiles): (Arithmetic, Option<TileConfig>),
) -> Option<(Method, SelectionReason)> {
    let kernels_of = |method| kernels_of(method, problem.element, problem.output);
    let has_tensor_cores = |method| kernels_of(method).iter().any(|it| it.runs_on(device));
    let has_warpgroups =
        problem.fits_tensor_maps() && has_tensor_cores(Method::Wgmma(WgmmaTile::Large));
    let has_warps = has_tensor_cores(Method::Mma(TileConfig::Large));
    let has_split_by_warpgroups = has_tensor_cores(Method::Split(TileConfig::Large));
    let is_split = whole.multiply_adds() >= split_from(problem.batch) && problem.can_be_split();
    let is_narrow = matches!(
        problem.element,
        ElementType::F16
            | ElementType::Bf16
            | ElementType::F8E4M3
            | ElementType::F8E5M2
            | ElementType::I8
    );
    // Unpacking 8-bit floats takes more instructions than loading them leaves time for: an H200 multiplies them by
    // a vector as fast on its tensor cores.
    let is_float8 = matches!(problem.element, ElementType::F8E4M3 | ElementType::F8E5M2);
    if let (Arithmetic::Auto, Some(VectorProduct { lines, .. })) = (arithmetic, problem.vector())
        && whole.vector().is_some()
        && !(is_float8 && has_warpgroups)
        && kernels_of(Method::Vector(lines))
            .iter()
            .any(|it| it.runs_on(device))
    {
        return Some((Method::Vector(lines), SelectionReason::Vector));
    }
    let is_small = problem.m.max(problem.n).max(problem.k) <= BY_WARPS_UP_TO;
    if let (Arithmetic::Auto, None) = (arithmetic, tiles)
        && problem.element.is_half()
        && is_small
        && problem.batch > 1
        && has_warps
        && !(has_warpgroups && problem.has_aligned_lines())
    {
        return mma_in(problem, device, tiles);
    }
    if let (Arithmetic::Auto, None) = (arithmetic, tiles)
        && has_tensor_cores(Method::Single)
        && problem.is_small_result(device.multiprocessors)
    {
        return Some((Method::Single, SelectionReason::SmallResult));
    }
    if let (Arithmetic::Auto, None) = (arithmetic, tiles)
        && let Some(tiles) = problem.skinny(device.multiprocessors)
        && has_warpgroups
        && !problem.is_gram
        && kernels_of(Method::Skinny(tiles))
            .iter()
            .any(|it| it.computes(problem, device))
    {
        return Some((Method::Skinny(tiles), SelectionReason::FewLines));
    }
    match (problem.element, arithmetic) {
        (_, Arithmetic::Auto) if is_narrow && has_warpgroups => {
            Some(wgmma_in(problem, device, tiles))
        }
        (_, Arithmetic::Auto) if is_narrow && has_warps => mma_in(problem, device, tiles),
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
                && has_tensor_cores(Method::SplitMma(TileConfig::Large)) =>
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

impl GemmKernel {
    fn runs_on(&self, device: DeviceFacts) -> bool {
        device.runs(Some(self.architecture), self.driver)
            // Tensor cores need the warps of NVIDIA's GPUs.
            && (device.warp_threads == 32 || self.method.has_any_warps())
    }

    /// Whether the kernel computes the problem on the device.
    fn computes(&self, problem: &Problem, device: DeviceFacts) -> bool {
        let element_bytes = problem.element.bytes();
        let orders = match self.method {
            Method::Skinny(_) => problem.skinny_orders(),
            _ => (problem.a.order, problem.b.order),
        };
        self.element == problem.element
            && self.output == problem.output
            && problem.c.order == Order::RowMajor
            && reads(self.descriptor.a, orders.0)
            && reads(self.descriptor.b, orders.1)
            && (self.descriptor.b == OperandLayout::Either
                || (problem.b)
                    .rows_are_multiples_of(self.descriptor.b_row_alignment, element_bytes))
            && match self.method {
                Method::Tiled => problem.is_plain && problem.batch == 1,
                Method::Coarsened(_) | Method::Mma(_) => true,
                Method::Grouped(_) => problem.batch == 1 && !problem.is_gram,
                Method::GroupedMma => {
                    problem.batch == 1 && !problem.is_gram && problem.has_aligned_lines()
                }
                Method::Vector(lines) => problem.vector().is_some_and(|it| it.lines == lines),
                Method::Wgmma(_) | Method::Single | Method::Skinny(_) => problem.fits_tensor_maps(),
                Method::Split(_) | Method::SplitMma(_) | Method::Wide | Method::WideMma => {
                    problem.can_be_split()
                }
            }
            && self.runs_on(device)
    }
}

/// Whether a kernel for operands of `layout` accepts one in this order.
fn reads(layout: OperandLayout, order: Order) -> bool {
    match layout {
        OperandLayout::RowMajor => order == Order::RowMajor,
        OperandLayout::ColumnMajor => order == Order::ColumnMajor,
        OperandLayout::Either => true,
    }
}

#[cfg(test)]
mod tests;
