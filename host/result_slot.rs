//! Places for results that the host waits for.

use crate::device::Device;
use crate::error::{ErrorKind, Outcome};
use crate::scratch::{CHUNK_BYTES, Mapped, SLOT_BYTES};
use bytemuck::Pod;
use cuda_std::global::GlobalMut;
use std::ptr;

/// A place for one result, which a kernel writes and the host reads.
///
/// Each call has its own slot, which a later call reuses. After an error, a slot may be given back before a launch
/// that writes it has run. The device runs its work in order, so that launch runs before those of later holders.
pub(crate) struct ResultSlot<'a> {
    device: &'a Device,
    place: Mapped,
}

impl<'a> ResultSlot<'a> {
    /// A slot that no other call has.
    pub(crate) fn take(device: &'a Device) -> Outcome<Self> {
        let slots = device.backend().scratch().slots();
        let mut slots = slots.ok_or_else(|| ErrorKind::busy_at_fork(device.label()))?;
        if slots.free.is_empty() {
            slots.add(device.backend().allocate_mapped(CHUNK_BYTES)?);
        }
        let place = slots.free.pop().expect("an allocation has places");
        Ok(Self { device, place })
    }

    /// The slot as one element, for launches that are submitted before `self` is waited for.
    pub(crate) fn global_mut<T: Pod>(&mut self) -> GlobalMut<'_, T> {
        const { assert_fits::<T>() };
        let address = ptr::with_exposed_provenance_mut(self.place.device as usize);
        // SAFETY: the element is there: the slot is memory that kernels access, large enough and aligned, by the
        // assertion, and lives as long as the device. Nothing else accesses it: no other call has the slot, and the
        // borrow is mutable.
        unsafe { GlobalMut::from_raw_parts(address, 1) }
    }

    /// Waits for the device, and returns the element that its work left in the slot.
    pub(crate) fn wait<T: Pod>(self) -> Outcome<T> {
        let mut element = T::zeroed();
        let destination = bytemuck::bytes_of_mut(&mut element);
        const { assert_fits::<T>() };
        // SAFETY: the slot is live and has the bytes, by the assertion. No conflicting work: no other call has the
        // slot.
        unsafe {
            self.device.backend().read_mapped(destination, self.place)?;
        }
        Ok(element)
    }
}

/// Fails a build with a result that no slot holds.
const fn assert_fits<T>() {
    // The message has the number.
    const { assert!(SLOT_BYTES == 128) };
    assert!(
        size_of::<T>() <= SLOT_BYTES && align_of::<T>() <= SLOT_BYTES,
        "results of `reduce` have at most 128 bytes: use `reduce_into` for larger ones"
    );
}

impl Drop for ResultSlot<'_> {
    fn drop(&mut self) {
        if let Some(mut slots) = self.device.backend().scratch().slots() {
            slots.free.push(self.place);
        }
    }
}
