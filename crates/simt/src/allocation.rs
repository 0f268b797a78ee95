//! Which global memory the host has allocated, and what of it has been written.
//!
//! Kernels may also be given memory that nobody has registered: it is checked
//! for races, and counts as written.

use bytemuck::allocation::try_zeroed_slice_box;
use std::ops::Range;
#[cfg(target_os = "linux")]
use std::sync::RwLockWriteGuard;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// What freshly allocated memory holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Contents {
    /// Nothing that a kernel may read.
    Unspecified,
    /// Values.
    Written,
}

/// The host has no memory left for what the checks of memory remember.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the host has no memory left for the simulator's checks")]
pub struct NoMemory;

/// One allocation of global memory.
pub(crate) struct Allocation {
    start: usize,
    bytes: usize,
    /// Whether all of it is known to be written; then `written` is not asked.
    is_written: AtomicBool,
    /// One bit for each byte.
    written: Box<[AtomicU64]>,
    /// Whether it must not be used any more.
    is_freed: bool,
}

/// Bytes that one word of bits stands for.
const BYTES_PER_WORD: usize = 64;

impl Allocation {
    fn new(start: usize, bytes: usize, contents: Contents) -> Result<Self, NoMemory> {
        if contents == Contents::Written {
            return Ok(Self::written(start, bytes));
        }
        let words = bytes.div_ceil(BYTES_PER_WORD);
        Ok(Self {
            is_written: AtomicBool::new(false),
            written: try_zeroed_slice_box(words).map_err(|()| NoMemory)?,
            ..Self::written(start, bytes)
        })
    }

    /// Memory of which each byte counts as written.
    fn written(start: usize, bytes: usize) -> Self {
        Self {
            start,
            bytes,
            is_written: AtomicBool::new(true),
            written: Box::default(),
            is_freed: false,
        }
    }

    /// Memory that was an allocation once.
    fn freed(start: usize, bytes: usize) -> Self {
        Self {
            is_freed: true,
            ..Self::written(start, bytes)
        }
    }

    /// Whether it has been freed.
    #[inline]
    pub fn is_freed(&self) -> bool {
        self.is_freed
    }

    #[inline]
    pub fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.start) < self.bytes
    }

    /// Start and length, in bytes.
    pub fn extent(&self) -> (usize, usize) {
        (self.start, self.bytes)
    }

    /// Whether all of `bytes` bytes from `address` on have been written.
    #[inline]
    pub fn is_written(&self, address: usize, bytes: usize) -> bool {
        self.is_written.load(Ordering::Relaxed)
            || self
                .words(address, bytes)
                .all(|(word, bits)| self.written[word].load(Ordering::Relaxed) & bits == bits)
    }

    /// Notes that `bytes` bytes from `address` on have been written.
    #[inline]
    pub fn mark_written(&self, address: usize, bytes: usize) {
        if self.is_written.load(Ordering::Relaxed) {
            return;
        }
        if bytes == self.bytes {
            self.is_written.store(true, Ordering::Relaxed);
            return;
        }
        for (word, bits) in self.words(address, bytes) {
            self.written[word].fetch_or(bits, Ordering::Relaxed);
        }
    }

    /// The words of `written` for these bytes, cut off at the allocation's end,
    /// with the bits that count.
    #[inline]
    fn words(&self, address: usize, bytes: usize) -> impl Iterator<Item = (usize, u64)> + use<> {
        let first = address - self.start;
        let end = (first + bytes).min(self.bytes);
        (first / BYTES_PER_WORD..end.div_ceil(BYTES_PER_WORD)).map(move |word| {
            let base = word * BYTES_PER_WORD;
            let from = first.saturating_sub(base);
            let to = (end - base).min(BYTES_PER_WORD);
            (word, u64::MAX >> (BYTES_PER_WORD - (to - from)) << from)
        })
    }
}

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

    fn remove(&mut self, addresses: Range<usize>) {
        Arc::make_mut(&mut self.0).retain(|allocation| {
            allocation.start >= addresses.end
                || allocation.start + allocation.bytes <= addresses.start
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

/// For a fork.
#[cfg(target_os = "linux")]
pub(crate) fn lock() -> RwLockWriteGuard<'static, impl Sized> {
    ALLOCATIONS.write().unwrap_or_else(PoisonError::into_inner)
}

fn change(action: impl FnOnce(&mut Allocations)) {
    let mut allocations = ALLOCATIONS.write().unwrap_or_else(PoisonError::into_inner);
    action(allocations.get_or_insert_default());
}

/// The allocations of this moment.
pub(crate) fn snapshot() -> Allocations {
    let allocations = ALLOCATIONS.read().unwrap_or_else(PoisonError::into_inner);
    allocations.clone().unwrap_or_default()
}

/// Whether the place of `known`, which a launch has found when it began, is another allocation by
/// now that holds `bytes` written bytes at `address`: static arrays come to be while launches run,
/// perhaps where a buffer of another device was.
#[cold]
pub(crate) fn is_replaced(known: &Allocation, address: usize, bytes: usize) -> bool {
    snapshot().find(address).is_some_and(|allocation| {
        !std::ptr::eq(allocation, known)
            && !allocation.is_freed()
            && allocation.is_written(address, bytes)
    })
}

/// Tells the checks of global memory that `bytes` bytes at `address` are one
/// allocation. Reports then give places in it, and kernels must not read what
/// nobody has written. Forgets allocations that were there before.
///
/// # Errors
///
/// [`NoMemory`] if the host has no memory for a bit for each byte, which unspecified contents need.
pub fn register_allocation(
    address: usize,
    bytes: usize,
    contents: Contents,
) -> Result<(), NoMemory> {
    let allocation = Allocation::new(address, bytes, contents)?;
    replace(address, bytes, allocation);
    Ok(())
}

/// Like [`register_allocation`], of memory that has values.
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

/// Tells the checks of global memory that the allocation of `bytes` bytes at `address` has been
/// freed: a kernel that is launched afterwards must not touch it. The memory is to stay unused
/// until [`forget_allocation`], so that nobody else is taken for its user.
pub fn mark_freed(address: usize, bytes: usize) {
    replace(address, bytes, Allocation::freed(address, bytes));
}

/// Notes that the host has written `bytes` bytes from `address` on.
pub fn mark_written(address: usize, bytes: usize) {
    if let Some(allocation) = snapshot().find(address) {
        allocation.mark_written(address, bytes);
    }
}

/// Notes that the host has copied `bytes` bytes from `source` to `destination`:
/// what was never written stays so.
pub fn mark_copied(destination: usize, source: usize, bytes: usize) {
    let allocations = snapshot();
    let is_written = |address, bytes| {
        allocations
            .find(address)
            .is_none_or(|allocation| allocation.is_written(address, bytes))
    };
    if is_written(source, bytes) {
        return mark_written(destination, bytes);
    }
    let Some(target) = allocations.find(destination) else {
        return;
    };
    for byte in (0..bytes).filter(|byte| is_written(source + byte, 1)) {
        target.mark_written(destination + byte, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_bytes_are_known_one_by_one() {
        let allocation = Allocation::new(1000, 200, Contents::Unspecified).unwrap();
        allocation.mark_written(1060, 70);
        assert!(allocation.is_written(1060, 70));
        assert!(!allocation.is_written(1059, 1));
        assert!(!allocation.is_written(1129, 2));
        assert!(allocation.is_written(1064, 64));
        allocation.mark_written(1000, 200);
        assert!(allocation.is_written(1000, 200));
    }

    #[test]
    fn what_came_after_a_launch_had_begun_is_known() {
        // No memory of this process is so low.
        let (address, bytes) = (64, 32);
        register_allocation(address, bytes, Contents::Unspecified).unwrap();
        mark_freed(address, bytes);
        let launch = snapshot();
        let known = launch.find(address).unwrap();
        assert!(known.is_freed() && !is_replaced(known, address, 8));
        forget_allocation(address, bytes);
        assert!(!is_replaced(known, address, 8));
        register_allocation(address, bytes, Contents::Unspecified).unwrap();
        assert!(!is_replaced(known, address, 8));
        mark_written(address, bytes);
        assert!(is_replaced(known, address, 8));
        forget_allocation(address, bytes);
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
        allocations.remove(240..310);
        assert_eq!(start_of(&allocations, 149), Some(100));
        assert_eq!(
            (start_of(&allocations, 200), start_of(&allocations, 300)),
            (None, None)
        );
    }
}
