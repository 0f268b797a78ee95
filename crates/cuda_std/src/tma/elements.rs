//! Copies of contiguous elements.

use super::policy::{CachePolicy, Hinted, bits};
use crate::global::{Global, GlobalMut};
use crate::machine;
use crate::mbarrier::Slot;
use crate::shared::SharedSlice;
use bytemuck::Pod;
use core::ops::Range;

/// Bulk loads.
impl<T: Pod> Global<'_, T> {
    /// Starts to copy the elements `range` to `destination[to..]`. Their bytes count at the barrier of `slot`. One
    /// thread makes the call.
    ///
    /// # Safety
    /// 1. The elements lie within both views, and `range` is not empty.
    /// 2. The addresses of the first elements and the number of bytes are multiples of 16.
    /// 3. The slot's ring is initialised, and `slot.stage()` expects the bytes in this round.
    /// 4. Until a consumer has waited for the stage, no thread accesses these elements of `destination`.
    /// 5. The block does not end before the bytes have landed.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn bulk_load(
        self,
        range: Range<usize>,
        (destination, to): (SharedSlice<'_, T>, usize),
        slot: &Slot<'_>,
    ) {
        // SAFETY: the caller's contract.
        unsafe { load_elements(self, range, (destination, to), slot, (None, None)) };
    }

    /// [`Self::bulk_load`] into the same elements of each block of the cluster whose bit is set in `blocks`. The
    /// bytes count at the same stage's barrier in each block.
    ///
    /// # Safety
    /// 1. to 5. as for [`Self::bulk_load`], in each of these blocks.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn bulk_load_multicast(
        self,
        range: Range<usize>,
        (destination, to): (SharedSlice<'_, T>, usize),
        slot: &Slot<'_>,
        blocks: u16,
    ) {
        let options = (Some(blocks), None);
        // SAFETY: the caller's contract.
        unsafe { load_elements(self, range, (destination, to), slot, options) };
    }
}

impl<T: Pod> Hinted<Global<'_, T>> {
    /// [`Global::bulk_load`] with a cache policy.
    ///
    /// # Safety
    /// 1. to 5. as without a policy.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn bulk_load(
        self,
        range: Range<usize>,
        (destination, to): (SharedSlice<'_, T>, usize),
        slot: &Slot<'_>,
    ) {
        let options = (None, Some(self.policy));
        // SAFETY: the caller's contract.
        unsafe { load_elements(self.side, range, (destination, to), slot, options) };
    }

    /// [`Self::bulk_load`] into the same elements of each block of the cluster whose bit is set in `blocks`. The
    /// bytes count at the same stage's barrier in each block.
    ///
    /// # Safety
    /// 1. to 5. as for [`Self::bulk_load`], in each of these blocks.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn bulk_load_multicast(
        self,
        range: Range<usize>,
        (destination, to): (SharedSlice<'_, T>, usize),
        slot: &Slot<'_>,
        blocks: u16,
    ) {
        let options = (Some(blocks), Some(self.policy));
        // SAFETY: the caller's contract.
        unsafe { load_elements(self.side, range, (destination, to), slot, options) };
    }
}

/// Starts to load elements, into `blocks` or the caller's block, with or without a policy.
///
/// # Safety
/// 1. to 5. as for [`Global::bulk_load`], in each of the blocks.
#[inline(always)]
#[track_caller]
unsafe fn load_elements<T: Pod>(
    source: Global<'_, T>,
    range: Range<usize>,
    (destination, to): (SharedSlice<'_, T>, usize),
    slot: &Slot<'_>,
    (blocks, policy): (Option<u16>, Option<CachePolicy>),
) {
    // SAFETY: ranges, alignment, the barrier, and accesses until the bytes have landed: the caller's contract. No
    // thread writes the elements of a `Global`. The policy comes from `cache_policy`.
    unsafe {
        machine::bulk_load(
            destination.as_mut_ptr(),
            destination.len(),
            to,
            source.as_ptr(),
            source.len(),
            range.start,
            range.end - range.start,
            slot.barrier(),
            blocks,
            bits(policy),
        );
    }
}

/// Bulk stores.
impl<T: Pod> GlobalMut<'_, T> {
    /// Starts to copy `source[from..]` to the elements `range`. One thread makes the call. The copy belongs to its
    /// next group: see [`commit`](super::commit).
    ///
    /// # Safety
    /// 1. The elements lie within both views, and `range` is not empty.
    /// 2. The addresses of the first elements and the number of bytes are multiples of 16.
    /// 3. The elements of `source` have been written. The threads that wrote them have called
    ///    [`fence`](super::fence), and a barrier followed before this call.
    /// 4. Until the group has been waited for, no thread writes these elements of `source`, and no other
    ///    thread accesses the elements `range`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn bulk_store(
        self,
        range: Range<usize>,
        (source, from): (SharedSlice<'_, T>, usize),
    ) {
        // SAFETY: the caller's contract.
        unsafe { store_elements(self, range, (source, from), None) };
    }
}

impl<T: Pod> Hinted<GlobalMut<'_, T>> {
    /// [`GlobalMut::bulk_store`] with a cache policy.
    ///
    /// # Safety
    /// 1. to 4. as without a policy.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn bulk_store(
        self,
        range: Range<usize>,
        (source, from): (SharedSlice<'_, T>, usize),
    ) {
        // SAFETY: the caller's contract.
        unsafe { store_elements(self.side, range, (source, from), Some(self.policy)) };
    }
}

/// # Safety
/// 1. to 4. as for [`GlobalMut::bulk_store`].
#[inline(always)]
#[track_caller]
unsafe fn store_elements<T: Pod>(
    destination: GlobalMut<'_, T>,
    range: Range<usize>,
    (source, from): (SharedSlice<'_, T>, usize),
    policy: Option<CachePolicy>,
) {
    // SAFETY: ranges, alignment and accesses until the copy ends: the caller's contract. The policy
    // comes from `cache_policy`.
    unsafe {
        machine::bulk_store(
            destination.as_mut_ptr(),
            destination.len(),
            range.start,
            source.as_mut_ptr(),
            source.len(),
            from,
            range.end - range.start,
            bits(policy),
        );
    }
}
