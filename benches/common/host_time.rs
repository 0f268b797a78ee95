//! The host time of calls, and their allocations.

use super::Result;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tilewright::Device;

/// The system's allocator, which counts allocations.
pub struct CountingAllocator;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is forwarded to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`, which returned the pointer.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Calls in a batch: fewer than the 1024 launches after which the driver makes the host wait.
const BATCH: usize = 256;

/// The host's cost of calls.
#[derive(Clone, Copy, Debug)]
pub struct HostTimes {
    /// Median time of a call in nanoseconds.
    pub median: u64,
    /// 90th percentile in nanoseconds.
    pub p90: u64,
    /// Average allocations per call, including other threads'.
    pub allocations: f64,
}

impl HostTimes {
    fn of(mut nanoseconds: Vec<u64>, allocations: u64) -> Self {
        nanoseconds.sort_unstable();
        let last = nanoseconds.len() - 1;
        Self {
            median: nanoseconds[last / 2],
            p90: nanoseconds[last * 9 / 10],
            allocations: allocations as f64 / nanoseconds.len() as f64,
        }
    }
}

/// The times of consecutive calls, in batches. The host waits for `device` between batches, and the
/// first one warms up.
pub fn of_submissions(
    device: &Device,
    batches: usize,
    mut call: impl FnMut() -> Result,
) -> Result<HostTimes> {
    let mut times = Vec::with_capacity(batches * BATCH);
    let mut allocations = 0;
    for batch in 0..=batches {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let mut start = Instant::now();
        for _ in 0..BATCH {
            call()?;
            let end = Instant::now();
            if batch > 0 {
                times.push((end - start).as_nanos() as u64);
            }
            start = end;
        }
        if batch > 0 {
            allocations += ALLOCATIONS.load(Ordering::Relaxed) - before;
        }
        device.synchronize()?;
    }
    Ok(HostTimes::of(times, allocations))
}

/// A call that waits for its result.
pub struct RoundTrip {
    pub name: &'static str,
    pub ours: bool,
    pub call: Box<dyn FnMut() -> Result>,
}

/// The times of `rounds` calls of each contender, in turns. Before, each runs `rounds` calls in a
/// row, so that none pays for another's cold start.
pub fn of_round_trips(contenders: &mut [RoundTrip], rounds: usize) -> Result<Vec<HostTimes>> {
    let mut times = vec![Vec::with_capacity(rounds); contenders.len()];
    let mut allocations = vec![0; contenders.len()];
    for contender in contenders.iter_mut() {
        for _ in 0..rounds {
            (contender.call)()?;
        }
    }
    for _ in 0..rounds {
        for (number, contender) in contenders.iter_mut().enumerate() {
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            let start = Instant::now();
            (contender.call)()?;
            times[number].push(start.elapsed().as_nanos() as u64);
            allocations[number] += ALLOCATIONS.load(Ordering::Relaxed) - before;
        }
    }
    let times = times.into_iter().zip(allocations);
    Ok(times
        .map(|(times, allocations)| HostTimes::of(times, allocations))
        .collect())
}
