//! The regions and allocations that a block has used lately.

use crate::basics::{Access, spread};
use crate::check::cells::global_cells::{Cells, REGION_BYTES};
use crate::check::cells::region::Region;
use crate::check::global::LaunchCheck;
use crate::memory::{Allocation, OutOfMemory};
use std::ops::Range;
use std::sync::Arc;

/// The number of regions kept: two to this power.
const REGION_BITS: u32 = 6;

/// A contiguous range of addresses.
#[derive(Clone, Copy, Default)]
struct Extent {
    start: usize,
    bytes: usize,
}

impl Extent {
    #[inline]
    fn contains(self, address: usize) -> bool {
        address.wrapping_sub(self.start) < self.bytes
    }

    /// Whether it has all of `bytes` bytes from `address` on.
    #[inline]
    fn contains_all(self, address: usize, bytes: usize) -> bool {
        let offset = address.wrapping_sub(self.start);
        offset < self.bytes && bytes <= self.bytes - offset
    }
}

impl From<Range<usize>> for Extent {
    fn from(range: Range<usize>) -> Self {
        Self {
            start: range.start,
            bytes: range.end - range.start,
        }
    }
}

/// A region, with the last lookup in it.
pub(in crate::check) struct Place {
    /// The part of `extent` that is in the region.
    within: Extent,
    /// The addresses of the allocation, or of the gap between two.
    extent: Extent,
    pub region: Arc<Region>,
    /// Whether kernels may access the extent.
    may_access: bool,
    /// Whether each access within the extent is valid from now on.
    is_always_valid: bool,
    /// The allocation of the last address, if it was in one.
    pub allocation: Option<Arc<Allocation>>,
}

impl Place {
    /// Whether view and access are in the allocation, or both are in none.
    #[inline]
    pub fn holds(&self, access: &Access) -> bool {
        self.extent.contains(access.view_base)
            && self.extent.contains_all(access.address(), access.bytes)
    }

    /// Whether the allocation exists, and the bytes that are read of it have been written.
    #[inline]
    pub fn is_valid(&self, access: &Access, reads: bool) -> bool {
        self.is_always_valid || self.is_valid_now(access, reads)
    }

    /// Records that an access has written these bytes of the allocation.
    #[inline]
    pub fn note_written(&self, address: usize, bytes: usize) {
        if !self.is_always_valid {
            self.mark_written(address, bytes);
        }
    }

    #[cold]
    #[inline(never)]
    fn mark_written(&self, address: usize, bytes: usize) {
        if let Some(allocation) = &self.allocation {
            allocation.mark_written(address, bytes);
        }
    }

    fn is_valid_now(&self, access: &Access, reads: bool) -> bool {
        self.allocation.as_ref().is_some_and(|allocation| {
            !allocation.is_freed()
                && (!reads || allocation.is_written(access.address(), access.bytes))
        })
    }
}

/// The regions that a block has used lately, by [`slot_of`] their number.
pub(in crate::check) struct Nearby {
    /// The cells of places where accesses are allowed, if they were there when they were looked for.
    cells: [Option<Arc<Cells>>; 1 << REGION_BITS],
    places: [Option<Place>; 1 << REGION_BITS],
}

/// The slot of a region. A block often accesses regions at distances of a power of two.
#[inline]
fn slot_of(number: usize) -> usize {
    (spread(number as u64) >> (u64::BITS - REGION_BITS)) as usize
}

impl Default for Nearby {
    fn default() -> Self {
        Self {
            cells: [const { None }; 1 << REGION_BITS],
            places: [const { None }; 1 << REGION_BITS],
        }
    }
}

impl Nearby {
    /// Forgets what it knows of a launch.
    pub fn clear(&mut self) {
        self.forget_cells();
        self.places.fill_with(|| None);
    }

    /// Drops all cells: there are none [at](Self::cells_at) an address until an access of its region is recorded.
    pub fn forget_cells(&mut self) {
        self.cells.fill_with(|| None);
    }

    /// The place of `address`.
    #[inline]
    pub fn find(&mut self, launch: &LaunchCheck, address: usize) -> Result<&Place, OutOfMemory> {
        let number = address / REGION_BYTES;
        let slot = &mut self.places[slot_of(number)];
        let is_known = |place: &Place| place.within.contains(address);
        if !slot.as_ref().is_some_and(is_known) {
            let (allocation, extent) = launch.surroundings(address);
            launch.keep(allocation.as_ref(), number)?;
            let is_written = allocation.as_ref().is_none_or(|it| it.is_all_written());
            let first = number * REGION_BYTES;
            let end = first.saturating_add(REGION_BYTES).min(extent.end);
            self.cells[slot_of(number)] = None;
            let may_access = launch.may_access(allocation.as_deref());
            *slot = Some(Place {
                within: (first.max(extent.start)..end).into(),
                extent: extent.into(),
                region: launch.region(number)?,
                may_access,
                is_always_valid: is_written && may_access,
                allocation,
            });
        }
        match slot {
            Some(place) => Ok(place),
            None => unreachable!("it has just been filled"),
        }
    }

    /// Looks for the cells of the region of `address` again: they may have changed since the last time.
    #[inline]
    pub fn look_for_cells(&mut self, address: usize) {
        let slot = slot_of(address / REGION_BYTES);
        if self.cells_at(address).is_none()
            && let Some(place) = &self.places[slot]
        {
            self.cells[slot] = place.region.present_cells().filter(|_| place.may_access);
        }
    }

    /// The cells of the region of a place that [`place_of`](Self::place_of) has found, if they are known and accesses
    /// within its extent are allowed.
    #[inline]
    pub fn cells_at(&self, address: usize) -> Option<&Cells> {
        let cells = self.cells[slot_of(address / REGION_BYTES)].as_deref();
        cells.filter(|cells| !cells.are_outdated())
    }

    /// The place of an access, and its offset in the region, if both are known: view and access are in
    /// one allocation, or both in none, and the access is in one region.
    #[inline]
    pub fn place_of(&self, access: &Access) -> Option<(&Place, usize)> {
        let address = access.address();
        let place = self.places[slot_of(address / REGION_BYTES)].as_ref()?;
        let is_known = place.within.contains_all(address, access.bytes)
            && place.extent.contains(access.view_base);
        is_known.then_some((place, address % REGION_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The regions of a block that takes every 2^n-th tile of an array have different places.
    #[test]
    fn regions_at_distances_of_powers_of_two_rarely_share_a_slot() {
        for exponent in 0..24 {
            let slots: BTreeSet<usize> = (0..16)
                .map(|it| slot_of(12345 + (it << exponent)))
                .collect();
            assert!(slots.len() >= 10, "{} slots at 2^{exponent}", slots.len());
        }
    }
}
