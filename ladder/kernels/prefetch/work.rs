//! What every kernel here does besides fetching: its elements in order, and what becomes of them.

use super::population;
use cuda_std::prelude::*;
use cuda_std::thread::UniqueIndex;

/// The calling thread's elements in the order of its rounds: the one at its index first, the
/// others as far apart as the launch has threads.
///
/// Past the end the last element of all stands in: it is fetched, so that no fetch is
/// conditional, and not used.
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

    /// Where in `x` the next element stands.
    #[inline(always)]
    pub(super) fn next_index(&mut self) -> usize {
        let index = self.next;
        self.next += self.threads;
        index.min(self.x.len() - 1)
    }

    /// Starts the load of the next element. Each is read once, so it is a streaming load; unlike a
    /// load through the read-only cache it also stays behind the barriers that it stands behind.
    #[inline(always)]
    #[track_caller]
    pub(super) fn load(&mut self) -> f64 {
        let index = self.next_index();
        // SAFETY: (1) by (1) of `of`, for the index is at most the last. (2) f64 are aligned.
        let [element] = unsafe { self.x.load_streaming::<1>(index) };
        element
    }
}

/// The rounds of the calling thread: what becomes of its elements, and their sum.
pub(super) struct Rounds<'launch, const SYNCED: bool> {
    generations: u32,
    /// How many elements are the thread's own, and how many rounds are done.
    elements: u32,
    done: u32,
    own: UniqueIndex<'launch>,
    sum: f64,
}

impl<'launch, const SYNCED: bool> Rounds<'launch, SYNCED> {
    /// No round done of the thread that `own` belongs to, of `rounds` that cover all elements.
    #[inline(always)]
    pub(super) fn of(
        own: UniqueIndex<'launch>,
        elements: Elements,
        rounds: u32,
        generations: u32,
    ) -> Self {
        // All threads have an element in each round but the last.
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

    /// One round: adds what becomes of `element`, unless it only stands in. Where the threads of a
    /// block synchronise, they do so at the end.
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

    /// Leaves the sum in the thread's own element of `sums`.
    #[inline(always)]
    #[track_caller]
    pub(super) fn finish(self, sums: GlobalMut<'launch, f64>) {
        if let Some(own) = sums.own(self.own) {
            own.set(self.sum);
        }
    }
}
