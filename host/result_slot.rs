//! Places for results that the host waits for.

use crate::backend::Mapped;
use crate::device::Device;
use crate::error::Outcome;
use crate::scratch::Slots;
use bytemuck::Pod;
use cuda_std::global::GlobalMut;
use std::ptr;

/// Bytes of a slot. Two slots have no cache line in common.
pub(crate) const SLOT_BYTES: usize = 128;

/// Slots that are allocated together: 4 KiB, a page. More are needed where more threads wait.
const SLOTS_IN_CHUNK: usize = 32;

/// Bytes of mapped memory that are allocated together.
pub(crate) const CHUNK_BYTES: usize = SLOT_BYTES * SLOTS_IN_CHUNK;

/// A place for one result, which a kernel writes and the host reads. Each call has its own, which
/// the next call uses again.
///
/// A slot may be given back while a launch that writes it has not run, as an error leaves it: the
/// device does its work in order, so that launch comes before those of later holders.
pub(crate) struct ResultSlot<'a> {
    device: &'a Device,
    place: Mapped,
}

impl<'a> ResultSlot<'a> {
    /// A slot that no other call has.
    pub(crate) fn take(device: &'a Device) -> Outcome<Self> {
        let mut slots = device.backend().scratch().slots();
        let place = match slots.free.pop() {
            Some(place) => place,
            None => add_chunk(device, &mut slots)?,
        };
        Ok(Self { device, place })
    }

    /// The slot as one element, for launches that are submitted before `self` is waited for.
    pub(crate) fn global_mut<T: Pod>(&mut self) -> GlobalMut<'_, T> {
        const { assert!(size_of::<T>() <= SLOT_BYTES && align_of::<T>() <= SLOT_BYTES) };
        let address = ptr::with_exposed_provenance_mut(self.place.device as usize);
        // SAFETY: (1) the slot is mapped memory that lives as long as the device, with the room and
        // the alignment for an element, by the assertion. (2) No other call has the slot, and the
        // borrow is mutable.
        unsafe { GlobalMut::from_raw_parts(address, 1) }
    }

    /// Waits for the device, and returns the element that its work left in the slot.
    pub(crate) fn wait<T: Pod>(self) -> Outcome<T> {
        let mut element = T::zeroed();
        let destination = bytemuck::bytes_of_mut(&mut element);
        const { assert!(size_of::<T>() <= SLOT_BYTES) };
        // SAFETY: (1) the slot has the bytes, by the assertion. (2) No other call has the slot.
        unsafe {
            self.device.backend().read_mapped(destination, self.place)?;
        }
        Ok(element)
    }
}

impl Drop for ResultSlot<'_> {
    fn drop(&mut self) {
        // There is room: the list has had all slots.
        let mut slots = self.device.backend().scratch().slots();
        slots.free.push(self.place);
    }
}

/// Allocates more slots, and returns one of them.
#[cold]
fn add_chunk(device: &Device, slots: &mut Slots) -> Outcome<Mapped> {
    let chunk = device.backend().allocate_mapped(CHUNK_BYTES)?;
    slots.chunks.push(chunk);
    slots.free.reserve(slots.chunks.len() * SLOTS_IN_CHUNK);
    for number in (1..SLOTS_IN_CHUNK).rev() {
        // SAFETY: (1) the chunk has the slots.
        slots.free.push(unsafe { chunk.add(number * SLOT_BYTES) });
    }
    Ok(chunk)
}
