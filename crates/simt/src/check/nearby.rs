//! The regions and allocations that a block has used lately.

use super::event::Event;
use super::global::LaunchCheck;
use super::region::{REGION_BYTES, Region};
use crate::basics::{Access, spread};
use crate::memory::{Allocation, OutOfMemory};
use std::ops::Range;
use std::sync::Arc;

/// How many regions are kept: two to this power.
const REGION_BITS: u32 = 6;

/// A region, and what was last found in it.
pub(super) struct Place {
    number: usize,
    pub region: Arc<Region>,
    /// The allocation in which the last address was, if it was in one.
    pub allocation: Option<Arc<Allocation>>,
    /// The addresses of that allocation, or those between two others.
    extent: Range<usize>,
    /// Whether each access is valid that the extent holds, whatever comes.
    is_always_valid: bool,
}

impl Place {
    /// Whether view and access are in the allocation, or both are in none.
    #[inline]
    pub fn holds(&self, access: &Access) -> bool {
        let (base, address) = (access.view_base, access.address());
        self.extent.start <= base.min(address)
            && base < self.extent.end
            && address < self.extent.end
            && access.bytes <= self.extent.end - address
    }

    /// Whether the allocation is there, and what is read of it has been written.
    #[inline]
    pub fn is_valid(&self, access: &Access, reads: bool) -> bool {
        self.is_always_valid || self.is_valid_now(access, reads)
    }

    /// Notes what a recorded access has written of the allocation.
    #[inline]
    pub fn note_written(&self, access: &Access, event: &Event) {
        if event.kind.writes()
            && let Some(allocation) = &self.allocation
        {
            allocation.mark_written(access.address(), access.bytes);
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
pub(super) struct Nearby {
    places: [Option<Place>; 1 << REGION_BITS],
}

/// Where a region is kept. A block often accesses regions at distances of a power of two.
#[inline]
fn slot_of(number: usize) -> usize {
    (spread(number as u64) >> (u64::BITS - REGION_BITS)) as usize
}

impl Default for Nearby {
    fn default() -> Self {
        Self {
            places: [const { None }; 1 << REGION_BITS],
        }
    }
}

impl Nearby {
    /// Forgets what it knows of a launch.
    pub fn clear(&mut self) {
        self.places.fill_with(|| None);
    }

    /// The place of `address`.
    #[inline]
    pub fn find(&mut self, launch: &LaunchCheck, address: usize) -> Result<&Place, OutOfMemory> {
        let number = address / REGION_BYTES;
        let slot = &mut self.places[slot_of(number)];
        let is_known = |place: &Place| place.number == number && place.extent.contains(&address);
        if !slot.as_ref().is_some_and(is_known) {
            let (allocation, extent) = launch.surroundings(address);
            launch.keep(allocation.as_ref(), number)?;
            let is_written = allocation.as_ref().is_none_or(|it| it.is_all_written());
            *slot = Some(Place {
                number,
                region: launch.region(number)?,
                is_always_valid: is_written && launch.may_access(allocation.as_deref()),
                allocation,
                extent,
            });
        }
        match slot {
            Some(place) => Ok(place),
            None => unreachable!("it has just been filled"),
        }
    }

    /// The place of an access, and its offset in the region, if both are known: view and access are in
    /// one allocation, or both in none, and the access is in one region.
    #[inline]
    pub fn place_of(&self, access: &Access) -> Option<(&Place, usize)> {
        let address = access.address();
        let (number, offset) = (address / REGION_BYTES, address % REGION_BYTES);
        let place = self.places[slot_of(number)].as_ref()?;
        let is_known =
            place.number == number && offset + access.bytes <= REGION_BYTES && place.holds(access);
        is_known.then_some((place, offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A block that takes every 2^n-th tile of an array has its regions in places of their own.
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
