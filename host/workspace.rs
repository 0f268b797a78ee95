//! Device memory that the reductions of one device share.

use crate::device::Device;
use crate::error::{ErrorKind, Outcome};
use crate::scratch::Allocation;
use cuda_std::global::GlobalMut;
use std::ptr;
use std::sync::MutexGuard;
use tilewright_kernels::reduce::MAX_BLOCKS;

/// Bytes of the largest accumulator of a reduction.
pub(crate) const LARGEST_PARTIAL: usize = 32;

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

    /// What came of a launch that used the memory. After one that failed the counters may not be 0: the
    /// memory is given back, so that the next use starts anew.
    pub(crate) fn after(mut self, launched: Outcome<()>) -> Outcome<()> {
        if launched.is_err()
            && let Some(Allocation { address, bytes }) = self.allocation.take()
        {
            // SAFETY: (1) `address` allocated it with this size, and it is forgotten here.
            unsafe { self.device.backend().free(address, bytes) };
        }
        launched
    }
}

/// The bytes of the first allocation of counters.
const FIRST_COUNTERS: usize = 1 << 12;

/// Counters for a launch, which are 0 when it starts, and which it leaves at 0.
///
/// They are the device's own, locked as the [`Workspace`] is, and more are allocated when a call needs
/// more: a call on warm data neither allocates nor clears them.
pub(crate) struct Counters<'a> {
    allocation: MutexGuard<'a, Option<Allocation>>,
    device: &'a Device,
    len: usize,
}

impl<'a> Counters<'a> {
    /// Waits for the counters of `device`, and makes them `len` at least.
    pub(crate) fn lock(device: &'a Device, len: usize) -> Outcome<Self> {
        let allocation = device.backend().scratch().counters();
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

    /// As many as were requested.
    pub(crate) fn words(&mut self) -> GlobalMut<'_, u32> {
        let address = self.allocation.map_or(0, |it| it.address as usize);
        let address = ptr::with_exposed_provenance_mut(address);
        // SAFETY: (1) the allocation has as many. (2) No other thread submits work that uses them while it is
        // locked, and work that was submitted before comes before.
        unsafe { GlobalMut::from_raw_parts(address, self.len) }
    }

    /// What came of a launch that used them. They are 0 between launches that succeed, and may not be after one
    /// that did not.
    pub(crate) fn after(mut self, launched: Outcome<()>) -> Outcome<()> {
        if launched.is_err() {
            self.free();
        }
        launched
    }

    fn free(&mut self) {
        if let Some(Allocation { address, bytes }) = self.allocation.take() {
            // SAFETY: (1) `lock` allocated it with this size, and it is forgotten here.
            unsafe { self.device.backend().free(address, bytes) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There is memory for every counter, or there are none.
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
