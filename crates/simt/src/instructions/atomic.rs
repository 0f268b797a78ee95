//! Atomic updates and fences.

use crate::basics::{CallSite, FenceOrder, MemoryScope};
use crate::block::Block;
use crate::check::BlockCheck;
use crate::current::{line_or, try_instruction};
use crate::state::ATOMIC_WEIGHT;
use std::panic::Location;
use std::sync::atomic::{self, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Defines an atomic read-modify-write of one word type.
macro_rules! atomic_update {
    ($name:ident, $word:ty, $atomic:ty) => {
        /// Replaces the word by `f` of it in one atomic step, and returns the old value.
        ///
        /// `f` may be called more than once. The access announced last determines the memory order:
        /// [`access`](crate::access) orders the word alone (see [`fence`]);
        /// [`atomic_access`](crate::atomic_access) names an order. After many updates in a row that change
        /// nothing, the thread counts as waiting, and others run.
        ///
        /// # Safety
        ///
        /// 1. `ptr` is valid for reads and writes, and aligned to the word's size.
        /// 2. Other host threads access the word only through this crate.
        #[inline]
        #[track_caller]
        pub unsafe fn $name(ptr: *mut $word, mut f: impl FnMut($word) -> $word) -> $word {
            // SAFETY: the pointer is valid for reads and writes and aligned, and other host threads
            // access the word only atomically: the caller's contract.
            let word = unsafe { <$atomic>::from_ptr(ptr) };
            let site = line_or(Location::caller());
            let [old, new] = ordered((ptr.addr(), site), || {
                let mut old = word.load(Ordering::Relaxed);
                let mut new = f(old);
                while let Err(current) =
                    word.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Relaxed)
                {
                    old = current;
                    new = f(old);
                }
                [old.into(), new.into()]
            });
            updated(new != old, site);
            old as $word
        }
    };
}

atomic_update!(atomic_update_u8, u8, AtomicU8);
atomic_update!(atomic_update_u16, u16, AtomicU16);
atomic_update!(atomic_update_u32, u32, AtomicU32);
atomic_update!(atomic_update_u64, u64, AtomicU64);

/// Sequentially consistent fence (`fence.sc` of the PTX ISA), for the threads in `scope`.
///
/// It orders the running thread's accesses before it against those after it, and all such fences among each
/// other. Two threads synchronise if one updates a word atomically after its fence, and the other one fences after
/// an atomic update that has read this value.
#[inline]
pub fn fence(scope: MemoryScope) {
    atomic::fence(Ordering::SeqCst);
    fence_with(FenceOrder::SequentiallyConsistent, scope);
}

/// Acquire-release fence (`fence.acq_rel` of the PTX ISA), for the threads in `scope`.
///
/// As [`fence`], but without an order of such fences among each other: if two threads each write a word, fence, and
/// read the other's word, both may read old values.
#[inline]
pub fn fence_acq_rel(scope: MemoryScope) {
    atomic::fence(Ordering::AcqRel);
    fence_with(FenceOrder::AcquireRelease, scope);
}

/// The acquiring half of [`fence_acq_rel`] (`fence.acquire` of the PTX ISA).
#[inline]
pub fn fence_acquire(scope: MemoryScope) {
    atomic::fence(Ordering::Acquire);
    fence_with(FenceOrder::Acquire, scope);
}

/// The releasing half of [`fence_acq_rel`] (`fence.release` of the PTX ISA).
#[inline]
pub fn fence_release(scope: MemoryScope) {
    atomic::fence(Ordering::Release);
    fence_with(FenceOrder::Release, scope);
}

#[inline]
fn fence_with(order: FenceOrder, scope: MemoryScope) {
    try_instruction(None, |thread, block| {
        block.before_visible_step(thread, ATOMIC_WEIGHT);
        if let Some(check) = block.active_check() {
            check.fence(&thread.position, order, scope);
        }
    });
}

/// Performs `step`, the running thread's atomic access of the word at `address` at line `site`, and records it in the
/// checks, as one atomic action. Returns the result of the step: the values before and after it.
#[inline]
fn ordered((address, site): (usize, CallSite), mut step: impl FnMut() -> [u64; 2]) -> [u64; 2] {
    let checked = try_instruction(None, |thread, block| {
        let check = block.active_check()?;
        let shared = block.owner_check(check, address);
        Some(check.atomic_step(&thread.position, (address, site), shared, &mut step))
    });
    checked.flatten().unwrap_or_else(step)
}

/// Notes that the running thread has updated a word atomically, at line `site`.
#[inline]
fn updated(has_changed: bool, site: CallSite) {
    try_instruction(Some(site), |thread, block| {
        block.after_atomic_update(thread, has_changed, site);
    });
}

impl Block {
    /// If `address` is in shared memory: the checks of the block that owns it, and the offset there. `own` are the
    /// checks of this block.
    #[inline]
    fn owner_check<'a>(
        &'a self,
        own: &'a BlockCheck,
        address: usize,
    ) -> Option<(&'a BlockCheck, usize)> {
        if let Some(offset) = self.shared.offset_of(address) {
            return Some((own, offset));
        }
        match self.cluster_blocks() {
            1 => None,
            _ => self
                .owner_of(address)
                .and_then(|(owner, offset)| Some((owner.check.as_ref()?, offset))),
        }
    }

    /// The checks of the block, if it has any and has not been ended.
    #[inline]
    pub(super) fn active_check(&self) -> Option<&BlockCheck> {
        self.check.as_ref().filter(|_| !self.is_abandoned())
    }
}
