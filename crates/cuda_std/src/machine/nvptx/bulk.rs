//! Bulk copies (PTX ISA, 9.7.8.24: `cp.async.bulk`), from compute capability 9.0 on.

use super::memory::shared_address;
use core::arch::asm;

/// Starts to copy the box at (`row`, `column`) of a tensor of two dimensions to shared memory. Its
/// bytes count at `barrier`.
///
/// # Safety
/// 1. `map` is the generic address of a tensor map of two dimensions in parameter, constant or
///    global memory, of memory that lives and is not written meanwhile.
/// 2. `destination` is aligned for the map's swizzle, and the box fits into the shared memory there.
/// 3. `barrier` is a barrier in shared memory of the block.
/// 4. Until the phase that counts the bytes has ended, no thread accesses the destination.
#[inline(always)]
pub unsafe fn tensor_load(
    map: *const u8,
    destination: *mut u8,
    barrier: *mut u64,
    (row, column): (u32, u32),
) {
    // SAFETY: (1) to (4) are the caller's.
    unsafe {
        asm!(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \
             [{0}], [{1}, {{{2}, {3}}}], [{4}];",
            in(reg32) shared_address(destination),
            in(reg64) map,
            in(reg32) column,
            in(reg32) row,
            in(reg32) shared_address(barrier),
            options(nostack),
        );
    }
}

/// [`tensor_load`] to the same place in each block of the cluster whose bit in `blocks` is set; the
/// bytes count at the barrier in the same place of each.
///
/// # Safety
/// As for [`tensor_load`], in each of these blocks; none of them ends before the copy has landed.
#[inline(always)]
pub unsafe fn tensor_load_multicast(
    map: *const u8,
    destination: *mut u8,
    barrier: *mut u64,
    (row, column): (u32, u32),
    blocks: u16,
) {
    // SAFETY: (1) to (4) are the caller's.
    unsafe {
        asm!(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes\
             .multicast::cluster [{0}], [{1}, {{{2}, {3}}}], [{4}], {5};",
            in(reg32) shared_address(destination),
            in(reg64) map,
            in(reg32) column,
            in(reg32) row,
            in(reg32) shared_address(barrier),
            in(reg16) blocks,
            options(nostack),
        );
    }
}

/// Starts to copy a box of shared memory to (`row`, `column`) of a tensor of two dimensions.
///
/// # Safety
/// 1. `map` is the generic address of a tensor map of two dimensions in parameter, constant or
///    global memory, of memory that no other thread accesses meanwhile.
/// 2. `source` is aligned for the map's swizzle, and holds a whole box.
/// 3. Until the copy has been waited for, no thread writes the source.
#[inline(always)]
pub unsafe fn tensor_store(map: *const u8, source: *const u8, (row, column): (u32, u32)) {
    // SAFETY: (1) to (3) are the caller's.
    unsafe {
        asm!(
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [{0}, {{{1}, {2}}}], [{3}];",
            in(reg64) map,
            in(reg32) column,
            in(reg32) row,
            in(reg32) shared_address(source),
            options(nostack),
        );
    }
}

/// Closes the group of bulk stores that this thread has started since the last call.
#[inline(always)]
pub fn bulk_commit() {
    // SAFETY: touches no memory.
    unsafe { asm!("cp.async.bulk.commit_group;", options(nostack)) }
}

/// Waits until at most `PENDING` of this thread's groups of bulk stores still read their source.
#[inline(always)]
pub fn bulk_wait_read<const PENDING: u32>() {
    // SAFETY: the copies touch what their callers promised; without `nomem`, no access of memory is
    // moved across the wait.
    unsafe { asm!("cp.async.bulk.wait_group.read {0};", const PENDING, options(nostack)) }
}

/// Waits until at most `PENDING` of this thread's groups of bulk stores are unfinished.
#[inline(always)]
pub fn bulk_wait<const PENDING: u32>() {
    // SAFETY: as for `bulk_wait_read`.
    unsafe { asm!("cp.async.bulk.wait_group {0};", const PENDING, options(nostack)) }
}

/// Orders this thread's accesses of shared memory before those of bulk copies and products.
#[inline(always)]
pub fn fence_proxy_async() {
    // SAFETY: a fence only orders accesses.
    unsafe { asm!("fence.proxy.async.shared::cta;", options(nostack)) }
}

/// Fetches a tensor map into the cache of its kind.
///
/// # Safety
/// 1. `map` is the generic address of a tensor map in parameter, constant or global memory.
#[inline(always)]
pub unsafe fn prefetch_tensor_map(map: *const u8) {
    // SAFETY: (1) is the caller's.
    unsafe { asm!("prefetch.tensormap [{0}];", in(reg64) map, options(nostack)) }
}
