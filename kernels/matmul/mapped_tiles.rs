//! The coarsened product of f32 with a function of its sums that another crate defines.

use super::accumulators::Accumulators;
use super::coarsened_loop::multiply;
use super::config::{TileConfig, pitch};
use super::direct_load::DirectLoadOfAnyAlignment;
use super::mapped::{MappedShape, ProductMap, StoreMapped};
use super::operand::Operands;
use super::tile::Tile;
use super::transposed_load::TransposedLoad;
use bytemuck::Pod;
use cuda_std::prelude::*;

/// Neighbours follow the outputs. No addresses are hoisted: a function of the sums needs registers of its own.
type Across = DirectLoadOfAnyAlignment<4, false>;

/// Neighbours follow k.
type Along = TransposedLoad<false>;

/// Threads of a block with any of the tiles.
#[doc(hidden)]
pub const MAPPED_TILE_THREADS: u32 = 128;

/// Elements from one row to the next of a tile with rows of `columns` elements, in either order of the operand.
#[doc(hidden)]
#[must_use]
pub const fn mapped_pitch<C: TileConfig>(columns: usize) -> usize {
    pitch::<C, Along>(columns)
}

/// The calling block's part of a product, whose sums `store` takes.
///
/// # Safety
/// 1. The launch has blocks of [`MAPPED_TILE_THREADS`] threads along x, one for each tile of `C` in the m x n outputs.
/// 2. `a` and `b` have the elements of m x k and k x n matrices, as `shape` says, and `store` takes its result.
/// 3. Only this block accesses the tiles, and only in this call.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn map_product_in_tiles<
    M: ProductMap<T, OTHERS>,
    T: Pod,
    C: TileConfig<Accumulators: Accumulators<Element = f32>>,
    S: Tile<Element = f32>,
    U: Tile<Element = f32>,
    const OTHERS: usize,
    const STAGES: usize,
>(
    [a, b]: [Global<'_, f32>; 2],
    shape: &MappedShape,
    a_tile: S,
    b_tile: U,
    store: StoreMapped<'_, M, T, OTHERS>,
) {
    const { assert!(C::BLOCK_TILE.threads == MAPPED_TILE_THREADS) };
    let &MappedShape { m, n, k, .. } = shape;
    let [lda, ldb] = shape.apart;
    let operands = Operands {
        a,
        b,
        m,
        n,
        k,
        lda,
        ldb,
    };
    let block = thread::block_idx_x();
    // SAFETY: the block, the grid, the matrices and the tiles: the caller's contract. A column-major A and a row-major
    // B lie across K, the others along it. Both loaders read rows of any alignment. All threads of a block take one
    // branch: the condition is the launch's.
    unsafe {
        match shape.is_column_major {
            [0, 0] => {
                multiply::<C, Along, Across, S, U, STAGES>(block, operands, a_tile, b_tile, store)
            }
            [0, _] => {
                multiply::<C, Along, Along, S, U, STAGES>(block, operands, a_tile, b_tile, store)
            }
            [_, 0] => {
                multiply::<C, Across, Across, S, U, STAGES>(block, operands, a_tile, b_tile, store)
            }
            _ => multiply::<C, Across, Along, S, U, STAGES>(block, operands, a_tile, b_tile, store),
        }
    }
}
