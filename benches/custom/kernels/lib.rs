//! Operations of a program's own that compute what those of the library do.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

use cuda_std::float::{HalfFloat, larger_or_nan};
use cuda_std::math::approximate::exp_nonpositive;
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

/// The powers of the elements' distance from the largest.
pub struct Powers;

impl Reduction<f32> for Powers {
    type Accumulator = f32;
    type Output = f32;
    const IDENTITY: f32 = f32::NEG_INFINITY;
    const IS_TOTAL: bool = true;

    fn lift(x: f32, _index: usize) -> f32 {
        x
    }

    fn combine(left: f32, right: f32) -> f32 {
        larger_or_nan(left, right)
    }

    fn finish(largest: f32, _elements: usize) -> f32 {
        largest
    }
}

impl RowMap for Powers {
    fn map(x: f32, largest: f32, _index: usize) -> f32 {
        exp_nonpositive(x - largest)
    }
}

/// The elements, divided by their sum.
pub struct Shares;

impl Reduction<f32> for Shares {
    type Accumulator = f32;
    type Output = f32;
    const IDENTITY: f32 = 0.0;
    const IS_TOTAL: bool = true;

    fn lift(x: f32, _index: usize) -> f32 {
        x
    }

    fn combine(left: f32, right: f32) -> f32 {
        left + right
    }

    /// Inverted: a product for each element takes less than a division.
    fn finish(sum: f32, _elements: usize) -> f32 {
        1.0 / sum
    }
}

impl RowMap for Shares {
    fn map(x: f32, inverse: f32, _index: usize) -> f32 {
        x * inverse
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
    softmax: Powers then Shares of rows of f32;
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
