//! Custom reductions: kernels for operations that other crates define.

#[cfg(not(target_arch = "nvptx64"))]
use super::operation::Reduction;
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::global::{Global, GlobalMut};
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::kernel::Kernel;

/// Defines the kernels of custom operations, which [`Module`](https://docs.rs/tilewright/latest/tilewright/struct.Module.html)
/// launches safely.
///
/// | line | kernels | for |
/// |---|---|---|
/// | `kernel: Operation of element;` | one | `Module::reduce` |
/// | `kernel, other: Operation of rows of element;` | two: for contiguous lines, and for contiguous neighbours | `Module::reduce_rows` and `reduce_columns`, which take the first |
/// | `kernel: Operation of segments of element;` | one | `Module::reduce_segments` |
/// | `kernel: Operation of scans of element;` | one | `Module::scan_inclusive`, `scan_exclusive`, and both for rows, columns and segments |
///
/// The operation is a type that implements [`Reduction`](crate::reduce::Reduction), of the calling crate or of this one,
/// or a tuple of two to four of them, which reads the elements once: `(Sum, Max) of f32`. An element has 1, 2, 4, 8 or
/// 16 bytes. An accumulator is a number or an array of numbers, of at most 48 bytes, or 184 for rows and columns.
/// The tree is that of the library's own reductions of elements of the same size.
///
/// ```
/// use tilewright_kernels::reduce::Reduction;
///
/// /// The number of negative elements.
/// pub struct Negative;
///
/// impl Reduction<f32> for Negative {
///     type Accumulator = u64;
///     type Output = u64;
///     const IDENTITY: u64 = 0;
///
///     fn lift(element: f32, _index: usize) -> u64 {
///         u64::from(element < 0.0)
///     }
///
///     fn combine(left: u64, right: u64) -> u64 {
///         left + right
///     }
///
///     fn finish(total: u64, _elements: usize) -> u64 {
///         total
///     }
/// }
///
/// tilewright_kernels::reductions! {
///     /// Counts the negative elements.
///     count_negative: Negative of f32;
///     /// Counts the negative elements of each row or column.
///     count_negative_along, count_negative_across: Negative of rows of f32;
///     /// Counts the negative elements of each segment.
///     count_negative_segments: Negative of segments of f32;
/// }
/// # fn main() {}
/// ```
///
/// Larger accumulators do not compile:
///
/// ```compile_fail
/// # use tilewright_kernels::reduce::Reduction;
/// # pub struct Wide;
/// # impl Reduction<u64> for Wide {
/// #     type Accumulator = [u64; 24];
/// #     type Output = u64;
/// #     const IDENTITY: [u64; 24] = [0; 24];
/// #     fn lift(element: u64, _index: usize) -> [u64; 24] { [element; 24] }
/// #     fn combine(left: [u64; 24], _: [u64; 24]) -> [u64; 24] { left }
/// #     fn finish(total: [u64; 24], _elements: usize) -> u64 { total[0] }
/// # }
/// tilewright_kernels::reductions! {
///     along, across: Wide of rows of u64;
/// }
/// # fn main() { let _ = across; }
/// ```
///
/// A line can have documentation but no other attributes: put a `cfg` before the macro.
///
/// ```compile_fail
/// # use tilewright_kernels::reduce::Reduction;
/// # pub struct Last;
/// # impl Reduction<f32> for Last {
/// #     type Accumulator = f32;
/// #     type Output = f32;
/// #     const IDENTITY: f32 = 0.0;
/// #     fn lift(element: f32, _index: usize) -> f32 { element }
/// #     fn combine(_: f32, right: f32) -> f32 { right }
/// #     fn finish(total: f32, _elements: usize) -> f32 { total }
/// # }
/// tilewright_kernels::reductions! {
///     #[cfg(any())]
///     last: Last of f32;
/// }
///
/// /// Another kernel of that name, with more requirements than a reduction.
/// #[cuda_std::kernel]
/// pub unsafe fn last(
///     x: cuda_std::global::Global<f32>,
///     partials: cuda_std::global::GlobalMut<f32>,
///     ticket: cuda_std::global::GlobalMut<u32>,
///     result: cuda_std::global::GlobalMut<f32>,
/// ) {
///     let _ = (x, partials, ticket, result);
/// }
/// # fn main() {}
/// ```
///
/// The crate must depend on `tilewright-cuda-std`, and on `tilewright-kernels` without default features, which are
/// the library's own kernels.
#[macro_export]
macro_rules! reductions {
    () => {};
    ($(#[doc = $text:expr])* $along:ident, $across:ident: $operation:tt of rows of $element:ty; $($rest:tt)*) => {
        $crate::line_kernels! {
            [$(#[doc = $text])* #[doc = ""]] (__x __apart) of $element: $operation of $element,
            $crate::reduce::lines::OneArray::new(__x, __apart), $along at 3 blocks, $across at 2 blocks
        }

        // SAFETY: the kernels are those above, as for whole arrays.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::reduce::LineReductionKernel for $along {
            type Element = $element;
            type Operation = $operation;
            type Across = $across;
        }

        $crate::reductions! { $($rest)* }
    };
    ($(#[doc = $text:expr])* $name:ident: $operation:tt of scans of $element:ty; $($rest:tt)*) => {
        $crate::row_scan_kernel! { [$(#[doc = $text])* #[doc = ""]] $name at 5 blocks: $operation of $element }

        // SAFETY: the kernel is the one above, as for whole arrays.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::scan::ScanKernel for $name {
            type Element = $element;
            type Operation = $operation;
        }

        $crate::reductions! { $($rest)* }
    };
    ($(#[doc = $text:expr])* $name:ident: $operation:tt of segments of $element:ty; $($rest:tt)*) => {
        $crate::segment_kernel! {
            [$(#[doc = $text])* #[doc = ""]] (__x) of $element: $operation of $element,
            $crate::reduce::lines::OneArray::new(__x, 0), $name at 3 blocks
        }

        // SAFETY: the kernel is the one above, as for whole arrays.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::reduce::SegmentReductionKernel for $name {
            type Element = $element;
            type Operation = $operation;
        }

        $crate::reductions! { $($rest)* }
    };
    ($(#[doc = $text:expr])* $name:ident: $operation:tt of $element:ty; $($rest:tt)*) => {
        $(#[doc = $text])*
        ///
        /// `partials` holds the blocks' partial results, `ticket` one counter, `result` the value.
        ///
        /// # Safety
        /// 1. The launch has blocks of 256 threads along x, and at most as many blocks as `partials`
        ///    has elements.
        /// 2. `ticket` and `result` have an element each.
        /// 3. The ticket is 0 and no other launch uses `partials` and `ticket` meanwhile; the
        ///    launch leaves the ticket at 0.
        #[$crate::cuda_std::kernel(max_threads = 256)]
        pub unsafe fn $name(
            __x: $crate::cuda_std::global::Global<$element>,
            __partials: $crate::cuda_std::global::GlobalMut<
                <$operation as $crate::reduce::Reduction<$element>>::Accumulator,
            >,
            __ticket: $crate::cuda_std::global::GlobalMut<u32>,
            __result: $crate::cuda_std::global::GlobalMut<
                <$operation as $crate::reduce::Reduction<$element>>::Output,
            >,
        ) {
            let __scratch = $crate::cuda_std::shared_array![
                <$operation as $crate::reduce::Reduction<$element>>::Accumulator;
                $crate::cuda_std::block::MAX_WARPS
            ];
            let __flag = $crate::cuda_std::shared_array![u32; 1];
            // SAFETY: the block size, the lengths and the ticket: the caller's contract. Scratch and flag are
            // declared here. `lanes_of` elements are 16 bytes.
            unsafe {
                $crate::reduce::reduce_array::<$operation, $element, { $crate::reduce::lanes_of::<$element>() }>(
                    __x, __partials, __ticket, __result, __scratch, __flag);
            }
        }

        // SAFETY: the kernel is the one above. It has no attribute with which it could be absent, and another of its
        // name in its place.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::reduce::ReductionKernel for $name {
            type Element = $element;
            type Operation = $operation;
        }

        $crate::reductions! { $($rest)* }
    };
}

/// The number of elements in 16 bytes.
#[doc(hidden)]
#[must_use]
pub const fn lanes_of<T>() -> usize {
    assert!(
        matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16),
        "an element of a reduction must have 1, 2, 4, 8 or 16 bytes"
    );
    16 / size_of::<T>()
}

/// A kernel defined by [`reductions!`](crate::reductions).
///
/// # Safety
/// 1. The kernel calls [`reduce_array`](super::reduce_array), and has exactly the requirements that
///    [`reductions!`](crate::reductions) documents.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reduction",
    note = "`tilewright_kernels::reductions!` makes a kernel of an operation"
)]
pub unsafe trait ReductionKernel:
    for<'launch> Kernel<
    Params<'launch> = (
        Global<'launch, Self::Element>,
        GlobalMut<'launch, <Self::Operation as Reduction<Self::Element>>::Accumulator>,
        GlobalMut<'launch, u32>,
        GlobalMut<'launch, <Self::Operation as Reduction<Self::Element>>::Output>,
    ),
>
{
    /// The element type.
    type Element: cuda_std::Pod;

    /// The operation.
    type Operation: Reduction<Self::Element>;
}

// SAFETY: the function names a kernel that meets the requirement.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::do_not_recommend]
unsafe impl<F, K> ReductionKernel for F
where
    F: Fn() -> K + Copy + Send + Sync + 'static,
    K: ReductionKernel,
{
    type Element = K::Element;
    type Operation = K::Operation;
}

/// The parameters of kernels for rows or columns: elements, number and length of the rows, stride, grid, partial
/// results, tickets and values.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub type LineParams<'launch, T, R> = (
    Global<'launch, T>,
    usize,
    usize,
    usize,
    u32,
    GlobalMut<'launch, <R as Reduction<T>>::Accumulator>,
    GlobalMut<'launch, u32>,
    GlobalMut<'launch, <R as Reduction<T>>::Output>,
);

/// The first of two kernels that [`reductions!`](crate::reductions) defines for rows and columns.
///
/// # Safety
/// 1. The kernels have exactly the requirements that they document: this one for contiguous lines, `Across` for
///    contiguous neighbours.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not reduce rows",
    note = "`tilewright_kernels::reductions!` makes such kernels of an operation: `kernel, other: Operation of \
            rows of f32;`, of which the first is given"
)]
pub unsafe trait LineReductionKernel:
    for<'launch> Kernel<Params<'launch> = LineParams<'launch, Self::Element, Self::Operation>>
{
    /// The element type.
    type Element: cuda_std::Pod;

    /// The operation.
    type Operation: Reduction<Self::Element>;

    /// The kernel for contiguous neighbours.
    type Across: for<'launch> Kernel<
        Params<'launch> = LineParams<'launch, Self::Element, Self::Operation>,
    >;
}

// SAFETY: the function names a kernel that meets the requirement.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::do_not_recommend]
unsafe impl<F, K> LineReductionKernel for F
where
    F: Fn() -> K + Copy + Send + Sync + 'static,
    K: LineReductionKernel,
{
    type Element = K::Element;
    type Operation = K::Operation;
    type Across = K::Across;
}

/// A kernel for segments, defined by [`reductions!`](crate::reductions).
///
/// # Safety
/// 1. The kernel has exactly the requirements that it documents.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not reduce segments",
    note = "`tilewright_kernels::reductions!` makes such a kernel of an operation: `kernel: Operation of segments \
            of f32;`"
)]
pub unsafe trait SegmentReductionKernel:
    for<'launch> Kernel<
    Params<'launch> = (
        Global<'launch, Self::Element>,
        Global<'launch, u64>,
        Global<'launch, u64>,
        GlobalMut<'launch, <Self::Operation as Reduction<Self::Element>>::Accumulator>,
        GlobalMut<'launch, u32>,
        GlobalMut<'launch, <Self::Operation as Reduction<Self::Element>>::Output>,
    ),
>
{
    /// The element type.
    type Element: cuda_std::Pod;

    /// The operation.
    type Operation: Reduction<Self::Element>;
}

// SAFETY: the function names a kernel that meets the requirement.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::do_not_recommend]
unsafe impl<F, K> SegmentReductionKernel for F
where
    F: Fn() -> K + Copy + Send + Sync + 'static,
    K: SegmentReductionKernel,
{
    type Element = K::Element;
    type Operation = K::Operation;
}
