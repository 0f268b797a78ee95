//! The sixth step: asynchronous stores. The outputs are collected in shared memory, and one bulk copy per 64 x 64
//! outputs writes whole cache lines.
//!
//! Prediction: a warp's store instruction writes parts of 8 sectors, since a thread's pair of outputs is 4 bytes, and
//! lanes cover eight rows. Bulk copies write each line once. A block that computes one tile still waits for them.

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

/// Stages of the ring: one fewer, to leave memory for the outputs.
pub const STAGES: usize = 3;

/// The outputs of a warpgroup.
pub type CTile<'a> = SwizzledTile<'a, bf16, WARPGROUP_ROWS, COLUMNS>;

/// A map of C.
pub type CMap<'a> = GridConstant<'a, TensorMapMut<bf16, WARPGROUP_ROWS, 64>>;

/// Dynamic shared memory in bytes.
pub const SHARED_BYTES: u32 = ring_bytes(STAGES, COLUMNS) + CONSUMERS as u32 * CTile::BYTES;

/// Collects a warpgroup's outputs in its tile, and starts to copy them to `place`, as a group of its first thread.
///
/// # Safety
/// 1. All threads of consumer number `number` make the call, and no other thread accesses the tile or
///    these outputs. C is live.
/// 2. No copy reads the tile, and none of the threads writes it before the group has been waited for.
#[inline(always)]
pub unsafe fn start_store(
    sums: &M64N256,
    tile: CTile<'_>,
    c: CMap<'_>,
    place: (u32, u32),
    number: u32,
) {
    // SAFETY: all threads make the call, C is live, and nothing else accesses the tile and the outputs until the group
    // has been waited for: the caller's contract. All threads call the fence before the warpgroup's barrier, which the
    // copy follows.
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

/// The kernel: one block for each 128 x 256 outputs.
///
/// # Safety
/// 1. `a` has rows of `depth` elements, and `b` columns of `depth` elements. `c` has A's rows and B's columns.
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
        // SAFETY: the ring is initialised, and `fill` copies the bytes of a stage. The launch does not write the
        // operands: the kernel's contract. `produce` waits for the slot and expects the bytes, and consumers wait for
        // every stage before the cluster ends.
        unsafe {
            produce(&mut ring, STAGE_BYTES, rounds, |slot, k| {
                stages.fill((a, Columns(b)), slot, (row, column), k);
            });
        }
    };
    let consumer = |mut ring: Consumer<'_, STAGES>, number| {
        // SAFETY: the whole warpgroup is here, with the same number of rounds in `multiply`.
        let sums = unsafe { M64N256::zero().accumulate() };
        let tile = c_tiles.get(number as usize);
        let row = row + row_of(number) as u32;
        // SAFETY: the ring is initialised in both blocks, at the same offset, the whole warpgroup is here, and blocks
        // end together. In the closure, the stage is full, and `multiply` waits for the products before it releases it.
        // For the store, each warpgroup has its own tile and outputs, and writes nothing afterwards.
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
    // SAFETY: `divide` calls it once, with all threads of the warpgroup. The attribute states the
    // threads and the single block.
    let begin = |role| unsafe { move_registers(role) };
    // SAFETY: all threads of the cluster are here, and its blocks lay out shared memory alike.
    unsafe { divide::<_, BLOCKS>(ring, begin, producer, consumer) };
}
