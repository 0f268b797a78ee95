//! The last step: persistent blocks. A cluster computes one tile after another, so copies for the next tile overlap
//! with writing the outputs of the previous one. Tiles are ordered in groups whose operands stay in L2.
//!
//! Prediction: the ring is empty only at a cluster's first tile, and writing outputs costs no more than storing them
//! in shared memory.

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

/// The tiles of the outputs, and the calling cluster's share.
#[derive(Clone, Copy)]
struct Work {
    /// Clusters' tiles, down and along.
    tiles: (u32, u32),
    /// Stages per tile.
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

    /// The number of the cluster's first tile, and the step to its next one.
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

    /// The first row and column of the block's part of tile number `number`.
    #[inline(always)]
    fn origin(self, number: u32) -> (u32, u32) {
        let (row, column) = place(number, self.tiles.0, self.tiles.1);
        let row = row * BLOCKS as u32 + cluster::rank();
        (row * ROWS as u32, column * COLUMNS as u32)
    }
}

/// The kernel, for either order of B.
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
            // SAFETY: the ring is initialised, and `fill` copies the bytes of a stage. The launch does not write the
            // operands: the kernel's contract. `produce` waits for the slot and expects the bytes, and consumers wait
            // for every stage before the cluster ends.
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
            // SAFETY: the ring is initialised in both blocks, at the same offset, the whole warpgroup is here with the
            // same number of rounds, and blocks end together. In the closure, the stage is full, and `multiply` waits
            // for the products before it releases it. For the store, each warpgroup has its own tile and outputs. The
            // previous tile's copy was waited for, and a barrier passed.
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
    // SAFETY: `divide` calls it once, with all threads of the warpgroup. The attributes of both kernels state the
    // threads and the single block.
    let begin = |role| unsafe { move_registers(role) };
    // SAFETY: all threads of the cluster are here, and its blocks lay out shared memory alike.
    unsafe { divide::<_, BLOCKS>(ring, begin, producer, consumer) };
}

/// The kernel for a column-major B: any number of clusters of two blocks, for outputs of any size.
///
/// # Safety
/// 1. `a` has `rows` rows of `depth` elements, and `b` has `columns` columns of `depth` elements. `c` has `rows` rows
///    and `columns` columns.
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
    // SAFETY: the caller's contract.
    unsafe { product(a, Columns(b), c, Work::new(rows, columns, depth)) };
}

/// The kernel for a row-major B.
///
/// # Safety
/// 1. `a` has `rows` rows of `depth` elements, and `b` has `depth` rows of `columns` elements. `c`
///    has `rows` rows and `columns` columns.
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
    // SAFETY: the caller's contract.
    unsafe { product(a, Rows(b), c, Work::new(rows, columns, depth)) };
}
