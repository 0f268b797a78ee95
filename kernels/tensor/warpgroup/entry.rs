//! The entries of the products: their parameters, and how those become operands and outputs.

/// An entry whose main loop is [`MainLoop`](super::product::MainLoop), and its descriptor.
///
/// `bulk` entries write plain sums by bulk copies, `direct` ones all of them by elements, `converted` ones sums
/// of i32, which become f32 before. An operand is named by how its tiles come to shared memory, the rows of one
/// copy, and the layouts in memory that it takes.
macro_rules! product_entry {
    (bulk $name:ident: $element:ident to $output:ident in $sum:ident,
        $tile:ident [$rows:literal x $columns:literal, part = $part:literal, count = $count:literal,
            stages = $stages:literal, threads = $threads:literal, resident = $resident:literal,
            consumers = $consumers:literal], $($operands:tt)*) => {
        product_entry! {
            @entry $name: $element to $output in $sum, $tile [$rows x $columns, $part, $count, $stages,
                $threads, $resident], $($operands)*,
            /// 1. `a`, `b` and `c` are maps of the m x k, k x n and m x n matrices of `shape`, or of the
            ///    transposes of those that are column-major; a `b` of 8-bit elements is one of the
            ///    transposes. C is written through `c` where the epilogue is plain, and accessed through
            ///    `c_elements`, which has the matrices, otherwise; the launch accesses no other elements of
            ///    it.
            (c: GridConstant<TensorMapMut<$output, 64, 64, 3>>, c_elements: GlobalMut<$output>),
            (shape, epilogue) => BulkOutputs::<_, $columns, $consumers, { staging_len($consumers) }> {
                map: c,
                c: CMatrices::of_shape(c_elements, &shape),
                epilogue,
            }
        }
    };
    (direct $name:ident: $element:ident to $output:ident in $sum:ident, $($rest:tt)*) => {
        product_entry! { @direct of $sum, $name: $element to $output in $sum, $($rest)* }
    };
    (converted $name:ident: $element:ident to $output:ident in $sum:ident, $($rest:tt)*) => {
        product_entry! { @direct of i32, $name: $element to $output in $sum, $($rest)* }
    };
    (@direct of $added:ident, $name:ident: $element:ident to $output:ident in $sum:ident,
        $tile:ident [$rows:literal x $columns:literal, part = $part:literal, count = $count:literal,
            stages = $stages:literal, threads = $threads:literal, resident = $resident:literal,
            consumers = $consumers:literal], $($operands:tt)*) => {
        product_entry! {
            @entry $name: $element to $output in $sum, $tile [$rows x $columns, $part, $count, $stages,
                $threads, $resident], $($operands)*,
            /// 1. `a` and `b` are maps of the m x k and k x n matrices of `shape`, or of the transposes of
            ///    those that are column-major; a `b` of 8-bit elements is one of the transposes. `c` has the
            ///    m x n matrices, and the launch accesses no other elements of it.
            (c: GlobalMut<$output>),
            (shape, epilogue) => DirectOutputs::<_, $added, { staging_len($consumers) }>::new(
                CMatrices::of_shape(c, &shape), epilogue)
        }
    };
    (@entry $name:ident: $element:ident to $output:ident in $sum:ident,
        $tile:ident [$rows:literal x $columns:literal, $part:literal, $count:literal, $stages:literal,
            $threads:literal, $resident:literal],
        a = $a:ident [$a_rows:tt] $a_layout:ident, b = $b:ident [$b_rows:tt] $b_layout:ident,
        depth = $depth:literal, promoted = $promoted:literal,
        $(#[$safety:meta])* ($($c:ident: $c_type:ty),*),
        ($shape:ident, $epilogue:ident) => $outputs:expr) => {
        #[doc = concat!("C = A B, A and B in ", stringify!($element), ", C in ", stringify!($output), ".")]
        ///
        /// # Safety
        $(#[$safety])*
        #[doc = concat!("2. The grid has whole clusters along x, and blocks as [`", stringify!($tile), "`] says.")]
        #[allow(clippy::too_many_arguments)]
        #[kernel(arch = "sm_90a", max_threads = $threads, min_blocks = $resident, cluster = (2, 1, 1),
            dependent_launch)]
        pub unsafe fn $name(
            a: GridConstant<TensorMap<$element, $a_rows, $depth, 3>>,
            b: GridConstant<TensorMap<$element, $b_rows, $depth, 3>>,
            $($c: $c_type,)*
            $shape: GridConstant<TensorShape>,
            numbers: GridConstant<EpilogueNumbers<$sum>>,
            row_scale: Global<$sum>,
            column_scale: Global<$sum>,
            row_bias: Global<$sum>,
            column_bias: Global<$sum>,
        ) {
            let $epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            let outputs = $outputs;
            // SAFETY: (1) is (1) and (2). (2) It is all that they do.
            unsafe {
                MainLoop::<$element, _, _, $rows, $columns, $part, $count, $stages, $depth>::run::<_, $promoted>(
                    $a(a), $b(b), outputs, Work::new($shape, $tile));
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            type Element = $element;
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: $tile.block_tile(),
                a: OperandLayout::$a_layout,
                b: OperandLayout::$b_layout,
                b_row_alignment: size_of::<$element>(),
                dynamic_shared_bytes: $tile.shared_bytes,
            };
        }
    };
}
