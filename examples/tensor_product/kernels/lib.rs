//! A matrix product on Hopper's tensor cores, in fifty lines.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]
#![deny(missing_docs)]

use cuda_std::prelude::*;
use cuda_std::shared::SwizzledTile;
use cuda_std::tma::TensorMap;
use cuda_std::wgmma::M64N128;
use cuda_std::warpgroup;
use half::bf16;

/// Rows and columns of a block's output tile.
pub const TILE: usize = 128;

/// Elements along k in a stage.
pub const DEPTH: usize = 64;

/// Stages of the ring.
pub const STAGES: usize = 4;

/// Warpgroups that multiply; each has half of the rows.
pub const CONSUMERS: usize = TILE / 64;

/// Threads in a block: one warpgroup that copies, and those that multiply.
pub const THREADS: usize = 128 * (1 + CONSUMERS);

/// A tile of A or B.
type Tile<'a> = SwizzledTile<'a, bf16, TILE, DEPTH>;

/// Bytes of dynamic shared memory.
pub const SHARED_BYTES: u32 = STAGES as u32 * (2 * Tile::BYTES + 16);

/// C = A B with f32 accumulators: `a` holds the rows of A, `b` the columns of B and `c` the rows of C.
///
/// Extents are multiples of 128 (of 64 along k). Each block computes 128 x 128 outputs.
///
/// # Safety
/// 1. `a` has m x `depth` elements and `b` has n x `depth`; `c` has m x n elements. The grid is (n / 128, m / 128),
///    with [`THREADS`] threads in a block and [`SHARED_BYTES`].
#[kernel(arch = "sm_90a", max_threads = 384, min_blocks = 1)]
pub unsafe fn tensor_product(
    a: GridConstant<TensorMap<bf16, 128, 64>>,
    b: GridConstant<TensorMap<bf16, 128, 64>>,
    c: GlobalMut<f32>,
    depth: u32,
) {
    let mut shared = dynamic_shared_allotment!();
    let a_tiles = shared.tiles::<bf16, TILE, DEPTH, STAGES>();
    let b_tiles = shared.tiles::<bf16, TILE, DEPTH, STAGES>();
    let ring = shared.ring::<STAGES>();
    if thread::rank_in_block() == 0 {
        // SAFETY: one thread initialises the ring, and the block's barrier follows.
        unsafe { ring.init(1, CONSUMERS as u32) };
    }
    thread::sync_threads();

    let (row, column) = (thread::block_idx_y() * TILE as u32, thread::block_idx_x() * TILE as u32);
    let rounds = depth / DEPTH as u32;
    if warpgroup::index() == 0 {
        if warpgroup::thread_rank() == 0 {
            let mut producer = ring.producer();
            for round in 0..rounds {
                let k = round * DEPTH as u32;
                // SAFETY: the ring is initialised. The launch writes neither operand. The slot is ours until a
                // consumer has waited for it. Consumers wait for all stages.
                unsafe {
                    let slot = producer.acquire();
                    slot.expect(2 * Tile::BYTES);
                    a.load(a_tiles.get(slot.stage()), &slot, (row, k));
                    b.load(b_tiles.get(slot.stage()), &slot, (column, k));
                }
            }
        }
        return;
    }

    let first = 64 * (warpgroup::index() as usize - 1);
    let mut consumer = ring.consumer();
    // SAFETY: the whole warpgroup is here, and the loop's bound is the same in the whole launch.
    let mut sums = unsafe { M64N128::zero().accumulate() };
    for _ in 0..rounds {
        // SAFETY: the ring is initialised. The stage is full. It is released when the products are finished. The
        // whole warpgroup is here.
        unsafe {
            let stage = consumer.wait();
            let mut products = sums.begin();
            products.multiply(
                a_tiles.get(stage.index()).rows::<64>(first).k_major(),
                b_tiles.get(stage.index()).k_major(),
            );
            sums = products.commit();
            sums.wait_all_but::<0>();
            if warpgroup::thread_rank() == 0 {
                consumer.release(&stage);
            }
        }
    }
    let sums = sums.wait();
    let width = thread::grid_dim_x() as usize * TILE;
    for i in 0..64 {
        let (r, c_) = M64N128::place(i);
        let at = (row as usize + first + r as usize) * width + (column + c_) as usize;
        // SAFETY: the place is within `c`: the kernel's contract. No race: each output belongs to one thread.
        unsafe { c.store(at, sums.get(i)) };
    }
}
