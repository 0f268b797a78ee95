//! The selection of a kernel: a pure function of the problem and of a few facts about the device.

use super::kernels::{GemmKernel, KERNELS, Method, TileConfig};
use super::problem::Problem;
use crate::matrix::Order;
use std::fmt::{self, Display, Formatter};
use tilewright_kernels::matmul::OperandLayout;

/// Large blocks for each multiprocessor, in halves, from which on they are faster than small ones.
///
/// On an H200 with 132 multiprocessors, f32, small against large in TFLOP/s: 9.7 and 4.3 at 512
/// (16 large blocks), 29.7 and 18.9 at 1024 (64), 30.2 and 24.4 at 1536 (144), 34.8 and 44.3 at
/// 2048 (256): between 1.1 and 1.9 blocks.
const LARGE_FROM_HALVES: u32 = 3;

/// What the selection depends on of a device.
#[derive(Clone, Copy, Debug)]
pub struct DeviceFacts {
    pub multiprocessors: u32,
    /// `None` on a simulator that stands for no NVIDIA device: it runs every kernel.
    pub compute_capability: Option<(u32, u32)>,
}

/// The kernels to select from.
#[derive(Clone, Copy, Debug)]
pub enum Request {
    /// The tiled ones.
    Tiled,
    /// The coarsened ones, with tiles of the caller's choice, if any.
    Coarsened(Option<TileConfig>),
}

/// A kernel for a problem.
pub struct Selection {
    pub kernel: &'static GemmKernel,
    pub reason: SelectionReason,
}

/// Why a product uses the tiles that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectionReason {
    /// There are no others.
    OnlyTiles,
    /// The caller requested them.
    Requested,
    /// The result has enough large blocks for each multiprocessor.
    EnoughBlocks {
        /// Large blocks of the result; `None` if they are more than a grid can have.
        blocks: Option<u32>,
        /// The fewest for which the large tiles are selected.
        needed: u32,
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
            Self::Requested => write!(f, "the tiles were requested"),
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
    let (method, reason) = match request {
        Request::Tiled => (Method::Tiled, SelectionReason::OnlyTiles),
        Request::Coarsened(Some(tiles)) => (Method::Coarsened(tiles), SelectionReason::Requested),
        Request::Coarsened(None) => {
            let (tiles, reason) = tiles_for(problem, device)?;
            (Method::Coarsened(tiles), reason)
        }
    };
    let kernel = KERNELS
        .iter()
        .filter(|kernel| kernel.method == method && kernel.computes(problem, device))
        // The widest copies that the operands allow.
        .max_by_key(|kernel| kernel.descriptor.b_row_alignment)?;
    Some(Selection { kernel, reason })
}

/// The large tiles if they give each multiprocessor at least one and a half blocks.
fn tiles_for(problem: &Problem, device: DeviceFacts) -> Option<(TileConfig, SelectionReason)> {
    let large = Method::Coarsened(TileConfig::Large);
    let mut kernels = KERNELS.iter();
    let large = kernels.find(|it| it.method == large && it.element == problem.element)?;
    let needed = device.multiprocessors.saturating_mul(LARGE_FROM_HALVES) / 2;
    Some(match large.descriptor.tile.blocks(problem.m, problem.n) {
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
    /// Whether the kernel computes the problem on the device.
    fn computes(&self, problem: &Problem, device: DeviceFacts) -> bool {
        let element_bytes = problem.element.bytes();
        self.element == problem.element
            && self.element == problem.output
            && problem.c.order == Order::RowMajor
            && layout_of(problem.a.order) == self.descriptor.a
            && layout_of(problem.b.order) == self.descriptor.b
            && (problem.b).rows_are_multiples_of(self.descriptor.b_row_alignment, element_bytes)
            && problem.batch == 1
            && device
                .compute_capability
                .is_none_or(|capability| capability >= self.capability)
    }
}

fn layout_of(order: Order) -> OperandLayout {
    match order {
        Order::RowMajor => OperandLayout::RowMajor,
        Order::ColumnMajor => OperandLayout::ColumnMajor,
    }
}

#[cfg(test)]
mod tests;
