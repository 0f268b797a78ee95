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

    /// `partial` with `place(it)` for the index of an element that it carries, if it carries one: what
    /// `lift(element, index)` gave becomes `lift(element, place(index))`, and the identity stays as it is.
    ///
    /// Each of several devices numbers the elements that it has from 0. So their partial results get the
    /// indices of the whole array before they are combined. What is provided is right where `lift` does not
    /// use the index, and a test holds each operation in `table.rs` to it. Groups of devices reduce by
    /// those alone: an operation of your own does not need it.
    #[must_use]
    fn with_place(partial: Self::Accumulator, place: impl Fn(usize) -> usize) -> Self::Accumulator {
        let _ = place;
        partial
    }
}
