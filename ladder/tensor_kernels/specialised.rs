//! The third step: producer and consumers. One thread of a separate warpgroup keeps the ring full; two other
//! warpgroups only multiply, each half of the rows.
//!
//! Prediction: copies start as soon as a stage is free, independently of the products, and two warpgroups keep the
//! tensor cores busy in turn.

use crate::outputs::store;
use crate::roles::{Role, divide, multiply, produce, ring_bytes, row_of, stage_bytes};
use crate::{DEPTH, WARPGROUP_ROWS};
use cuda_std::mbarrier::{Consumer, Producer};
use cuda_std::prelude::*;
use cuda_std::tma::TensorMap;
use cuda_std::wgmma::{Accumulator, Multiply};
use half::bf16;

pub use crate::roles::{ROWS, THREADS};

/// Columns of the outputs of a block.
pub const COLUMNS: usize = 128;

/// Stages of the ring.
pub const STAGES: usize = 4;

/// Dynamic shared memory in bytes.
pub const SHARED_BYTES: u32 = ring_bytes(STAGES, COLUMNS);

/// The kernel for 128 x `N` outputs per block, `COUNT` per thread. All threads first call `begin` with their role.
///
/// # Safety
/// 1. As for requirement 1 of the kernels.
/// 2. The grid is (columns / `N`, rows / 128), rounded up, with [`THREADS`] and the memory of the ring.
#[inline(always)]
pub unsafe fn product<const N: usize, const COUNT: usize>(
    a: GridConstant<TensorMap<bf16, ROWS, DEPTH>>,
    b: GridConstant<TensorMap<bf16, N, DEPTH>>,
    c: GlobalMut<bf16>,
    (columns, depth): (u32, u32),
    begin: impl Fn(Role),
) where
    [f32; COUNT]: Multiply<bf16, bf16>,
{
    let mut shared = dynamic_shared_allotment!();
    let a_tiles = shared.tiles::<bf16, ROWS, DEPTH, STAGES>();
    let b_tiles = shared.tiles::<bf16, N, DEPTH, STAGES>();
    let ring = shared.ring::<STAGES>();

    let row = thread::block_idx_y() * ROWS as u32;
    let column = thread::block_idx_x() * N as u32;
    let rounds = depth.div_ceil(DEPTH as u32);
    let producer = |mut ring: Producer<'_, STAGES>| {
        // SAFETY: the ring is initialised. `fill` copies both tiles, the bytes of a stage, and the tiles are in range.
        // The launch does not write the operands: the kernel's contract. The slot is empty, and consumers access the
        // stage, and end, only after they have waited for it.
        unsafe {
            produce(&mut ring, stage_bytes(N), rounds, |slot, k| {
                a.load(a_tiles.get(slot.stage()), slot, (row, k));
                b.load(b_tiles.get(slot.stage()), slot, (column, k));
            });
        }
    };
    let consumer = |mut ring: Consumer<'_, STAGES>, number| {
        let first = row_of(number);
        // SAFETY: the ring is initialised, and the whole warpgroup is here. In the closure, the stage is full, its
        // tiles are in range, and `multiply` waits for the products before it releases the stage.
        let sums = unsafe {
            let sums = Accumulator::<COUNT>::zero().accumulate();
            multiply::<_, _, 1>(sums, &mut ring, rounds, |products, stage| {
                let rows = a_tiles.get(stage).rows::<WARPGROUP_ROWS>(first);
                products.multiply(rows.k_major(), b_tiles.get(stage).k_major());
            })
        };
        // SAFETY: C has whole, even rows and is aligned: the kernel's contract. Each warpgroup has its own
        // outputs.
        unsafe { store(&sums, c, (row + first as u32, column), columns) };
    };
    // SAFETY: the whole block is here, and is its own cluster.
    unsafe { divide::<_, 1>(ring, begin, producer, consumer) };
}

/// One block for each 128 x 128 outputs.
///
/// # Safety
/// 1. `a` has rows of `depth` elements, and `b` columns of `depth` elements. `c` has A's rows and B's columns, a
///    multiple of 8, and starts at a multiple of 16 bytes.
/// 2. The grid is (columns / 128, rows / 128), rounded up, with [`THREADS`] and [`SHARED_BYTES`].
#[kernel(arch = "sm_90a", max_threads = 384, min_blocks = 1)]
pub unsafe fn tensor_specialised_nt(
    a: GridConstant<TensorMap<bf16, 128, 64>>,
    b: GridConstant<TensorMap<bf16, 128, 64>>,
    c: GlobalMut<bf16>,
    columns: u32,
    depth: u32,
) {
    // SAFETY: the caller's contract.
    unsafe { product::<COLUMNS, 64>(a, b, c, (columns, depth), |_| ()) };
}
