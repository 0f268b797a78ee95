//! Elements in a row.

use super::policy::{CachePolicy, Hinted, bits};
use crate::global::{Global, GlobalMut};
use crate::machine;
use crate::mbarrier::Slot;
use crate::shared::SharedSlice;
use bytemuck::Pod;
use core::ops::Range;

/// Elements of global memory that the launch does not write, as bulk copies read them.
impl<T: Pod> Global<'_, T> {
    /// Starts to copy the elements `range` to those of `destination` from number `to` on. Called by one
    /// thread. Their bytes count at the barrier of `slot`.
    ///
    /// # Safety
    /// 1. The elements lie within both views, and there are some.
    /// 2. The addresses of the first ones and the number of bytes are multiples of 16.
    /// 3. The slot's ring is initialised, and `slot.stage()` is expecting the bytes in this round.
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
        // SAFETY: (1) to (5) are the caller's.
        unsafe { load_elements(self, range, (destination, to), slot, (None, None)) };
    }

    /// [`Self::bulk_load`] to the same place in each block of the cluster whose bit is set in `blocks`. The
    /// bytes count at the barrier of the same stage of each.
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
        // SAFETY: (1) to (5) are the caller's.
        unsafe { load_elements(self, range, (destination, to), slot, options) };
    }
}

impl<T: Pod> Hinted<Global<'_, T>> {
    /// [`Global::bulk_load`] with the policy.
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
        // SAFETY: (1) to (5) are the caller's.
        unsafe { load_elements(self.side, range, (destination, to), slot, options) };
    }

    /// [`Self::bulk_load`] to the same place in each block of the cluster whose bit is set in `blocks`. The
    /// bytes count at the barrier of the same stage of each.
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
        // SAFETY: (1) to (5) are the caller's.
        unsafe { load_elements(self.side, range, (destination, to), slot, options) };
    }
}

/// Starts to load elements, to some blocks or to the caller's, with a policy or without.
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
    // SAFETY: (1), (2) are the caller's; no thread writes what a `Global` shows. (3) is that of the slot's
    // ring. (4) (4), (5) of the caller. (5) The policy is one.
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

/// Elements of global memory that the launch writes, as bulk copies do.
impl<T: Pod> GlobalMut<'_, T> {
    /// Starts to copy to the elements `range` those of `source` from number `from` on. Called by one
    /// thread; the copy belongs to the thread's next group, see [`commit`](super::commit).
    ///
    /// # Safety
    /// 1. The elements lie within both views, and there are some.
    /// 2. The addresses of the first ones and the number of bytes are multiples of 16.
    /// 3. The elements of `source` have been written; the threads that wrote them have called
    ///    [`fence`](super::fence), and a barrier stands between them and this call.
    /// 4. Until the group has been waited for, no thread writes these elements of `source`, and no other
    ///    thread accesses the elements `range`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn bulk_store(
        self,
        range: Range<usize>,
        (source, from): (SharedSlice<'_, T>, usize),
    ) {
        // SAFETY: (1) to (4) are the caller's.
        unsafe { store_elements(self, range, (source, from), None) };
    }
}

impl<T: Pod> Hinted<GlobalMut<'_, T>> {
    /// [`GlobalMut::bulk_store`] with the policy.
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
        // SAFETY: (1) to (4) are the caller's.
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
    // SAFETY: (1), (2) are the caller's. (3) (3), (4) of the caller. (4) The policy is one.
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
