//! The plan of a product: every decision, made without a device from a problem and the facts about one.
//!
//! `problem.rs` and `device.rs` have both as values. `rules.rs` selects the method and divides K, `cost.rs` compares tile
//! sizes by estimated time, `grid.rs` has the blocks of a launch, and `vector.rs` shares the work of a product with a
//! vector. `reason.rs` says why. `group.rs` plans products of unequal shapes. `exact.rs` plans exact products.
//! `obstacle.rs` says why a problem has no plan. `remembered.rs` keeps a thread's last plans.

mod cost;
mod device;
mod exact;
mod grid;
mod group;
mod obstacle;
mod packed;
mod prepared;
mod problem;
mod reason;
mod remembered;
mod rules;
mod split;
mod staging;
mod steps;
mod sum_of_parts;
mod vector;

pub use exact::{ExactPlan, ResiduesPlan, smaller_panel};
pub use grid::Grid;
pub use group::{blocks_in_group, is_alone, select_in_group};
pub use obstacle::{not_split, obstacle};
pub use prepared::PreparedAs;
pub use problem::{DeviceFacts, MatrixLayout, Problem, ROW_ALIGNMENT};
pub use reason::SelectionReason;
pub use rules::{Parts, Request};
pub use split::SplitPasses;
pub use staging::Staging;
pub use steps::{SplitPlan, Steps};
pub use sum_of_parts::{Division, SumOfParts};
pub use vector::VectorWork;

use super::arithmetic::Arithmetic;
use super::kernel::{GemmKernel, Method, TileSize, WgmmaTile};
use super::table::kernels_of;
use super::types::ElementType;
use crate::buffer::ALIGNMENT;
use crate::launch::MAX_GRID_Y;
use crate::matrix::Order;
use cost::blocks::coarsened;
use half::f16;
use problem::{computes, is_transposed};
use rules::{arithmetic_of, fastest};
use split::split_at_a_time;

/// Every decision of a product. If K is divided, all but `division` is about the products of its parts.
pub struct Plan {
    pub kernel: &'static GemmKernel,
    pub reason: SelectionReason,
    /// Whether the kernel computes the transpose of C, from the transposes of B and A.
    pub is_transposed: bool,
    /// How the kernel's left and right operands reach it.
    pub staging: [Staging; 2],
    pub steps: Steps,
    pub grid: Grid,
    pub store: Store,
    /// Whether outputs below the diagonal are copied to those above.
    pub is_mirrored: bool,
    pub division: Option<Division>,
}

impl Plan {
    /// The plan of `problem`, whose result is row-major, with the kernels of `request`; `None` if no kernel of the
    /// catalogue computes it on the device.
    pub fn of(problem: &Problem, device: DeviceFacts, request: Request) -> Option<Self> {
        let request = request.map_arithmetic(|it| arithmetic_of(problem.element, it));
        let (whole, divisible) = match request {
            Request::FastestAt(capability, arithmetic, tiles) => {
                let request = Request::Fastest(arithmetic, tiles);
                return Self::of(problem, device.at_most(capability), request);
            }
            Request::Fastest(Arithmetic::Auto, tiles) => (*problem, Some(tiles)),
            Request::PartOf { m, n, arithmetic } => {
                let is_divisible = arithmetic == Arithmetic::Auto;
                (Problem { m, n, ..*problem }, is_divisible.then_some(None))
            }
            _ => (*problem, None),
        };
        if let (Some(tiles), Some(parts)) = (divisible, whole.split_parts()) {
            let split = Request::Fastest(Arithmetic::Split, tiles);
            let plan = Self::in_parts(problem, device, parts, split);
            // Warp-level kernels also split operands, but were not compared.
            if let Some(plan) = plan.filter(|it| matches!(it.kernel.method, Method::Split(_))) {
                return Some(plan);
            }
        }
        if let (Some(tiles), Some(parts)) = (divisible, whole.parts()) {
            let request = match problem.element {
                ElementType::F32 => Request::Fastest(Arithmetic::Chain, None),
                // Larger tiles on CUDA cores have no registers for parts. On tensor cores there are two sizes that do.
                ElementType::F64 => Request::Fastest(Arithmetic::Chain, Some(TileSize::Small)),
                _ => Request::Fastest(Arithmetic::Auto, tiles),
            };
            return Self::in_parts(problem, device, parts, request);
        }
        let tiles = match request {
            Request::Fastest(_, tiles) => tiles,
            _ => None,
        };
        let (method, reason) = match request {
            Request::Tiled => (Method::Tiled, SelectionReason::OnlyTiles),
            Request::Coarsened(tiles) => coarsened(problem, device, tiles)?,
            Request::Fastest(arithmetic, tiles) | Request::FastestAt(_, arithmetic, tiles) => {
                fastest(problem, &whole, device, (arithmetic, tiles))?
            }
            Request::PartOf { arithmetic, .. } => {
                fastest(problem, &whole, device, (arithmetic, None))?
            }
            Request::Grouped(tiles) => {
                let method = match problem.element {
                    ElementType::F16 | ElementType::Bf16 => Method::GroupedMma,
                    _ => Method::Grouped(tiles),
                };
                (method, SelectionReason::Requested)
            }
        };
        Self::by(method, reason, problem, (device, tiles))
    }

    /// The plan of `problem` in one piece, by this method.
    fn by(
        method: Method,
        reason: SelectionReason,
        problem: &Problem,
        (device, tiles): (DeviceFacts, Option<TileSize>),
    ) -> Option<Self> {
        let kernel = kernel_of(method, problem, device)?;
        let is_transposed = is_transposed(method, problem);
        let problem = match is_transposed {
            true => &problem.transposed(),
            false => problem,
        };
        let steps = Steps::of(kernel, problem, (device, tiles))?;
        Some(Self {
            kernel,
            reason,
            is_transposed,
            staging: Staging::of(kernel, &steps, problem),
            grid: Grid::of(kernel, steps.vector_work(), problem, device),
            steps,
            store: Store::of(kernel, problem),
            // Exact products compute both triangles.
            is_mirrored: problem.is_gram && method != Method::Exact,
            division: None,
        })
    }

    /// The plan of `problem` in `parts` of K, whose products have the kernels of `request`.
    fn in_parts(
        problem: &Problem,
        device: DeviceFacts,
        parts: Parts,
        request: Request,
    ) -> Option<Self> {
        let output = problem.element.of_sums();
        let (m, n) = (problem.m, problem.n);
        let sums = MatrixLayout::packed(Order::RowMajor, (m, n), ALIGNMENT);
        let of_part = Problem {
            output,
            k: parts.len,
            c: sums.one_of_many(m * n * output.bytes()),
            batch: parts.count,
            is_plain: true,
            is_shared: [true; 2],
            ..*problem
        };
        let plan = Self::of(&of_part, device, request)?;
        // The launch takes the parts from the whole operands.
        let whole = Problem {
            k: problem.k,
            ..of_part
        };
        computes(plan.kernel, &whole, device).then_some(Self {
            reason: SelectionReason::InParts { parts: parts.count },
            division: Some(Division {
                parts,
                sum: SumOfParts::of(problem, parts, device),
            }),
            ..plan
        })
    }
}

/// The kernel of a method for a problem: that with the widest copies that the operands allow.
fn kernel_of(
    method: Method,
    problem: &Problem,
    device: DeviceFacts,
) -> Option<&'static GemmKernel> {
    // They read operands that are brought into this order.
    let problem = match method {
        Method::Left | Method::LeftMma => &problem.along_k(),
        _ => problem,
    };
    kernels_of(method, problem.element, problem.output)
        .iter()
        .filter(|kernel| computes(kernel, problem, device))
        .max_by_key(|kernel| kernel.descriptor.b_row_alignment)
}

impl Steps {
    /// The steps of a kernel; `None` if none computes the outputs outside the split's range.
    fn of(
        kernel: &GemmKernel,
        problem: &Problem,
        (device, tiles): (DeviceFacts, Option<TileSize>),
    ) -> Option<Self> {
        let is_byte = problem.element.bytes() == 1;
        let kernel_of_residues =
            &|product: &Problem, request| Some(Plan::of(product, device, request)?.kernel);
        Some(match kernel.method {
            Method::Coarsened(_) if is_byte => Self::TilesOfWords,
            Method::Tiled | Method::Coarsened(_) | Method::Mma(_) => Self::Tiles,
            Method::Wgmma(_) | Method::Single | Method::Skinny(_) => Self::Warpgroups,
            Method::Scaled(_) | Method::ScaledSkinny | Method::Counted => Self::Scaled,
            Method::Grouped(_) | Method::GroupedMma => Self::Grouped,
            Method::Exact => {
                Self::Exact(ExactPlan::of(problem, device, tiles, kernel_of_residues)?)
            }
            Method::Left | Method::LeftMma => Self::Residues(ResiduesPlan::in_range(
                problem,
                device,
                tiles,
                kernel_of_residues,
            )?),
            Method::Vector(lines) => {
                let shape = (problem.m, problem.k);
                let products = problem.batch.min(MAX_GRID_Y as usize);
                let work = VectorWork::new(lines, shape, problem.element.bytes(), products);
                match is_byte {
                    true => Self::VectorOfWords(work),
                    false => Self::Vector(work),
                }
            }
            Method::Split(_) | Method::SplitMma(_) => {
                let fallback = match kernel.method {
                    Method::SplitMma(_) => Method::OutOfRangeMma,
                    _ => Method::OutOfRange,
                };
                let fallback = kernel_of(fallback, problem, device)?;
                Self::Split(SplitPlan {
                    fallback,
                    fallback_grid: Grid::of_blocks(fallback, problem),
                    passes: SplitPasses::of(problem.whole_k, device),
                    at_a_time: split_at_a_time(problem),
                })
            }
            Method::OutOfRange | Method::OutOfRangeMma => {
                unreachable!("they compute what a split leaves out")
            }
        })
    }
}

/// How outputs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// By the kernel's own stores, or one at a time after an epilogue.
    Own,
    /// One output at a time, without a condition on C.
    Single,
    /// By bulk copies from shared memory: two-byte outputs without an epilogue, in aligned rows.
    Bulk,
}

impl Store {
    fn of(kernel: &GemmKernel, problem: &Problem) -> Self {
        let bytes = problem.output.bytes();
        match kernel.method {
            Method::Mma(_) if problem.element != ElementType::F64 => Self::Single,
            Method::Split(_) | Method::SplitMma(_) => Self::Single,
            Method::Wgmma(WgmmaTile::Turned) | Method::ScaledSkinny
                if bytes != size_of::<f16>() =>
            {
                Self::Own
            }
            Method::Wgmma(_)
            | Method::Single
            | Method::Scaled(_)
            | Method::ScaledSkinny
            | Method::Counted => {
                match problem.is_plain && bytes == size_of::<f16>() && problem.c.is_aligned(bytes) {
                    true => Self::Bulk,
                    false => Self::Single,
                }
            }
            _ => Self::Own,
        }
    }
}

#[cfg(test)]
mod tests;
