//! Operations of a program's own that compute what those of the library do.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

use cuda_std::float::HalfFloat;
use cuda_std::math;
use half::bf16;
use tilewright_kernels::map::Map;
use tilewright_kernels::matmul::ProductMap;
use tilewright_kernels::reduce::Reduction;
use tilewright_kernels::rows::RowMap;

/// The sum of the magnitudes.
pub struct Magnitudes;

impl Reduction<f32> for Magnitudes {
    type Accumulator = f32;
    type Output = f32;
    const IDENTITY: f32 = 0.0;
    const IS_TOTAL: bool = true;

    fn lift(x: f32, _index: usize) -> f32 {
        x.abs()
    }

    fn combine(left: f32, right: f32) -> f32 {
        left + right
    }

    fn finish(total: f32, _elements: usize) -> f32 {
        total
    }
}

/// The largest element, and the sum of e^(x - largest).
pub struct Softmax;

impl Reduction<f32> for Softmax {
    type Accumulator = [f32; 2];
    type Output = [f32; 2];
    const IDENTITY: [f32; 2] = [f32::NEG_INFINITY, 0.0];
    const IS_TOTAL: bool = true;

    fn lift(x: f32, _index: usize) -> [f32; 2] {
        [x, 1.0]
    }

    fn combine(left: [f32; 2], right: [f32; 2]) -> [f32; 2] {
        let largest = math::maximum(left[0], right[0]);
        [largest, scaled(left, largest) + scaled(right, largest)]
    }

    fn finish(total: [f32; 2], _elements: usize) -> [f32; 2] {
        total
    }
}

/// The sum relative to another largest element.
fn scaled([own, sum]: [f32; 2], largest: f32) -> f32 {
    // Equal infinities have no difference.
    match own == largest {
        true => sum,
        false => sum * math::exp(own - largest),
    }
}

impl RowMap for Softmax {
    fn map(x: f32, [largest, sum]: [f32; 2], _index: usize) -> f32 {
        math::exp(x - largest) / sum
    }
}

/// The elements themselves.
pub struct Copy;

impl Map<f32, 1> for Copy {
    type Output = f32;

    fn map([x]: [f32; 1], _index: usize) -> f32 {
        x
    }
}

/// Products at most 1000.
pub struct Limit;

impl ProductMap<bf16, 0> for Limit {
    type Parameters = f32;
    type Output = bf16;

    fn map(sum: f32, []: [bf16; 0], _place: [usize; 2], &limit: &f32) -> bf16 {
        bf16::narrow(sum.min(limit))
    }
}

tilewright_kernels::maps! {
    /// Copies.
    copy: Copy of [f32; 1];
    /// Softmax of each row.
    softmax: Softmax of rows of f32;
    /// Limited products.
    limited: Limit of products of bf16 with [bf16; 0] in WarpgroupLarge;
}

tilewright_kernels::reductions! {
    /// The sum of the magnitudes.
    magnitudes: Magnitudes of f32;
    /// Sums of magnitudes of rows or columns.
    row_magnitudes, column_magnitudes: Magnitudes of rows of f32;
    /// Prefix sums of magnitudes.
    scanned_magnitudes: Magnitudes of scans of f32;
}
