//! The entries of the products: their parameters, and the operands and outputs made from them.

/// Entries whose main loop is [`MainLoop`](super::product::MainLoop), and their descriptors, from rows of
/// [`products!`](crate::products).
///
/// An operand is named by its type, its map, and the layout in memory that it accepts.
macro_rules! product_entries {
    ($($family:ident $name:ident {$method:ident $(($choice:path))? $tile:ident}
        {$element:ident in $added:ident to $output:ident in $sum:ident $written:ident} {$layouts:ident};)*) => {$(
        product_entries!(@$layouts $family $written
            [$name: $element in $added to $output in $sum, $tile]);
    )*};
    (@nn $family:ident $($entry:tt)*) => {
        product_entry!(@$family $($entry)* a = AlongK AlongKMap RowMajor, b = AcrossK AcrossKMap RowMajor);
    };
    (@nt $family:ident $($entry:tt)*) => {
        product_entry!(@$family $($entry)* a = AlongK AlongKMap RowMajor, b = AlongK AlongKMap ColumnMajor);
    };
    (@tn $family:ident $($entry:tt)*) => {
        product_entry!(@$family $($entry)* a = AcrossK AcrossKMap ColumnMajor, b = AcrossK AcrossKMap RowMajor);
    };
    (@tt $family:ident $($entry:tt)*) => {
        product_entry!(@$family $($entry)* a = AcrossK AcrossKMap ColumnMajor, b = AlongK AlongKMap ColumnMajor);
    };
    (@either $family:ident $($entry:tt)*) => {
        product_entry!(@$family $($entry)* a = AlongK AlongKMap Either, b = AlongK AlongKMap Either);
    };
}

/// An entry, by its family: the blocks of its grid, and where its outputs go.
///
/// `bulk` entries write plain sums by bulk copies; `direct` entries write all outputs by stores. Skinny products have
/// few columns, and results in either order. Two blocks form a cluster, except in the family `single`.
macro_rules! product_entry {
    (@wgmma $written:ident $($entry:tt)*) => {
        product_entry!(@$written ["whole clusters" [cluster = (2, 1, 1), dependent_launch] run] $($entry)*);
    };
    (@wgmma_bytes $($entry:tt)*) => {
        product_entry!(@wgmma $($entry)*);
    };
    (@skinny $written:ident $($entry:tt)*) => {
        product_entry!(@wgmma columns $($entry)*);
    };
    (@turned bulk $($entry:tt)*) => {
        product_entry!(@wgmma turned_bulk $($entry)*);
    };
    (@turned direct $($entry:tt)*) => {
        product_entry!(@wgmma columns $($entry)*);
    };
    (@single $written:ident $($entry:tt)*) => {
        product_entry!(@$written ["a block for each tile" [dependent_launch] run_single] $($entry)*);
    };
    (@scaled $written:ident [$name:ident: $element:ident in $added:ident to $output:ident in $sum:ident, $tile:ident]
        $($operands:tt)*) => {
        product_entry!(@$written ["whole clusters" [cluster = (2, 1, 1), dependent_launch] run_scaled
            [{ blocks_of($tile.columns) }, { stages_ahead($tile.columns) }] {
            "3. `counts` has a count for each matrix of the batch, or none. `scales` says where the scales of the \
             operands' blocks are in `a_scales` and `b_scales`. The launch writes none of them."
            counts: Global<u32>, a_scales: Global<f32>, b_scales: Global<f32>, scales: GridConstant<ScaleShape>
        } ($tile, (counts, a_scales, b_scales), scales)]
            [$name: $element in $added to $output in $sum, $tile] $($operands)*);
    };
    (@scaled_skinny bulk $($entry:tt)*) => {
        product_entry!(@scaled_skinny turned_bulk $($entry)*);
    };
    (@scaled_skinny direct $($entry:tt)*) => {
        product_entry!(@scaled_skinny columns $($entry)*);
    };
    (@scaled_skinny $written:ident
        [$name:ident: $element:ident in $added:ident to $output:ident in $sum:ident, $tile:ident] $($operands:tt)*) => {
        product_entry!(@$written ["whole clusters" [cluster = (2, 1, 1), dependent_launch] run_scaled_skinny
            [{ $tile.columns }, { factors_len($tile.columns, $tile.consumers()) }] {
            "3. `scales` says where the scales of the operands' blocks are: `a_scales` has those of `b`, for each of its \
             columns, and `b_scales` those of `a`. The launch writes none of them."
            a_scales: Global<f32>, b_scales: Global<f32>, scales: GridConstant<ScaleShape>
        } ((a_scales, b_scales), scales)]
            [$name: $element in $added to $output in $sum, $tile] $($operands)*);
    };
    (@counted $written:ident
        [$name:ident: $element:ident in $added:ident to $output:ident in $sum:ident, $tile:ident] $($operands:tt)*) => {
        product_entry!(@$written ["whole clusters" [cluster = (2, 1, 1), dependent_launch] run_counted {
            "3. `counts` has a count for each matrix of the batch. The launch does not write it."
            counts: Global<u32>
        } ($tile, counts)]
            [$name: $element in $added to $output in $sum, $tile] $($operands)*);
    };
    (@bulk $blocks:tt [$name:ident: $element:ident in $added:ident to $output:ident in $sum:ident, $tile:ident]
        $($operands:tt)*) => {
        product_entry! {
            @entry $blocks [$name: $element to $output in $sum, $tile] $($operands)*,
            /// 1. `a`, `b` and `c` are maps of live m x k, k x n and m x n matrices of `shape`; an operand that is
            ///    column-major, and a `b` of 8-bit elements, is mapped as its transpose. The launch writes neither
            ///    operand. With a plain epilogue it writes C through `c`; otherwise it accesses C through
            ///    `c_elements`, which has the same matrices. It accesses no other elements.
            (c: GridConstant<TensorMapMut<$output, 64, 64, 3>>, c_elements: GlobalMut<$output>),
            (shape, epilogue) => BulkOutputs::<_, { $tile.columns }, { $tile.consumers() },
                { staging_len($tile.consumers()) }> {
                map: c,
                c: CMatrices::of_shape(c_elements, &shape),
                epilogue,
            }
        }
    };
    (@turned_bulk $blocks:tt [$name:ident: $element:ident in $added:ident to $output:ident in $sum:ident, $tile:ident]
        $($operands:tt)*) => {
        product_entry! {
            @entry $blocks [$name: $element to $output in $sum, $tile] $($operands)*,
            /// 1. `a` and `b` are maps of live m x k and k x n matrices of `shape`, and `c` is a map of the transposes
            ///    of live m x n matrices; an operand that is column-major is mapped as its transpose. The launch
            ///    writes neither operand. With a plain epilogue it writes C through `c`; otherwise it accesses C
            ///    through `c_elements`, which has the same matrices. It accesses no other elements.
            (c: GridConstant<TensorMapMut<$output, { $tile.columns }, 64, 3>>, c_elements: GlobalMut<$output>),
            (shape, epilogue) => TurnedOutputs::<_, { $tile.columns }, { $tile.consumers() },
                { staging_columns($tile.rows, $tile.columns) }, { staging_elements($tile.rows, $tile.columns) }> {
                map: c,
                elements: ColumnOutputs::new(c_elements, shape, epilogue),
                epilogue,
            }
        }
    };
    (@direct $blocks:tt [$name:ident: $element:ident in $added:ident to $output:ident in $sum:ident, $tile:ident]
        $($operands:tt)*) => {
        product_entry! {
            @elements $blocks [$name: $element to $output in $sum, $tile] $($operands)*,
            (shape, epilogue, c) => DirectOutputs::<_, $added, { staging_len($tile.consumers()) }>::new(
                CMatrices::of_shape(c, &shape), epilogue)
        }
    };
    (@columns $blocks:tt [$name:ident: $element:ident in $added:ident to $output:ident in $sum:ident, $tile:ident]
        $($operands:tt)*) => {
        product_entry! {
            @elements $blocks [$name: $element to $output in $sum, $tile] $($operands)*,
            (shape, epilogue, c) => ColumnOutputs::<_, $added, { $tile.columns },
                { staging_columns($tile.rows, $tile.columns) }, { staging_elements($tile.rows, $tile.columns) }>::new(c, shape, epilogue)
        }
    };
    (@elements $blocks:tt [$name:ident: $element:ident to $output:ident in $sum:ident, $tile:ident]
        a = $a:ident $a_map:ident $a_layout:ident, b = $b:ident $b_map:ident $b_layout:ident,
        ($shape:ident, $epilogue:ident, $c:ident) => $outputs:expr) => {
        product_entry! {
            @entry $blocks [$name: $element to $output in $sum, $tile]
            a = $a $a_map $a_layout, b = $b $b_map $b_layout,
            /// 1. `a` and `b` are maps of live m x k and k x n matrices of `shape`; an operand that is
            ///    column-major, and a `b` of 8-bit elements, is mapped as its transpose. The launch writes neither
            ///    operand. `c` has the m x n matrices, and the launch accesses no other elements of it.
            ($c: GlobalMut<$output>), ($shape, $epilogue) => $outputs
        }
    };
    (@entry [$grid:literal [$($attributes:tt)*] $run:ident $([$($constants:tt)*])?
        $({$more:literal $($extra:ident: $extra_type:ty),*} ($($argument:expr),*))?]
        [$name:ident: $element:ident to $output:ident in $sum:ident, $tile:ident]
        a = $a:ident $a_map:ident $a_layout:ident, b = $b:ident $b_map:ident $b_layout:ident,
        $(#[$safety:meta])* ($($c:ident: $c_type:ty),*),
        ($shape:ident, $epilogue:ident) => $outputs:expr) => {
        #[doc = concat!("C = A B, A and B in ", stringify!($element), ", C in ", stringify!($output), ".")]
        ///
        /// # Safety
        $(#[$safety])*
        #[doc = concat!("2. The grid has ", $grid, " along x; threads and shared memory are those of [`", stringify!($tile), "`].")]
        $(#[doc = $more])?
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
            $($($extra: $extra_type,)*)?
        ) {
            let $epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            let outputs = $outputs;
            // SAFETY: the operands, the results and the blocks are those of the shape and the tile: the caller's
            // contract. All threads of the launch do nothing but this call. The attribute states the bounds.
            unsafe {
                MainLoop::<Pair<$element, _, _, { $tile.rows }, { $tile.columns }, { $tile.part() },
                    { $tile.all_slices() }, { $tile.depth }>, { $tile.count() }, { $tile.stages }>::$run::<
                    _, { $tile.producers } $(, $($constants)*)?>(
                        Pair::new($a(a), $b(b)), outputs, Work::new($shape, $tile) $(, $($argument),*)?)
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            const DESCRIPTOR: ProductDescriptor = $tile.descriptor(
                OperandLayout::$a_layout, OperandLayout::$b_layout, size_of::<$element>());
        }
    };
}
