//! The roles of a block's warpgroups: one copies, the others multiply.
//!
//! ```text
//! producer, one thread              consumers, 64 rows of the outputs each
//! wait for an empty stage           wait for a full stage
//! expect its bytes                  start its products
//! start its copies                  wait for the previous stage's products, and release it
//! ```
//!
//! The steps pass closures that copy and multiply. In a cluster, a stage is empty when the consumers of all blocks
//! have released it.

use crate::outputs::is_first_of_warpgroup;
use crate::{DEPTH, WARPGROUP_ROWS};
use cuda_std::cluster;
use cuda_std::mbarrier::{Consumer, Producer, Ring, Slot, Stage};
use cuda_std::prelude::*;
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, InFlight, Products, Registers};
use half::bf16;

/// Rows of outputs per block.
pub const ROWS: usize = 128;

/// The number of multiplying warpgroups.
pub const CONSUMERS: usize = ROWS / WARPGROUP_ROWS;

/// Threads of a block: one copying warpgroup, and the multiplying ones.
pub const THREADS: usize = 128 * (1 + CONSUMERS);

/// Size of a stage with `columns` columns of B, in bytes.
pub const fn stage_bytes(columns: usize) -> u32 {
    ((ROWS + columns) * DEPTH * size_of::<bf16>()) as u32
}

/// Size of a ring of such stages, with its barriers, in bytes.
pub const fn ring_bytes(stages: usize, columns: usize) -> u32 {
    stages as u32 * (stage_bytes(columns) + 16)
}

/// The role of a warpgroup.
#[derive(Clone, Copy)]
pub enum Role {
    /// Its first thread starts the copies.
    Producer,
    /// It multiplies.
    Consumer,
}

/// Initialises the ring in each of the cluster's `BLOCKS` blocks, and assigns roles to the warpgroups.
///
/// All threads call `begin` with their role. Then the first thread of the first warpgroup calls `produce`, and the
/// other warpgroups call `consume` with their number.
///
/// # Safety
/// 1. All threads of the cluster make the call, with [`THREADS`] threads per block and the ring at the same offset.
#[inline(always)]
pub unsafe fn divide<'a, const STAGES: usize, const BLOCKS: usize>(
    ring: Ring<'a, STAGES>,
    begin: impl Fn(Role),
    produce: impl FnOnce(Producer<'a, STAGES>),
    consume: impl FnOnce(Consumer<'a, STAGES>, u32),
) {
    if thread::rank_in_block() == 0 {
        // SAFETY: one thread calls it, once, and a barrier of all users of the ring follows. There are 1 producer and 2
        // or 4 consumers.
        unsafe { ring.init(1, (CONSUMERS * BLOCKS) as u32) };
    }
    if BLOCKS > 1 {
        cluster::sync();
    } else {
        thread::sync_threads();
    }
    if warpgroup::index() == 0 {
        begin(Role::Producer);
        if is_first_of_warpgroup() {
            produce(ring.producer());
        }
    } else {
        begin(Role::Consumer);
        consume(ring.consumer(), warpgroup::index() - 1);
    }
    if BLOCKS > 1 {
        // No block ends while another may still copy to it or arrive at its barriers.
        cluster::sync();
    }
}

/// Fills the stages of one tile of outputs. `fill` starts the copies to a slot, `bytes` bytes in
/// all, from an element along k.
///
/// # Safety
/// 1. The ring is initialised, and `fill` starts copies of `bytes` bytes, a stage in shared memory, which consumers
///    wait for.
#[inline(always)]
pub unsafe fn produce<const STAGES: usize>(
    ring: &mut Producer<'_, STAGES>,
    bytes: u32,
    rounds: u32,
    fill: impl Fn(&Slot<'_>, u32),
) {
    let mut round = 0;
    while round < rounds {
        // SAFETY: the ring is initialised: the caller's contract.
        let slot = unsafe { ring.acquire() };
        // SAFETY: the ring is initialised, and a stage in shared memory has fewer than 2^20 bytes: the caller's
        // contract.
        unsafe { slot.expect(bytes) };
        fill(&slot, round * DEPTH as u32);
        round += 1;
    }
}

/// Multiplies the stages of one tile of outputs. `start` starts the products of a stage. Each stage is released in
/// all `BLOCKS` blocks of the cluster.
///
/// # Safety
/// 1. The ring is initialised in each block of the cluster, at the same offset, and its producer fills all stages.
/// 2. All threads of the warpgroup make the call together, and no block of a cluster ends before all have returned.
#[inline(always)]
pub unsafe fn multiply<const COUNT: usize, const STAGES: usize, const BLOCKS: usize>(
    mut sums: InFlight<COUNT>,
    ring: &mut Consumer<'_, STAGES>,
    rounds: u32,
    start: impl Fn(&mut Products<COUNT>, usize),
) -> Accumulator<COUNT>
where
    [f32; COUNT]: Registers,
{
    let mut before = None;
    let mut round = 0;
    while round < rounds {
        // SAFETY: the ring is initialised: the caller's contract.
        let stage = unsafe { ring.wait() };
        let mut products = sums.begin();
        start(&mut products, stage.index());
        sums = products.commit();
        // This stage's products overlap with the wait for the next stage.
        sums.wait_all_but::<1>();
        if let Some(before) = &before {
            // SAFETY: the ring is initialised in all blocks, at the same offset, and none ends early: the caller's
            // contract. The previous stage's products are finished.
            unsafe { release::<STAGES, BLOCKS>(ring, before) };
        }
        before = Some(stage);
        round += 1;
    }
    let sums = sums.wait();
    if let (Some(last), true) = (&before, BLOCKS > 1) {
        // SAFETY: the ring is initialised in all blocks, at the same offset, and none ends early: the caller's
        // contract. All products are finished.
        unsafe { release::<STAGES, BLOCKS>(ring, last) };
    }
    sums
}

/// Releases a stage in all blocks of the cluster, with one arrival of the warpgroup in each.
///
/// # Safety
/// 1. The ring is initialised in each block of the cluster, at the same offset, and `stage` is one of its stages.
/// 2. The products that read the stage are finished, and the other blocks have not ended.
#[inline(always)]
unsafe fn release<const STAGES: usize, const BLOCKS: usize>(
    ring: &Consumer<'_, STAGES>,
    stage: &Stage,
) {
    let thread = warpgroup::thread_rank();
    if BLOCKS == 1 {
        if thread == 0 {
            // SAFETY: the ring is initialised, and the stage is one of its: the caller's contract.
            unsafe { ring.release(stage) };
        }
    } else if thread < BLOCKS as u32 {
        // SAFETY: the ring is initialised in all blocks, at the same offset, and they have not ended: the caller's
        // contract.
        unsafe { ring.release_in(stage, thread) };
    }
}

/// The first row of a consumer's outputs in the block.
#[inline(always)]
pub fn row_of(consumer: u32) -> usize {
    WARPGROUP_ROWS * consumer as usize
}
