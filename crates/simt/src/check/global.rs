//! What the blocks of one launch share: the shadow of global memory, and what
//! atomic updates have published.

use super::findings::Findings;
use super::published::Published;
use super::region::Region;
use crate::basics::{ViewName, spread};
use crate::memory::{Allocations, OutOfMemory, hold_reserve, release_reserve, snapshot};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// Parts of the shadow with a lock each, so that workers rarely meet.
const SHARDS: usize = 64;

/// The checks of one launch.
pub(crate) struct LaunchCheck {
    shards: [Mutex<Regions>; SHARDS],
    pub(super) published: Published,
    pub allocations: Allocations,
    pub findings: Findings,
    pub views: Arc<[ViewName]>,
    /// Whether one host thread runs all blocks.
    is_exclusive: bool,
}

/// Regions by their number.
type Regions = HashMap<usize, Arc<Region>, BuildHasherDefault<RegionHasher>>;

impl LaunchCheck {
    /// The checks of a launch that begins now, with no `findings` yet, of a kernel with these
    /// `views`; `is_exclusive`: one host thread runs all blocks.
    pub fn new(is_exclusive: bool, findings: Findings, views: &Arc<[ViewName]>) -> Self {
        hold_reserve();
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            published: Published::default(),
            allocations: snapshot(),
            findings,
            views: Arc::clone(views),
            is_exclusive,
        }
    }

    /// The shadow of region number `number`.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for another region.
    #[cold]
    pub(super) fn region(&self, number: usize) -> Result<Arc<Region>, OutOfMemory> {
        // No panic leaves what the lock protects half done.
        let shard = self.shards[number % SHARDS].lock();
        let mut regions = shard.unwrap_or_else(PoisonError::into_inner);
        if regions.len() == regions.capacity() {
            regions.try_reserve(1).map_err(|_| release_reserve())?;
        }
        let region = match regions.entry(number) {
            Entry::Occupied(region) => region.into_mut(),
            Entry::Vacant(place) => place.insert(Arc::new(Region::new(self.is_exclusive))),
        };
        Ok(Arc::clone(region))
    }
}

/// Spreads region numbers: one multiplication, and the high bits folded down.
#[derive(Default)]
pub(super) struct RegionHasher(u64);

impl Hasher for RegionHasher {
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
        let spread = spread(self.0 ^ number as u64);
        self.0 = spread ^ (spread >> 32);
    }
}
