//! The sixth step: asynchronous stores. The outputs are put together in shared memory, and one bulk copy
//! for each 64 x 64 of them writes whole lines.
//!
//! Prediction: a thread's pairs of outputs are 4 bytes of lines that eight rows share, so that each
//! store instruction writes parts of 8 sectors; bulk copies write each line once. A block that computes
//! one tile still waits for them.

use crate::clusters::{PART, STAGE_BYTES, Stages};
use crate::large::move_registers;
use crate::operands::Columns;
use crate::outputs::{barrier_of, is_first_of_warpgroup, store_to_tile};
use crate::roles::{CONSUMERS, divide, multiply, produce, ring_bytes, row_of};
use crate::{DEPTH, WARPGROUP_ROWS};
use cuda_std::mbarrier::{Consumer, Producer};
use cuda_std::prelude::*;
use cuda_std::shared::SwizzledTile;
use cuda_std::tma::{self, TensorMap, TensorMapMut};
use cuda_std::warpgroup;
use cuda_std::wgmma::M64N256;
use half::bf16;

pub use crate::clusters::{BLOCKS, COLUMNS, ROWS, THREADS};

/// Stages of the ring: one fewer, for the outputs' sake.
pub const STAGES: usize = 3;

/// The outputs of a warpgroup.
pub type CTile<'a> = SwizzledTile<'a, bf16, WARPGROUP_ROWS, COLUMNS>;

/// A map of C.
pub type CMap<'a> = GridConstant<'a, TensorMapMut<bf16, WARPGROUP_ROWS, 64>>;

/// Bytes of dynamic shared memory.
pub const SHARED_BYTES: u32 = ring_bytes(STAGES, COLUMNS) + CONSUMERS as u32 * CTile::BYTES;

/// Puts a warpgroup's outputs together in its tile, and starts to copy them to `place`, as a group of its
/// first thread.
///
/// # Safety
/// 1. All threads of consumer number `number` make the call, and no other thread accesses the tile or
///    these outputs.
/// 2. No copy reads the tile, and none of the threads writes it before the group has been waited for.
#[inline(always)]
pub unsafe fn start_store(
    sums: &M64N256,
    tile: CTile<'_>,
    c: CMap<'_>,
    place: (u32, u32),
    number: u32,
) {
    // SAFETY: for the tile: (1) is (1) and (2). (2) is (1). For the copy: (1) is (1). (2) All of the
    // warpgroup call the fence before its barrier. (3) is (2).
    unsafe {
        store_to_tile(sums, tile);
        tma::fence();
        thread::named_barrier_sync(barrier_of(number), warpgroup::THREADS);
        if is_first_of_warpgroup() {
            c.store(tile, place);
            tma::commit();
        }
    }
}

/// One block for each 128 x 256 outputs.
///
/// # Safety
/// 1. `a` has rows of `depth` elements and `b` columns of as many; `c` has a row for each row of A, and a
///    column for each column of B.
/// 2. The grid is (rows / 128, columns / 256), rounded up, the first to an even number, with [`THREADS`]
///    and [`SHARED_BYTES`].
#[kernel(arch = "sm_90a", max_threads = 384, min_blocks = 1, cluster = (2, 1, 1))]
pub unsafe fn tensor_stores_nt(
    a: GridConstant<TensorMap<bf16, 128, 64>>,
    b: GridConstant<TensorMap<bf16, 128, 64>>,
    c: GridConstant<TensorMapMut<bf16, 64, 64>>,
    depth: u32,
) {
    let mut shared = dynamic_shared_allotment!();
    let stages = Stages::<Columns<'_, PART>, STAGES>::take(&mut shared);
    let c_tiles = shared.tiles::<bf16, WARPGROUP_ROWS, COLUMNS, CONSUMERS>();
    let ring = shared.ring::<STAGES>();

    let row = thread::block_idx_x() * ROWS as u32;
    let column = thread::block_idx_y() * COLUMNS as u32;
    let rounds = depth.div_ceil(DEPTH as u32);
    let producer = |mut ring: Producer<'_, STAGES>| {
        // SAFETY: (1) the ring is initialised, and `fill` copies the bytes. For the copies: (1) is (1) of
        // the kernel. (2) The slot was waited for. (3) They wait for all.
        unsafe {
            produce(&mut ring, STAGE_BYTES, rounds, |slot, k| {
                stages.fill((a, Columns(b)), slot, (row, column), k);
            });
        }
    };
    let consumer = |mut ring: Consumer<'_, STAGES>, number| {
        // SAFETY: (1) the whole warpgroup is here, and the bound of the loop in `multiply` is the launch's.
        let sums = unsafe { M64N256::zero().accumulate() };
        let tile = c_tiles.get(number as usize);
        let row = row + row_of(number) as u32;
        // SAFETY: (1) the ring is initialised. (2) The whole warpgroup is here, and blocks end together.
        // For the products: (1) the stage is full, and `multiply` releases it. (2) It waits for them. For
        // the store: (1) each warpgroup has its tile and its outputs. (2) Nothing is written any more.
        unsafe {
            let sums = multiply::<_, _, BLOCKS>(sums, &mut ring, rounds, |products, stage| {
                stages.multiply(products, stage, number);
            });
            start_store(&sums, tile, c, (row, column), number);
        }
        if is_first_of_warpgroup() {
            tma::wait::<0>();
        }
    };
    // SAFETY: (1) `divide` has all threads of the warpgroup here, once. (2) It is the attribute's.
    let begin = |role| unsafe { move_registers(role) };
    // SAFETY: (1) the whole cluster is here, and its blocks have the same pieces of shared memory.
    unsafe { divide::<_, BLOCKS>(ring, begin, producer, consumer) };
}
