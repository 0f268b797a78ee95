//! Copies of rows with a pitch: the driver's two-dimensional copies.

use super::context::Stream;
use super::driver::{Failure, call};
use crate::backend::{RowExtent, Rows};
use cuda_bindings::driver::sys;
use std::mem;

/// The start of a row.
#[derive(Clone, Copy)]
pub enum Place {
    /// In host memory, which a source does not write.
    Host(*mut u8),
    /// At a device address.
    Device(u64),
}

impl Place {
    fn at(self, offset: usize) -> Self {
        match self {
            Self::Host(first) => Self::Host(first.wrapping_add(offset)),
            Self::Device(first) => Self::Device(first + offset as u64),
        }
    }
}

/// Rows whose first row is at `place` of the given one.
pub fn placed<A: Copy>(rows: Rows<A>, place: impl FnOnce(A) -> Place) -> Rows<Place> {
    Rows {
        first: place(rows.first),
        pitch: rows.pitch,
    }
}

/// The largest pitch of a copy, the same on every device (`CU_DEVICE_ATTRIBUTE_MAX_PITCH`).
const MAX_PITCH: usize = i32::MAX as usize;

/// Copies rows in stream order.
///
/// # Safety
/// 1. Until the stream is done, the source has the rows and nothing writes them; the destination is large enough and
///    nothing else accesses it.
pub unsafe fn copy_rows(
    destination: Rows<Place>,
    source: Rows<Place>,
    extent: RowExtent,
    stream: &Stream,
) -> Result<(), Failure> {
    if destination.pitch.max(source.pitch) <= MAX_PITCH {
        // SAFETY: both sides have the rows and nothing conflicts: the caller's contract.
        return unsafe { copy_at_once(destination, source, extent, stream) };
    }
    // Each row separately, in parts so short that the pitch does not matter.
    for row in 0..extent.rows {
        let (to, from) = (row * destination.pitch, row * source.pitch);
        for start in (0..extent.bytes).step_by(MAX_PITCH) {
            let bytes = MAX_PITCH.min(extent.bytes - start);
            let part = |place: Place, row| Rows {
                first: place.at(row + start),
                pitch: bytes,
            };
            let (to, from) = (part(destination.first, to), part(source.first, from));
            // SAFETY: both sides have the part, which is within a row, and nothing conflicts.
            unsafe { copy_at_once(to, from, RowExtent { rows: 1, bytes }, stream) }?;
        }
    }
    Ok(())
}

/// [`copy_rows`] in one call of the driver.
///
/// # Safety
/// 1. The requirement of [`copy_rows`].
unsafe fn copy_at_once(
    destination: Rows<Place>,
    source: Rows<Place>,
    extent: RowExtent,
    stream: &Stream,
) -> Result<(), Failure> {
    use sys::CUmemorytype_enum::{CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST};
    // SAFETY: zero is a valid value of every field: an offset of 0, no pointer, no array. The two enumerations are
    // replaced below, before anything reads them.
    let mut copy: mem::MaybeUninit<sys::CUDA_MEMCPY2D> = mem::MaybeUninit::zeroed();
    let place = copy.as_mut_ptr();
    // SAFETY: `place` points to one description; fields are only written.
    unsafe {
        match source.first {
            Place::Host(first) => {
                (*place).srcMemoryType = CU_MEMORYTYPE_HOST;
                (*place).srcHost = first.cast_const().cast();
            }
            Place::Device(first) => {
                (*place).srcMemoryType = CU_MEMORYTYPE_DEVICE;
                (*place).srcDevice = first;
            }
        }
        (*place).srcPitch = source.pitch;
        match destination.first {
            Place::Host(first) => {
                (*place).dstMemoryType = CU_MEMORYTYPE_HOST;
                (*place).dstHost = first.cast();
            }
            Place::Device(first) => {
                (*place).dstMemoryType = CU_MEMORYTYPE_DEVICE;
                (*place).dstDevice = first;
            }
        }
        (*place).dstPitch = destination.pitch;
        (*place).WidthInBytes = extent.bytes;
        (*place).Height = extent.rows;
    }
    // SAFETY: the description is complete, and both sides have the rows: the caller's contract.
    unsafe { call!(cuMemcpy2DAsync_v2(copy.as_ptr(), stream.raw())) }
}
