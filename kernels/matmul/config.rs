//! The sizes of the coarsened kernels' tiles.

use super::accumulators::{Accumulators, AddProducts};
use super::block::{THREADS, THREADS_ALONG, THREADS_DOWN};
use super::descriptor::BlockTile;
use super::loader::TileLoader;
use super::register_tile::RegisterTile;

/// The sizes of one kernel's tiles.
pub trait TileConfig {
    /// The outputs of a thread.
    type Accumulators: AddProducts;

    /// The k of one tile.
    const DEPTH: usize;

    /// Rows of C that a block computes.
    const ROWS: usize = THREADS_DOWN * Self::Accumulators::ROWS;

    /// Columns of C that a block computes.
    const COLUMNS: usize = THREADS_ALONG * Self::Accumulators::COLUMNS;

    /// Elements of 16 bytes.
    const VECTOR: usize = Self::Accumulators::VECTOR;

    /// Whether blocks above the diagonal of a symmetric result compute nothing. The kernels of the one
    /// configuration that is not square have no registers for it: the host selects another.
    const LEAVES_OUT: bool = Self::ROWS == Self::COLUMNS;

    /// What the host must know of the sizes.
    #[cfg_attr(target_arch = "nvptx64", expect(dead_code, reason = "the host asks"))]
    const BLOCK_TILE: BlockTile = BlockTile {
        rows: Self::ROWS,
        columns: Self::COLUMNS,
        threads: THREADS as u32,
    };
}

/// Elements from one row of a tile of `columns` elements to the next, which `L` fills.
pub const fn pitch<C: TileConfig, L: TileLoader>(columns: usize) -> usize {
    columns + L::PADDING_VECTORS * C::VECTOR
}

macro_rules! tile_configs {
    ($($(#[$doc:meta])* $config:ident: $accumulators:ty, depth = $depth:literal;)*) => {$(
        $(#[$doc])*
        pub struct $config;

        impl TileConfig for $config {
            type Accumulators = $accumulators;
            const DEPTH: usize = $depth;
        }
    )*};
}
tile_configs! {
    /// f32, 128 x 128 outputs of a block.
    LargeF32: RegisterTile<f32, 8, 8, 4>, depth = 16;
    /// f32, 64 x 64 outputs of a block, for results that would not fill the GPU with larger ones.
    SmallF32: RegisterTile<f32, 4, 4, 4>, depth = 16;
    /// i8, four along k in each i32, 128 x 128 outputs of a block.
    LargeI8: RegisterTile<i32, 8, 8, 4>, depth = 16;
    /// i8, four along k in each i32, 64 x 64 outputs of a block.
    SmallI8: RegisterTile<i32, 4, 4, 4>, depth = 16;
    /// f64, 128 x 64 outputs of a block.
    LargeF64: RegisterTile<f64, 8, 4, 2>, depth = 8;
    /// f64, 64 x 64 outputs of a block.
    SmallF64: RegisterTile<f64, 4, 4, 2>, depth = 8;
}
