//! The kernels of each operation, behind the public traits of `operations.rs`, which other crates cannot implement.

use crate::buffer::BufferView;
use crate::element::Element;
use crate::matrix::MatrixView;
use crate::module_source::ModuleSource;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;

/// The parameters of a launch of `K`.
pub type Params<'a, K> = <K as Kernel>::Params<'a>;

/// An element type that the operation `R` reduces: elements of one array, or pairs from two.
pub trait Reduce<R, const ARRAYS: usize = 1>: Element {
    /// The accumulator, which is also the type of the blocks' partial results.
    type Accumulator: Element;
    /// The value of an array.
    type Value: Element;
    /// Whether the operation has no value for empty input.
    const NEEDS_AN_ELEMENT: bool;
    /// The kernel for elements that start at a multiple of 16 bytes.
    type Kernel: Kernel;
    const MODULE: &'static ModuleSource;
    /// The kernel for elements that start elsewhere, often the same one. It gives the same bits.
    type Unaligned: for<'launch> Kernel<Params<'launch> = Params<'launch, Self::Kernel>>;
    const UNALIGNED_MODULE: &'static ModuleSource;
    fn params<'a>(
        arrays: [BufferView<'a, Self>; ARRAYS],
        shared: Shared<'a, Self::Accumulator>,
        result: GlobalMut<'a, Self::Value>,
    ) -> Params<'a, Self::Kernel>;
    /// The value of `elements` elements, from their blocks' partial results.
    fn value_of(partials: &[Self::Accumulator], elements: usize) -> Self::Value;
    /// The partial result with `place` applied to its index, if it has one.
    fn with_place(partial: Self::Accumulator, place: impl Fn(usize) -> usize) -> Self::Accumulator;
}

/// Memory that the blocks of a launch share, besides the result.
pub struct Shared<'a, A> {
    /// One partial result for each block.
    pub partials: GlobalMut<'a, A>,
    /// One counter, which is 0.
    pub ticket: GlobalMut<'a, u32>,
}

/// An element type of matrices whose lines the operation `R` reduces.
pub trait ReduceLines<R, const ARRAYS: usize = 1>: Reduce<R, ARRAYS> {
    /// The kernel for contiguous lines.
    type Along: Kernel;
    const ALONG_MODULE: &'static ModuleSource;
    /// The kernel for lines whose neighbours are contiguous; it gives the same bits.
    type Across: for<'launch> Kernel<Params<'launch> = Params<'launch, Self::Along>>;
    const ACROSS_MODULE: &'static ModuleSource;
    fn line_params<'a>(
        lines: [MatrixView<'a, Self>; ARRAYS],
        shared: LineShared<'a, Self::Accumulator>,
        values: GlobalMut<'a, Self::Value>,
    ) -> Params<'a, Self::Along>;
}

/// Memory that the blocks of a launch for rows share, besides the values.
pub struct LineShared<'a, A> {
    /// The kernel's parameter for the grid.
    pub shape: u32,
    pub partials: GlobalMut<'a, A>,
    pub tickets: GlobalMut<'a, u32>,
}

/// An element type of arrays whose segments the operation `R` reduces.
pub trait ReduceSegments<R, const ARRAYS: usize = 1>: Reduce<R, ARRAYS> {
    type Segments: Kernel;
    const SEGMENTS_MODULE: &'static ModuleSource;
    fn segment_params<'a>(
        arrays: [BufferView<'a, Self>; ARRAYS],
        shared: SegmentShared<'a, Self::Accumulator>,
        values: GlobalMut<'a, Self::Value>,
    ) -> Params<'a, Self::Segments>;
}

/// Memory that the blocks of a launch for segments share, besides the elements and the values. `Device::segments` has
/// checked the offsets and listed the parts.
pub struct SegmentShared<'a, A> {
    pub offsets: Global<'a, u64>,
    pub parts: Global<'a, u64>,
    pub partials: GlobalMut<'a, A>,
    pub tickets: GlobalMut<'a, u32>,
}
