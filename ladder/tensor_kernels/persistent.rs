//! The last step: persistent blocks. A cluster stays and computes one tile after the other, so that the
//! copies for the next one are under way while the outputs of the last are written. The tiles come in
//! groups whose operands stay in the second-level cache.
//!
//! Prediction: no cluster begins with an empty ring any more but for the first time, and writing outputs
//! costs what putting them into shared memory costs.

use crate::operands::{Columns, Rows, Second};
use crate::outputs::{barrier_of, is_first_of_warpgroup, store_to_tile};
use crate::tiles::place;
use crate::{DEPTH, WARPGROUP_ROWS};
use cuda_std::cluster;
use cuda_std::mbarrier::{Consumer, Producer};
use cuda_std::prelude::*;
use cuda_std::shared::{SwizzledTile, SwizzledTiles};
use cuda_std::tma::{self, TensorMap, TensorMapMut};
use cuda_std::warpgroup;
use cuda_std::wgmma::{InFlight, M64N256};
use half::bf16;

/// Rows of the outputs of a block.
pub const ROWS: usize = 128;
/// Columns of the outputs of a block.
pub const COLUMNS: usize = 256;

/// Blocks of a cluster, one below the other.
pub const BLOCKS: usize = 2;

/// Columns of a stage of B that each block brings.
const PART: usize = COLUMNS / BLOCKS;

/// All blocks of a cluster.
const ALL: u16 = (1 << BLOCKS) - 1;

/// Stages of the ring.
pub const STAGES: usize = 3;

/// Warpgroups that multiply.
const CONSUMERS: usize = ROWS / WARPGROUP_ROWS;

/// Threads of a block: a warpgroup that copies, and those that multiply.
pub const THREADS: usize = 128 * (1 + CONSUMERS);

type ATile<'a> = SwizzledTile<'a, bf16, ROWS, DEPTH>;
type ATiles<'a> = SwizzledTiles<'a, bf16, ROWS, DEPTH, STAGES>;
type CTile<'a> = SwizzledTile<'a, bf16, WARPGROUP_ROWS, COLUMNS>;
type AMap<'a> = GridConstant<'a, TensorMap<bf16, ROWS, DEPTH>>;
type CMap<'a> = GridConstant<'a, TensorMapMut<bf16, WARPGROUP_ROWS, 64>>;
type BTiles<'a, B> = <B as Second<COLUMNS, PART>>::Tiles<'a, STAGES>;

/// Bytes of a stage.
const STAGE_BYTES: u32 = ATile::BYTES + (COLUMNS * DEPTH * size_of::<bf16>()) as u32;

/// Bytes of dynamic shared memory.
pub const SHARED_BYTES: u32 = STAGES as u32 * (STAGE_BYTES + 16) + CONSUMERS as u32 * CTile::BYTES;

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

/// Keeps the ring full, as one thread of each block.
///
/// # Safety
/// 1. The ring is initialised, in each block of the cluster, and its consumers wait for all stages.
/// 2. The launch writes neither operand.
#[inline(always)]
unsafe fn produce<B: Second<COLUMNS, PART>>(
    a: AMap<'_>,
    b: B,
    (a_tiles, b_tiles): (ATiles<'_>, BTiles<'_, B>),
    mut ring: Producer<'_, STAGES>,
    work: Work,
) {
    let first = PART * cluster::rank() as usize;
    let (mut number, step) = work.first();
    while number < work.count() {
        let (row, column) = work.origin(number);
        let mut round = 0;
        while round < work.rounds {
            let k = round * DEPTH as u32;
            // SAFETY: (1) of this function for the ring. For the copies: (1) is (2). (2), (3) The slot is
            // empty in both blocks, until consumers have waited for it. (4) They wait for all.
            unsafe {
                let slot = ring.acquire();
                slot.expect(STAGE_BYTES);
                a.load(a_tiles.get(slot.stage()), &slot, (row, k));
                let tile = B::tile(b_tiles, slot.stage());
                b.load(tile, &slot, (k, column), first, Some(ALL));
            }
            round += 1;
        }
        number += step;
    }
}

/// Multiplies the stages of one tile, and releases each of them in all blocks of the cluster.
///
/// # Safety
/// 1. The ring is initialised, in each block of the cluster, and its producer fills all stages.
/// 2. All threads of the warpgroup make the call.
#[inline(always)]
unsafe fn multiply<B: Second<COLUMNS, PART>>(
    mut sums: InFlight<128>,
    (a_tiles, b_tiles): (ATiles<'_>, BTiles<'_, B>),
    ring: &mut Consumer<'_, STAGES>,
    first: usize,
    rounds: u32,
) -> M64N256 {
    let thread = warpgroup::thread_rank();
    let mut before = None;
    let mut round = 0;
    while round < rounds {
        // SAFETY: (1) is (1). For the products: (1) the stage is full. (2) It is released when they are
        // finished. (3) is (2).
        unsafe {
            let stage = ring.wait();
            let mut products = sums.begin();
            products.multiply(
                a_tiles
                    .get(stage.index())
                    .rows::<WARPGROUP_ROWS>(first)
                    .k_major(),
                B::operand(B::tile(b_tiles, stage.index())),
            );
            sums = products.commit();
            sums.wait_all_but::<1>();
            if let (Some(before), true) = (&before, thread < BLOCKS as u32) {
                ring.release_in(before, thread);
            }
            before = Some(stage);
        }
        round += 1;
    }
    let sums = sums.wait();
    if let (Some(before), true) = (&before, thread < BLOCKS as u32) {
        // SAFETY: (1) is (1). (2) Blocks end behind a barrier of the cluster.
        unsafe { ring.release_in(before, thread) };
    }
    sums
}

/// The kernel of either order of B.
///
/// # Safety
/// 1. As for the kernels.
#[inline(always)]
unsafe fn product<B: Second<COLUMNS, PART>>(a: AMap<'_>, b: B, c: CMap<'_>, work: Work) {
    let mut shared = dynamic_shared_allotment!();
    let a_tiles = shared.tiles::<bf16, ROWS, DEPTH, STAGES>();
    let b_tiles = B::tiles::<STAGES>(&mut shared);
    let c_tiles = shared.tiles::<bf16, WARPGROUP_ROWS, COLUMNS, CONSUMERS>();
    let ring = shared.ring::<STAGES>();
    if thread::rank_in_block() == 0 {
        // SAFETY: (1) one thread, and the cluster's barrier follows.
        unsafe { ring.init(1, (CONSUMERS * BLOCKS) as u32) };
    }
    cluster::sync();

    let tiles = (a_tiles, b_tiles);
    if warpgroup::index() == 0 {
        warpgroup::decrease_registers::<40>();
        if is_first_of_warpgroup() {
            // SAFETY: (1) the ring is initialised. (2) (1) of the kernel.
            unsafe { produce(a, b, tiles, ring.producer(), work) };
        }
    } else {
        warpgroup::increase_registers::<232>();
        let consumer = warpgroup::index() - 1;
        let first = WARPGROUP_ROWS * consumer as usize;
        let c_tile = c_tiles.get(consumer as usize);
        let mut ring = ring.consumer();
        let mut sums = M64N256::zero();
        let (mut number, step) = work.first();
        while number < work.count() {
            let (row, column) = work.origin(number);
            // SAFETY: (1) the ring is initialised. (2) The whole warpgroup is here. For the tile: (1) the
            // copy that read it has been waited for, and a barrier passed. For the copy: (1) each
            // warpgroup has its outputs. (2) All of the warpgroup call the fence before its barrier.
            // (3) The next round waits.
            unsafe {
                sums = multiply::<B>(sums.overwrite(), tiles, &mut ring, first, work.rounds);
                if is_first_of_warpgroup() {
                    tma::wait_read::<0>();
                }
                thread::named_barrier_sync(barrier_of(consumer), warpgroup::THREADS);
                store_to_tile(&sums, c_tile);
                tma::fence();
                thread::named_barrier_sync(barrier_of(consumer), warpgroup::THREADS);
                if is_first_of_warpgroup() {
                    c.store(c_tile, (row + first as u32, column));
                    tma::commit();
                }
            }
            number += step;
        }
        if is_first_of_warpgroup() {
            tma::wait::<0>();
        }
    }
    // No block ends while the other one may still copy to it, or arrive at its barriers.
    cluster::sync();
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
