//! The entries of the products: their parameters, and how those become operands and outputs.

/// An entry whose main loop is [`MainLoop`](super::product::MainLoop), and its descriptor.
///
/// `bulk` entries write plain sums by bulk copies, `direct` ones all of them by elements, `converted` ones sums
/// of i32, which become f32 before. Those of `columns` have few of them, and results of either order. Blocks are pairs,
/// a cluster each, but for those of `single_bulk` and `single_direct`. An operand is named by how its tiles come to
/// shared memory, its map, and the layouts in memory that it takes.
macro_rules! product_entry {
    (bulk $($rest:tt)*) => {
        product_entry! { @bulk pair $($rest)* }
    };
    (single_bulk $($rest:tt)*) => {
        product_entry! { @bulk single $($rest)* }
    };
    (@bulk $blocks:ident $name:ident: $element:ident to $output:ident in $sum:ident, $tile:ident,
        $($operands:tt)*) => {
        product_entry! {
            @entry $blocks $name: $element to $output in $sum, $tile, $($operands)*,
            /// 1. `a`, `b` and `c` are maps of the m x k, k x n and m x n matrices of `shape`, or of the
            ///    transposes of those that are column-major; a `b` of 8-bit elements is one of the
            ///    transposes. C is written through `c` where the epilogue is plain, and accessed through
            ///    `c_elements`, which has the matrices, otherwise; the launch accesses no other elements of
            ///    it.
            (c: GridConstant<TensorMapMut<$output, 64, 64, 3>>, c_elements: GlobalMut<$output>),
            (shape, epilogue) => BulkOutputs::<_, { $tile.columns }, { $tile.consumers() },
                { staging_len($tile.consumers()) }> {
                map: c,
                c: CMatrices::of_shape(c_elements, &shape),
                epilogue,
            }
        }
    };
    (direct $name:ident: $element:ident to $output:ident in $sum:ident, $($rest:tt)*) => {
        product_entry! { @direct pair of $sum, $name: $element to $output in $sum, $($rest)* }
    };
    (single_direct $name:ident: $element:ident to $output:ident in $sum:ident, $($rest:tt)*) => {
        product_entry! { @direct single of $sum, $name: $element to $output in $sum, $($rest)* }
    };
    (converted $name:ident: $element:ident to $output:ident in $sum:ident, $($rest:tt)*) => {
        product_entry! { @direct pair of i32, $name: $element to $output in $sum, $($rest)* }
    };
    (@direct $blocks:ident of $added:ident, $name:ident: $element:ident to $output:ident in $sum:ident, $tile:ident,
        $($operands:tt)*) => {
        product_entry! {
            @elements $blocks $name: $element to $output in $sum, $tile, $($operands)*,
            (shape, epilogue, c) => DirectOutputs::<_, $added, { staging_len($tile.consumers()) }>::new(
                CMatrices::of_shape(c, &shape), epilogue)
        }
    };
    (columns of $added:ident $name:ident: $element:ident to $output:ident in $sum:ident, $tile:ident,
        $($operands:tt)*) => {
        product_entry! {
            @elements pair $name: $element to $output in $sum, $tile, $($operands)*,
            (shape, epilogue, c) => ColumnOutputs::<_, $added, { $tile.columns },
                { room_columns($tile.rows, $tile.columns) }, { rooms_len($tile.rows, $tile.columns) }>::new(c, shape, epilogue)
        }
    };
    (@elements $blocks:ident $name:ident: $element:ident to $output:ident in $sum:ident, $tile:ident,
        a = $a:ident $a_map:ident $a_layout:ident, b = $b:ident $b_map:ident $b_layout:ident,
        promoted = $promoted:tt, ($shape:ident, $epilogue:ident, $c:ident) => $outputs:expr) => {
        product_entry! {
            @entry $blocks $name: $element to $output in $sum, $tile, a = $a $a_map $a_layout, b = $b $b_map $b_layout,
            promoted = $promoted,
            /// 1. `a` and `b` are maps of the m x k and k x n matrices of `shape`, or of the transposes of
            ///    those that are column-major; a `b` of 8-bit elements is one of the transposes. `c` has the
            ///    m x n matrices, and the launch accesses no other elements of it.
            ($c: GlobalMut<$output>), ($shape, $epilogue) => $outputs
        }
    };
    (@entry pair $($rest:tt)*) => {
        product_entry! { @kernel "whole clusters" [cluster = (2, 1, 1), dependent_launch] pair $($rest)* }
    };
    (@entry single $($rest:tt)*) => {
        product_entry! { @kernel "a block for each tile" [dependent_launch] single $($rest)* }
    };
    (@run pair $main_loop:ty, $tile:ident, $promoted:tt, $arguments:tt) => {
        <$main_loop>::run::<_, $promoted, { $tile.producers }> $arguments
    };
    (@run single $main_loop:ty, $tile:ident, false, $arguments:tt) => {
        <$main_loop>::run_single $arguments
    };
    (@kernel $grid:literal [$($attributes:tt)*] $blocks:ident
        $name:ident: $element:ident to $output:ident in $sum:ident, $tile:ident,
        a = $a:ident $a_map:ident $a_layout:ident, b = $b:ident $b_map:ident $b_layout:ident,
        promoted = $promoted:tt, $(#[$safety:meta])* ($($c:ident: $c_type:ty),*),
        ($shape:ident, $epilogue:ident) => $outputs:expr) => {
        #[doc = concat!("C = A B, A and B in ", stringify!($element), ", C in ", stringify!($output), ".")]
        ///
        /// # Safety
        $(#[$safety])*
        #[doc = concat!("2. The grid has ", $grid, " along x, and blocks as [`", stringify!($tile), "`] says.")]
        #[allow(clippy::too_many_arguments)]
        #[kernel(arch = "sm_90a", max_threads = $tile.threads, min_blocks = $tile.resident,
            $($attributes)*)]
        pub unsafe fn $name(
            a: GridConstant<$a_map<$element, { $tile.rows }, { $tile.depth }>>,
            b: GridConstant<$b_map<$element, { $tile.part() }, { $tile.depth }>>,
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
            // SAFETY: (1) is (1) and (2). (2) It is all that they do. (3) They are the attribute's.
            unsafe {
                product_entry!(@run $blocks
                    MainLoop<$element, _, _, { $tile.rows }, { $tile.columns }, { $tile.part() }, { $tile.count() },
                        { $tile.stages }, { $tile.all_slices() }, { $tile.depth }>,
                    $tile, $promoted, ($a(a), $b(b), outputs, Work::new($shape, $tile)))
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            type Element = $element;
            const DESCRIPTOR: ProductDescriptor = $tile.descriptor(
                OperandLayout::$a_layout, OperandLayout::$b_layout, size_of::<$element>());
        }
    };
}
