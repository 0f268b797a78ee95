//! Bulk copies (PTX ISA, 9.7.8.24: `cp.async.bulk`), from compute capability 9.0.

use super::memory::{global_address, shared_address};
use bytemuck::Pod;
use core::arch::asm;

/// Eviction priority of cache lines in L2.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Eviction {
    First,
    Last,
}

/// A cache policy for all accesses of a copy (PTX ISA, `createpolicy`).
#[inline(always)]
pub fn cache_policy(eviction: Eviction) -> u64 {
    let policy: u64;
    // SAFETY: touches no memory.
    unsafe {
        match eviction {
            Eviction::First => asm!(
                "createpolicy.fractional.L2::evict_first.b64 {0}, 1.0;",
                out(reg64) policy,
                options(pure, nomem, nostack),
            ),
            Eviction::Last => asm!(
                "createpolicy.fractional.L2::evict_last.b64 {0}, 1.0;",
                out(reg64) policy,
                options(pure, nomem, nostack),
            ),
        }
    }
    policy
}

/// A copy with or without an L2 policy, chosen at compile time.
macro_rules! copy {
    ($policy:expr, [$($instruction:literal)*], [$($operands:literal)*], $($name:ident = in($class:ident) $value:expr),* $(,)?) => {
        match $policy {
            None => asm!(
                concat!($($instruction,)* " ", $($operands,)* ";"),
                $($name = in($class) $value,)*
                options(nostack),
            ),
            Some(policy) => asm!(
                concat!($($instruction,)* ".L2::cache_hint ", $($operands,)* ", {policy};"),
                $($name = in($class) $value,)*
                policy = in(reg64) policy,
                options(nostack),
            ),
        }
    };
}

/// A copy of a box of a two- or three-dimensional tensor: the instruction's kind, and the operands before and after
/// the coordinates.
macro_rules! tensor_copy {
    ($rank:ident at $place:ident, $policy:expr, $kind:literal, $before:literal, $behind:literal,
        $($name:ident = in($class:ident) $value:expr),* $(,)?) => {
        if const { is_batch($rank) } {
            copy!(
                $policy,
                ["cp.async.bulk.tensor.3d" $kind],
                [$before "{{{x}, {y}, {z}}}" $behind],
                x = in(reg32) $place[0],
                y = in(reg32) $place[1],
                z = in(reg32) $place[2],
                $($name = in($class) $value,)*
            );
        } else {
            copy!(
                $policy,
                ["cp.async.bulk.tensor.2d" $kind],
                [$before "{{{x}, {y}}}" $behind],
                x = in(reg32) $place[0],
                y = in(reg32) $place[1],
                $($name = in($class) $value,)*
            );
        }
    };
}

/// Starts to copy the box at `place` of a tensor of `RANK` dimensions, 2 or 3, to shared memory. Its bytes count at
/// `barrier`. `place` is the coordinates, the contiguous dimension first; the third is ignored if the tensor has two
/// dimensions.
///
/// # Safety
/// 1. `map` is the generic address of a tensor map of `RANK` dimensions in parameter, constant or global memory, of
///    memory that is live and not written meanwhile.
/// 2. `destination` is aligned for the map's swizzle, and the box fits into the shared memory there.
/// 3. `barrier` is a barrier in shared memory of the block.
/// 4. Until the phase that counts the bytes has ended, no thread accesses the destination.
/// 5. `policy` is `None` or from [`cache_policy`].
#[inline(always)]
pub unsafe fn tensor_load<const RANK: usize>(
    map: *const u8,
    destination: *mut u8,
    barrier: *mut u64,
    place: [u32; 3],
    policy: Option<u64>,
) {
    // SAFETY: the caller's contract.
    unsafe {
        tensor_copy!(
            RANK at place,
            policy,
            ".shared::cluster.global.tile.mbarrier::complete_tx::bytes",
            "[{to}], [{map}, ",
            "], [{barrier}]",
            to = in(reg32) shared_address(destination),
            map = in(reg64) map,
            barrier = in(reg32) shared_address(barrier),
        );
    }
}

/// [`tensor_load`] to each block of the cluster whose bit in `blocks` is set. Destination and
/// barrier are at the same offset in each.
///
/// # Safety
/// As for [`tensor_load`], in each of these blocks; none of them ends before the copy has landed.
#[inline(always)]
pub unsafe fn tensor_load_multicast<const RANK: usize>(
    map: *const u8,
    destination: *mut u8,
    barrier: *mut u64,
    place: [u32; 3],
    blocks: u16,
    policy: Option<u64>,
) {
    // SAFETY: the caller's contract.
    unsafe {
        tensor_copy!(
            RANK at place,
            policy,
            ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster",
            "[{to}], [{map}, ",
            "], [{barrier}], {blocks}",
            to = in(reg32) shared_address(destination),
            map = in(reg64) map,
            barrier = in(reg32) shared_address(barrier),
            blocks = in(reg16) blocks,
        );
    }
}

/// Starts to copy a box of shared memory to `place` of a tensor of `RANK` dimensions, as for
/// [`tensor_load`].
///
/// # Safety
/// 1. `map` is the generic address of a tensor map of `RANK` dimensions in parameter, constant or
///    global memory, of memory that no other thread accesses meanwhile.
/// 2. `source` is aligned for the map's swizzle, and holds a whole box.
/// 3. Until the copy has been waited for, no thread writes the source.
/// 4. `policy` is `None` or from [`cache_policy`].
#[inline(always)]
pub unsafe fn tensor_store<const RANK: usize>(
    map: *const u8,
    source: *const u8,
    place: [u32; 3],
    policy: Option<u64>,
) {
    // SAFETY: the caller's contract.
    unsafe {
        tensor_copy!(
            RANK at place,
            policy,
            ".global.shared::cta.tile.bulk_group",
            "[{map}, ",
            "], [{from}]",
            map = in(reg64) map,
            from = in(reg32) shared_address(source),
        );
    }
}

/// Whether a tensor of `rank` dimensions, 2 or 3, is a batch of matrices.
const fn is_batch(rank: usize) -> bool {
    assert!(rank == 2 || rank == 3, "a map is of matrices or of a batch");
    rank == 3
}

/// Starts to copy `count` elements from element `source_index` of global memory to element `index` of shared memory,
/// of the block or of each block of the cluster whose bit in `blocks` is set. Their bytes count at `barrier`, at the
/// same offset in each block.
///
/// # Safety
/// 1. The elements lie within the `source_len` elements at `source`, and within the `len` at `base`.
/// 2. Both addresses and the number of bytes are multiples of 16, and the number is not zero.
/// 3. `barrier` is a barrier in shared memory of the block, or of each of the blocks.
/// 4. Until the phase that counts the bytes has ended, no thread writes the source or accesses the destination, and
///    no block with a destination ends.
/// 5. `policy` is `None` or from [`cache_policy`].
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "two places, each in its memory")]
pub unsafe fn bulk_load<T: Pod>(
    base: *mut T,
    _len: usize,
    index: usize,
    source: *const T,
    _source_len: usize,
    source_index: usize,
    count: usize,
    barrier: *mut u64,
    blocks: Option<u16>,
    policy: Option<u64>,
) {
    // SAFETY: the caller's contract.
    unsafe {
        match blocks {
            None => copy!(
                policy,
                ["cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"],
                ["[{to}], [{from}], {bytes}, [{barrier}]"],
                to = in(reg32) shared_address(base.add(index)),
                from = in(reg64) global_address(source.add(source_index)),
                bytes = in(reg32) (count * size_of::<T>()) as u32,
                barrier = in(reg32) shared_address(barrier),
            ),
            Some(blocks) => copy!(
                policy,
                ["cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes\
                 .multicast::cluster"],
                ["[{to}], [{from}], {bytes}, [{barrier}], {blocks}"],
                to = in(reg32) shared_address(base.add(index)),
                from = in(reg64) global_address(source.add(source_index)),
                bytes = in(reg32) (count * size_of::<T>()) as u32,
                barrier = in(reg32) shared_address(barrier),
                blocks = in(reg16) blocks,
            ),
        }
    }
}

/// Starts to copy `count` elements from element `source_index` of shared memory to element `index` of
/// global memory.
///
/// # Safety
/// 1. The elements lie within the `source_len` elements at `source`, and within the `len` at `base`.
/// 2. Both addresses and the number of bytes are multiples of 16, and the number is not zero.
/// 3. Until the copy has been waited for, no thread writes the source or accesses the destination.
/// 4. `policy` is `None` or from [`cache_policy`].
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "two places, each in its memory")]
pub unsafe fn bulk_store<T: Pod>(
    base: *mut T,
    _len: usize,
    index: usize,
    source: *const T,
    _source_len: usize,
    source_index: usize,
    count: usize,
    policy: Option<u64>,
) {
    // SAFETY: the caller's contract.
    unsafe {
        copy!(
            policy,
            ["cp.async.bulk.global.shared::cta.bulk_group"],
            ["[{to}], [{from}], {bytes}"],
            to = in(reg64) global_address(base.add(index)),
            from = in(reg32) shared_address(source.add(source_index)),
            bytes = in(reg32) (count * size_of::<T>()) as u32,
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
    // SAFETY: the callers of the copies guarantee their accesses. Without `nomem`, the compiler
    // moves no memory access across the wait.
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

/// Prefetches a tensor map into its cache.
///
/// # Safety
/// 1. `map` is the generic address of a tensor map in parameter, constant or global memory.
#[inline(always)]
pub unsafe fn prefetch_tensor_map(map: *const u8) {
    // SAFETY: the caller's contract.
    unsafe { asm!("prefetch.tensormap [{0}];", in(reg64) map, options(nostack)) }
}
