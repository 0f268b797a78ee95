//! Copies of rows that lie apart: two-dimensional copies of the driver.

use super::context::Stream;
use super::driver::{Failure, call};
use crate::backend::{RowExtent, Rows};
use cudarc::driver::sys;
use std::mem;

/// Where a row starts.
#[derive(Clone, Copy)]
pub enum Place {
    /// In the host's memory, which a source does not write.
    Host(*mut u8),
    /// At an address of the device.
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

/// Rows with what their first one's place is.
pub fn placed<A: Copy>(rows: Rows<A>, place: impl FnOnce(A) -> Place) -> Rows<Place> {
    Rows {
        first: place(rows.first),
        pitch: rows.pitch,
    }
}

/// The longest pitch that a copy can have, the same on every device
/// (`CU_DEVICE_ATTRIBUTE_MAX_PITCH`).
const MAX_PITCH: usize = i32::MAX as usize;

/// Copies rows in the order of the stream.
///
/// # Safety
/// 1. The source has the rows, and nothing writes them; the destination has room for them, and nothing
///    else touches it, until the stream is done.
pub unsafe fn copy_rows(
    destination: Rows<Place>,
    source: Rows<Place>,
    extent: RowExtent,
    stream: &Stream,
) -> Result<(), Failure> {
    if destination.pitch.max(source.pitch) <= MAX_PITCH {
        // SAFETY: (1) is (1).
        return unsafe { copy_at_once(destination, source, extent, stream) };
    }
    // Each row by itself, in parts for which the pitch does not matter.
    for row in 0..extent.rows {
        let (to, from) = (row * destination.pitch, row * source.pitch);
        for start in (0..extent.bytes).step_by(MAX_PITCH) {
            let bytes = MAX_PITCH.min(extent.bytes - start);
            let part = |place: Place, row| Rows {
                first: place.at(row + start),
                pitch: bytes,
            };
            let (to, from) = (part(destination.first, to), part(source.first, from));
            // SAFETY: (1) it is a part of a row.
            unsafe { copy_at_once(to, from, RowExtent { rows: 1, bytes }, stream) }?;
        }
    }
    Ok(())
}

/// [`copy_rows`] in one call of the driver.
///
/// # Safety
/// 1. That of [`copy_rows`].
unsafe fn copy_at_once(
    destination: Rows<Place>,
    source: Rows<Place>,
    extent: RowExtent,
    stream: &Stream,
) -> Result<(), Failure> {
    use sys::CUmemorytype_enum::{CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST};
    // SAFETY: zero is a value of every field: an offset of 0, no pointer, no array; of the two
    // enumerations it is replaced below, before anything reads them.
    let mut copy: mem::MaybeUninit<sys::CUDA_MEMCPY2D> = mem::MaybeUninit::zeroed();
    let place = copy.as_mut_ptr();
    // SAFETY: `place` is that of one description; only fields are written.
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
    // SAFETY: the description is complete, and by (1) both places have the rows.
    unsafe { call!(cuMemcpy2DAsync_v2(copy.as_ptr(), stream.raw())) }
}
