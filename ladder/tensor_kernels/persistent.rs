//! The last step: persistent blocks. A cluster stays and computes one tile after the other, so that the
//! copies for the next one are under way while the outputs of the last are written. The tiles come in
//! groups whose operands stay in the second-level cache.
//!
//! Prediction: no cluster begins with an empty ring any more but for the first time, and writing outputs
//! costs what putting them into shared memory costs.

use crate::clusters::{AMap, PART, STAGE_BYTES, Stages};
use crate::large::move_registers;
use crate::operands::{Columns, Rows, Second};
use crate::outputs::{barrier_of, is_first_of_warpgroup};
use crate::roles::{CONSUMERS, divide, multiply, produce, row_of};
use crate::stores::{CMap, STAGES, start_store};
use crate::tiles::place;
use crate::{DEPTH, WARPGROUP_ROWS};
use cuda_std::cluster;
use cuda_std::mbarrier::{Consumer, Producer};
use cuda_std::prelude::*;
use cuda_std::tma::{self, TensorMap, TensorMapMut};
use cuda_std::warpgroup;
use cuda_std::wgmma::M64N256;
use half::bf16;

pub use crate::stores::{BLOCKS, COLUMNS, ROWS, SHARED_BYTES, THREADS};

/// Which tiles of the outputs there are, and which of them the calling cluster computes.
#[derive(Clone, Copy)]
struct Work {
    /// Tiles of a cluster's height, and tiles side by side.
    tiles: (u32, u32),
    /// Stages of each tile.
    rounds: u32,
}

impl Work {
    #[inline(always)]
    fn new(rows: u32, columns: u32, depth: u32) -> Self {
        Self {
            tiles: (
                rows.div_ceil((ROWS * BLOCKS) as u32),
                columns.div_ceil(COLUMNS as u32),
            ),
            rounds: depth.div_ceil(DEPTH as u32),
        }
    }

    /// The first tile of the cluster, and how far apart its tiles are.
    #[inline(always)]
    fn first(self) -> (u32, u32) {
        let blocks = BLOCKS as u32;
        (
            thread::block_idx_x() / blocks,
            thread::grid_dim_x() / blocks,
        )
    }

    /// The number of tiles.
    #[inline(always)]
    fn count(self) -> u32 {
        self.tiles.0 * self.tiles.1
    }

    /// The row and the column at which the block's part of tile number `number` begins.
    #[inline(always)]
    fn origin(self, number: u32) -> (u32, u32) {
        let (row, column) = place(number, self.tiles.0, self.tiles.1);
        let row = row * BLOCKS as u32 + cluster::rank();
        (row * ROWS as u32, column * COLUMNS as u32)
    }
}

/// The kernel of either order of B.
///
/// # Safety
/// 1. As for the kernels.
#[inline(always)]
unsafe fn product<B: Second<COLUMNS, PART>>(a: AMap<'_>, b: B, c: CMap<'_>, work: Work) {
    let mut shared = dynamic_shared_allotment!();
    let stages = Stages::<B, STAGES>::take(&mut shared);
    let c_tiles = shared.tiles::<bf16, WARPGROUP_ROWS, COLUMNS, CONSUMERS>();
    let ring = shared.ring::<STAGES>();

    let producer = |mut ring: Producer<'_, STAGES>| {
        let (mut tile, step) = work.first();
        while tile < work.count() {
            let origin = work.origin(tile);
            // SAFETY: (1) the ring is initialised, and `fill` copies the bytes. For the copies: (1) is (1)
            // of the kernel. (2) The slot was waited for. (3) They wait for all.
            unsafe {
                produce(&mut ring, STAGE_BYTES, work.rounds, |slot, k| {
                    stages.fill((a, b), slot, origin, k);
                });
            }
            tile += step;
        }
    };
    let consumer = |mut ring: Consumer<'_, STAGES>, number| {
        let c_tile = c_tiles.get(number as usize);
        let mut sums = M64N256::zero();
        let (mut tile, step) = work.first();
        while tile < work.count() {
            let (row, column) = work.origin(tile);
            let row = row + row_of(number) as u32;
            // SAFETY: (1) the ring is initialised. (2) The whole warpgroup is here, and blocks end together. Of
            // `overwrite`, (1) is (2): the bounds of the loops are the launch's. For the products: (1) the stage is
            // full, and `multiply` releases it. (2) It waits for them. For the store: (1) each warpgroup has its tile
            // and its outputs. (2) The copy of the tile before has been waited for, and a barrier passed.
            unsafe {
                let start = sums.overwrite();
                sums =
                    multiply::<_, _, BLOCKS>(start, &mut ring, work.rounds, |products, stage| {
                        stages.multiply(products, stage, number);
                    });
                if is_first_of_warpgroup() {
                    tma::wait_read::<0>();
                }
                thread::named_barrier_sync(barrier_of(number), warpgroup::THREADS);
                start_store(&sums, c_tile, c, (row, column), number);
            }
            tile += step;
        }
        if is_first_of_warpgroup() {
            tma::wait::<0>();
        }
    };
    // SAFETY: (1) `divide` has all threads of the warpgroup here, once. (2) The attributes of both kernels state it.
    let begin = |role| unsafe { move_registers(role) };
    // SAFETY: (1) the whole cluster is here, and its blocks have the same pieces of shared memory.
    unsafe { divide::<_, BLOCKS>(ring, begin, producer, consumer) };
}

/// As many clusters of two blocks as there are, for outputs of any extent; `b` holds columns of B.
///
/// # Safety
/// 1. `a` has rows of `depth` elements and `b` columns of as many; `c` has `rows` rows, as A has, and
///    `columns` columns, as B has.
/// 2. The grid is one-dimensional, with [`THREADS`] and [`SHARED_BYTES`].
#[kernel(arch = "sm_90a", max_threads = 384, min_blocks = 1, cluster = (2, 1, 1))]
pub unsafe fn tensor_persistent_nt(
    a: GridConstant<TensorMap<bf16, 128, 64>>,
    b: GridConstant<TensorMap<bf16, 128, 64>>,
    c: GridConstant<TensorMapMut<bf16, 64, 64>>,
    rows: u32,
    columns: u32,
    depth: u32,
) {
    // SAFETY: (1) is (1) and (2).
    unsafe { product(a, Columns(b), c, Work::new(rows, columns, depth)) };
}

/// The same where `b` holds rows of B.
///
/// # Safety
/// 1. `a` has rows of `depth` elements; `b` has as many rows; `c` has `rows` rows, as A has, and
///    `columns` columns, as B has.
/// 2. The grid is one-dimensional, with [`THREADS`] and [`SHARED_BYTES`].
#[kernel(arch = "sm_90a", max_threads = 384, min_blocks = 1, cluster = (2, 1, 1))]
pub unsafe fn tensor_persistent_nn(
    a: GridConstant<TensorMap<bf16, 128, 64>>,
    b: GridConstant<TensorMap<bf16, 64, 64>>,
    c: GridConstant<TensorMapMut<bf16, 64, 64>>,
    rows: u32,
    columns: u32,
    depth: u32,
) {
    // SAFETY: (1) is (1) and (2).
    unsafe { product(a, Rows(b), c, Work::new(rows, columns, depth)) };
}
