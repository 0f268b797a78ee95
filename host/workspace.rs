//! Device memory that the reductions of one device share.

use crate::device::Device;
use crate::error::Outcome;
use crate::scratch::Allocation;
use cuda_std::global::GlobalMut;
use std::ptr;
use std::sync::MutexGuard;
use tilewright_kernels::reduce::MAX_BLOCKS;

/// Bytes of the largest accumulator of a reduction.
pub(crate) const LARGEST_PARTIAL: usize = 24;

/// Totals of 64 bits that the blocks of a launch add to.
pub(crate) const TOTALS: usize = 96;

/// The ticket has its own cache line in front of the totals.
const TICKET_BYTES: usize = 256;

/// Bytes in front of the partial results.
const COUNTER_BYTES: usize = TICKET_BYTES + TOTALS * size_of::<i64>();

const BYTES: usize = COUNTER_BYTES + MAX_BLOCKS as usize * LARGEST_PARTIAL;

/// The memory, locked. It is allocated when it is first needed: a ticket and [`TOTALS`] totals, which
/// are 0 between launches, and room for [`MAX_BLOCKS`] partial results.
///
/// The holder of the lock may submit launches that use it. The device does its work in order, so
/// launches do not overlap; on the simulator a launch is complete when the call returns.
pub(crate) struct Workspace<'a> {
    allocation: MutexGuard<'a, Option<Allocation>>,
    device: &'a Device,
}

impl<'a> Workspace<'a> {
    /// Waits for the workspace of `device`.
    pub(crate) fn lock(device: &'a Device) -> Self {
        Self {
            allocation: device.backend().scratch().workspace(),
            device,
        }
    }

    /// The addresses of the ticket and of the partial results, each aligned to 256 bytes.
    pub(crate) fn addresses(&mut self) -> Outcome<(*mut u32, u64)> {
        const { assert!(COUNTER_BYTES.is_multiple_of(256)) };
        let address = self.address()?;
        let ticket = ptr::with_exposed_provenance_mut(address as usize);
        Ok((ticket, address + COUNTER_BYTES as u64))
    }

    /// The addresses of the ticket and of the totals, each aligned to 256 bytes.
    pub(crate) fn counters(&mut self) -> Outcome<(*mut u32, *mut i64)> {
        let address = self.address()?;
        let totals = address + TICKET_BYTES as u64;
        Ok((
            ptr::with_exposed_provenance_mut(address as usize),
            ptr::with_exposed_provenance_mut(totals as usize),
        ))
    }

    fn address(&mut self) -> Outcome<u64> {
        Ok(match *self.allocation {
            Some(allocation) => allocation.address,
            None => {
                let address = self.device.backend().allocate_zeroed(BYTES)?;
                let bytes = BYTES;
                self.allocation
                    .insert(Allocation { address, bytes })
                    .address
            }
        })
    }

    /// Gives the memory back, so that the next use starts anew: after a failed launch the
    /// counters may not be 0.
    pub(crate) fn discard(&mut self) {
        if let Some(Allocation { address, bytes }) = self.allocation.take() {
            // SAFETY: (1) `addresses` allocated it with this size, and it is forgotten here.
            unsafe { self.device.backend().free(address, bytes) };
        }
    }
}

/// The bytes of the first allocation of counters.
const FIRST_COUNTERS: usize = 1 << 12;

/// Submits a launch with a number of counters, which are 0 when it starts, and which it leaves at 0.
///
/// They are the device's own, locked as the [`Workspace`] is, and more are allocated when a call needs
/// more: a call on warm data neither allocates nor clears them.
pub(crate) fn with_counters(
    device: &Device,
    counters: usize,
    launch: impl FnOnce(GlobalMut<'_, u32>) -> Outcome<()>,
) -> Outcome<()> {
    let backend = device.backend();
    let mut allocation = backend.scratch().counters();
    let needed = counters * size_of::<u32>();
    let free = |Allocation { address, bytes }| {
        // SAFETY: (1) it was allocated below with this size, and is forgotten where it is freed.
        unsafe { backend.free(address, bytes) }
    };
    if allocation.map_or(0, |it| it.bytes) < needed {
        if let Some(smaller) = allocation.take() {
            free(smaller);
        }
        let bytes = needed.next_power_of_two().max(FIRST_COUNTERS);
        let address = backend.allocate_zeroed(bytes)?;
        *allocation = Some(Allocation { address, bytes });
    }
    let address = allocation.map_or(0, |it| it.address as usize);
    // SAFETY: (1) the allocation has as many. (2) No other thread submits work that uses them while it is
    // locked, and work that was submitted before comes before.
    let words =
        unsafe { GlobalMut::from_raw_parts(ptr::with_exposed_provenance_mut(address), counters) };
    let launched = launch(words);
    // They are 0 between launches that succeed, and may not be after one that did not.
    if launched.is_err()
        && let Some(spoilt) = allocation.take()
    {
        free(spoilt);
    }
    launched
}
