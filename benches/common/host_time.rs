//! The time of calls on the host, and the allocations in them.

use super::Result;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tilewright::Device;

/// The system's allocator, which counts allocations.
pub struct CountingAllocator;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is the system's.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is the system's requirement.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`, where the pointer comes from.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Calls in a batch: fewer than the 1024 launches after which the driver makes the host wait.
const BATCH: usize = 256;

/// What calls cost the host.
#[derive(Clone, Copy, Debug)]
pub struct HostTimes {
    /// Nanoseconds of the median call.
    pub median: u64,
    /// Nanoseconds that nine of ten calls do not exceed.
    pub p90: u64,
    /// Allocations of a call on average; those of other threads are in it.
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

/// The times of calls that follow one another, in batches between which the host waits for
/// `device`. The first batch warms up.
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

/// A call that returns when its result is there.
pub struct RoundTrip {
    pub name: &'static str,
    pub ours: bool,
    pub call: Box<dyn FnMut() -> Result>,
}

/// The times of `rounds` calls of each contender, in turns, after as many in a row for each: a
/// contender is not to pay for another's cold start.
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
