//! Maps that other crates define: the macro, and what the host knows of their kernels.

#[cfg(not(target_arch = "nvptx64"))]
use super::{Map, MapShape};
#[cfg(not(target_arch = "nvptx64"))]
use crate::reduce::Reduction;
#[cfg(not(target_arch = "nvptx64"))]
use crate::rows::{MapRowsShape, RowMap, RowSteps, RowValue};
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::global::{Global, GlobalMut};
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::grid_constant::GridConstant;
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::kernel::Kernel;

/// Defines the kernels of custom maps, which [`Module`](https://docs.rs/tilewright/latest/tilewright/struct.Module.html)
/// launches safely.
///
/// | line | the operation is a | for |
/// |---|---|---|
/// | `kernel: Operation of [element; operands];` | [`Map`](crate::map::Map) | `Module::map`, `Module::map_buffers` |
/// | `kernel: Operation of rows of element;` | [`RowMap`](crate::rows::RowMap) | `Module::map_rows` |
/// | `kernel: First then Second of rows of element;` | two [`RowMap`](crate::rows::RowMap)s, the second of the results of the first, in f32 | `Module::map_rows` |
/// | `kernel: Operation of products of element with [other; others] in tile;` | [`ProductMap`](crate::matmul::ProductMap) | `Module::map_product` |
///
/// An element of the first has 1, 2, 4, 8 or 16 bytes. Rows and products are of f32, f16 or bf16. The tile of a product
/// is `Large`, `Medium` or `Small` for f32: 64 x 128, 64 x 64 or 32 x 64 results for each block. For f16 and bf16 it is
/// `Large` or `Small`: 128 x 128 or 64 x 64. Kernels for compute capability 9.0, of a row-major A and a column-major B,
/// have the tiles `WarpgroupLarge`, `WarpgroupMedium` and `WarpgroupSmall`: 128 x 256, 192 x 128 and 64 x 128.
///
/// ```
/// use tilewright_kernels::map::Map;
/// use tilewright_kernels::reduce::Reduction;
/// use tilewright_kernels::rows::RowMap;
///
/// /// x times the sigmoid of 2 y, clamped.
/// pub struct Gate;
///
/// impl Map<f32, 2> for Gate {
///     type Output = f32;
///
///     fn map([x, y]: [f32; 2], _index: usize) -> f32 {
///         (x * y).clamp(-1.0, 1.0)
///     }
/// }
///
/// /// The elements of a row, divided by the sum of their magnitudes.
/// pub struct Shares;
///
/// impl Reduction<f32> for Shares {
///     type Accumulator = f32;
///     type Output = f32;
///     const IDENTITY: f32 = 0.0;
///
///     fn lift(element: f32, _index: usize) -> f32 {
///         element.abs()
///     }
///
///     fn combine(left: f32, right: f32) -> f32 {
///         left + right
///     }
///
///     fn finish(total: f32, _elements: usize) -> f32 {
///         total
///     }
/// }
///
/// impl RowMap for Shares {
///     fn map(element: f32, sum: f32, _index: usize) -> f32 {
///         element / sum
///     }
/// }
///
/// tilewright_kernels::maps! {
///     /// Clamped products.
///     gate: Gate of [f32; 2];
///     /// Shares of each row.
///     shares: Shares of rows of f32;
/// }
/// # fn main() {}
/// ```
///
/// The crate must depend on `tilewright-cuda-std`, and on `tilewright-kernels` without default features, which are
/// the library's own kernels.
#[macro_export]
macro_rules! maps {
    () => {};
    (@rows [$(#[doc = $text:expr])*] $name:ident: $count:ident $first:ty, $last:ty; $element:ty) => {
        $(#[doc = $text])*
        ///
        /// The value of each row is written to `values`, unless it is empty.
        ///
        /// # Safety
        /// 1. The launch has the blocks of the `RowPlan` of a row, along x, and `shape` what follows from the plan.
        /// 2. `x` and `y` start with the first element of the first row and have all elements of `shape`'s rows. `x`
        ///    may be empty: then `y` has the elements, which the results replace. No rows of `y` share elements.
        /// 3. Dynamic shared memory has a vector for each thread of a block if rows are staged, and after it the
        ///    elements that the shape keeps, in whole vectors. Unless rows are staged, they start
        ///    at multiples of 16 bytes and consist of whole vectors.
        /// 4. `values` is empty, or has an element for each row.
        #[$crate::cuda_std::kernel(max_threads = 1024)]
        pub unsafe fn $name(
            __x: $crate::cuda_std::global::Global<$element>,
            __y: $crate::cuda_std::global::GlobalMut<$element>,
            __values: $crate::cuda_std::global::GlobalMut<<$last as $crate::reduce::Reduction<f32>>::Output>,
            __shape: $crate::cuda_std::grid_constant::GridConstant<$crate::rows::MapRowsShape>,
        ) {
            let __shared = $crate::cuda_std::dynamic_shared![$element];
            $crate::scratch_of_rows!(__scratch: $count $first, $last);
            // SAFETY: the caller's contract. Shared memory is declared here.
            unsafe {
                $crate::rows::map_rows::<$crate::steps_of_rows!($count $first, $last), $element, { $crate::reduce::lanes_of::<$element>() },
                    { $crate::rows::VALUES / $crate::reduce::lanes_of::<$element>() },
                    { $crate::rows::SECTION_VALUES / $crate::reduce::lanes_of::<$element>() },
                >((__x, __y), __values, &__shape, __shared, __scratch)
            }
        }

        // SAFETY: the kernel is the one above. It has no attribute with which it could be absent, and another of its
        // name in its place.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::map::RowMapKernel for $name {
            type Element = $element;
            type Operation = $last;
            const SCRATCH_BYTES: usize = $crate::map::scratch_bytes::<$crate::steps_of_rows!($count $first, $last)>();
        }
    };
    ($(#[doc = $text:expr])* $name:ident: $operation:tt of rows of $element:ty; $($rest:tt)*) => {
        $crate::maps! { @rows [$(#[doc = $text])*] $name: one $operation, $operation; $element }

        $crate::maps! { $($rest)* }
    };
    ($(#[doc = $text:expr])* $name:ident: $first:tt then $last:tt of rows of $element:ty; $($rest:tt)*) => {
        $crate::maps! { @rows [$(#[doc = $text])*] $name: two $first, $last; $element }

        $crate::maps! { $($rest)* }
    };
    ($(#[doc = $text:expr])* $name:ident: $operation:tt of products of $element:ident
        with [$other:ty; $others:literal] in $tile:ident; $($rest:tt)*) => {
        $crate::mapped_product! {
            $element [$(#[doc = $text])*] $name: $operation, $other, $others, $tile
        }

        $crate::maps! { $($rest)* }
    };
    ($(#[doc = $text:expr])* $name:ident: $operation:tt of [$element:ty; $operands:literal]; $($rest:tt)*) => {
        $(#[doc = $text])*
        ///
        /// # Safety
        /// 1. The launch has blocks of 256 threads along x, one for each 256 times `slots_of` of the operands vectors
        ///    of 16 bytes of all rows.
        /// 2. As many of the first operands as the map has have the elements of `shape`, and `y` has its results, no
        ///    two of which are one.
        /// 3. If `shape` has vectors, they are as it says.
        #[$crate::cuda_std::kernel(max_threads = 256)]
        pub unsafe fn $name(
            __a: $crate::cuda_std::global::Global<$element>,
            __b: $crate::cuda_std::global::Global<$element>,
            __c: $crate::cuda_std::global::Global<$element>,
            __d: $crate::cuda_std::global::Global<$element>,
            __y: $crate::cuda_std::global::GlobalMut<
                <$operation as $crate::map::Map<$element, $operands>>::Output,
            >,
            __shape: $crate::cuda_std::grid_constant::GridConstant<$crate::map::MapShape>,
        ) {
            // SAFETY: the caller's contract.
            unsafe {
                $crate::map::map_elements::<$operation, $element,
                    $crate::outputs::Way<{ $crate::outputs::are_vector::<
                        $element, <$operation as $crate::map::Map<$element, $operands>>::Output,
                    >() }>,
                    $operands,
                    { $crate::map::slots_of($operands) },
                    { $crate::reduce::lanes_of::<$element>() },
                    { $crate::outputs::outputs_of::<
                        $element, <$operation as $crate::map::Map<$element, $operands>>::Output,
                    >() },
                >([__a, __b, __c, __d], __y, &__shape)
            }
        }

        // SAFETY: the kernel is the one above. It has no attribute with which it could be absent, and another of its
        // name in its place.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::map::MapKernel<$operands> for $name {
            type Element = $element;
            type Operation = $operation;
        }

        $crate::maps! { $($rest)* }
    };
}

/// The steps of `one` row map, or of `two`.
#[doc(hidden)]
#[macro_export]
macro_rules! steps_of_rows {
    (one $first:ty, $last:ty) => { $last };
    (two $first:ty, $last:ty) => { $crate::rows::Then<$first, $last> };
}

/// The bytes of the accumulators of a block's warps.
///
/// # Panics
/// If those of one lane have more than 512 bytes: the rest of a block's shared memory is for rows.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
#[must_use]
pub const fn scratch_bytes<S: RowSteps>() -> usize {
    let last = size_of::<<S::Last as Reduction<f32>>::Accumulator>();
    let of_lane = match S::ARE_TWO {
        true => size_of::<<S::First as Reduction<f32>>::Accumulator>() + last,
        false => last,
    };
    assert!(
        of_lane <= 512,
        "the accumulators of row maps have at most 512 bytes, those of two maps together"
    );
    cuda_std::block::MAX_WARPS * of_lane
}

/// Declares shared memory for the values of warps: of `one` row map, or of each of `two`.
#[doc(hidden)]
#[macro_export]
macro_rules! scratch_of_rows {
    ($scratch:ident: one $first:ty, $last:ty) => {
        let __last = $crate::scratch_of_rows!($last);
        let $scratch = (__last, __last);
    };
    ($scratch:ident: two $first:ty, $last:ty) => {
        let __first = $crate::scratch_of_rows!($first);
        let __last = $crate::scratch_of_rows!($last);
        let $scratch = (__first, __last);
    };
    ($operation:ty) => {
        $crate::cuda_std::shared_array![
            <$operation as $crate::reduce::Reduction<f32>>::Accumulator; $crate::cuda_std::block::MAX_WARPS
        ]
    };
}

/// The parameters of kernels that map elements `T` to `O`.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub type MapParams<'launch, T, O> = (
    Global<'launch, T>,
    Global<'launch, T>,
    Global<'launch, T>,
    Global<'launch, T>,
    GlobalMut<'launch, O>,
    GridConstant<'launch, MapShape>,
);

/// A kernel that maps elements of `OPERANDS` matrices, defined by [`maps!`](crate::maps).
///
/// # Safety
/// 1. The kernel has exactly the requirements that it documents.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a map of {OPERANDS} operands",
    note = "`tilewright_kernels::maps!` makes such a kernel of an operation: `kernel: Operation of [f32; {OPERANDS}];`"
)]
pub unsafe trait MapKernel<const OPERANDS: usize>:
    for<'launch> Kernel<
    Params<'launch> = MapParams<
        'launch,
        Self::Element,
        <Self::Operation as Map<Self::Element, OPERANDS>>::Output,
    >,
>
{
    /// The element type.
    type Element: cuda_std::Pod;

    /// The operation.
    type Operation: Map<Self::Element, OPERANDS>;
}

// SAFETY: the function names a kernel that meets the requirement.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::do_not_recommend]
unsafe impl<F, K, const OPERANDS: usize> MapKernel<OPERANDS> for F
where
    F: Fn() -> K + Copy + Send + Sync + 'static,
    K: MapKernel<OPERANDS>,
{
    type Element = K::Element;
    type Operation = K::Operation;
}

/// The parameters of kernels that map rows of `T`, with values `O`.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub type RowMapParams<'launch, T, O> = (
    Global<'launch, T>,
    GlobalMut<'launch, T>,
    GlobalMut<'launch, O>,
    GridConstant<'launch, MapRowsShape>,
);

/// A kernel that maps rows, defined by [`maps!`](crate::maps).
///
/// # Safety
/// 1. The kernel has exactly the requirements that it documents.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not map rows",
    note = "`tilewright_kernels::maps!` makes such a kernel of an operation: `kernel: Operation of rows of f32;`"
)]
pub unsafe trait RowMapKernel:
    for<'launch> Kernel<
    Params<'launch> = RowMapParams<'launch, Self::Element, RowValue<Self::Operation>>,
>
{
    /// The element type: f32, f16 or bf16.
    type Element: crate::rows::RowElement;

    /// The operation.
    type Operation: RowMap;

    #[doc(hidden)]
    const SCRATCH_BYTES: usize;
}

// SAFETY: the function names a kernel that meets the requirement.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::do_not_recommend]
unsafe impl<F, K> RowMapKernel for F
where
    F: Fn() -> K + Copy + Send + Sync + 'static,
    K: RowMapKernel,
{
    type Element = K::Element;
    type Operation = K::Operation;
    const SCRATCH_BYTES: usize = K::SCRATCH_BYTES;
}
