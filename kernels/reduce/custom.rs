//! Kernels of operations that other crates define.

#[cfg(not(target_arch = "nvptx64"))]
use super::operation::Reduction;
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::global::{Global, GlobalMut};
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::kernel::Kernel;

/// Makes a kernel of each line, an operation on elements of a type, for
/// [`Module::reduce`](https://docs.rs/tilewright/latest/tilewright/struct.Module.html#method.reduce).
///
/// The operation is a type of the calling crate that implements [`Reduction`](crate::reduce::Reduction).
/// An element has 1, 2, 4, 8 or 16 bytes, and an accumulator, a number or an array of numbers, at most
/// 24. The tree is that of the library's own reductions of elements of the same size.
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
/// }
/// # fn main() {}
/// ```
///
/// A line has no attributes but its documentation: a `cfg` stands before the macro.
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
/// /// Another kernel in its place, which needs more of its launches than a reduction.
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
/// The crate depends on `tilewright-kernels` without its default features, which are the library's
/// kernels, and on `tilewright-cuda-std`.
#[macro_export]
macro_rules! reductions {
    ($($(#[doc = $text:expr])* $name:ident: $operation:ident of $element:ty;)*) => {$(
        $(#[doc = $text])*
        ///
        /// `partials` holds a block's partial result each, `ticket` one counter, `result` the value.
        ///
        /// # Safety
        /// 1. The launch has blocks of 256 threads along x, and at most as many blocks as `partials`
        ///    has elements.
        /// 2. `ticket` and `result` have an element each.
        /// 3. The ticket is 0 and no other launch uses `partials` and `ticket` meanwhile; the
        ///    launch leaves the ticket at 0.
        #[$crate::cuda_std::kernel(max_threads = 256)]
        pub unsafe fn $name(
            x: $crate::cuda_std::global::Global<$element>,
            partials: $crate::cuda_std::global::GlobalMut<
                <$operation as $crate::reduce::Reduction<$element>>::Accumulator,
            >,
            ticket: $crate::cuda_std::global::GlobalMut<u32>,
            result: $crate::cuda_std::global::GlobalMut<
                <$operation as $crate::reduce::Reduction<$element>>::Output,
            >,
        ) {
            const LANES: usize = $crate::reduce::lanes_of::<$element>();
            let scratch = $crate::cuda_std::shared_array![
                <$operation as $crate::reduce::Reduction<$element>>::Accumulator;
                $crate::cuda_std::block::MAX_WARPS
            ];
            let flag = $crate::cuda_std::shared_array![u32; 1];
            // SAFETY: (1), (2) and (3) are the launch's. (4) Both are declared here. (5) `lanes_of`.
            unsafe {
                $crate::reduce::reduce_array::<$operation, $element, LANES>(
                    x, partials, ticket, result, scratch, flag);
            }
        }

        // SAFETY: (1) the kernel is the one above: it has no attribute but documentation, with which it could be
        // absent and another of its name in its place.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::reduce::ReductionKernel for $name {
            type Element = $element;
            type Operation = $operation;
        }
    )*};
}

/// The elements in 16 bytes.
#[doc(hidden)]
#[must_use]
pub const fn lanes_of<T>() -> usize {
    assert!(
        matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16),
        "an element that is reduced has 1, 2, 4, 8 or 16 bytes"
    );
    16 / size_of::<T>()
}

/// A kernel that [`reductions!`](crate::reductions) has made.
///
/// # Safety
/// 1. The kernel is [`reduce_array`](super::reduce_array), and its requirements are those that
///    [`reductions!`](crate::reductions) writes.
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
    /// What is reduced.
    type Element: cuda_std::Pod;

    /// What reduces it.
    type Operation: Reduction<Self::Element>;
}

// SAFETY: (1) is that of the kernel that the function names.
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
