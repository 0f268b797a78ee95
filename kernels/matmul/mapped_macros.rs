//! The macro that makes kernels of mapped products in other crates.
//!
//! Names begin with two underscores, as in `reduce/lines/macros.rs`.

/// The tile of the catalogue that a line of [`maps!`](crate::maps) names: a type for f32, otherwise a constant.
#[doc(hidden)]
#[macro_export]
macro_rules! mapped_tile {
    (f32 Large) => {
        $crate::matmul::LargeF32
    };
    (f32 Medium) => {
        $crate::matmul::MediumF32
    };
    (f32 Small) => {
        $crate::matmul::SmallF32
    };
    (f16 $tile:ident) => {
        $crate::mapped_tile!(@half $tile)
    };
    (bf16 $tile:ident) => {
        $crate::mapped_tile!(@half $tile)
    };
    (@half Large) => {
        $crate::matmul::NARROW_LARGE
    };
    (@half Small) => {
        $crate::matmul::NARROW_SMALL
    };
}

/// A kernel that maps a product, for [`maps!`](crate::maps).
#[doc(hidden)]
#[macro_export]
macro_rules! mapped_product {
    (f32 $docs:tt $name:ident: $operation:tt, $other:ty, $others:literal, $tile:ident) => {
        $crate::mapped_product! {
            @entry f32 $docs $name: $operation, $other, $others,
            [max_threads = 128, min_blocks = 3], "",
            (__a __b __shape __store) => {
                type __Tile = $crate::mapped_tile!(f32 $tile);
                use $crate::matmul::TileConfig as _;
                let __a_tile = $crate::cuda_std::shared_tile![
                    f32; __Tile::STAGES * __Tile::DEPTH, __Tile::ROWS;
                    pitch = $crate::matmul::mapped_pitch::<__Tile>(__Tile::ROWS)
                ];
                let __b_tile = $crate::cuda_std::shared_tile![
                    f32; __Tile::STAGES * __Tile::DEPTH, __Tile::COLUMNS;
                    pitch = $crate::matmul::mapped_pitch::<__Tile>(__Tile::COLUMNS)
                ];
                // SAFETY: the caller's contract. The tiles are declared here.
                unsafe {
                    $crate::matmul::map_product_in_tiles::<
                        $operation, $other, __Tile, _, _, $others, { __Tile::STAGES },
                    >([__a, __b], &__shape, __a_tile, __b_tile, __store)
                }
            },
            {
                use $crate::matmul::TileConfig as _;
                $crate::matmul::MappedDescriptor {
                    tile: <$crate::mapped_tile!(f32 $tile)>::BLOCK_TILE,
                    dynamic_shared_bytes: 0,
                    row_bytes: ::core::mem::size_of::<f32>(),
                    cluster: ::core::option::Option::None,
                }
            }
        }
    };
    ($element:ident $docs:tt $name:ident: $operation:tt, $other:ty, $others:literal, WarpgroupLarge) => {
        $crate::mapped_product! {
            @warpgroups $element $docs $name: $operation, $other, $others, HALF_LARGE 384 1
        }
    };
    ($element:ident $docs:tt $name:ident: $operation:tt, $other:ty, $others:literal, WarpgroupMedium) => {
        $crate::mapped_product! {
            @warpgroups $element $docs $name: $operation, $other, $others, HALF_MEDIUM 512 1
        }
    };
    ($element:ident $docs:tt $name:ident: $operation:tt, $other:ty, $others:literal, WarpgroupSmall) => {
        $crate::mapped_product! {
            @warpgroups $element $docs $name: $operation, $other, $others, HALF_SMALL 256 2
        }
    };
    ($element:ident $docs:tt $name:ident: $operation:tt, $other:ty, $others:literal, $tile:ident) => {
        $crate::mapped_product! {
            @entry $element $docs $name: $operation, $other, $others,
            [max_threads = 128, min_blocks = 2, arch = "sm_80"],
            " Rows (columns, if column-major) of `a` and `b` start at multiples of 16 bytes.",
            (__a __b __shape __store) => {
                const __TILE: $crate::matmul::MmaTile = $crate::mapped_tile!($element $tile);
                type __Half = $crate::matmul::elements::$element;
                let mut __shared = $crate::cuda_std::dynamic_shared_allotment!();
                let __staging = __shared.alternative().array::<f32, { __TILE.mapped_staging() }>();
                let __of_a = __shared.array::<__Half, { __TILE.mapped_elements::<__Half>(__TILE.rows()) }>();
                let __of_b = __shared.array::<__Half, { __TILE.mapped_elements::<__Half>(__TILE.columns()) }>();
                // SAFETY: the caller's contract. The stages are taken here, and the staging buffers lie there.
                unsafe {
                    $crate::matmul::map_product_by_warps::<
                        $operation, $other,
                        $crate::matmul::WarpTile<
                            __Half, { __TILE.down }, { __TILE.along }, { __TILE.warps }, { __TILE.warps_along },
                        >,
                        $others, { __TILE.rows() }, { __TILE.columns() }, { __TILE.threads() }, { __TILE.stages },
                        { __TILE.mapped_staging() },
                    >([__a, __b], &__shape, [__of_a.as_slice(), __of_b.as_slice()], __staging, __store)
                }
            },
            {
                const __TILE: $crate::matmul::MmaTile = $crate::mapped_tile!($element $tile);
                $crate::matmul::MappedDescriptor {
                    tile: __TILE.block_tile(),
                    dynamic_shared_bytes: __TILE.mapped_bytes::<$crate::matmul::elements::$element>(),
                    row_bytes: 16,
                    cluster: ::core::option::Option::None,
                }
            }
        }
    };
    (@warpgroups $element:ident $docs:tt $name:ident: $operation:tt, $other:ty, $others:literal,
        $tile:ident $threads:literal $resident:literal) => {
        $crate::mapped_product! {
            @kernel $element $docs $name: $operation, $other, $others,
            [arch = "sm_90a", max_threads = $threads, min_blocks = $resident, cluster = (2, 1, 1), dependent_launch],
            /// 1. `a` is a map of an m x k matrix of `tensor`, and `b` of the transpose of a k x n matrix, with boxes
            ///    of the tile's rows and of half of its columns. The grid has whole clusters along x; threads and
            ///    shared memory are those of the tile.
            (__shape __store
                __a: $crate::cuda_std::grid_constant::GridConstant<$crate::tensor::MappedMap<
                    $crate::matmul::elements::$element, { $crate::tensor::$tile.rows },
                >>,
                __b: $crate::cuda_std::grid_constant::GridConstant<$crate::tensor::MappedMap<
                    $crate::matmul::elements::$element, { $crate::tensor::$tile.part() },
                >>,
                __tensor: $crate::cuda_std::grid_constant::GridConstant<$crate::tensor::TensorShape>,
            ) => {
                const __TILE: $crate::tensor::ClusterTile = $crate::tensor::$tile;
                // SAFETY: the caller's contract. The attribute states the tile's bounds.
                unsafe {
                    $crate::tensor::map_product_by_warpgroups::<
                        $operation, $other, $crate::matmul::elements::$element, $others, { __TILE.rows },
                        { __TILE.columns }, { __TILE.part() }, { __TILE.count() }, { __TILE.stages },
                        { __TILE.mapped_staging() },
                    >(__a, __b, (__tensor, &__shape), __TILE, __store)
                }
            },
            [
                $crate::tensor::MappedMap<$crate::matmul::elements::$element, { $crate::tensor::$tile.rows }>,
                $crate::tensor::MappedMap<$crate::matmul::elements::$element, { $crate::tensor::$tile.part() }>,
            ],
            $crate::matmul::MappedDescriptor {
                tile: $crate::tensor::$tile.block_tile(),
                dynamic_shared_bytes: $crate::tensor::$tile.shared_bytes,
                row_bytes: 16,
                cluster: ::core::option::Option::Some($crate::tensor::$tile),
            },
            __arguments => [__arguments.maps.0, __arguments.maps.1, __arguments.tensor]
        }
    };
    (@entry $element:ident $docs:tt $name:ident: $operation:tt, $other:ty, $others:literal,
        $attributes:tt, $alignment:literal,
        ($a:ident $b:ident $shape:ident $store:ident) => { $($body:tt)* }, $descriptor:expr) => {
        $crate::mapped_product! {
            @kernel $element $docs $name: $operation, $other, $others, $attributes,
            /// 1. The launch has the threads along x and the dynamic shared memory of the kernel's descriptor, and a
            ///    block along x for each of its tiles in the m x n outputs of `shape`. `a` and `b` have the elements of
            ///    m x k and k x n matrices, as `shape` says.
            #[doc = $alignment]
            ($shape $store
                $a: $crate::cuda_std::global::Global<$crate::matmul::elements::$element>,
                $b: $crate::cuda_std::global::Global<$crate::matmul::elements::$element>,
            ) => { $($body)* },
            [$crate::matmul::NoMap, $crate::matmul::NoMap,],
            $descriptor,
            __arguments => [__arguments.lines[0], __arguments.lines[1]]
        }
    };
    (@kernel $element:ident [$($docs:tt)*] $name:ident: $operation:tt, $other:ty, $others:literal,
        [$($attributes:tt)*], $(#[$safety:meta])*
        ($shape:ident $store:ident $($operand:ident: $type:ty,)*) => { $($body:tt)* },
        [$a_map:ty, $b_map:ty,], $descriptor:expr,
        $arguments:ident => [$($argument:expr),*]) => {
        $($docs)*
        ///
        /// # Safety
        $(#[$safety])*
        /// 2. `c` has the m x n results, no two of which are one, and the launch accesses no other elements of it, and
        ///    writes no operand.
        /// 3. As many of `d` and `e` as the map has other matrices have the elements at the places of the results, by
        ///    the strides of `shape`.
        #[allow(clippy::too_many_arguments)]
        #[$crate::cuda_std::kernel($($attributes)*)]
        pub unsafe fn $name(
            $($operand: $type,)*
            __c: $crate::cuda_std::global::GlobalMut<
                <$operation as $crate::matmul::ProductMap<$other, $others>>::Output,
            >,
            __d: $crate::cuda_std::global::Global<$other>,
            __e: $crate::cuda_std::global::Global<$other>,
            $shape: $crate::cuda_std::grid_constant::GridConstant<$crate::matmul::MappedShape>,
            __parameters: $crate::cuda_std::grid_constant::GridConstant<
                <$operation as $crate::matmul::ProductMap<$other, $others>>::Parameters,
            >,
        ) {
            // SAFETY: the results and the other matrices: the caller's contract.
            let $store = unsafe {
                $crate::matmul::StoreMapped::<$operation, $other, $others>::new(__c, [__d, __e], $shape, __parameters)
            };
            $($body)*
        }

        // SAFETY: the kernel is the one above, and takes these parameters. Images that are too old for its architecture
        // have no kernel of its name.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::matmul::ProductMapKernel<$others> for $name {
            type Element = $crate::matmul::elements::$element;
            type Other = $other;
            type Operation = $operation;
            type Maps = ($a_map, $b_map);
            const DESCRIPTOR: $crate::matmul::MappedDescriptor = $descriptor;

            fn params<'launch>(
                $arguments: $crate::matmul::MappedArguments<'launch, Self, $others>,
            ) -> <Self as $crate::cuda_std::kernel::Kernel>::Params<'launch> {
                (
                    $($argument,)*
                    $arguments.c, $arguments.others[0], $arguments.others[1], $arguments.shape,
                    $arguments.parameters,
                )
            }
        }
    };
}
