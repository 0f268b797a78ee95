//! Shared memory of other blocks, and copies to several blocks at once.
#![cfg_attr(
    target_arch = "nvptx64",
    allow(
        unused,
        reason = "an image for an older architecture has none of the kernels"
    )
)]

use cuda_std::cluster;
use cuda_std::prelude::*;
use cuda_std::tma::CachePolicy;

/// Words of a block of [`exchange`], four for each thread.
pub const LINE: usize = 4 * THREADS as usize;

/// Threads of a block.
pub const THREADS: u32 = 64;

/// Each block reads the next block's words and sends them to the block after that, all within the cluster: once by
/// accesses of 4 and 8 bytes, once by accesses of 16.
///
/// # Safety
/// 1. `x` has [`LINE`] words for each block and `out` twice as many; blocks have [`THREADS`].
#[kernel(arch = "sm_90", cluster = (4, 1, 1))]
pub unsafe fn exchange(x: Global<u32>, out: GlobalMut<u32>) {
    let (own, narrow, wide) = (
        shared_array![u32; 256],
        shared_array![u32; 256],
        shared_array![u32; 256],
    );
    let (own, narrow, wide) = (own.as_slice(), narrow.as_slice(), wide.as_slice());
    let first = 4 * thread::rank_in_block() as usize;
    let line = thread::block_idx_x() as usize * LINE;
    let ahead = |blocks: u32| (cluster::rank() + blocks) % cluster::blocks();
    // SAFETY: each thread accesses four words within the line. A barrier of the cluster separates
    // its accesses from those of others, and the last one keeps the blocks resident. `first` is a
    // multiple of 4, and the arrays are aligned to 16 bytes.
    unsafe {
        own.store_vector(first, x.load_vector::<4>(line + first));
        cluster::sync();
        let next = own.in_block(ahead(1));
        wide.in_block(ahead(2))
            .store_vector(first, next.load_vector::<4>(first));
        let to = narrow.in_block(ahead(2));
        to.store_vector(first, next.load_vector::<2>(first));
        to.store(first + 2, next.load(first + 2));
        to.store(first + 3, next.load(first + 3));
        cluster::sync();
        out.store_vector(2 * line + first, narrow.load_vector::<4>(first));
        out.store_vector(2 * line + LINE + first, wide.load_vector::<4>(first));
    }
}

/// Words of a copy of [`shared_lines`].
pub const HALF: usize = 128;

/// Block 0 copies two halves for both blocks, one with a policy and one without. Each block writes them with its rank
/// added.
///
/// # Safety
/// 1. `x` has 2 [`HALF`] words and `out` twice as many; the launch is one cluster with blocks of [`THREADS`]
///    and [`LINES_BYTES`].
#[kernel(arch = "sm_90", cluster = (2, 1, 1))]
pub unsafe fn shared_lines(x: Global<u32>, out: GlobalMut<u32>) {
    let mut shared = dynamic_shared_allotment!();
    let ring = shared.ring::<1>();
    let words = shared.array::<u32, { 2 * HALF }>().as_slice();
    let is_first = thread::rank_in_block() == 0;
    if is_first {
        // SAFETY: one thread initialises the ring, and the cluster's barrier follows.
        unsafe { ring.init(1, 1) };
    }
    cluster::sync();
    // SAFETY: the ring is initialised in both blocks. The copies: the halves are within the views
    // and aligned; the only stage is filled once, and all wait for it. The words: the stage is
    // full, and each word of `out` belongs to one thread.
    unsafe {
        if is_first {
            let slot = ring.producer().acquire();
            slot.expect((2 * HALF * size_of::<u32>()) as u32);
            if cluster::rank() == 0 {
                x.bulk_load_multicast(0..HALF, (words, 0), &slot, 0b11);
                let x = x.hinted(CachePolicy::evict_first());
                x.bulk_load_multicast(HALF..2 * HALF, (words, HALF), &slot, 0b11);
            }
        }
        let _stage = ring.consumer().wait();
        let mut i = thread::rank_in_block() as usize;
        while i < 2 * HALF {
            let rank = cluster::rank();
            out.store(rank as usize * 2 * HALF + i, words.load(i) + rank);
            i += THREADS as usize;
        }
    }
    // Block 1 must not end before the copies to it have arrived.
    cluster::sync();
}

/// Bytes of dynamic shared memory of [`shared_lines`].
pub const LINES_BYTES: u32 = (2 * HALF * size_of::<u32>()) as u32 + 16;
