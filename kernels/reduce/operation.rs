//! Operations that reduce an array to one value, and the elements that they are for.
//!
//! `reduction.rs` is the kernel that every operation runs in; `table.rs` lists what there is.

use cuda_std::Pod;
use cuda_std::float::{Float, HalfFloat};
use cuda_std::warp::LaneValue;
use half::{bf16, f16};

/// An operation that reduces an array of `T` to one value: lift each element with its index,
/// combine, and finish.
pub trait Reduction<T: Pod> {
    /// What elements are combined in.
    type Accumulator: LaneValue;

    /// The value of the array.
    type Output: Pod;

    /// What changes no accumulator that it is combined with: what threads without elements have.
    const IDENTITY: Self::Accumulator;

    /// An element and its index as an accumulator.
    #[must_use]
    fn lift(element: T, index: usize) -> Self::Accumulator;

    /// The accumulator of the elements of both: commutative, and associative up to rounding.
    #[must_use]
    fn combine(left: Self::Accumulator, right: Self::Accumulator) -> Self::Accumulator;

    /// The value of an array of `elements` elements. Called once.
    #[must_use]
    fn finish(total: Self::Accumulator, elements: usize) -> Self::Output;
}

/// The sum: in f32 and f64 rounded at each addition, with one NaN for all; in i64 and u64 wrapping.
/// Accumulators are wide enough that a single element is exact.
#[derive(Clone, Copy, Debug)]
pub struct Sum;

macro_rules! sums {
    ($($element:ty => $sum:ty: $to_accumulator:expr, $add:expr, $finish:expr;)*) => {$(
        impl Reduction<$element> for Sum {
            type Accumulator = $sum;
            type Output = $sum;
            const IDENTITY: $sum = 0 as $sum;

            #[inline(always)]
            fn lift(element: $element, _index: usize) -> $sum {
                $to_accumulator(element)
            }

            #[inline(always)]
            fn combine(left: $sum, right: $sum) -> $sum {
                $add(left, right)
            }

            #[inline(always)]
            fn finish(total: $sum, _elements: usize) -> $sum {
                $finish(total)
            }
        }
    )*};
}
sums! {
    f32 => f32: core::convert::identity, core::ops::Add::add, Float::canonical_nan;
    f64 => f64: core::convert::identity, core::ops::Add::add, Float::canonical_nan;
    f16 => f32: HalfFloat::widen, core::ops::Add::add, Float::canonical_nan;
    bf16 => f32: HalfFloat::widen, core::ops::Add::add, Float::canonical_nan;
    i32 => i64: i64::from, i64::wrapping_add, core::convert::identity;
    u32 => u64: u64::from, u64::wrapping_add, core::convert::identity;
    i64 => i64: core::convert::identity, i64::wrapping_add, core::convert::identity;
    u64 => u64: core::convert::identity, u64::wrapping_add, core::convert::identity;
}
