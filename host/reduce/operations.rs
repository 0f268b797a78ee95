//! What can be reduced, by which operation, in which kernel.

use super::{combine, sealed};
use crate::element::Element;
use crate::kernels::module_of;
use crate::module_source::ModuleSource;
use half::{bf16, f16};
use tilewright_kernels::reduce::{self, Reduction, Sum, lines};
use tilewright_kernels::{
    for_each_line_reduction, for_each_pair_line_reduction, for_each_pair_reduction,
    for_each_pair_segment_reduction, for_each_reduction, for_each_segment_reduction, for_each_sum,
};

/// An element type whose buffers the operation `R`, one of [`ops`](crate::ops), reduces.
///
/// | operations | elements | value |
/// |---|---|---|
/// | `Sum`, `Product` | all | f32 of f32, f16 and bf16, f64 of f64, i64 and u64 of integers |
/// | `Mean` | all | f32 of f32, f16 and bf16, f64 of all others |
/// | `Min`, `Max` | all | an element |
/// | `MinMax` | all | an array of two elements |
/// | `ArgMin`, `ArgMax` | all | u64 |
/// | `SumOfSquares`, `Norm1`, `Norm2`, `Variance` | floats | f32 of f32, f16 and bf16, f64 of f64 |
/// | `NormInf` | floats | an element |
/// | `Count`, `Any`, `All` | u8 | u64; u8, which is 0 or 1 |
///
/// All elements are f32, f64, f16, bf16, i32, u32, i64 and u64; floats are the first four.
#[diagnostic::on_unimplemented(
    message = "buffers of `{Self}` cannot be reduced by `{R}`",
    note = "`tilewright::ops` has the operations; masks of `Count`, `Any` and `All` are of u8, norms \
            and variances of floats, and all other operations of f32, f64, f16, bf16, i32, u32, i64 \
            and u64"
)]
pub trait Reducible<R>:
    Element + sealed::Reduce<R, Value = <Self as Reducible<R>>::Output>
{
    /// The type of the value.
    type Output: Element;
}

/// An element type of which the operation `R` reduces two buffers of one length, two matrices of one shape
/// row by row or column by column, and two buffers segment by segment: [`ops::Dot`](crate::ops::Dot) of
/// f32, f64, f16, bf16, i32, u32, i64 and u64.
#[diagnostic::on_unimplemented(
    message = "two buffers or matrices of `{Self}` cannot be reduced by `{R}`",
    note = "dot products are of f32, f64, f16, bf16, i32, u32, i64 and u64"
)]
pub trait ReduciblePairs<R>:
    Element
    + sealed::ReducePairs<R, Value = <Self as ReduciblePairs<R>>::Output>
    + sealed::ReducePairLines<R>
    + sealed::ReducePairSegments<R>
{
    /// The type of a value.
    type Output: Element;
}

/// An element type whose matrices the operation `R` reduces, row by row or column by column: all
/// operations and elements of [`Reducible`].
#[diagnostic::on_unimplemented(
    message = "the rows and columns of matrices of `{Self}` cannot be reduced by `{R}`",
    note = "they can by every operation that reduces buffers of the type: masks of `Count`, `Any` and \
            `All` are of u8, norms and variances of floats, and all others of f32, f64, f16, bf16, i32, \
            u32, i64 and u64; dot products of rows and columns are `reduce_dot_rows` and \
            `reduce_dot_columns`"
)]
pub trait ReducibleLines<R>:
    Reducible<R> + sealed::ReduceLines<R, LineValue = <Self as Reducible<R>>::Output>
{
}

/// An element type whose segments the operation `R` reduces: all operations and elements of
/// [`Reducible`].
#[diagnostic::on_unimplemented(
    message = "segments of buffers of `{Self}` cannot be reduced by `{R}`",
    note = "they can by every operation that reduces buffers of the type: masks of `Count`, `Any` and \
            `All` are of u8, norms and variances of floats, and all others of f32, f64, f16, bf16, i32, \
            u32, i64 and u64; dot products of segments are `reduce_dot_segments`"
)]
pub trait ReducibleSegments<R>:
    Reducible<R> + sealed::ReduceSegments<R, SegmentValue = <Self as Reducible<R>>::Output>
{
}

/// A type whose buffers can be summed.
///
/// | elements | sum | arithmetic |
/// |---|---|---|
/// | f32 | f32 | rounded to nearest at each addition |
/// | f64 | f64 | rounded to nearest at each addition |
/// | f16, bf16 | f32 | each element exactly, then as for f32 |
/// | i32 | i64 | exact |
/// | u32 | u64 | exact |
/// | i64, u64 | i64, u64 | wrapping |
#[diagnostic::on_unimplemented(
    message = "buffers of `{Self}` cannot be summed",
    note = "sums are for f32, f64, f16, bf16, i32, u32, i64 and u64"
)]
pub trait ReduceElement: Reducible<Sum, Output = Self::Sum> {
    /// The type of the sum.
    type Sum: Element + PartialEq;
}

macro_rules! line_reductions {
    ($($operation:ident of $element:ident: $along:ident at $along_blocks:literal blocks,
        $across:ident at $across_blocks:literal blocks;)*) => {$(
        impl sealed::ReduceLines<reduce::$operation> for $element {
            type LineAccumulator = <reduce::$operation as Reduction<Self>>::Accumulator;
            type LineValue = <reduce::$operation as Reduction<Self>>::Output;
            type Along = lines::$along;
            const ALONG: Self::Along = lines::$along();
            const ALONG_MODULE: &'static ModuleSource = module_of!($along);
            type Across = lines::$across;
            const ACROSS: Self::Across = lines::$across();
            const ACROSS_MODULE: &'static ModuleSource = module_of!($across);
        }

        impl ReducibleLines<reduce::$operation> for $element {}
    )*};
}
for_each_line_reduction!(line_reductions);

macro_rules! segment_reductions {
    ($($operation:ident of $element:ident: $kernel:ident at $blocks:literal blocks;)*) => {$(
        impl sealed::ReduceSegments<reduce::$operation> for $element {
            type SegmentAccumulator = <reduce::$operation as Reduction<Self>>::Accumulator;
            type SegmentValue = <reduce::$operation as Reduction<Self>>::Output;
            type Segments = lines::$kernel;
            const SEGMENTS: Self::Segments = lines::$kernel();
            const SEGMENTS_MODULE: &'static ModuleSource = module_of!($kernel);
        }

        impl ReducibleSegments<reduce::$operation> for $element {}
    )*};
}
for_each_segment_reduction!(segment_reductions);

macro_rules! sums {
    ($($kernel:ident, $unaligned:ident: sum of $element:ident in $sum:ident;)*) => {$(
        impl sealed::Reduce<Sum> for $element {
            type Accumulator = $sum;
            type Value = $sum;
            const NEEDS_AN_ELEMENT: bool = <Sum as Reduction<Self>>::NEEDS_AN_ELEMENT;
            type Kernel = reduce::$kernel;
            const KERNEL: Self::Kernel = reduce::$kernel();
            const MODULE: &'static ModuleSource = module_of!($kernel);
            type Unaligned = reduce::$unaligned;
            const UNALIGNED: Self::Unaligned = reduce::$unaligned();
            const UNALIGNED_MODULE: &'static ModuleSource = module_of!($unaligned);

            fn value_of(partials: &[$sum], elements: usize) -> $sum {
                combine::value_of::<Sum, Self>(partials, elements)
            }

            fn with_place(partial: $sum, place: impl Fn(usize) -> usize) -> $sum {
                <Sum as Reduction<Self>>::with_place(partial, place)
            }
        }

        impl Reducible<Sum> for $element {
            type Output = $sum;
        }

        impl ReduceElement for $element {
            type Sum = $sum;
        }
    )*};
}
for_each_sum!(sums);

macro_rules! reductions {
    ($($kernel:ident: $operation:ident of $element:ident;)*) => {$(
        impl sealed::Reduce<reduce::$operation> for $element {
            type Accumulator = <reduce::$operation as Reduction<Self>>::Accumulator;
            type Value = <reduce::$operation as Reduction<Self>>::Output;
            const NEEDS_AN_ELEMENT: bool =
                <reduce::$operation as Reduction<Self>>::NEEDS_AN_ELEMENT;
            type Kernel = reduce::$kernel;
            const KERNEL: Self::Kernel = reduce::$kernel();
            const MODULE: &'static ModuleSource = module_of!($kernel);
            type Unaligned = reduce::$kernel;
            const UNALIGNED: Self::Unaligned = reduce::$kernel();
            const UNALIGNED_MODULE: &'static ModuleSource =
                <Self as sealed::Reduce<reduce::$operation>>::MODULE;

            fn value_of(partials: &[Self::Accumulator], elements: usize) -> Self::Value {
                combine::value_of::<reduce::$operation, Self>(partials, elements)
            }

            fn with_place(
                partial: Self::Accumulator,
                place: impl Fn(usize) -> usize,
            ) -> Self::Accumulator {
                <reduce::$operation as Reduction<Self>>::with_place(partial, place)
            }
        }

        impl Reducible<reduce::$operation> for $element {
            type Output = <reduce::$operation as Reduction<Self>>::Output;
        }
    )*};
}
for_each_reduction!(reductions);

macro_rules! pair_reductions {
    ($($kernel:ident: $operation:ident of $element:ident;)*) => {$(
        impl sealed::ReducePairs<reduce::$operation> for $element {
            type Accumulator = <reduce::$operation as Reduction<[Self; 2]>>::Accumulator;
            type Value = <reduce::$operation as Reduction<[Self; 2]>>::Output;
            type Kernel = reduce::$kernel;
            const KERNEL: Self::Kernel = reduce::$kernel();
            const MODULE: &'static ModuleSource = module_of!($kernel);

            fn value_of(partials: &[Self::Accumulator], elements: usize) -> Self::Value {
                combine::value_of::<reduce::$operation, [Self; 2]>(partials, elements)
            }
        }

        impl ReduciblePairs<reduce::$operation> for $element {
            type Output = <reduce::$operation as Reduction<[Self; 2]>>::Output;
        }
    )*};
}
for_each_pair_reduction!(pair_reductions);

macro_rules! pair_line_reductions {
    ($($operation:ident of $element:ident: $along:ident at $along_blocks:literal blocks,
        $across:ident at $across_blocks:literal blocks;)*) => {$(
        impl sealed::ReducePairLines<reduce::$operation> for $element {
            type Along = lines::$along;
            const ALONG: Self::Along = lines::$along();
            const ALONG_MODULE: &'static ModuleSource = module_of!($along);
            type Across = lines::$across;
            const ACROSS: Self::Across = lines::$across();
            const ACROSS_MODULE: &'static ModuleSource = module_of!($across);
        }
    )*};
}
for_each_pair_line_reduction!(pair_line_reductions);

macro_rules! pair_segment_reductions {
    ($($operation:ident of $element:ident: $kernel:ident at $blocks:literal blocks;)*) => {$(
        impl sealed::ReducePairSegments<reduce::$operation> for $element {
            type Segments = lines::$kernel;
            const SEGMENTS: Self::Segments = lines::$kernel();
            const SEGMENTS_MODULE: &'static ModuleSource = module_of!($kernel);
        }
    )*};
}
for_each_pair_segment_reduction!(pair_segment_reductions);

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::sealed::Reduce;
    use super::*;

    /// Bytes of the PTX that a sum of elements `T` names. No other kernel's constants are named with it.
    fn images_of_sum<T: Reduce<Sum>>() -> usize {
        let modules = [T::MODULE, T::UNALIGNED_MODULE];
        let images = modules.iter().flat_map(|it| it.images());
        images.map(|(_, ptx)| ptx.len()).sum()
    }

    #[test]
    fn sums_carry_little_ptx() {
        let of_f32 = images_of_sum::<f32>();
        assert!((1 << 10..64 << 10).contains(&of_f32), "{of_f32} bytes");
        let of_floats =
            of_f32 + images_of_sum::<f64>() + images_of_sum::<f16>() + images_of_sum::<bf16>();
        assert!(of_floats < 300_000, "{of_floats} bytes");
    }
}
