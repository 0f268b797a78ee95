//! The allocations of global memory in this process, by address.
//!
//! A kernel may also use unregistered memory, which is checked for races and counts as written.

use super::allocation::{Allocation, Contents};
use super::reserve::OutOfMemory;
use std::ops::Range;
#[cfg(target_os = "linux")]
use std::sync::RwLockWriteGuard;
use std::sync::{Arc, PoisonError, RwLock};

/// Allocations by address.
#[derive(Clone, Default)]
pub(crate) struct Allocations(Arc<Vec<Arc<Allocation>>>);

impl Allocations {
    /// The allocation that holds `address`.
    #[inline]
    pub fn find(&self, address: usize) -> Option<&Allocation> {
        let following = self
            .0
            .partition_point(|allocation| allocation.start <= address);
        let candidate = self.0.get(following.checked_sub(1)?)?;
        candidate.contains(address).then_some(&**candidate)
    }

    /// The allocation that holds `address`, with its range of addresses; otherwise the range around
    /// `address` that belongs to none.
    pub fn surroundings(&self, address: usize) -> (Option<Arc<Allocation>>, Range<usize>) {
        let following = self
            .0
            .partition_point(|allocation| allocation.start <= address);
        let before = following.checked_sub(1).map(|index| &self.0[index]);
        if let Some(allocation) = before.filter(|allocation| allocation.contains(address)) {
            let extent = allocation.start..allocation.end();
            return (Some(Arc::clone(allocation)), extent);
        }
        let start = before.map_or(0, |allocation| allocation.end());
        let end = self.0.get(following).map_or(usize::MAX, |next| next.start);
        (None, start..end)
    }

    /// The allocation nearest to `address`, which is in none, and the number of bytes between them.
    pub fn nearest(&self, address: usize) -> Option<(&Allocation, usize)> {
        let following = self.0.partition_point(|it| it.start <= address);
        let before = following.checked_sub(1).map(|index| &*self.0[index]);
        let before = before.map(|it| (it, address.saturating_sub(it.end())));
        let behind = self.0.get(following).map(|it| (&**it, it.start - address));
        let both = before.into_iter().chain(behind);
        both.min_by_key(|(_, distance)| *distance)
    }

    fn remove(&mut self, addresses: Range<usize>) {
        Arc::make_mut(&mut self.0).retain(|allocation| {
            // One without bytes overlaps nothing, but is at its address.
            let is_empty_there = allocation.bytes == 0 && allocation.start == addresses.start;
            let is_outside =
                allocation.start >= addresses.end || allocation.end() <= addresses.start;
            is_outside && !is_empty_there
        });
    }

    fn insert(&mut self, allocation: Allocation) {
        let allocations = Arc::make_mut(&mut self.0);
        let place = allocations.partition_point(|other| other.start < allocation.start);
        allocations.insert(place, Arc::new(allocation));
    }
}

/// All allocations of the process. Launches look at a copy of the list.
static ALLOCATIONS: RwLock<Option<Allocations>> = RwLock::new(None);

/// Locks the list for a fork.
#[cfg(target_os = "linux")]
pub(crate) fn lock() -> RwLockWriteGuard<'static, impl Sized> {
    ALLOCATIONS.write().unwrap_or_else(PoisonError::into_inner)
}

fn change(action: impl FnOnce(&mut Allocations)) {
    let mut allocations = ALLOCATIONS.write().unwrap_or_else(PoisonError::into_inner);
    action(allocations.get_or_insert_default());
}

/// The current allocations.
pub(crate) fn snapshot() -> Allocations {
    let allocations = ALLOCATIONS.read().unwrap_or_else(PoisonError::into_inner);
    allocations.clone().unwrap_or_default()
}

/// Whether `known`, an allocation when the launch began, has since been replaced at `address` by one with `bytes`
/// written bytes there. Static arrays are allocated while launches run, perhaps in the place of another device's
/// freed buffer.
#[cold]
pub(crate) fn is_replaced(known: &Allocation, address: usize, bytes: usize) -> bool {
    snapshot().find(address).is_some_and(|allocation| {
        !std::ptr::eq(allocation, known)
            && !allocation.is_freed()
            && allocation.is_written(address, bytes)
    })
}

/// Whether one current allocation, not freed, holds both `base` and the `bytes` bytes at `address`.
#[cold]
pub(crate) fn is_inside_one(base: usize, address: usize, bytes: usize) -> bool {
    snapshot().find(address).is_some_and(|allocation| {
        !allocation.is_freed() && allocation.contains(base) && bytes <= allocation.end() - address
    })
}

/// Whether one allocation, not freed, holds `bytes` bytes at `address`.
#[must_use]
pub fn is_allocated(address: usize, bytes: usize) -> bool {
    is_inside_one(address, address, bytes)
}

/// Registers `bytes` bytes at `address` as one allocation of global memory.
///
/// Reports then give places in it, and kernels must not read its unwritten bytes. Earlier allocations that overlap
/// are forgotten. With [`Options::weak_memory`](crate::Options::weak_memory), a launch may restore what it has
/// accessed, with the bytes of the same allocation around it, and access it again.
///
/// # Safety
///
/// 1. While a launch may access one of the bytes ([`access`](crate::access)), all of them are valid for reads, and those
///    that a kernel writes for writes, even if the allocation is forgotten meanwhile.
/// 2. Meanwhile other threads access them only through this crate.
///
/// # Errors
///
/// [`OutOfMemory`] if the host lacks memory for one bit per byte, which uninitialised contents need.
pub unsafe fn register_allocation(
    address: usize,
    bytes: usize,
    contents: Contents,
) -> Result<(), OutOfMemory> {
    let allocation = Allocation::new(address, bytes, contents)?;
    replace(address, bytes, allocation);
    Ok(())
}

/// Like [`register_allocation`], for memory that has values.
pub(crate) fn register_written(address: usize, bytes: usize) {
    replace(address, bytes, Allocation::written(address, bytes));
}

fn replace(address: usize, bytes: usize, allocation: Allocation) {
    change(|allocations| {
        allocations.remove(address..address.saturating_add(bytes));
        allocations.insert(allocation);
    });
}

/// Forgets the allocation of `bytes` bytes at `address`.
pub fn forget_allocation(address: usize, bytes: usize) {
    change(|allocations| allocations.remove(address..address.saturating_add(bytes)));
}

/// Marks the allocation of `bytes` bytes at `address` as freed: later launches must not touch it.
///
/// The memory must stay unused until [`forget_allocation`], so that no later allocation is mistaken for it.
pub fn mark_freed(address: usize, bytes: usize) {
    let freed = Allocation::freed(address, bytes);
    change(|allocations| {
        freed.set_name(allocations.find(address).and_then(Allocation::name));
        allocations.remove(address..address.saturating_add(bytes));
        allocations.insert(freed);
    });
}

/// Names the allocation that holds `address`, or begins there without bytes, for reports.
///
/// The name stays until the memory is registered anew or forgotten.
pub fn name_allocation(address: usize, name: &str) {
    change(|allocations| {
        let nearest = || Some(allocations.nearest(address)?.0);
        let begins_there = |it: &&Allocation| it.start == address;
        let found = allocations.find(address);
        if let Some(allocation) = found.or_else(|| nearest().filter(begins_there)) {
            allocation.set_name(Some(name.into()));
        }
    });
}

/// "buffer `name` of 96 bytes"; `unnamed` in place of "buffer" and the name where it has none.
#[cold]
pub(crate) fn describe(allocation: &Allocation, unnamed: &str) -> String {
    let bytes = allocation.bytes;
    match name_of(allocation) {
        Some(name) => format!("buffer `{name}` of {bytes} bytes"),
        None => format!("{unnamed} of {bytes} bytes"),
    }
}

/// The host's name of an allocation.
#[cold]
fn name_of(allocation: &Allocation) -> Option<Arc<str>> {
    let _no_fork = ALLOCATIONS.read().unwrap_or_else(PoisonError::into_inner);
    allocation.name()
}

/// The name of the current allocation that holds `address`, if it has one ([`name_allocation`]).
#[cold]
pub fn allocation_name(address: usize) -> Option<Arc<str>> {
    let allocations = snapshot();
    allocations.find(address).and_then(name_of)
}

/// The start of the current allocation that holds `address`.
#[cold]
pub(crate) fn start_of(address: usize) -> Option<usize> {
    let allocations = snapshot();
    allocations.find(address).map(|allocation| allocation.start)
}

/// Notes that the host has written `bytes` bytes from `address` on.
pub fn mark_written(address: usize, bytes: usize) {
    if let Some(allocation) = snapshot().find(address) {
        allocation.mark_written(address, bytes);
    }
}

/// The offset of the first unwritten byte among `bytes` bytes from `address` on.
///
/// None if the host or a kernel has written all of them, or if they belong to no allocation.
#[must_use]
pub fn first_unwritten(address: usize, bytes: usize) -> Option<usize> {
    let allocations = snapshot();
    let allocation = allocations.find(address)?;
    allocation.first_unwritten(address, bytes)
}

/// Notes that the host has copied `bytes` bytes from `source` to `destination`.
///
/// Copies of unwritten bytes count as unwritten.
pub fn mark_copied(destination: usize, source: usize, bytes: usize) {
    let allocations = snapshot();
    let Some(from) = allocations.find(source) else {
        return mark_written(destination, bytes);
    };
    let Some(to) = allocations.find(destination) else {
        return;
    };
    // No copy goes past the end of an allocation.
    let bytes = bytes.min(from.end() - source).min(to.end() - destination);
    let mut offset = 0;
    // Written bytes, run by run.
    while let Some(gap) = from.first_written(source + offset, bytes - offset) {
        offset += gap;
        let rest = bytes - offset;
        let run = from.first_unwritten(source + offset, rest).unwrap_or(rest);
        to.mark_written(destination + offset, run);
        offset += run;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_after_a_launch_had_begun_is_known() {
        // No memory of this process has such a low address.
        let (address, bytes) = (64, 32);
        let register = || {
            // SAFETY: no launch accesses such memory, so it need not be valid, and no thread accesses it meanwhile.
            unsafe { register_allocation(address, bytes, Contents::Uninitialised) }.unwrap();
        };
        register();
        mark_freed(address, bytes);
        let launch = snapshot();
        let known = launch.find(address).unwrap();
        assert!(known.is_freed() && !is_replaced(known, address, 8));
        forget_allocation(address, bytes);
        assert!(!is_replaced(known, address, 8));
        register();
        assert!(!is_replaced(known, address, 8));
        mark_written(address, bytes);
        assert!(is_replaced(known, address, 8));
        forget_allocation(address, bytes);
    }

    #[test]
    fn copies_take_along_what_is_written() {
        let [source, destination, bytes] = [1 << 10, 1 << 11, 1000];
        for address in [source, destination] {
            // SAFETY: no launch accesses such memory, so it need not be valid, and no thread accesses it meanwhile.
            unsafe { register_allocation(address, bytes, Contents::Uninitialised) }.unwrap();
        }
        mark_written(source + 100, 1);
        mark_written(source + 200, 300);
        mark_copied(destination + 7, source, usize::MAX);
        let unwritten = |from: usize| first_unwritten(destination + from, bytes - from);
        assert_eq!((unwritten(0), unwritten(107)), (Some(0), Some(1)));
        assert_eq!((unwritten(206), unwritten(207)), (Some(0), Some(300)));
        for address in [source, destination] {
            forget_allocation(address, bytes);
        }
    }

    #[test]
    fn no_allocation_reaches_past_the_last_address() {
        let (address, bytes) = (usize::MAX - 64, 1000);
        mark_freed(address, bytes);
        let (allocation, extent) = snapshot().surroundings(address + 1);
        assert!(allocation.is_some_and(|it| it.is_freed()));
        assert_eq!(extent, address..usize::MAX);
        forget_allocation(address, bytes);
        assert!(snapshot().find(address).is_none());
    }

    #[test]
    fn an_address_belongs_to_one_allocation() {
        let mut allocations = Allocations::default();
        for start in [300, 100, 200] {
            allocations.insert(Allocation::written(start, 50));
        }
        let start_of = |allocations: &Allocations, address| {
            allocations.find(address).map(|allocation| allocation.start)
        };
        assert_eq!(start_of(&allocations, 99), None);
        assert_eq!(start_of(&allocations, 149), Some(100));
        assert_eq!(start_of(&allocations, 150), None);
        assert_eq!(start_of(&allocations, 300), Some(300));
        let around = |address| {
            let (allocation, extent) = allocations.surroundings(address);
            (allocation.map(|allocation| allocation.start), extent)
        };
        assert_eq!(around(120), (Some(100), 100..150));
        assert_eq!(around(170), (None, 150..200));
        assert_eq!(around(7), (None, 0..100));
        assert_eq!(around(400), (None, 350..usize::MAX));
        let nearest = |address| {
            let (allocation, distance) = allocations.nearest(address).unwrap();
            (allocation.start, distance)
        };
        assert_eq!(
            [40, 160, 190, 400].map(nearest),
            [(100, 60), (100, 10), (200, 10), (300, 50)]
        );
        allocations.remove(240..310);
        assert_eq!(start_of(&allocations, 149), Some(100));
        assert_eq!(
            (start_of(&allocations, 200), start_of(&allocations, 300)),
            (None, None)
        );
    }
}
