//! The kernels that scan rows, as a macro: the library's are of a table, those of other crates of
//! [`reductions!`](crate::reductions).

/// The shared memory of a block that scans, with totals of a type, beside the elements of a tile.
#[doc(hidden)]
#[macro_export]
macro_rules! scan_memory {
    ($staged:ident, $accumulator:ty) => {
        $crate::scan::Shared {
            tile: $crate::cuda_std::shared_array![u32; 1],
            of_warps: $crate::cuda_std::shared_array![$accumulator; $crate::scan::WARPS],
            before: $crate::cuda_std::shared_array![$accumulator; $crate::scan::BEFORE],
            staged: $staged.as_slice(),
        }
    };
}

/// A kernel that scans the rows of a matrix, or a buffer as one row.
#[doc(hidden)]
#[macro_export]
macro_rules! row_scan_kernel {
    ([$(#[doc = $text:expr])*] $name:ident at $blocks:literal blocks: $operation:tt of $element:ty) => {
        $(#[doc = $text])*
        #[doc = concat!("The prefixes of rows of ", stringify!($element), " by `", stringify!($operation), "`.")]
        ///
        /// `initial` is the initial value, if `shape` has one.
        ///
        /// # Safety
        /// 1. The launch has blocks of 128 threads along x: one for each tile of each row, or for as many rows as the
        ///    `ScanPlan` of a row says. There is an element.
        /// 2. `x` and `y` start with the first element of the first row and have all elements of `shape`'s rows. No
        ///    rows of `y` share elements.
        /// 3. `state` has the plan's words for each row, all 0, and no other launch uses them meanwhile. The launch
        ///    does not reset them.
        #[$crate::cuda_std::kernel(max_threads = 128, min_blocks = $blocks)]
        pub unsafe fn $name(
            x: $crate::cuda_std::global::Global<$element>,
            y: $crate::cuda_std::global::GlobalMut<
                <$operation as $crate::reduce::Reduction<$element>>::Output,
            >,
            state: $crate::cuda_std::global::GlobalMut<u64>,
            initial: [$element; 1],
            shape: $crate::cuda_std::grid_constant::GridConstant<$crate::scan::ScanShape>,
        ) {
            let operands = $crate::scan::Operands { x, y, state };
            let staged = $crate::cuda_std::shared_array![
                $element; $crate::scan::ScanPlan::new(0, ::core::mem::size_of::<$element>()).tile
            ];
            let shared = $crate::scan_memory!(
                staged, <$operation as $crate::reduce::Reduction<$element>>::Accumulator);
            // SAFETY: the launch, the rows and the state: the caller's contract. Shared memory is declared here.
            unsafe {
                $crate::scan::scan_rows::<
                    $operation, $element,
                    $crate::outputs::Way<{ $crate::outputs::are_vector::<
                        $element, <$operation as $crate::reduce::Reduction<$element>>::Output,
                    >() }>,
                    { $crate::reduce::lanes_of::<$element>() },
                    { $crate::outputs::outputs_of::<
                        $element, <$operation as $crate::reduce::Reduction<$element>>::Output,
                    >() },
                >(operands, initial[0], &shape, shared)
            }
        }
    };
}
