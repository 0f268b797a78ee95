//! User-defined operations in the library's kernels: a softmax with a temperature, a gated activation, products with
//! functions of their sums, a linear recurrence, and several statistics of one read.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]
#![deny(missing_docs)]

use cuda_std::math;
use tilewright_kernels::map::Map;
use tilewright_kernels::matmul::ProductMap;
use tilewright_kernels::reduce::{Max, Norm2, Reduction, Sum};
use tilewright_kernels::rows::RowMap;

/// e^((x - largest) / 2): the first step of a softmax of x / 2.
pub struct Powers;

impl Reduction<f32> for Powers {
    type Accumulator = f32;
    type Output = f32;
    const IDENTITY: f32 = f32::NEG_INFINITY;

    fn lift(x: f32, _index: usize) -> f32 {
        x
    }

    fn combine(left: f32, right: f32) -> f32 {
        math::maximum(left, right)
    }

    fn finish(largest: f32, _elements: usize) -> f32 {
        largest
    }
}

impl RowMap for Powers {
    fn map(x: f32, largest: f32, _index: usize) -> f32 {
        math::exp((x - largest) / 2.0)
    }
}

/// Elements divided by their sum: the second step.
pub struct Shares;

impl Reduction<f32> for Shares {
    type Accumulator = f32;
    type Output = f32;
    const IDENTITY: f32 = 0.0;

    fn lift(x: f32, _index: usize) -> f32 {
        x
    }

    fn combine(left: f32, right: f32) -> f32 {
        left + right
    }

    fn finish(sum: f32, _elements: usize) -> f32 {
        sum
    }
}

impl RowMap for Shares {
    fn map(x: f32, sum: f32, _index: usize) -> f32 {
        x / sum
    }
}

/// SwiGLU: x sigmoid(x) y, with a bias for each column before it.
pub struct Gate;

impl Map<f32, 3> for Gate {
    type Output = f32;

    fn map([x, y, bias]: [f32; 3], _index: usize) -> f32 {
        let x = x + bias;
        x / (1.0 + math::exp(-x)) * y
    }
}

/// SwiGLU of a layer, in its product: the sum x as x sigmoid(x), times the product with other weights.
pub struct SwiGlu;

impl ProductMap<f32, 1> for SwiGlu {
    type Parameters = u32;
    type Output = f32;

    fn map(sum: f32, [other]: [f32; 1], _place: [usize; 2], _unused: &u32) -> f32 {
        math::silu(sum) * other
    }
}

/// Dropout: sums that a hash of seed, row and column keeps, scaled up, and 0 for the others.
pub struct Dropout;

/// A hash of seed and place: 32 bits.
pub fn hash(seed: u64, [row, column]: [usize; 2]) -> u32 {
    let mixed = (seed ^ row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ column as u64;
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 32) as u32
}

impl ProductMap<f32, 0> for Dropout {
    /// The seed, and the part to keep, in units of 2^-32.
    type Parameters = [u64; 2];
    type Output = f32;

    fn map(sum: f32, []: [f32; 0], place: [usize; 2], &[seed, kept]: &[u64; 2]) -> f32 {
        match u64::from(hash(seed, place)) < kept {
            true => sum * (4_294_967_296.0 / kept as f32),
            false => 0.0,
        }
    }
}

/// The recurrence h = a h + b of elements [a, b], as in state space models: composed maps, which are associative.
pub struct Recurrence;

impl Reduction<[f32; 2]> for Recurrence {
    type Accumulator = [f32; 2];
    type Output = f32;
    const IDENTITY: [f32; 2] = [1.0, 0.0];

    fn lift(element: [f32; 2], _index: usize) -> [f32; 2] {
        element
    }

    fn combine([a, b]: [f32; 2], [c, d]: [f32; 2]) -> [f32; 2] {
        [a * c, b * c + d]
    }

    fn finish([_, h]: [f32; 2], _elements: usize) -> f32 {
        h
    }
}

tilewright_kernels::maps! {
    /// Softmax of x / 2, of each row.
    soft_softmax: Powers then Shares of rows of f32;
    /// Gated activations.
    gate: Gate of [f32; 3];
    /// Gated products of f32.
    swiglu: SwiGlu of products of f32 with [f32; 1] in Medium;
    /// Gated products of bf16, on tensor cores.
    swiglu_bf16: SwiGlu of products of bf16 with [f32; 1] in Large;
    /// Gated products of bf16, on the tensor cores of compute capability 9.0.
    swiglu_bf16_hopper: SwiGlu of products of bf16 with [f32; 1] in WarpgroupLarge;
    /// Products with dropout.
    dropout: Dropout of products of f32 with [f32; 0] in Medium;
}

tilewright_kernels::reductions! {
    /// The recurrence at each element, from 0 on.
    recurrence: Recurrence of scans of [f32; 2];
    /// Sum, maximum and norm, of one read.
    statistics: (Sum, Max, Norm2) of f32;
    /// Sum, maximum and norm of each row or column.
    row_statistics, column_statistics: (Sum, Max, Norm2) of rows of f32;
}
