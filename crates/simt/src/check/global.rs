//! What the blocks of one launch share: the shadow of global memory, and what
//! atomic updates have published.

use super::clock::{SharedClock, add};
use super::shadow::Page;
use crate::memory::{Allocations, OutOfMemory, hold_reserve, release_reserve, snapshot};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Parts of the shadow with a lock each, so that workers rarely meet.
const SHARDS: usize = 64;

/// The checks of one launch.
pub(crate) struct LaunchCheck {
    shards: [Mutex<Pages>; SHARDS],
    /// By address: the clocks of the threads that released it by a fence before
    /// their atomic update.
    published: Mutex<HashMap<usize, SharedClock>>,
    /// Whether anything was published: most launches never do.
    has_published: AtomicBool,
    pub allocations: Allocations,
}

/// Pages by their number.
type Pages = HashMap<usize, Page, BuildHasherDefault<PageHasher>>;

impl LaunchCheck {
    /// The checks of a launch that begins now.
    pub fn new() -> Self {
        hold_reserve();
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            published: Mutex::default(),
            has_published: AtomicBool::new(false),
            allocations: snapshot(),
        }
    }

    /// Calls `action` with a page of the shadow, which no other thread has meanwhile.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for another page.
    #[inline]
    pub(super) fn with_page<R>(
        &self,
        number: usize,
        action: impl FnOnce(&mut Page) -> R,
    ) -> Result<R, OutOfMemory> {
        let mut pages = lock(&self.shards[number % SHARDS]);
        if pages.len() == pages.capacity() {
            pages.try_reserve(1).map_err(|_| release_reserve())?;
        }
        let page = match pages.entry(number) {
            Entry::Occupied(page) => page.into_mut(),
            Entry::Vacant(place) => place.insert(Page::new()?),
        };
        Ok(action(page))
    }

    /// An atomic update of `address` hands on `clock`.
    pub(super) fn publish(&self, address: usize, clock: &SharedClock) {
        add(lock(&self.published).entry(address).or_default(), clock);
        self.has_published.store(true, Ordering::Release);
    }

    /// What atomic updates of `address` have handed on so far.
    #[inline]
    pub(super) fn published(&self, address: usize) -> SharedClock {
        if !self.has_published.load(Ordering::Acquire) {
            return None;
        }
        lock(&self.published).get(&address).cloned().flatten()
    }
}

/// No panic leaves what these locks protect half done.
#[inline]
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Spreads page numbers: one multiplication, and the high bits folded down.
#[derive(Default)]
pub(super) struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        // 2^64 divided by the golden ratio.
        let mixed = (self.0 ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
