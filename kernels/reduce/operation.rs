//! What an operation is that reduces elements to one value.
//!
//! `operations/` has what there is, and `table.rs` a line for each kernel.

use cuda_std::Pod;
use cuda_std::warp::Exchange;

/// An operation that reduces an array of `T` to one value: lift each element with its index,
/// combine, and finish.
///
/// An operation on two arrays, such as [`Dot`](super::operations::Dot), is one on an array of pairs.
pub trait Reduction<T: Pod> {
    /// What elements are combined in.
    type Accumulator: Exchange;

    /// The value of the array.
    type Output: Pod;

    /// What changes no accumulator that it is combined with: what threads without elements have.
    const IDENTITY: Self::Accumulator;

    /// Whether there is no value without elements, as there is no minimum.
    const NEEDS_AN_ELEMENT: bool = false;

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
