//! The element types of each operation, and the kernels that reduce them.

use super::sealed::{LineShared, Params, SegmentShared, Shared};
use super::{combine, sealed};
use crate::buffer::BufferView;
use crate::element::Element;
use crate::kernels::module_of;
use crate::launch_args::{global, read_elements};
use crate::matrix::MatrixView;
use crate::module_source::ModuleSource;
use cuda_std::global::GlobalMut;
use half::{bf16, f16};
use tilewright_kernels::reduce::{self, Reduction, Sum, lines};
use tilewright_kernels::{
    for_each_line_reduction, for_each_pair_line_reduction, for_each_pair_reduction,
    for_each_pair_segment_reduction, for_each_reduction, for_each_segment_reduction, for_each_sum,
};

/// An element type that the operation `R`, one of [`ops`](crate::ops), can reduce.
///
/// | operations | elements | value |
/// |---|---|---|
/// | `Sum`, `Product` | all | f32 for f32, f16 and bf16; f64 for f64; i64 or u64 for integers |
/// | `Mean` | all | f32 for f32, f16 and bf16; f64 for all others |
/// | `Min`, `Max` | all | an element |
/// | `MinMax` | all | an array of two elements |
/// | `ArgMin`, `ArgMax` | all | u64 |
/// | `SumOfSquares`, `Norm1`, `Norm2`, `Variance` | floats | f32 for f32, f16 and bf16; f64 for f64 |
/// | `NormInf` | floats | an element |
/// | `Count`, `Any`, `All` | u8 | u64 for `Count`; a u8, 0 or 1, for `Any` and `All` |
///
/// "All" means f32, f64, f16, bf16, and integers of 8 to 64 bits; floats are the first four. `Product` is for floats
/// and integers of 32 and 64 bits.
#[diagnostic::on_unimplemented(
    message = "buffers of `{Self}` cannot be reduced by `{R}`",
    note = "`tilewright::ops` has the operations; masks of `Count`, `Any` and `All` are of u8, norms \
            and variances of floats, and all other operations of f32, f64, f16, bf16, and integers of \
            8 to 64 bits"
)]
pub trait Reducible<R>:
    Element + sealed::Reduce<R, Value = <Self as Reducible<R>>::Output>
{
    /// The type of the value.
    type Output: Element;
}

/// An element type that the operation `R` reduces in pairs: [`ops::Dot`](crate::ops::Dot).
///
/// The pairs come from two buffers of the same length, as a whole or segment by segment, or from two matrices of the
/// same shape, row by row or column by column. The types are f32, f64, f16, bf16, i32, u32, i64 and u64.
#[diagnostic::on_unimplemented(
    message = "two buffers or matrices of `{Self}` cannot be reduced by `{R}`",
    note = "dot products are of f32, f64, f16, bf16, i32, u32, i64 and u64"
)]
pub trait ReduciblePairs<R>:
    Element
    + sealed::Reduce<R, 2, Value = <Self as ReduciblePairs<R>>::Output>
    + sealed::ReduceLines<R, 2>
    + sealed::ReduceSegments<R, 2>
{
    /// The type of a value.
    type Output: Element;
}

/// An element type for which the operation `R` can reduce the rows or columns of a matrix.
///
/// The operations and elements are those of [`Reducible`].
#[diagnostic::on_unimplemented(
    message = "the rows and columns of matrices of `{Self}` cannot be reduced by `{R}`",
    note = "they can by every operation that reduces buffers of the type: masks of `Count`, `Any` and \
            `All` are of u8, norms and variances of floats, and all others of f32, f64, f16, bf16, i32, \
            u32, i64 and u64; dot products of rows and columns are `reduce_dot_rows` and \
            `reduce_dot_columns`"
)]
pub trait ReducibleLines<R>: Reducible<R> + sealed::ReduceLines<R> {}

/// An element type for which the operation `R` can reduce segments.
///
/// The operations and elements are those of [`Reducible`].
#[diagnostic::on_unimplemented(
    message = "segments of buffers of `{Self}` cannot be reduced by `{R}`",
    note = "they can by every operation that reduces buffers of the type: masks of `Count`, `Any` and \
            `All` are of u8, norms and variances of floats, and all others of f32, f64, f16, bf16, i32, \
            u32, i64 and u64; dot products of segments are `reduce_dot_segments`"
)]
pub trait ReducibleSegments<R>: Reducible<R> + sealed::ReduceSegments<R> {}

/// A type whose buffers can be summed.
///
/// | elements | sum | arithmetic |
/// |---|---|---|
/// | f32 | f32 | rounded to nearest at each addition |
/// | f64 | f64 | rounded to nearest at each addition |
/// | f16, bf16 | f32 | converted exactly, then as for f32 |
/// | i8, i16, i32 | i64 | exact |
/// | u8, u16, u32 | u64 | exact |
/// | i64, u64 | i64, u64 | wrapping |
#[diagnostic::on_unimplemented(
    message = "buffers of `{Self}` cannot be summed",
    note = "sums are for f32, f64, f16, bf16, and integers of 8 to 64 bits"
)]
pub trait ReduceElement: Reducible<Sum, Output = Self::Sum> {
    /// The type of the sum.
    type Sum: Element + PartialEq;
}

/// Reductions of arrays `$x` by one kernel, or by a second one for arrays that are not aligned.
macro_rules! array_reduction {
    ($arrays:literal ($($x:ident),*) of $element:ident: $operation:ident of $item:ty, $kernel:ident) => {
        array_reduction! {
            $arrays ($($x),*) of $element: $operation of $item, $kernel,
            $kernel = <Self as sealed::Reduce<reduce::$operation, $arrays>>::MODULE
        }
    };
    ($arrays:literal ($($x:ident),*) of $element:ident: $operation:ident of $item:ty, $kernel:ident,
        $unaligned:ident = $unaligned_module:expr) => {
        impl sealed::Reduce<reduce::$operation, $arrays> for $element {
            type Accumulator = <reduce::$operation as Reduction<$item>>::Accumulator;
            type Value = <reduce::$operation as Reduction<$item>>::Output;
            const NEEDS_AN_ELEMENT: bool =
                <reduce::$operation as Reduction<$item>>::NEEDS_AN_ELEMENT;
            type Kernel = reduce::$kernel;
            const MODULE: &'static ModuleSource = module_of!($kernel);
            type Unaligned = reduce::$unaligned;
            const UNALIGNED_MODULE: &'static ModuleSource = $unaligned_module;

            #[inline]
            fn params<'a>(
                [$($x),*]: [BufferView<'a, Self>; $arrays],
                shared: Shared<'a, Self::Accumulator>,
                result: GlobalMut<'a, Self::Value>,
            ) -> Params<'a, Self::Kernel> {
                ($(global($x),)* shared.partials, shared.ticket, result)
            }

            #[inline]
            fn value_of(partials: &[Self::Accumulator], elements: usize) -> Self::Value {
                combine::value_of::<reduce::$operation, $item>(partials, elements)
            }

            fn with_place(
                partial: Self::Accumulator,
                place: impl Fn(usize) -> usize,
            ) -> Self::Accumulator {
                <reduce::$operation as Reduction<$item>>::with_place(partial, place)
            }
        }
    };
}

macro_rules! sums {
    ($($kernel:ident, $unaligned:ident: sum of $element:ident in $sum:ident;)*) => {$(
        array_reduction! {
            1 (x) of $element: Sum of $element, $kernel, $unaligned = module_of!($unaligned)
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
        array_reduction! { 1 (x) of $element: $operation of $element, $kernel }

        impl Reducible<reduce::$operation> for $element {
            type Output = <reduce::$operation as Reduction<Self>>::Output;
        }
    )*};
}
for_each_reduction!(reductions);

macro_rules! pair_reductions {
    ($($kernel:ident: $operation:ident of $element:ident;)*) => {$(
        array_reduction! { 2 (x, y) of $element: $operation of [$element; 2], $kernel }

        impl ReduciblePairs<reduce::$operation> for $element {
            type Output = <reduce::$operation as Reduction<[Self; 2]>>::Output;
        }
    )*};
}
for_each_pair_reduction!(pair_reductions);

/// Reductions of the rows or columns of matrices `$x`.
macro_rules! line_reduction {
    ($arrays:literal ($($x:ident $apart:ident),*) of $element:ident: $operation:ident, $along:ident,
        $across:ident) => {
        impl sealed::ReduceLines<reduce::$operation, $arrays> for $element {
            type Along = lines::$along;
            const ALONG_MODULE: &'static ModuleSource = module_of!($along);
            type Across = lines::$across;
            const ACROSS_MODULE: &'static ModuleSource = module_of!($across);

            #[inline]
            fn line_params<'a>(
                [$($x),*]: [MatrixView<'a, Self>; $arrays],
                shared: LineShared<'a, Self::Accumulator>,
                values: GlobalMut<'a, Self::Value>,
            ) -> Params<'a, Self::Along> {
                let [(count, len), ..] = [$($x.shape()),*];
                $(let $apart = $x.leading_dimension();)*
                // SAFETY: both kernels read nothing but the elements of the lines.
                $(let $x = unsafe { read_elements($x.into()) };)*
                let LineShared { shape, partials, tickets } = shared;
                ($($x,)* count, len, $($apart,)* shape, partials, tickets, values)
            }
        }
    };
}

macro_rules! line_reductions {
    ($($operation:ident of $element:ident: $along:ident at $along_blocks:literal blocks,
        $across:ident at $across_blocks:literal blocks;)*) => {$(
        line_reduction! { 1 (x apart) of $element: $operation, $along, $across }

        impl ReducibleLines<reduce::$operation> for $element {}
    )*};
}
for_each_line_reduction!(line_reductions);

macro_rules! pair_line_reductions {
    ($($operation:ident of $element:ident: $along:ident at $along_blocks:literal blocks,
        $across:ident at $across_blocks:literal blocks;)*) => {$(
        line_reduction! { 2 (x apart, y y_apart) of $element: $operation, $along, $across }
    )*};
}
for_each_pair_line_reduction!(pair_line_reductions);

/// Reductions of the segments of arrays `$x`.
macro_rules! segment_reduction {
    ($arrays:literal ($($x:ident),*) of $element:ident: $operation:ident, $kernel:ident) => {
        impl sealed::ReduceSegments<reduce::$operation, $arrays> for $element {
            type Segments = lines::$kernel;
            const SEGMENTS_MODULE: &'static ModuleSource = module_of!($kernel);

            #[inline]
            fn segment_params<'a>(
                [$($x),*]: [BufferView<'a, Self>; $arrays],
                shared: SegmentShared<'a, Self::Accumulator>,
                values: GlobalMut<'a, Self::Value>,
            ) -> Params<'a, Self::Segments> {
                let SegmentShared { offsets, parts, partials, tickets } = shared;
                ($(global($x),)* offsets, parts, partials, tickets, values)
            }
        }
    };
}

macro_rules! segment_reductions {
    ($($operation:ident of $element:ident: $kernel:ident at $blocks:literal blocks;)*) => {$(
        segment_reduction! { 1 (x) of $element: $operation, $kernel }

        impl ReducibleSegments<reduce::$operation> for $element {}
    )*};
}
for_each_segment_reduction!(segment_reductions);

macro_rules! pair_segment_reductions {
    ($($operation:ident of $element:ident: $kernel:ident at $blocks:literal blocks;)*) => {$(
        segment_reduction! { 2 (x, y) of $element: $operation, $kernel }
    )*};
}
for_each_pair_segment_reduction!(pair_segment_reductions);

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::sealed::Reduce;
    use super::*;

    /// Bytes of the PTX that a sum of elements `T` refers to. No other kernel's constants are included.
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
