//! Checks that the blocks of one launch share: the shadow of global memory, and the releases of atomic updates.

use crate::basics::{NumberMap, ViewName, lock};
use crate::check::asynchronous::clusters::Clusters;
use crate::check::cells::global_cells::REGION_BYTES;
use crate::check::cells::region::Region;
use crate::check::clocks::clock::SharedClock;
use crate::check::reports::findings::Findings;
use crate::check::weak_memory::later_stores::LaterStores;
use crate::check::weak_memory::published::Published;
use crate::memory::{
    Allocation, Allocations, OutOfMemory, Undo, hold_reserve, release_reserve, snapshot,
};
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

/// Parts of the shadow, each with its own lock, so that workers rarely meet.
const SHARDS: usize = 64;

/// The checks of one launch.
pub(crate) struct LaunchCheck {
    shards: [Mutex<Regions>; SHARDS],
    pub(super) published: Published,
    fences: Mutex<Fences>,
    pub allocations: Allocations,
    pub findings: Findings,
    pub conditions: Conditions,
    pub later_stores: LaterStores,
    /// The memory's contents before the launch, if the launch will be undone.
    pub undo: Option<Undo>,
}

/// The accesses before the last sequentially consistent fences.
#[derive(Default)]
pub(super) struct Fences {
    /// Before fences with device scope.
    pub device: SharedClock,
    /// By cluster of several blocks: before its threads' fences with cluster scope or wider.
    pub clusters: BTreeMap<u32, SharedClock>,
}

/// The conditions on which the checks of a launch depend.
#[derive(Default)]
pub(crate) struct Conditions {
    /// Whether one host thread runs all blocks.
    pub is_exclusive: bool,
    /// Whether kernels may access only registered memory.
    pub registered_only: bool,
    /// The kernel's views.
    pub views: Arc<[ViewName]>,
    /// The seed of loads that return older stores. `None` if each load returns the newest.
    pub stale_loads: Option<u64>,
    pub clusters: Clusters,
}

/// Regions by their number.
type Regions = NumberMap<usize, Arc<Region>>;

impl LaunchCheck {
    /// The checks of a launch that begins now, with no `findings` yet.
    pub fn new(findings: Findings, conditions: Conditions) -> Self {
        hold_reserve();
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            published: Published::default(),
            fences: Mutex::default(),
            allocations: snapshot(),
            findings,
            conditions,
            later_stores: LaterStores::default(),
            undo: None,
        }
    }

    /// The launch may access the part of `allocation` in region number `number` from now on.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for the memory's old contents.
    pub(super) fn keep(
        &self,
        allocation: Option<&Arc<Allocation>>,
        number: usize,
    ) -> Result<(), OutOfMemory> {
        let (Some(undo), Some(allocation)) = (&self.undo, allocation) else {
            return Ok(());
        };
        let first = number * REGION_BYTES;
        undo.keep(allocation, first..first.saturating_add(REGION_BYTES))
    }

    /// Whether kernels may access `allocation`, or memory in no allocation, without regard to what is written.
    pub(super) fn may_access(&self, allocation: Option<&Allocation>) -> bool {
        allocation.map_or(!self.conditions.registered_only, |it| !it.is_freed())
    }

    /// The allocation of `address` and its addresses; otherwise the addresses of the gap around it. Static arrays are
    /// registered at their first use, which may be during the launch.
    pub(super) fn surroundings(&self, address: usize) -> (Option<Arc<Allocation>>, Range<usize>) {
        let known = self.allocations.surroundings(address);
        match known.0.is_none() && self.conditions.registered_only {
            true => snapshot().surroundings(address),
            false => known,
        }
    }

    /// The accesses before the last sequentially consistent fences of wider scopes than a block. No other host thread
    /// changes them meanwhile.
    pub(super) fn lock_fences(&self) -> MutexGuard<'_, Fences> {
        lock(&self.fences)
    }

    /// The shadow of region number `number`.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for another region.
    #[cold]
    pub(super) fn region(&self, number: usize) -> Result<Arc<Region>, OutOfMemory> {
        let mut regions = lock(&self.shards[number % SHARDS]);
        if regions.len() == regions.capacity() {
            regions.try_reserve(1).map_err(|_| release_reserve())?;
        }
        let region = match regions.entry(number) {
            Entry::Occupied(region) => region.into_mut(),
            Entry::Vacant(place) => {
                place.insert(Arc::new(Region::new(self.conditions.is_exclusive)))
            }
        };
        Ok(Arc::clone(region))
    }

    /// Forgets the shadow, except the regions that blocks still hold.
    pub fn forget_regions(&self) {
        for shard in &self.shards {
            *lock(shard) = Regions::default();
        }
    }
}
