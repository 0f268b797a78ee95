//! Copies from global to shared memory that run while the block computes (`cp.async`).
//!
//! A [`Pipeline`] counts a thread's groups of copies through a ring of `STAGES` stages. With two
//! stages it is double buffering: while the block computes on one tile, the next is on its way.
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
//! From compute capability 8.0 on a copy bypasses the registers and completes in the background.
//! On 7.5 it is an ordinary load and store, complete at once: the same program with the same
//! meaning. The simulator is the strictest of the three: data arrives at the wait and not before.

use crate::global::Global;
use crate::machine;
use crate::shared::SharedSlice;
use bytemuck::Pod;

/// One thread's asynchronous copies, in groups, through a ring of `STAGES` stages, 1 to 16.
///
/// Other numbers do not compile:
///
/// ```compile_fail,E0080
/// let pipeline = cuda_std::pipeline::Pipeline::<17>::new();
/// ```
///
/// Where a block shares what it copies, one stage is read while the others are filled, so with one
/// nothing overlaps, and this does not compile either:
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
                "a pipeline has 1 to 16 stages: more than that do not pay for their shared memory"
            )
        };
        Self {
            filling: 0,
            oldest: 0,
        }
    }

    /// The stage, from 0 to `STAGES` - 1, that the copies of the group being made should fill.
    #[inline(always)]
    #[must_use]
    pub const fn producer_stage(&self) -> usize {
        self.filling as usize
    }

    /// Starts to copy `N` elements: source `from..from + N` to destination `to..to + N`.
    ///
    /// # Safety
    /// 1. Both ranges lie within their memory.
    /// 2. `N * size_of::<T>()` bytes, 4, 8 or 16, divide both addresses.
    /// 3. Until the group has been waited for, by this thread, and a barrier passed, by the
    ///    threads that read it, no thread accesses the destination.
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
        // SAFETY: (1), (2), (3) are the caller's.
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

    /// As [`Self::copy`], with only the first `present` elements read and zeros written for the
    /// rest; from `N` on all are read. With `present == 0`, `from` may lie anywhere.
    ///
    /// The memcheck of NVIDIA's compute-sanitizer takes a copy of some of the elements for one of
    /// all, and reports it where a buffer ends there.
    ///
    /// # Safety
    /// 1. The first `present` elements of the source range and all of the destination range lie
    ///    within their memory.
    /// 2. `N * size_of::<T>()` bytes, 4, 8 or 16, divide both addresses; with `present == 0`, that
    ///    of the source's first element instead.
    /// 3. Until the group has been waited for, by this thread, and a barrier passed, by the
    ///    threads that read it, no thread accesses the destination.
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
        // SAFETY: (1), (2), (3) are the caller's.
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

    /// Closes the group of copies started since the last call, and goes on to the next stage. An
    /// empty group counts too, which keeps the loop's end regular.
    #[inline(always)]
    #[track_caller]
    pub fn commit(&mut self) {
        machine::async_commit();
        self.filling = Self::next(self.filling);
    }

    /// Waits for this thread's copies of the oldest stage in flight and returns the stage, when
    /// `STAGES - 1` groups have been committed since it was last returned. With one stage this
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

    /// As [`Self::consumer_wait`], when all `STAGES` stages are filled: a thread that reads only
    /// what it copied itself need not keep a stage free. It reads its part of the stage and fills
    /// it again at once.
    #[inline(always)]
    #[track_caller]
    pub fn consumer_wait_full(&mut self) -> usize {
        machine::async_wait_in_ring::<STAGES, 1>();
        self.pass_oldest()
    }

    /// Waits until at most `PENDING` of this thread's latest groups are still in flight.
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

/// Rejects, when compiled, a copy that is no single instruction of the machine.
const fn assert_copy<T, const N: usize>() {
    let bytes = N * size_of::<T>();
    assert!(
        bytes == 4 || bytes == 8 || bytes == 16,
        "an asynchronous copy is 4, 8 or 16 bytes: choose N so that N * size_of::<T>() is one of them"
    );
}
