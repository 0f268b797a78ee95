//! The kernels that scan lines, as a macro: the library's are of a table, those of other crates of
//! [`reductions!`](crate::reductions).
//!
//! Names begin with two underscores, as in `reduce/lines/macros.rs`.

/// The shared memory of a block that scans, with totals of a type, beside the elements of a tile.
#[doc(hidden)]
#[macro_export]
macro_rules! scan_memory {
    ($staged:ident, $accumulator:ty) => {
        $crate::scan::Shared {
            tile: $crate::cuda_std::shared_array![u32; 1],
            of_parts: $crate::cuda_std::shared_array![$accumulator; $crate::scan::PARTS],
            before: $crate::cuda_std::shared_array![$accumulator; $crate::scan::BEFORE],
            staged: $staged.as_slice(),
        }
    };
}

/// A kernel that scans the rows or columns of a matrix, the segments of a buffer, or a buffer as one line.
#[doc(hidden)]
#[macro_export]
macro_rules! row_scan_kernel {
    ([$(#[doc = $text:expr])*] $name:ident at $blocks:literal blocks: $operation:tt of $element:ty) => {
        $(#[doc = $text])*
        #[doc = concat!("The prefixes of lines of ", stringify!($element), " by `", stringify!($operation), "`.")]
        ///
        /// `initial` is the initial value, if `shape` has one. Lines are those of `shape`; or, if there are `offsets`,
        /// the segments of `x`: the start of each, and the end of the last. Then `tiles` has an element for each tile of
        /// each segment of more elements than `ScanPlan::most_of_warp`: the segment, the tile's number, and the first
        /// word of the segment's state.
        ///
        /// # Safety
        /// 1. The launch has blocks of 128 threads along x: as many as `ScanPlan::blocks` of lines, or one for each
        ///    element of `tiles` and one for each 64 segments. There is an element.
        /// 2. `x` and `y` start with the first element of the first line and have all elements of the lines. No lines
        ///    of `y` share elements. Offsets are ascending, and none is past the end of `x` or `y`.
        /// 3. `state` has the plan's words for each line, or for each segment in `tiles`, whose tiles are in order, and
        ///    then at least a cache line. They are 0, and no other launch uses them meanwhile. The launch does not
        ///    reset them.
        #[$crate::cuda_std::kernel(max_threads = 128, min_blocks = $blocks)]
        pub unsafe fn $name(
            __x: $crate::cuda_std::global::Global<$element>,
            __y: $crate::cuda_std::global::GlobalMut<
                <$operation as $crate::reduce::Reduction<$element>>::Output,
            >,
            __state: $crate::cuda_std::global::GlobalMut<u64>,
            __initial: [$element; 1],
            __shape: $crate::cuda_std::grid_constant::GridConstant<$crate::scan::ScanShape>,
            __offsets: $crate::cuda_std::global::Global<u64>,
            __tiles: $crate::cuda_std::global::Global<[u64; 3]>,
        ) {
            let __segments = $crate::scan::Segments { offsets: __offsets, tiles: __tiles };
            let __operands = $crate::scan::Operands { x: __x, y: __y, state: __state };
            let __staged = $crate::cuda_std::shared_array![
                $element; $crate::scan::ScanPlan::new(0, ::core::mem::size_of::<$element>()).tile
            ];
            let __shared = $crate::scan_memory!(
                __staged, <$operation as $crate::reduce::Reduction<$element>>::Accumulator);
            // SAFETY: the launch, the lines and the state: the caller's contract. Shared memory is declared here.
            unsafe {
                $crate::scan::scan_lines::<
                    $operation, $element,
                    $crate::outputs::Way<{ $crate::outputs::are_vector::<
                        $element, <$operation as $crate::reduce::Reduction<$element>>::Output,
                    >() }>,
                    { $crate::reduce::lanes_of::<$element>() },
                    { $crate::outputs::outputs_of::<
                        $element, <$operation as $crate::reduce::Reduction<$element>>::Output,
                    >() },
                >(__operands, __initial[0], (&__shape, __segments), __shared)
            }
        }
    };
}
