//! Bulk copies, with and without policies for the second-level cache.
#![cfg_attr(
    target_arch = "nvptx64",
    allow(
        unused,
        reason = "an image for an older architecture has none of the kernels"
    )
)]

use cuda_std::cluster;
use cuda_std::prelude::*;
use cuda_std::shared::SwizzledTile;
use cuda_std::tma::{self, CachePolicy, TensorMap, TensorMapMut};

/// Stages of the ring of [`bulk_increment`].
const STAGES: usize = 2;

/// The longest piece of [`bulk_increment`].
pub const MAX_PIECE: usize = 512;

/// Bytes of dynamic shared memory of [`bulk_increment`].
pub const INCREMENT_BYTES: u32 = (STAGES * (MAX_PIECE * size_of::<u32>() + 16)) as u32;

/// `out[i] = x[i] + 1`, in pieces that a block copies to shared memory and back, with policies for the
/// loads and for the stores, or without.
///
/// # Safety
/// 1. The views have the same number of elements, a multiple of 4; `piece` is a multiple of 4 and at most
///    [`MAX_PIECE`]. The launch has blocks of one dimension with [`INCREMENT_BYTES`].
#[inline(always)]
unsafe fn increment(
    piece: u32,
    x: Global<'_, u32>,
    out: GlobalMut<'_, u32>,
    policies: Option<(CachePolicy, CachePolicy)>,
) {
    let mut shared = dynamic_shared_allotment!();
    let stages = shared.array::<u32, { STAGES * MAX_PIECE }>().as_slice();
    let ring = shared.ring::<STAGES>();
    let own = thread::thread_idx_x() as usize;
    if own == 0 {
        // SAFETY: one thread initialises the ring, and the block's barrier follows.
        unsafe { ring.init(1, thread::block_size()) };
    }
    thread::sync_threads();

    let (mut producer, mut consumer) = (ring.producer(), ring.consumer());
    let piece = piece as usize;
    let mut first = thread::block_idx_x() as usize * piece;
    while first < out.len() {
        let count = piece.min(out.len() - first);
        let range = first..first + count;
        // SAFETY: the ring is initialised. The load: lengths and alignment are the caller's
        // contract; the stage is free from `acquire` until its copy is waited for, and every stage
        // is waited for. The stage's elements: they lie in the stage and have been copied, and each
        // belongs to one thread. The store: lengths and alignment are the caller's contract; the
        // fence and the barrier order the writes before it; the wait before the release keeps its
        // source unchanged; and pieces do not overlap.
        unsafe {
            if own == 0 {
                let slot = producer.acquire();
                slot.expect((count * size_of::<u32>()) as u32);
                let to = (stages, slot.stage() * MAX_PIECE);
                match policies {
                    None => x.bulk_load(range.clone(), to, &slot),
                    Some((policy, _)) => x.hinted(policy).bulk_load(range.clone(), to, &slot),
                }
            }
            let stage = consumer.wait();
            let from = stage.index() * MAX_PIECE;
            let mut i = own;
            while i < count {
                stages.store(from + i, stages.load(from + i) + 1);
                i += thread::block_size() as usize;
            }
            tma::fence();
            thread::sync_threads();
            if own == 0 {
                match policies {
                    None => out.bulk_store(range, (stages, from)),
                    Some((_, policy)) => out.hinted(policy).bulk_store(range, (stages, from)),
                }
                tma::commit();
                tma::wait_read::<0>();
            }
            consumer.release(&stage);
        }
        first += thread::grid_dim_x() as usize * piece;
    }
    if own == 0 {
        tma::wait::<0>();
    }
}

/// `out[i] = x[i] + 1`, in pieces of `piece` elements.
///
/// # Safety
/// 1. The views have the same number of elements, a multiple of 4; `piece` is a multiple of 4 and at most
///    [`MAX_PIECE`]. The launch has blocks of one dimension with [`INCREMENT_BYTES`].
#[kernel(arch = "sm_90")]
pub unsafe fn bulk_increment(piece: u32, x: Global<u32>, out: GlobalMut<u32>) {
    // SAFETY: the callee's contract is this function's.
    unsafe { increment(piece, x, out, None) };
}

/// [`bulk_increment`] with policies.
///
/// # Safety
/// 1. As for [`bulk_increment`].
#[kernel(arch = "sm_90")]
pub unsafe fn bulk_increment_hinted(piece: u32, x: Global<u32>, out: GlobalMut<u32>) {
    let policies = (CachePolicy::evict_first(), CachePolicy::evict_last());
    // SAFETY: the callee's contract is this function's.
    unsafe { increment(piece, x, out, Some(policies)) };
}

/// Rows and columns of the boxes of [`hinted_boxes`].
pub const BOX: (usize, usize) = (64, 32);

type Tile<'a> = SwizzledTile<'a, f32, 64, 32>;

/// Bytes of dynamic shared memory of [`hinted_boxes`].
pub const BOXES_BYTES: u32 = 2 * Tile::BYTES + 16;

/// Block 0 loads the only box of `common` for both blocks. Each block stores it and, below it, its own box of `own`.
///
/// # Safety
/// 1. `common` is one box, `own` two of them, one below the other, and `out` four. The launch is one
///    cluster with [`BOXES_BYTES`].
#[kernel(arch = "sm_90", cluster = (2, 1, 1))]
pub unsafe fn hinted_boxes(
    common: GridConstant<TensorMap<f32, 64, 32>>,
    own: GridConstant<TensorMap<f32, 64, 32>>,
    out: GridConstant<TensorMapMut<f32, 64, 32>>,
) {
    let mut shared = dynamic_shared_allotment!();
    let tiles = shared.tiles::<f32, 64, 32, 2>();
    let ring = shared.ring::<1>();
    let is_first = thread::rank_in_block() == 0;
    if is_first {
        // SAFETY: one thread initialises the ring, and the cluster's barrier follows.
        unsafe { ring.init(1, 1) };
    }
    cluster::sync();
    let rows = BOX.0 as u32;
    if is_first {
        let (first, last) = (CachePolicy::evict_first(), CachePolicy::evict_last());
        // SAFETY: the ring is initialised in both blocks. The loads: the launch writes neither
        // matrix; the only stage is filled once, and all wait for it. The stores: each block stores
        // rows of its own; copies have written the tiles and were waited for; no thread writes the
        // tiles.
        unsafe {
            let slot = ring.producer().acquire();
            slot.expect(2 * Tile::BYTES);
            if cluster::rank() == 0 {
                let common = common.hinted(last);
                common.load_multicast(tiles.get(0), &slot, (0, 0), 0b11);
            }
            let row = rows * cluster::rank();
            own.hinted(first).load(tiles.get(1), &slot, (row, 0));
            let _stage = ring.consumer().wait();
            let out = out.hinted(first);
            out.store(tiles.get(0), (2 * row, 0));
            out.store(tiles.get(1), (2 * row + rows, 0));
        }
        tma::commit();
        tma::wait::<0>();
    }
    // Block 1 must not end before the copy to it has arrived.
    cluster::sync();
}
