//! What is before each thread of a block.

use super::happens_before::HappensBefore;
use crate::memory::{OutOfMemory, try_collect};
use std::cell::{Ref, RefCell, RefMut};
use std::ops::Range;
use std::rc::Rc;

/// What is before each thread of a block. Threads that a barrier has made equal have one state together, until something
/// is added to that of one of them.
pub(super) struct ThreadClocks {
    /// That of a thread of which nothing is known.
    unknown: Rc<HappensBefore>,
    threads: Vec<RefCell<Rc<HappensBefore>>>,
}

impl ThreadClocks {
    /// Nothing is known of `threads` threads.
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

    /// Forgets all that is known.
    pub fn clear(&mut self) {
        for thread in &mut self.threads {
            *thread.get_mut() = Rc::clone(&self.unknown);
        }
    }

    /// How many threads there are.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// What is before thread number `thread`.
    #[inline]
    pub fn of(&self, thread: usize) -> Ref<'_, HappensBefore> {
        Ref::map(self.threads[thread].borrow(), |state| &**state)
    }

    /// The same, to be changed.
    #[inline]
    pub fn change(&self, thread: usize) -> RefMut<'_, HappensBefore> {
        RefMut::map(self.threads[thread].borrow_mut(), Rc::make_mut)
    }

    /// Gives to each of these threads what all of them know.
    pub fn share(&self, threads: Range<usize>) {
        self.share_with(HappensBefore::default(), threads);
    }

    /// Gives to each of these threads what all of them know, and `joined`.
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
