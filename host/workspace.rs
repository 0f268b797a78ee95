//! Device memory that the reductions of one device share.

use crate::device::Device;
use crate::error::{ErrorKind, Outcome};
use crate::scratch::{Allocation, Scratch};
use cuda_std::global::GlobalMut;
use std::ptr;
use std::sync::MutexGuard;
use tilewright_kernels::reduce::MAX_BLOCKS;

/// Size of the largest accumulator of a reduction, in bytes.
pub(crate) const LARGEST_PARTIAL: usize = 48;

/// Number of 64-bit totals that the blocks of a launch add to.
pub(crate) const TOTALS: usize = 96;

/// The ticket has its own cache line before the totals.
const TICKET_BYTES: usize = 256;

/// Bytes before the partial results.
const COUNTER_BYTES: usize = TICKET_BYTES + TOTALS * size_of::<i64>();

const BYTES: usize = COUNTER_BYTES + MAX_BLOCKS as usize * LARGEST_PARTIAL;

/// The workspace of a device, locked: a ticket, [`TOTALS`] totals, and space for [`MAX_BLOCKS`] partial results.
///
/// The ticket and the totals are 0 between launches. The memory is allocated on first use. The holder of the lock may
/// submit launches that use it. The device runs its work in order, so launches do not overlap; on the simulator, a
/// launch is complete when the call returns.
pub(crate) struct Workspace<'a> {
    allocation: MutexGuard<'a, Option<Allocation>>,
    device: &'a Device,
}

impl<'a> Workspace<'a> {
    /// Locks the workspace of `device`, waiting if necessary.
    ///
    /// # Errors
    /// [`SimulatorError::BusyAtFork`](crate::SimulatorError::BusyAtFork) in a forked child, if it was locked at the fork.
    pub(crate) fn lock(device: &'a Device) -> Outcome<Self> {
        Ok(Self {
            allocation: locked(device, Scratch::workspace)?,
            device,
        })
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

    /// Returns the result of a launch that used the memory, and frees the memory if the launch failed.
    ///
    /// After a failure the counters may not be 0, so the next use allocates new ones.
    pub(crate) fn after(mut self, launched: Outcome<()>) -> Outcome<()> {
        if launched.is_err()
            && let Some(Allocation { address, bytes }) = self.allocation.take()
        {
            // SAFETY: one live allocation with this size, not used again: `address` allocated it, and it is forgotten
            // here.
            unsafe { self.device.backend().free(address, bytes) };
        }
        launched
    }
}

/// Locks memory that `device` keeps. If it stopped recording meanwhile, the memory is no longer its own.
fn locked<'a>(
    device: &'a Device,
    memory: impl Fn(&'a Scratch) -> Option<MutexGuard<'a, Option<Allocation>>>,
) -> Outcome<MutexGuard<'a, Option<Allocation>>> {
    loop {
        let scratch = device.backend().scratch();
        let locked = memory(scratch).ok_or_else(|| ErrorKind::busy_at_fork(device.label()))?;
        if ptr::eq(scratch, device.backend().scratch()) {
            return Ok(locked);
        }
    }
}

/// Size of the first allocation of counters, in bytes.
const FIRST_COUNTERS: usize = 1 << 12;

/// Counters for a launch, which are 0 when it starts, and which it leaves at 0.
///
/// They belong to the device and are locked like the [`Workspace`]. More are allocated when a call needs more, so
/// most calls neither allocate nor clear them.
pub(crate) struct Counters<'a> {
    allocation: MutexGuard<'a, Option<Allocation>>,
    device: &'a Device,
    len: usize,
}

impl<'a> Counters<'a> {
    /// Locks the counters of `device`, and makes sure that there are at least `len`.
    pub(crate) fn lock(device: &'a Device, len: usize) -> Outcome<Self> {
        let allocation = locked(device, Scratch::counters)?;
        let mut counters = Self {
            allocation,
            device,
            len,
        };
        let needed = len.checked_mul(size_of::<u32>());
        let bytes = needed.and_then(usize::checked_next_power_of_two);
        let (Some(needed), Some(bytes)) = (needed, bytes) else {
            return Err(ErrorKind::size_overflow(format!("{len} counters")));
        };
        if counters.allocation.map_or(0, |it| it.bytes) < needed {
            counters.free();
            let bytes = bytes.max(FIRST_COUNTERS);
            let address = device.backend().allocate_zeroed(bytes)?;
            *counters.allocation = Some(Allocation { address, bytes });
        }
        Ok(counters)
    }

    /// The requested number of counters.
    pub(crate) fn words(&mut self) -> GlobalMut<'_, u32> {
        let address = self.allocation.map_or(0, |it| it.address as usize);
        let address = ptr::with_exposed_provenance_mut(address);
        // SAFETY: the counters are there: the allocation has at least that many. Nothing else accesses them: no other
        // thread submits work that uses them while they are locked, and work that was submitted earlier runs earlier.
        unsafe { GlobalMut::from_raw_parts(address, self.len) }
    }

    /// Returns the result of a launch that used the counters, and frees them if the launch failed: they may not be 0
    /// then.
    pub(crate) fn after(mut self, launched: Outcome<()>) -> Outcome<()> {
        if launched.is_err() {
            self.free();
        }
        launched
    }

    fn free(&mut self) {
        if let Some(Allocation { address, bytes }) = self.allocation.take() {
            // SAFETY: one live allocation with this size, not used again: `lock` allocated it, and it is forgotten
            // here.
            unsafe { self.device.backend().free(address, bytes) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Either there is memory for every counter, or there are no counters.
    #[test]
    fn counters_that_no_memory_has_are_an_error() {
        let device = Device::simulator();
        for len in [1 << 62, (1 << 62) + 1, usize::MAX / 4, usize::MAX] {
            let error = Counters::lock(&device, len).err();
            assert!(
                matches!(error, Some(ErrorKind::TooLarge { .. })),
                "{len}: {error:?}"
            );
        }
        assert!(Counters::lock(&device, 1).is_ok());
    }
}
