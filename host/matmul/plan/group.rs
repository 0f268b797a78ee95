//! The selection for products of unequal shapes: which are launched alone, and the kernel of the others.

use super::Plan;
use super::cost::blocks::{fills_device, large_tiles_pay};
use super::problem::{DeviceFacts, Problem};
use super::rules::{Request, SPLIT_FROM_OF_GROUP};
use crate::matmul::kernel::{GemmKernel, Method, TileSize};

/// Whether a product whose fastest plan is `alone` has its own launch.
///
/// On tensor cores it has: f64 if it fills the device, f16 and bf16 if it fills half of it. Other f16 and bf16 products
/// must keep the bits that they have alone, so vectors, products with a split K, and those whose operands must be
/// copied are also launched alone.
///
/// Half of the device is a guess: warp-level products take twice as long as those of warpgroups, and a launch takes
/// a few microseconds.
pub fn is_alone(problem: &Problem, device: DeviceFacts, alone: &Plan) -> bool {
    if problem.element.is_half() {
        let is_tiled = matches!(
            alone.kernel.method,
            Method::Wgmma(_) | Method::Single | Method::Skinny(_) | Method::Mma(_)
        );
        let blocks = problem.blocks(&alone.kernel.descriptor.tile);
        let fills_half = blocks.is_none_or(|it| it >= device.multiprocessors.div_ceil(2));
        let is_divided = alone.division.is_some();
        return !is_tiled || is_divided || fills_half || !problem.has_aligned_lines();
    }
    match alone.kernel.method {
        Method::Split(_) | Method::SplitMma(_) => problem.multiply_adds() >= SPLIT_FROM_OF_GROUP,
        Method::Mma(_) => fills_device(problem, device),
        _ => false,
    }
}

/// The kernel for one launch of `problems`, at least one, whose operands have the same orders: large tiles if there
/// are enough of them, and few of their outputs lie outside the results.
pub fn select_in_group(problems: &[&Problem], device: DeviceFacts) -> Option<&'static GemmKernel> {
    let first = problems.first()?;
    let kernel_in = |tiles| Plan::of(first, device, Request::Grouped(tiles)).map(|it| it.kernel);
    let small = kernel_in(TileSize::Small)?;
    let covered = |kernel: &GemmKernel| -> u64 {
        let tile = &kernel.descriptor.tile;
        problems.iter().filter_map(|it| it.covered(tile)).sum()
    };
    let is_faster = |large: &&GemmKernel| {
        let blocks: u64 = problems.iter().map(|it| blocks_in_group(it, large)).sum();
        blocks >= u64::from(device.large_blocks())
            && large_tiles_pay(covered(large), covered(small))
    };
    let large = kernel_in(TileSize::Large).filter(is_faster);
    Some(large.unwrap_or(small))
}

/// The blocks of a product in a shared launch; more than a grid can have if they cannot be counted.
pub fn blocks_in_group(problem: &Problem, kernel: &GemmKernel) -> u64 {
    let blocks = problem.blocks(&kernel.descriptor.tile);
    blocks.map_or(1 << 32, u64::from)
}
