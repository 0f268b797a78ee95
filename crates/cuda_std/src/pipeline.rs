//! Copies from global to shared memory that run while the block computes (`cp.async`).
//!
//! A [`Pipeline`] counts a thread's groups of copies through a ring of `STAGES` stages. Two stages
//! are double buffering: the block computes on one tile while the next is copied.
//!
//! ```text
//! pipeline.copy(...); pipeline.commit();            // fill STAGES - 1 stages
//! loop over tiles:
//!     stage = pipeline.consumer_wait();               // this thread's copies have landed
//!     sync_threads();                               // so have everybody's, and the stage that
//!                                                   // was read last round is free again
//!     pipeline.copy(... into pipeline.producer_stage()); pipeline.commit();
//!     compute on stage
//! ```
//!
//! From compute capability 8.0, a copy bypasses the registers and completes in the background. On
//! 7.5 it is a load and a store, complete at once. The simulator is the strictest: data arrives at
//! the wait and not before.

use crate::global::Global;
use crate::machine;
use crate::shared::SharedSlice;
use bytemuck::Pod;

/// One thread's asynchronous copies, in groups, through a ring of `STAGES` stages, 1 to 16.
///
/// Other numbers of stages do not compile:
///
/// ```compile_fail,E0080
/// let pipeline = cuda_std::pipeline::Pipeline::<17>::new();
/// ```
///
/// If a block shares the copied data, one stage is read while the others are filled. With a single
/// stage nothing overlaps, so this does not compile either:
///
/// ```compile_fail,E0080
/// let stage = cuda_std::pipeline::Pipeline::<1>::new().consumer_wait();
/// ```
#[derive(Debug)]
pub struct Pipeline<const STAGES: usize> {
    /// The stage that the next group fills.
    filling: u32,
    /// The stage whose group is the oldest not yet waited for.
    oldest: u32,
}

impl<const STAGES: usize> Pipeline<STAGES> {
    /// A pipeline with nothing in flight.
    #[inline(always)]
    #[must_use]
    #[allow(
        clippy::new_without_default,
        reason = "a pipeline is a resource, not a value with a default"
    )]
    pub const fn new() -> Self {
        const {
            assert!(
                STAGES >= 1 && STAGES <= 16,
                "a pipeline has 1 to 16 stages: more are not worth their shared memory"
            )
        };
        Self {
            filling: 0,
            oldest: 0,
        }
    }

    /// The stage that the current group's copies should fill, from 0 to `STAGES` - 1.
    #[inline(always)]
    #[must_use]
    pub const fn producer_stage(&self) -> usize {
        self.filling as usize
    }

    /// Starts to copy `N` elements: source `from..from + N` to destination `to..to + N`.
    ///
    /// # Safety
    /// 1. Both ranges lie within their memory.
    /// 2. `N * size_of::<T>()` is 4, 8 or 16, and divides both addresses.
    /// 3. No thread accesses the destination until this thread has waited for the group, and the
    ///    threads that read it have passed a barrier.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn copy<T: Pod, const N: usize>(
        &mut self,
        destination: SharedSlice<'_, T>,
        to: usize,
        source: Global<'_, T>,
        from: usize,
    ) {
        const { assert_copy::<T, N>() };
        // SAFETY: the caller's contract.
        unsafe {
            machine::async_copy_whole::<T, N>(
                destination.as_mut_ptr(),
                destination.len(),
                to,
                source.as_ptr(),
                source.len(),
                from,
            );
        }
    }

    /// [`Self::copy`] that reads only the first `present` elements and writes zeros for the rest.
    ///
    /// A `present` of at least `N` reads all. If `present == 0`, `from` may be anywhere.
    ///
    /// The memcheck tool of NVIDIA's compute-sanitizer assumes that all elements are read, and
    /// reports a copy that reaches past the end of a buffer.
    ///
    /// # Safety
    /// 1. The first `present` elements of the source range and all of the destination range lie
    ///    within their memory.
    /// 2. `N * size_of::<T>()` is 4, 8 or 16, and divides both addresses; if `present == 0`, the
    ///    address of the source's first element instead.
    /// 3. No thread accesses the destination until this thread has waited for the group, and the
    ///    threads that read it have passed a barrier.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn copy_or_zero<T: Pod, const N: usize>(
        &mut self,
        destination: SharedSlice<'_, T>,
        to: usize,
        source: Global<'_, T>,
        from: usize,
        present: usize,
    ) {
        const { assert_copy::<T, N>() };
        let bytes = present.min(N) * size_of::<T>();
        // SAFETY: the caller's contract.
        unsafe {
            machine::async_copy::<T, N>(
                destination.as_mut_ptr(),
                destination.len(),
                to,
                source.as_ptr(),
                source.len(),
                if present == 0 { 0 } else { from },
                bytes as u32,
            );
        }
    }

    /// Closes the group of copies started since the last call, and moves to the next stage. Empty
    /// groups count, too, so the last rounds of a loop need no special case.
    #[inline(always)]
    #[track_caller]
    pub fn commit(&mut self) {
        machine::async_commit();
        self.filling = Self::next(self.filling);
    }

    /// Waits for this thread's copies to the oldest stage in flight, and returns the stage.
    ///
    /// `STAGES - 1` groups must have been committed since it was last returned. With one stage this
    /// does not compile: use [`Self::consumer_wait_full`].
    ///
    /// Other threads' copies are visible after [`sync_threads`](crate::thread::sync_threads).
    #[inline(always)]
    #[track_caller]
    pub fn consumer_wait(&mut self) -> usize {
        const {
            assert!(
                STAGES >= 2,
                "one stage cannot be filled while it is waited for: consumer_wait needs two"
            )
        };
        machine::async_wait_in_ring::<STAGES, 2>();
        self.pass_oldest()
    }

    /// [`Self::consumer_wait`] with all `STAGES` stages filled. For threads that read only what
    /// they copied themselves: such a thread reads its part of a stage and refills it at once, so
    /// no stage stays free.
    #[inline(always)]
    #[track_caller]
    pub fn consumer_wait_full(&mut self) -> usize {
        machine::async_wait_in_ring::<STAGES, 1>();
        self.pass_oldest()
    }

    /// Waits until at most `PENDING` of this thread's latest groups are in flight.
    #[inline(always)]
    #[track_caller]
    pub fn wait_prior<const PENDING: u32>(&mut self) {
        machine::async_wait::<PENDING>();
    }

    #[inline(always)]
    const fn pass_oldest(&mut self) -> usize {
        let stage = self.oldest;
        self.oldest = Self::next(stage);
        stage as usize
    }

    #[inline(always)]
    const fn next(stage: u32) -> u32 {
        if stage + 1 == STAGES as u32 {
            0
        } else {
            stage + 1
        }
    }
}

/// Rejects copies that are not one instruction, at compile time.
const fn assert_copy<T, const N: usize>() {
    let bytes = N * size_of::<T>();
    assert!(
        bytes == 4 || bytes == 8 || bytes == 16,
        "an asynchronous copy is 4, 8 or 16 bytes: choose N so that N * size_of::<T>() is one of them"
    );
}
