//! Atomic operations with the scope of a cluster.
#![cfg_attr(
    target_arch = "nvptx64",
    allow(
        unused,
        reason = "an image for an older architecture has none of the kernels"
    )
)]

use crate::put;
use cuda_std::atomic::{AcqRel, ClusterScope};
use cuda_std::cluster;
use cuda_std::prelude::*;

/// The blocks of each cluster write their elements of `x` to `out`; the last one to count itself writes their
/// sum in place of its own.
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
    // SAFETY: (1) is (1). (2) Each block has its own element, and each cluster its own count, which is touched by
    // atomic operations alone. Of the scope: (1) by threads of the cluster.
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
