//! The fifth step: clusters. Two blocks, one below the other, need the same part of B. Each loads half of it, for
//! both.
//!
//! Prediction: a third fewer bytes come from L2. That helps to the extent that products wait for it.

use crate::large::move_registers;
use crate::operands::{Columns, Second, Tile};
use crate::outputs::store;
use crate::roles::{divide, multiply, produce, ring_bytes, row_of, stage_bytes};
use crate::{DEPTH, WARPGROUP_ROWS};
use cuda_std::cluster;
use cuda_std::mbarrier::{Consumer, Producer, Slot};
use cuda_std::prelude::*;
use cuda_std::shared::{Allotment, SwizzledTiles};
use cuda_std::tma::TensorMap;
use cuda_std::wgmma::{M64N256, Products};
use half::bf16;

pub use crate::large::{COLUMNS, ROWS, THREADS};

/// Blocks per cluster, one below the other.
pub const BLOCKS: usize = 2;

/// Columns of a stage of B that each block loads.
pub const PART: usize = COLUMNS / BLOCKS;

/// A bit for each block of a cluster.
const ALL: u16 = (1 << BLOCKS) - 1;

/// Stages of the ring.
pub const STAGES: usize = 4;

/// Bytes of a stage.
pub const STAGE_BYTES: u32 = stage_bytes(COLUMNS);

/// Dynamic shared memory in bytes.
pub const SHARED_BYTES: u32 = ring_bytes(STAGES, COLUMNS);

/// A map of A.
pub type AMap<'a> = GridConstant<'a, TensorMap<bf16, ROWS, DEPTH>>;

/// A tile of B.
type BTile<'a, B> = <B as Second<COLUMNS, PART>>::Tile<'a>;

/// The tiles of all stages.
pub struct Stages<'a, B: Second<COLUMNS, PART>, const COUNT: usize> {
    a: SwizzledTiles<'a, bf16, ROWS, DEPTH, COUNT>,
    b: <BTile<'a, B> as Tile<'a>>::Tiles<COUNT>,
}

impl<'a, B: Second<COLUMNS, PART>, const COUNT: usize> Stages<'a, B, COUNT> {
    /// Allocates their memory.
    #[inline(always)]
    pub fn take(shared: &mut Allotment<'a>) -> Self {
        Self {
            a: shared.tiles(),
            b: BTile::<'a, B>::take(shared),
        }
    }

    #[inline(always)]
    fn b(&self, stage: usize) -> BTile<'a, B> {
        BTile::<'a, B>::of_stage(self.b, stage)
    }

    /// Starts the calling block's copies to a slot: its tile of A, and its part of B for all blocks.
    ///
    /// # Safety
    /// 1. The launch writes neither operand.
    /// 2. The slot is empty in all blocks of the cluster, and expects [`STAGE_BYTES`].
    /// 3. Consumers wait for the stage before any block of the cluster ends.
    #[inline(always)]
    pub unsafe fn fill(
        &self,
        (a, b): (AMap<'_>, B),
        slot: &Slot<'_>,
        (row, column): (u32, u32),
        k: u32,
    ) {
        let first = PART * cluster::rank() as usize;
        // SAFETY: the launch does not write the operands, the slot is empty in both blocks, and consumers wait for
        // the stage before a block ends: the caller's contract. The stage's tiles are in range.
        unsafe {
            a.load(self.a.get(slot.stage()), slot, (row, k));
            b.load(self.b(slot.stage()), slot, (k, column), first, ALL);
        }
    }

    /// Starts the products of a stage, as the warpgroup of consumer number `number`.
    ///
    /// # Safety
    /// 1. The stage is full, and is released when the products are finished.
    /// 2. All threads of the warpgroup make the call together, and wait for the products.
    #[inline(always)]
    pub unsafe fn multiply(&self, products: &mut Products<128>, stage: usize, number: u32) {
        let rows = self.a.get(stage).rows::<WARPGROUP_ROWS>(row_of(number));
        // SAFETY: the stage is full until the products are finished, and all threads call it and wait: the caller's
        // contract. The tiles and the consumer's rows are in range.
        unsafe { products.multiply(rows.k_major(), B::operand(self.b(stage))) };
    }
}

/// The kernel: one block for each 128 x 256 outputs.
///
/// # Safety
/// 1. `a` has rows of `depth` elements, and `b` columns of `depth` elements. `c` has A's rows and B's columns, a
///    multiple of 8, and starts at a multiple of 16 bytes.
/// 2. The grid is (rows / 128, columns / 256), rounded up, the first to an even number, with [`THREADS`]
///    and [`SHARED_BYTES`].
#[kernel(arch = "sm_90a", max_threads = 384, min_blocks = 1, cluster = (2, 1, 1))]
pub unsafe fn tensor_clusters_nt(
    a: GridConstant<TensorMap<bf16, 128, 64>>,
    b: GridConstant<TensorMap<bf16, 128, 64>>,
    c: GlobalMut<bf16>,
    columns: u32,
    depth: u32,
) {
    let mut shared = dynamic_shared_allotment!();
    let stages = Stages::<Columns<'_, PART>, STAGES>::take(&mut shared);
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
        // SAFETY: the ring is initialised in both blocks, at the same offset, the whole warpgroup is here, and blocks
        // end together. In the closure, the stage is full, and `multiply` waits for the products before it releases it.
        let sums = unsafe {
            let sums = M64N256::zero().accumulate();
            multiply::<_, _, BLOCKS>(sums, &mut ring, rounds, |products, stage| {
                stages.multiply(products, stage, number);
            })
        };
        let row = row + row_of(number) as u32;
        // SAFETY: C has whole, even rows and is aligned: the kernel's contract. Each warpgroup has its own
        // outputs.
        unsafe { store(&sums, c, (row, column), columns) };
    };
    // SAFETY: `divide` calls it once, with all threads of the warpgroup. The attribute states the
    // threads and the single block.
    let begin = |role| unsafe { move_registers(role) };
    // SAFETY: all threads of the cluster are here, and its blocks lay out shared memory alike.
    unsafe { divide::<_, BLOCKS>(ring, begin, producer, consumer) };
}
