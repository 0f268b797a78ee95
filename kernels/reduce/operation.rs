//! The trait of operations that reduce elements to one value.
//!
//! `operations/` has the operations, and `table.rs` a line for each kernel.

use cuda_std::Pod;
use cuda_std::warp::Exchange;

/// An operation that reduces an array of `T` to one value.
///
/// Each element is lifted to an accumulator, accumulators are combined in a tree, and the last one is finished.
/// The functions wait at no barrier and call no collective: not all threads of a block or a warp call them.
///
/// An operation on two arrays, such as [`Dot`](super::operations::Dot), is an operation on an array of pairs.
pub trait Reduction<T: Pod> {
    /// The type in which elements are combined: a number or an array of numbers.
    type Accumulator: Exchange;

    /// The type of the result.
    type Output: Pod;

    /// The neutral accumulator, which threads without elements contribute.
    const IDENTITY: Self::Accumulator;

    /// Whether empty input is an error, as for a minimum, instead of `finish(IDENTITY, 0)`.
    const NEEDS_AN_ELEMENT: bool = false;

    /// Whether `lift`, `finish` and the `map` of a row map panic for no arguments: kernels may then call them, beside
    /// their other calls, with zeros, identities and other elements in place of what does not exist. Such results are
    /// not used.
    const IS_TOTAL: bool = false;

    /// The accumulator of one element. `index` counts from 0.
    #[must_use]
    fn lift(element: T, index: usize) -> Self::Accumulator;

    /// Combines two accumulators: commutative bit for bit, and associative up to rounding.
    #[must_use]
    fn combine(left: Self::Accumulator, right: Self::Accumulator) -> Self::Accumulator;

    /// The result for an array of `elements` elements. Called once.
    #[must_use]
    fn finish(total: Self::Accumulator, elements: usize) -> Self::Output;

    /// Replaces the element index in `partial`, if it has one, by `place(index)`.
    ///
    /// `lift(element, index)` becomes `lift(element, place(index))`, and the identity is unchanged.
    ///
    /// Each device of a group numbers its elements from 0, so partial results are mapped to indices of the whole
    /// array before they are combined. The default is correct if `lift` ignores the index; a test checks this for
    /// each operation in `table.rs`. Custom operations do not need it: groups of devices reduce only by the
    /// operations of the table.
    #[must_use]
    fn with_place(partial: Self::Accumulator, place: impl Fn(usize) -> usize) -> Self::Accumulator {
        let _ = place;
        partial
    }
}
