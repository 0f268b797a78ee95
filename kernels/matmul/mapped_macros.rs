//! The kernels of mapped products that other crates define: the macro, and what the host knows of them.

#[cfg(not(target_arch = "nvptx64"))]
use super::descriptor::BlockTile;
#[cfg(not(target_arch = "nvptx64"))]
use super::mapped::{MappedShape, ProductMap};
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::global::{Global, GlobalMut};
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::grid_constant::GridConstant;
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::kernel::Kernel;

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
            (a b shape store) => {
                type Tile = $crate::mapped_tile!(f32 $tile);
                use $crate::matmul::TileConfig as _;
                let a_tile = $crate::cuda_std::shared_tile![
                    f32; Tile::STAGES * Tile::DEPTH, Tile::ROWS;
                    pitch = $crate::matmul::mapped_pitch::<Tile>(Tile::ROWS)
                ];
                let b_tile = $crate::cuda_std::shared_tile![
                    f32; Tile::STAGES * Tile::DEPTH, Tile::COLUMNS;
                    pitch = $crate::matmul::mapped_pitch::<Tile>(Tile::COLUMNS)
                ];
                // SAFETY: the caller's contract. The tiles are declared here.
                unsafe {
                    $crate::matmul::map_product_in_tiles::<
                        $operation, $other, Tile, _, _, $others, { Tile::STAGES },
                    >([a, b], &shape, a_tile, b_tile, store)
                }
            },
            {
                use $crate::matmul::TileConfig as _;
                $crate::matmul::MappedDescriptor {
                    tile: <$crate::mapped_tile!(f32 $tile)>::BLOCK_TILE,
                    dynamic_shared_bytes: 0,
                    row_bytes: ::core::mem::size_of::<f32>(),
                }
            }
        }
    };
    ($element:ident $docs:tt $name:ident: $operation:tt, $other:ty, $others:literal, $tile:ident) => {
        $crate::mapped_product! {
            @entry $element $docs $name: $operation, $other, $others,
            [max_threads = 128, min_blocks = 2, arch = "sm_80"],
            " Rows (columns, if column-major) of `a` and `b` start at multiples of 16 bytes.",
            (a b shape store) => {
                const TILE: $crate::matmul::MmaTile = $crate::mapped_tile!($element $tile);
                type Half = $crate::matmul::elements::$element;
                let mut shared = $crate::cuda_std::dynamic_shared_allotment!();
                let staging = shared.alternative().array::<f32, { TILE.mapped_staging() }>();
                let of_a = shared.array::<Half, { TILE.mapped_elements::<Half>(TILE.rows()) }>();
                let of_b = shared.array::<Half, { TILE.mapped_elements::<Half>(TILE.columns()) }>();
                // SAFETY: the caller's contract. The stages are taken here, and the staging buffers lie there.
                unsafe {
                    $crate::matmul::map_product_by_warps::<
                        $operation, $other,
                        $crate::matmul::WarpTile<
                            Half, { TILE.down }, { TILE.along }, { TILE.warps }, { TILE.warps_along },
                        >,
                        $others, { TILE.rows() }, { TILE.columns() }, { TILE.threads() }, { TILE.stages },
                        { TILE.mapped_staging() },
                    >([a, b], &shape, [of_a.as_slice(), of_b.as_slice()], staging, store)
                }
            },
            {
                const TILE: $crate::matmul::MmaTile = $crate::mapped_tile!($element $tile);
                $crate::matmul::MappedDescriptor {
                    tile: TILE.block_tile(),
                    dynamic_shared_bytes: TILE.mapped_bytes::<$crate::matmul::elements::$element>(),
                    row_bytes: 16,
                }
            }
        }
    };
    (@entry $element:ident [$($docs:tt)*] $name:ident: $operation:tt, $other:ty, $others:literal,
        [$($attributes:tt)*], $alignment:literal,
        ($a:ident $b:ident $shape:ident $store:ident) => { $($body:tt)* }, $descriptor:block) => {
        $($docs)*
        ///
        /// # Safety
        /// 1. The launch has the threads along x and the dynamic shared memory of the kernel's descriptor, and a block
        ///    along x for each of its tiles in the m x n outputs of `shape`.
        #[doc = concat!("2. `a` and `b` have the elements of m x k and k x n matrices, as `shape` says.", $alignment)]
        /// 3. `c` has the m x n results, no two of which are one, and the launch accesses no other elements of it.
        /// 4. As many of `d` and `e` as the map has other matrices have the elements at the places of the results, by
        ///    the strides of `shape`.
        #[$crate::cuda_std::kernel($($attributes)*)]
        pub unsafe fn $name(
            $a: $crate::cuda_std::global::Global<$crate::matmul::elements::$element>,
            $b: $crate::cuda_std::global::Global<$crate::matmul::elements::$element>,
            c: $crate::cuda_std::global::GlobalMut<
                <$operation as $crate::matmul::ProductMap<$other, $others>>::Output,
            >,
            d: $crate::cuda_std::global::Global<$other>,
            e: $crate::cuda_std::global::Global<$other>,
            $shape: $crate::cuda_std::grid_constant::GridConstant<$crate::matmul::MappedShape>,
            parameters: $crate::cuda_std::grid_constant::GridConstant<
                <$operation as $crate::matmul::ProductMap<$other, $others>>::Parameters,
            >,
        ) {
            // SAFETY: the results and the other matrices: the caller's contract.
            let $store = unsafe {
                $crate::matmul::StoreMapped::<$operation, $other, $others>::new(c, [d, e], $shape, parameters)
            };
            $($body)*
        }

        // SAFETY: the kernel is the one above. On devices that are too old for its architecture, no other has its name.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::matmul::ProductMapKernel<$others> for $name {
            type Element = $crate::matmul::elements::$element;
            type Other = $other;
            type Operation = $operation;
            const DESCRIPTOR: $crate::matmul::MappedDescriptor = $descriptor;
        }
    };
}

/// What the host needs to launch the kernel of a mapped product.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedDescriptor {
    /// The part of C that a block computes.
    pub tile: BlockTile,
    /// Dynamic shared memory of a block, in bytes.
    pub dynamic_shared_bytes: usize,
    /// Rows (columns, if column-major) of A and B start at multiples of this number of bytes.
    pub row_bytes: usize,
}

/// The parameters of kernels that map products of `E`, with other matrices of `T`.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub type ProductMapParams<'launch, E, T, O, P> = (
    Global<'launch, E>,
    Global<'launch, E>,
    GlobalMut<'launch, O>,
    Global<'launch, T>,
    Global<'launch, T>,
    GridConstant<'launch, MappedShape>,
    GridConstant<'launch, P>,
);

/// A kernel that maps a product, with `OTHERS` other matrices, defined by [`maps!`](crate::maps).
///
/// # Safety
/// 1. The kernel has exactly the requirements that it documents, with the descriptor.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a map of products with {OTHERS} other matrices",
    note = "`tilewright_kernels::maps!` makes such a kernel of an operation: `kernel: Operation of products of f32 \
            with [f32; {OTHERS}] in Large;`"
)]
pub unsafe trait ProductMapKernel<const OTHERS: usize>:
    for<'launch> Kernel<
    Params<'launch> = ProductMapParams<
        'launch,
        Self::Element,
        Self::Other,
        <Self::Operation as ProductMap<Self::Other, OTHERS>>::Output,
        <Self::Operation as ProductMap<Self::Other, OTHERS>>::Parameters,
    >,
>
{
    /// The element type of A and B.
    type Element: cuda_std::Pod;

    /// The element type of the other matrices.
    type Other: cuda_std::Pod;

    /// The operation.
    type Operation: ProductMap<Self::Other, OTHERS>;

    /// The launch.
    const DESCRIPTOR: MappedDescriptor;
}

// SAFETY: the function names a kernel that meets the requirement.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::do_not_recommend]
unsafe impl<F, K, const OTHERS: usize> ProductMapKernel<OTHERS> for F
where
    F: Fn() -> K + Copy + Send + Sync + 'static,
    K: ProductMapKernel<OTHERS>,
{
    type Element = K::Element;
    type Other = K::Other;
    type Operation = K::Operation;
    const DESCRIPTOR: MappedDescriptor = K::DESCRIPTOR;
}
