//! Page-locked host memory, which CUDA devices read and write at full speed.

use crate::buffer::{assert_alignment, bytes_of};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;

/// A typed array in page-locked host memory, for fast copies from and to a CUDA device.
///
/// The operating system keeps the memory in place, so the driver copies it directly, without a staging buffer. It
/// dereferences to a slice, so [`Buffer::copy_from_slice`] and [`Buffer::copy_to_slice`] accept it.
///
/// Pinned memory is scarce: while it is allocated, the system has less memory for everything else, and allocating it
/// takes far longer than allocating pageable memory. On the simulator it is ordinary memory.
///
/// ```
/// use tilewright::Device;
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let mut host = device.pinned::<f32>(3)?;
/// host.copy_from_slice(&[1.0, 2.0, 3.0]);
/// let buffer = device.upload(&host)?;
/// host.fill(0.0);
/// buffer.copy_to_slice(&mut host)?;
/// assert_eq!(*host, [1.0, 2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
///
/// [`Buffer::copy_from_slice`]: crate::Buffer::copy_from_slice
/// [`Buffer::copy_to_slice`]: crate::Buffer::copy_to_slice
pub struct PinnedBuffer<T: Element> {
    device: Device,
    /// Dangling if and only if there are no bytes.
    first: NonNull<T>,
    len: usize,
    elements: PhantomData<T>,
}

// SAFETY: it owns its elements, like a `Vec`; devices may be sent.
unsafe impl<T: Element> Send for PinnedBuffer<T> {}
// SAFETY: as for `Send`; a shared borrow only reads.
unsafe impl<T: Element> Sync for PinnedBuffer<T> {}

impl Device {
    /// Allocates `len` elements of page-locked host memory, with all bytes zero.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if the size in bytes is too large for one allocation;
    /// [`ErrorKind::OutOfHostMemory`](crate::ErrorKind::OutOfHostMemory),
    /// [`ErrorKind::DeviceLost`](crate::ErrorKind::DeviceLost) or [`ErrorKind::Cuda`](crate::ErrorKind::Cuda) if the
    /// allocation fails.
    pub fn pinned<T: Element>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        PinnedBuffer::zeroed(self, len).during("pinned")
    }
}

impl<T: Element> PinnedBuffer<T> {
    fn zeroed(device: &Device, len: usize) -> Outcome<Self> {
        const { assert_alignment::<T>() };
        let first = match bytes_of::<T>("pinned memory for", len)? {
            0 => NonNull::dangling(),
            bytes => device.backend().allocate_pinned(bytes)?.cast(),
        };
        Ok(Self {
            device: device.clone(),
            first,
            len,
            elements: PhantomData,
        })
    }

    /// The device that the memory was allocated for. Copies to and from other devices can also use the memory.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl<T: Element> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the elements are there: `zeroed` allocated them, aligned to 256 bytes. They are initialised: zero
        // bytes are valid for a type without invalid values. Nothing changes them but `&mut self`: a copy that
        // outlasts its call owns the memory (`Transfer`).
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl<T: Element> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and the borrow is mutable.
        unsafe { slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }
}

impl<T: Element> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        let bytes = self.len * size_of::<T>();
        if bytes > 0 {
            // SAFETY: one live allocation by `allocate_pinned`, not used again: the pointer and the size are those of
            // `zeroed`, and nothing can use the memory after `drop`.
            unsafe { self.device.backend().free_pinned(self.first.cast(), bytes) }
        }
    }
}

/// Shows the number of elements and the device, but not the elements.
impl<T: Element> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PinnedBuffer")
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len)
            .field("device", &self.device)
            .finish()
    }
}
