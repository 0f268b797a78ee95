//! Memory of other libraries that the simulator's kernels may use.

use crate::locks::lock;
use std::ops::Range;
use std::sync::Mutex;

/// The address ranges of tensors, each listed once for every tensor that has it.
///
/// Ranges that overlap, as those of two parts of one array do, are one allocation for the simulator.
static RANGES: Mutex<Vec<Range<usize>>> = Mutex::new(Vec::new());

/// A range of addresses that kernels of the simulator may access as long as this lives.
#[derive(Debug)]
pub(super) struct HostMemory(Range<usize>);

impl HostMemory {
    /// Lets kernels access `bytes` bytes at `address`, which count as written.
    ///
    /// `None` if the simulator knows the memory already, because it is a buffer's, or if there are no bytes.
    ///
    /// # Safety
    /// 1. The bytes are valid for reads as long as the result lives, and those that a kernel writes for writes.
    /// 2. While a launch runs, nothing else writes them.
    pub(super) unsafe fn lend(address: usize, bytes: usize) -> Option<Self> {
        if bytes == 0 {
            return None;
        }
        simt::refuse_host_call("import of a tensor");
        let range = address..address.saturating_add(bytes);
        let mut ranges = lock(&RANGES);
        let is_known = ranges.iter().any(|other| overlap(other, &range));
        if !is_known && simt::is_allocated(address, bytes) {
            simt::mark_written(address, bytes);
            return None;
        }
        ranges.push(range.clone());
        register(&ranges, &range);
        Some(Self(range))
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // The locks must not stay locked if a kernel that drops a tensor is stopped.
        simt::uninterrupted(|| forget(&self.0));
    }
}

/// Ends one lending of `range`.
fn forget(range: &Range<usize>) {
    let mut ranges = lock(&RANGES);
    let whole = connected(&ranges, range);
    if let Some(place) = ranges.iter().position(|other| other == range) {
        ranges.swap_remove(place);
    }
    simt::forget_allocation(whole.start, whole.len());
    for left in ranges.iter().filter(|range| overlap(range, &whole)) {
        register(&ranges, left);
    }
}

fn overlap(left: &Range<usize>, right: &Range<usize>) -> bool {
    left.start < right.end && right.start < left.end
}

/// The union of `range` and of all ranges that are connected with it.
fn connected(ranges: &[Range<usize>], range: &Range<usize>) -> Range<usize> {
    let mut whole = range.clone();
    loop {
        let touching = ranges.iter().filter(|other| overlap(other, &whole));
        let wider = touching.fold(whole.clone(), |whole, other| {
            whole.start.min(other.start)..whole.end.max(other.end)
        });
        if wider == whole {
            return whole;
        }
        whole = wider;
    }
}

/// Makes one allocation of `range` and all ranges that are connected with it.
fn register(ranges: &[Range<usize>], range: &Range<usize>) {
    let whole = connected(ranges, range);
    // SAFETY: the bytes of each range are valid, and nothing else writes them while a launch runs, by the contract of
    // `lend`; the whole has no others.
    let registered =
        unsafe { simt::register_allocation(whole.start, whole.len(), simt::Contents::Initialised) };
    // Only memory with unspecified contents takes memory of the host.
    debug_assert!(registered.is_ok());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_overlap_are_one_allocation_until_the_last_is_gone() {
        let array = [0_u32; 64];
        let first = array.as_ptr().expose_provenance();
        // SAFETY: the array is alive and nothing writes it.
        let lend = |from: usize, to: usize| unsafe { HostMemory::lend(first + from, to - from) };
        let is_allocated = |from: usize, to: usize| simt::is_allocated(first + from, to - from);
        let (left, right) = (lend(0, 100), lend(120, 200));
        assert!(is_allocated(0, 100) && is_allocated(120, 200) && !is_allocated(0, 200));
        let (middle, inner) = (lend(80, 140), lend(20, 40));
        assert!(is_allocated(0, 200));
        drop(left);
        assert!(is_allocated(80, 200) && is_allocated(20, 40));
        assert!(!is_allocated(0, 20) && !is_allocated(40, 80));
        drop(middle);
        assert!(is_allocated(120, 200) && !is_allocated(80, 120));
        let same = lend(120, 200);
        drop(right);
        assert!(is_allocated(120, 200));
        drop((same, inner));
        assert!(!is_allocated(120, 121) && !is_allocated(20, 21));
        assert!(lend(0, 0).is_none());
    }
}
