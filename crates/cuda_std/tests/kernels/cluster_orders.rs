//! Atomic operations with cluster scope, and on the shared memory of other blocks of the cluster.
#![cfg_attr(
    target_arch = "nvptx64",
    allow(
        unused,
        reason = "an image for an older architecture has none of the kernels"
    )
)]

use crate::orders::{WORDS, apply_all, carried};
use crate::put;
use cuda_std::atomic::{AcqRel, Acquire, ClusterScope, Relaxed, Release, fence};
use cuda_std::cluster;
use cuda_std::prelude::*;

/// The blocks of each cluster write their elements of `x` to `out`. The last block to count itself writes the sum in
/// place of its own element.
///
/// # Safety
/// 1. `x` and `out` have an element for each block, `counts` one for each cluster, which is 0.
#[kernel(arch = "sm_90", cluster = (2, 1, 1))]
pub unsafe fn last_of_cluster_adds(x: Global<u32>, out: GlobalMut<u32>, counts: GlobalMut<u32>) {
    let (block, blocks) = (thread::block_idx_x(), cluster::blocks());
    let first = block - cluster::rank();
    if thread::thread_idx_x() != 0 {
        return;
    }
    // SAFETY: the lengths are the caller's contract. Each block has its own element, and each
    // cluster its own count, which only atomic operations by threads of the cluster access: its
    // scope holds.
    unsafe {
        put(out, block as usize, x.load(block as usize));
        let count = counts.atomic_ref((first / blocks) as usize);
        let count = count.with_scope::<ClusterScope>();
        if count.fetch_add(1, AcqRel) + 1 == blocks {
            let sum = (first..first + blocks).map(|block| out.load(block as usize));
            put(out, block as usize, sum.sum());
        }
    }
}

/// The block of a cluster whose shared memory holds the words of the kernels below.
const OWNER: u32 = 1;

/// Every operation in every order, by the threads of all blocks of a cluster, on words in one block's shared memory.
///
/// # Safety
/// 1. The launch is one cluster with blocks of at least [`WORDS`] threads. `words` has [`WORDS`] elements, `x`
///    one for each thread.
#[kernel(arch = "sm_90", cluster = (4, 1, 1))]
pub unsafe fn ordered_remote(x: Global<u32>, words: GlobalMut<u32>) {
    let own = shared_array![u32; WORDS];
    let own = own.as_slice();
    let is_owner = cluster::rank() == OWNER;
    let thread = thread::rank_in_block() as usize;
    // SAFETY: the lengths are the caller's contract. Between the barriers only atomic operations
    // access the words; before and after, only the thread with the word's index does. The last
    // barrier of the cluster keeps the blocks resident. The scope holds, because all threads are in
    // one cluster.
    unsafe {
        if is_owner && thread < WORDS {
            own.store(thread, words.load(thread));
        }
        cluster::sync();
        let remote = own.in_block(OWNER);
        let word = |index| remote.atomic_ref(index).with_scope::<ClusterScope>();
        apply_all(1, x.load(thread::unique_index().get()), word);
        cluster::sync();
        if is_owner && thread < WORDS {
            put(words, thread, own.load(thread));
        }
    }
}

/// Counters of [`count_remote`].
pub const COUNTERS: usize = 8;

/// The atomic operations of views, by the threads of all blocks, on counters in one block's shared memory. Each
/// thread adds its rank in the cluster in several ways; the last counter gets the final value of the first.
///
/// # Safety
/// 1. The launch has blocks of one dimension. `counters` has [`COUNTERS`] elements for each cluster.
#[kernel(arch = "sm_90", cluster = (4, 1, 1))]
pub unsafe fn count_remote(counters: GlobalMut<u32>) {
    let own = shared_array![u32; COUNTERS];
    let own = own.as_slice();
    let thread = thread::thread_idx_x();
    let rank = cluster::rank() * thread::block_dim_x() + thread;
    let remote = own.in_block(OWNER);
    // SAFETY: the lengths are the caller's contract, and the numbers are below [`COUNTERS`].
    // Between the barriers of the cluster there are only atomic operations. The last barrier of the
    // cluster keeps the blocks resident.
    unsafe {
        if rank == 0 {
            for counter in 0..COUNTERS {
                remote.atomic_store(
                    counter,
                    if counter == 1 || counter == 3 {
                        u32::MAX
                    } else {
                        0
                    },
                );
            }
        }
        cluster::sync();
        remote.atomic_add(0, rank);
        remote.atomic_min(1, rank + 1);
        remote.atomic_max(2, rank);
        remote.atomic_and(3, !(1 << (rank % 32)));
        remote.atomic_or(4, 1 << (rank % 32));
        remote.atomic_xor(5, rank);
        let mut current = remote.atomic_load(6);
        loop {
            let found = remote.atomic_compare_exchange(6, current, current + 2);
            if found == current {
                break;
            }
            current = found;
            thread::yield_now();
        }
        cluster::sync();
        if rank == 0 {
            let sum = remote.atomic_load(0);
            remote.atomic_exchange(7, sum);
        }
        cluster::sync();
        if cluster::rank() == OWNER && thread == 0 {
            let first = (thread::block_idx_x() / cluster::blocks()) as usize * COUNTERS;
            for counter in 0..COUNTERS {
                put(counters, first + counter, own.load(counter));
            }
        }
    }
}

/// The blocks of a cluster pass a number on, each adding its element of `x`: a block writes the number to the next
/// block's memory and raises the flag there. The first block waits for the last block's flag in that block's memory,
/// and reads the number there.
///
/// # Safety
/// 1. `x` has an element for each block, `numbers` one for each cluster.
#[kernel(arch = "sm_90", cluster = (4, 1, 1))]
pub unsafe fn relay_in_cluster(x: Global<u32>, numbers: GlobalMut<u32>) {
    let (number, flag) = (shared_array![u32; 1], shared_array![u32; 1]);
    let (number, flag) = (number.as_slice(), flag.as_slice());
    let (rank, blocks) = (cluster::rank(), cluster::blocks());
    let is_first = thread::rank_in_block() == 0;
    // SAFETY: the arrays have one element; the views' lengths are the caller's contract. The flags
    // order the accesses of the numbers, and only atomic operations access the flags. The last
    // barrier of the cluster keeps the blocks resident. The scopes hold, because all threads are in
    // one cluster.
    unsafe {
        let own_flag = flag.atomic_ref(0).with_scope::<ClusterScope>();
        let flag_of = |rank| {
            flag.in_block(rank)
                .atomic_ref(0)
                .with_scope::<ClusterScope>()
        };
        if is_first {
            own_flag.store(0, Relaxed);
        }
        cluster::sync();
        if is_first {
            let mut before = 0;
            if rank > 0 {
                while own_flag.load(Acquire) == 0 {
                    thread::yield_now();
                }
                before = number.load(0);
            }
            let carried = carried(before, x.load(thread::block_idx_x() as usize));
            if rank + 1 < blocks {
                number.in_block(rank + 1).store(0, carried);
                flag_of(rank + 1).store(1, Release);
            } else {
                number.store(0, carried);
                own_flag.fetch_add(1, Release);
            }
            if rank == 0 {
                let last = blocks - 1;
                while flag_of(last).load(Acquire) < 2 {
                    thread::yield_now();
                }
                let cluster = thread::block_idx_x() / blocks;
                put(numbers, cluster as usize, number.in_block(last).load(0));
            }
        }
        cluster::sync();
    }
}

/// The first block of a pair passes an element of `x` to the second, which adds its own and passes it back: through
/// plain memory, with cluster fences and a flag in each block's memory, which the other block raises.
///
/// # Safety
/// 1. `x` and `letters` have an element for each block, `out` one for each cluster. The blocks have one thread.
#[kernel(arch = "sm_90", cluster = (2, 1, 1))]
pub unsafe fn answer_in_cluster(x: Global<u32>, letters: GlobalMut<u32>, out: GlobalMut<u32>) {
    let flag = shared_array![u32; 1];
    let flag = flag.as_slice();
    let (rank, block) = (cluster::rank(), thread::block_idx_x() as usize);
    let (own, other) = (block, block ^ 1);
    // SAFETY: the views' lengths are the caller's contract; the array has one element. The flags
    // order the accesses of the letters, and only atomic operations access the flags. The last
    // barrier of the cluster keeps the blocks resident.
    unsafe {
        let send = |letter: u32| {
            letters.store(own, letter);
            fence(AcqRel, ClusterScope);
            flag.in_block(1 - rank).atomic_store(0, 1);
        };
        let receive = || {
            while flag.atomic_load(0) == 0 {
                thread::yield_now();
            }
            thread::fence_cluster();
            letters.load(other)
        };
        flag.atomic_store(0, 0);
        cluster::sync();
        let element = x.load(block);
        if rank == 0 {
            send(element);
            put(out, block / 2, receive());
        } else {
            send(carried(receive(), element));
        }
        cluster::sync();
    }
}
