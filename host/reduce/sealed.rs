//! The kernels of each operation: what the public traits of `operations.rs` stand for, which no other crate
//! implements.

use crate::element::Element;
use crate::module_source::ModuleSource;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;

/// An element type that the operation `R` reduces.
pub trait Reduce<R>: Element {
    /// What elements are combined in: the type of the blocks' partial results.
    type Accumulator: Element;
    /// The value of an array.
    type Value: Element;
    /// Whether there is no value without elements.
    const NEEDS_AN_ELEMENT: bool;
    /// The kernel for elements that start at a multiple of 16 bytes.
    type Kernel: for<'launch> Kernel<
        Params<'launch> = (
            Global<'launch, Self>,
            GlobalMut<'launch, Self::Accumulator>,
            GlobalMut<'launch, u32>,
            GlobalMut<'launch, Self::Value>,
        ),
    >;
    const KERNEL: Self::Kernel;
    const MODULE: &'static ModuleSource;
    /// The kernel for elements that start elsewhere, often the same; it gives the same bits.
    type Unaligned: for<'launch> Kernel<Params<'launch> = <Self::Kernel as Kernel>::Params<'launch>>;
    const UNALIGNED: Self::Unaligned;
    const UNALIGNED_MODULE: &'static ModuleSource;
    /// The value of an array of `elements` elements, from the partial results of its blocks.
    fn value_of(partials: &[Self::Accumulator], elements: usize) -> Self::Value;
    /// A partial result with `place(it)` for the index that it carries, if it carries one.
    fn with_place(partial: Self::Accumulator, place: impl Fn(usize) -> usize) -> Self::Accumulator;
}

/// An element type of whose matrices the operation `R` reduces the lines.
pub trait ReduceLines<R>: Element {
    /// What the elements of a line are combined in.
    type LineAccumulator: Element;
    /// The value of a line.
    type LineValue: Element;
    /// The kernel for contiguous lines.
    type Along: for<'launch> Kernel<
        Params<'launch> = (
            Global<'launch, Self>,
            usize,
            usize,
            usize,
            u32,
            GlobalMut<'launch, Self::LineAccumulator>,
            GlobalMut<'launch, u32>,
            GlobalMut<'launch, Self::LineValue>,
        ),
    >;
    const ALONG: Self::Along;
    const ALONG_MODULE: &'static ModuleSource;
    /// The kernel for lines whose neighbours are contiguous; it gives the same bits.
    type Across: for<'launch> Kernel<Params<'launch> = <Self::Along as Kernel>::Params<'launch>>;
    const ACROSS: Self::Across;
    const ACROSS_MODULE: &'static ModuleSource;
}

/// An element type of whose arrays the operation `R` reduces the segments.
pub trait ReduceSegments<R>: Element {
    /// What the elements of a segment are combined in.
    type SegmentAccumulator: Element;
    /// The value of a segment.
    type SegmentValue: Element;
    type Segments: for<'launch> Kernel<
        Params<'launch> = (
            Global<'launch, Self>,
            Global<'launch, u64>,
            Global<'launch, u64>,
            GlobalMut<'launch, Self::SegmentAccumulator>,
            GlobalMut<'launch, u32>,
            GlobalMut<'launch, Self::SegmentValue>,
        ),
    >;
    const SEGMENTS: Self::Segments;
    const SEGMENTS_MODULE: &'static ModuleSource;
}

/// An element type of which the operation `R` reduces two arrays.
pub trait ReducePairs<R>: Element {
    /// What pairs are combined in.
    type Accumulator: Element;
    /// The value of two arrays.
    type Value: Element;
    type Kernel: for<'launch> Kernel<
        Params<'launch> = (
            Global<'launch, Self>,
            Global<'launch, Self>,
            GlobalMut<'launch, Self::Accumulator>,
            GlobalMut<'launch, u32>,
            GlobalMut<'launch, Self::Value>,
        ),
    >;
    const KERNEL: Self::Kernel;
    const MODULE: &'static ModuleSource;
    /// The value of `elements` pairs, from the partial results of the blocks.
    fn value_of(partials: &[Self::Accumulator], elements: usize) -> Self::Value;
}

/// An element type of which the operation `R` reduces the lines of two matrices.
pub trait ReducePairLines<R>: ReducePairs<R> {
    /// The kernel for contiguous lines.
    type Along: for<'launch> Kernel<
        Params<'launch> = (
            Global<'launch, Self>,
            Global<'launch, Self>,
            usize,
            usize,
            usize,
            usize,
            u32,
            GlobalMut<'launch, Self::Accumulator>,
            GlobalMut<'launch, u32>,
            GlobalMut<'launch, Self::Value>,
        ),
    >;
    const ALONG: Self::Along;
    const ALONG_MODULE: &'static ModuleSource;
    /// The kernel for lines whose neighbours are contiguous; it gives the same bits.
    type Across: for<'launch> Kernel<Params<'launch> = <Self::Along as Kernel>::Params<'launch>>;
    const ACROSS: Self::Across;
    const ACROSS_MODULE: &'static ModuleSource;
}

/// An element type of which the operation `R` reduces the segments of two arrays.
pub trait ReducePairSegments<R>: ReducePairs<R> {
    type Segments: for<'launch> Kernel<
        Params<'launch> = (
            Global<'launch, Self>,
            Global<'launch, Self>,
            Global<'launch, u64>,
            Global<'launch, u64>,
            GlobalMut<'launch, Self::Accumulator>,
            GlobalMut<'launch, u32>,
            GlobalMut<'launch, Self::Value>,
        ),
    >;
    const SEGMENTS: Self::Segments;
    const SEGMENTS_MODULE: &'static ModuleSource;
}
