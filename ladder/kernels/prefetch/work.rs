//! The parts that all kernels share: a thread's elements in order, and their sum.

use super::population;
use cuda_std::prelude::*;
use cuda_std::thread::UniqueIndex;

/// The calling thread's elements in the order of its rounds: from its index, in steps of the
/// launch's size.
///
/// Past the end, the last element is fetched and not used, so that no fetch is conditional.
#[derive(Clone, Copy)]
pub(super) struct Elements<'launch> {
    x: Global<'launch, f64>,
    next: usize,
    threads: usize,
}

impl<'launch> Elements<'launch> {
    /// The elements of the thread that `own` belongs to.
    ///
    /// # Safety
    /// 1. `x` is not empty.
    #[inline(always)]
    pub(super) unsafe fn of(own: &UniqueIndex, x: Global<'launch, f64>) -> Self {
        Self {
            x,
            next: own.get(),
            threads: thread::grid_dim_x() as usize * thread::block_dim_x() as usize,
        }
    }

    /// The index in `x` of the next element.
    #[inline(always)]
    pub(super) fn next_index(&mut self) -> usize {
        let index = self.next;
        self.next += self.threads;
        index.min(self.x.len() - 1)
    }

    /// Starts to load the next element. A streaming load, because each element is read once. Unlike
    /// a load through the read-only cache, it also stays after preceding barriers.
    #[inline(always)]
    #[track_caller]
    pub(super) fn load(&mut self) -> f64 {
        let index = self.next_index();
        // SAFETY: the index is at most the last, and `x` is not empty: the contract of `of`. f64
        // are aligned.
        let [element] = unsafe { self.x.load_streaming::<1>(index) };
        element
    }
}

/// The rounds of the calling thread, and its sum.
pub(super) struct Rounds<'launch, const SYNCED: bool> {
    generations: u32,
    /// The number of the thread's elements, and of completed rounds.
    elements: u32,
    done: u32,
    own: UniqueIndex<'launch>,
    sum: f64,
}

impl<'launch, const SYNCED: bool> Rounds<'launch, SYNCED> {
    /// The rounds of the thread that `own` belongs to, none completed. `rounds` rounds cover all
    /// elements.
    #[inline(always)]
    pub(super) fn of(
        own: UniqueIndex<'launch>,
        elements: Elements,
        rounds: u32,
        generations: u32,
    ) -> Self {
        // Every thread has an element in each round except the last.
        let before_last = rounds.saturating_sub(1);
        let last = own.get() + before_last as usize * elements.threads;
        Self {
            generations,
            elements: if last < elements.x.len() {
                rounds
            } else {
                before_last
            },
            done: 0,
            own,
            sum: 0.0,
        }
    }

    /// One round: adds `f` of `element`, unless it is past the end. If `SYNCED`, ends with a
    /// barrier.
    #[inline(always)]
    #[track_caller]
    pub(super) fn round(&mut self, element: f64) {
        if self.done < self.elements {
            self.sum += population::generations(element, self.generations);
        }
        self.done += 1;
        if SYNCED {
            thread::sync_threads();
        }
    }

    /// Writes the sum to the thread's element of `sums`.
    #[inline(always)]
    #[track_caller]
    pub(super) fn finish(self, sums: GlobalMut<'launch, f64>) {
        if let Some(own) = sums.own(self.own) {
            own.set(self.sum);
        }
    }
}
