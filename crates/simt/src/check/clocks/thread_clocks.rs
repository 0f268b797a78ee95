//! The clocks of a block's threads: the accesses ordered before each of them.

use crate::check::clocks::happens_before::HappensBefore;
use crate::memory::{OutOfMemory, try_collect};
use std::cell::{Ref, RefCell, RefMut};
use std::ops::Range;
use std::rc::Rc;

/// The clocks of a block's threads. Threads that a barrier has made equal share one state until one of them changes.
pub(in crate::check) struct ThreadClocks {
    /// The time of a thread about which nothing is known.
    unknown: Rc<HappensBefore>,
    threads: Vec<RefCell<Rc<HappensBefore>>>,
}

impl ThreadClocks {
    /// The clocks of `threads` threads about which nothing is known.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for the state of the threads.
    pub fn new(threads: u32) -> Result<Self, OutOfMemory> {
        let unknown = Rc::default();
        let of_thread = |_| RefCell::new(Rc::clone(&unknown));
        Ok(Self {
            threads: try_collect((0..threads).map(of_thread))?,
            unknown,
        })
    }

    /// Forgets everything about all threads.
    pub fn clear(&mut self) {
        for thread in &mut self.threads {
            *thread.get_mut() = Rc::clone(&self.unknown);
        }
    }

    /// The number of threads.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// The accesses before thread number `thread`.
    #[inline]
    pub fn of(&self, thread: usize) -> Ref<'_, HappensBefore> {
        Ref::map(self.threads[thread].borrow(), |state| &**state)
    }

    /// The same, to be changed.
    #[inline]
    pub fn change(&self, thread: usize) -> RefMut<'_, HappensBefore> {
        RefMut::map(self.threads[thread].borrow_mut(), Rc::make_mut)
    }

    /// Gives each of these threads what all of them know.
    pub fn share(&self, threads: Range<usize>) {
        self.share_with(HappensBefore::default(), threads);
    }

    /// Gives each of these threads what all of them know, and `joined`.
    pub fn share_with(
        &self,
        mut joined: HappensBefore,
        threads: impl Iterator<Item = usize> + Clone,
    ) {
        let mut last = Rc::clone(&self.unknown);
        for thread in threads.clone() {
            let state = self.threads[thread].borrow();
            if !Rc::ptr_eq(&state, &last) {
                joined.add(&state);
                last = Rc::clone(&state);
            }
        }
        let joined = Rc::new(joined);
        for thread in threads {
            *self.threads[thread].borrow_mut() = Rc::clone(&joined);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::SplitMix64;
    use crate::check::cells::event::Time;
    use crate::check::clocks::block_clock::BlockClock;
    use crate::check::clocks::clock::{VectorClock, add};
    use std::sync::Arc;

    const THREADS: usize = 6;

    /// Compares with a table: for each thread, the last moment of each other thread that is before it.
    #[test]
    fn threads_know_what_they_have_been_given() {
        let mut random = SplitMix64::new(3, 0);
        let mut clocks = ThreadClocks::new(THREADS as u32).unwrap();
        let mut table = [[0; THREADS]; THREADS];
        let mut shared = 0;
        for step in 1..4000 {
            let mut below = |bound: usize| random.below(bound as u64) as usize;
            let (thread, other) = (below(THREADS), below(THREADS));
            match below(8) {
                0 if step % 50 == 0 => {
                    clocks.clear();
                    table = Default::default();
                }
                0..3 => {
                    let (first, end) = (thread.min(other), thread.max(other) + 1);
                    clocks.share(first..end);
                    let all = table[first..end].iter().copied();
                    let all = all
                        .reduce(|one, other| std::array::from_fn(|i| Time::max(one[i], other[i])));
                    table[first..end].fill(all.unwrap());
                    shared += end - first;
                }
                _ => {
                    let mut clock = VectorClock::default();
                    let number = other as u32;
                    let moment = BlockClock::new(0, [(number..number + 1, step)]);
                    clock.add_block(0, Arc::new(moment));
                    add(&mut clocks.change(thread).ordered, &Some(Arc::new(clock)));
                    table[thread][other] = step;
                }
            }
            for (thread, known) in table.iter().enumerate() {
                let state = clocks.of(thread);
                let of = |other| state.ordered.as_ref().map_or(0, |it| it.at(0, other));
                let found: [Time; THREADS] = std::array::from_fn(|other| of(other as u32));
                assert_eq!(found, *known, "thread {thread} after step {step}");
            }
        }
        assert!(shared > 1000, "{shared}");
    }
}
