//! Log-sum-exp, ln(sum of e^x), as a custom reduction: in one pass, without overflow.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]
#![deny(missing_docs)]

use cuda_std::math;
use tilewright_kernels::reduce::Reduction;

/// ln(sum of e^x) of all elements; -infinity if there are none. NaN propagates.
///
/// The accumulator is the largest element so far, and the sum of e^(x - largest). The largest term is 1, so nothing
/// overflows. Any two accumulators combine to a third one, which is all that a reduction needs.
pub struct LogSumExp;

impl Reduction<f32> for LogSumExp {
    type Accumulator = [f64; 2];
    type Output = f64;
    const IDENTITY: [f64; 2] = [f64::NEG_INFINITY, 0.0];

    fn lift(x: f32, _index: usize) -> [f64; 2] {
        [f64::from(x), 1.0]
    }

    fn combine(left: [f64; 2], right: [f64; 2]) -> [f64; 2] {
        let largest = math::maximum(left[0], right[0]);
        [largest, scaled(left, largest) + scaled(right, largest)]
    }

    fn finish([largest, sum]: [f64; 2], _elements: usize) -> f64 {
        match largest.is_infinite() {
            true => largest,
            false => largest + math::ln(sum),
        }
    }
}

/// The accumulator's sum, for another largest element.
fn scaled([own, sum]: [f64; 2], largest: f64) -> f64 {
    // Equal infinities have no difference.
    match own == largest {
        true => sum,
        false => sum * math::exp(own - largest),
    }
}

tilewright_kernels::reductions! {
    /// ln(sum of e^x) of an array.
    log_sum_exp: LogSumExp of f32;
}
