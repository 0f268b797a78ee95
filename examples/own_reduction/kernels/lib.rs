//! An operation of one's own, and the kernel that reduces an array by it.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]
#![deny(missing_docs)]

use cuda_std::math::{exp, ln};
use tilewright_kernels::reduce::own::*;

/// The logarithm of the sum of e^x over all elements, in one pass and without overflow on the way; -inf
/// of no elements.
#[derive(Clone, Copy, Debug)]
pub struct LogSumExp;

impl Reduction<f32> for LogSumExp {
    /// The greatest element m, and the sum of e^(x - m).
    type Accumulator = [f64; 2];
    type Output = f32;
    const IDENTITY: [f64; 2] = [f64::NEG_INFINITY, 0.0];

    #[inline(always)]
    fn lift(element: f32, _index: usize) -> [f64; 2] {
        [f64::from(element), 1.0]
    }

    #[inline(always)]
    fn combine(left: [f64; 2], right: [f64; 2]) -> [f64; 2] {
        let (less, more) = if left[0] < right[0] {
            (left, right)
        } else {
            (right, left)
        };
        // The difference of two infinities would be NaN.
        let factor = if less[0] == more[0] {
            1.0
        } else {
            exp(less[0] - more[0])
        };
        [more[0], more[1] + less[1] * factor]
    }

    #[inline(always)]
    fn finish([greatest, sum]: [f64; 2], _elements: usize) -> f32 {
        (greatest + ln(sum)) as f32
    }
}

tilewright_kernels::reduction_kernels! {
    log_sum_exp_f32: LogSumExp of f32;
}
