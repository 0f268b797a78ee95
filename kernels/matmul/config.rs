//! The sizes of the coarsened kernels' tiles.

use super::accumulators::{Accumulators, AddProducts};
use super::descriptor::BlockTile;
use super::loader::TileLoader;
use super::register_tile::RegisterTile;

/// The sizes of one kernel's tiles.
pub trait TileConfig {
    /// The outputs of a thread.
    type Accumulators: AddProducts;

    /// The k of one tile.
    const DEPTH: usize;

    /// Tiles of each operand in shared memory: one is read while the others are filled. With few blocks on a
    /// multiprocessor, two stages leave it waiting for memory.
    const STAGES: usize;

    /// Rows of C that a block computes.
    const ROWS: usize = Self::Accumulators::BLOCK_ROWS;

    /// Columns of C that a block computes.
    const COLUMNS: usize = Self::Accumulators::BLOCK_COLUMNS;

    /// Elements in 16 bytes.
    const VECTOR: usize = Self::Accumulators::VECTOR;

    /// Whether the kernel can skip blocks above the diagonal of a symmetric result. Oblong tiles have no registers
    /// left for it, so the host selects other kernels.
    const LEAVES_OUT: bool = Self::ROWS == Self::COLUMNS;

    /// Whether a block can multiply a part of K. The largest f64 tiles have no registers left for it, so the host
    /// selects other kernels.
    const DIVIDES_K: bool = Self::VECTOR > 2 || Self::LEAVES_OUT;

    /// Whether registers are left to hoist the addresses of a second operand out of the loop over K.
    const HOISTS: bool = Self::VECTOR > 2;

    /// The sizes that a launch depends on.
    const BLOCK_TILE: BlockTile = BlockTile {
        rows: Self::ROWS,
        columns: Self::COLUMNS,
        threads: Self::Accumulators::THREADS as u32,
    };
}

/// Elements from one row to the next of a tile with rows of `columns` elements that `L` fills.
pub const fn pitch<C: TileConfig, L: TileLoader>(columns: usize) -> usize {
    columns + L::PADDING_VECTORS * C::VECTOR
}

macro_rules! tile_configs {
    ($($(#[$doc:meta])* $config:ident: $accumulators:ty, depth = $depth:literal, stages = $stages:literal;)*) => {$(
        $(#[$doc])*
        pub struct $config;

        impl TileConfig for $config {
            type Accumulators = $accumulators;
            const DEPTH: usize = $depth;
            const STAGES: usize = $stages;
        }
    )*};
}
tile_configs! {
    /// f32, 64 x 128 outputs of a block of 128 threads.
    LargeF32: RegisterTile<f32, 8, 8, 4, 2, 2>, depth = 16, stages = 2;
    /// f32, 64 x 64 outputs of a block of 128 threads.
    MediumF32: RegisterTile<f32, 8, 4, 4, 2, 2>, depth = 16, stages = 3;
    /// f32, 32 x 64 outputs of a block of 128 threads, for results too small to fill the GPU with larger tiles.
    SmallF32: RegisterTile<f32, 4, 4, 4, 2, 2>, depth = 16, stages = 4;
    /// f32, 128 x 128 outputs of a block of 256 threads: a panel of rows and columns that are in or out of the split's
    /// range together.
    PanelF32: RegisterTile<f32, 8, 8, 4, 4, 2>, depth = 16, stages = 2;
    /// i8, four consecutive k in each i32, 128 x 128 outputs of a block.
    LargeI8: RegisterTile<i32, 8, 8, 4, 4, 2>, depth = 16, stages = 2;
    /// i8, four consecutive k in each i32, 64 x 64 outputs of a block.
    SmallI8: RegisterTile<i32, 4, 4, 4, 4, 2>, depth = 16, stages = 2;
    /// f64, 128 x 64 outputs of a block.
    LargeF64: RegisterTile<f64, 8, 4, 2, 4, 2>, depth = 8, stages = 2;
    /// f64, 64 x 64 outputs of a block.
    SmallF64: RegisterTile<f64, 4, 4, 2, 4, 2>, depth = 8, stages = 2;
}
