//! Elements in device memory.

mod contents;
mod debug;
mod range;
mod view;
mod view_mut;

pub(crate) use range::resolve;
pub use view::BufferView;
pub use view_mut::BufferViewMut;

use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use std::fmt;
use std::marker::PhantomData;

/// Some elements in the memory of one device, which frees them when it is dropped.
///
/// A buffer without elements has no memory, and every operation works with it.
///
/// Its memory is aligned to 256 bytes. Elements that need more do not compile:
///
/// ```compile_fail,E0080
/// # use tilewright::Device;
/// #[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
/// #[repr(C, align(512))]
/// struct Page([u8; 512]);
///
/// let pages = Device::simulator().zeros::<Page>(4);
/// ```
pub struct Buffer<T: Element> {
    device: Device,
    /// The device address; 0 exactly if the buffer has no bytes.
    address: u64,
    len: usize,
    elements: PhantomData<T>,
}

impl Device {
    /// A buffer of `len` elements, all of whose bytes are zero.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let mut y = device.zeros::<f64>(3)?;
    /// y.slice_mut(1..)?.copy_from_slice(&[4.0, 5.0])?;
    /// assert_eq!(y.to_vec()?, [0.0, 4.0, 5.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if the bytes cannot be counted; [`ErrorKind::OutOfMemory`],
    /// [`ErrorKind::DeviceLost`] or [`ErrorKind::Cuda`].
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::zeroed(self, len).during("zeros")
    }

    /// A buffer of `len` elements with unspecified values, for a kernel that writes all of them.
    ///
    /// # Errors
    /// Those of [`Device::zeros`].
    pub fn uninit<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::uninit(self, len).during("uninit")
    }
}

impl<T: Element> Buffer<T> {
    pub(crate) fn zeroed(device: &Device, len: usize) -> Outcome<Self> {
        Self::allocated(device, len, |bytes| device.backend().allocate_zeroed(bytes))
    }

    pub(crate) fn uninit(device: &Device, len: usize) -> Outcome<Self> {
        Self::allocated(device, len, |bytes| device.backend().allocate(bytes))
    }

    fn allocated(
        device: &Device,
        len: usize,
        allocate: impl FnOnce(usize) -> Outcome<u64>,
    ) -> Outcome<Self> {
        const { assert_alignment::<T>() };
        let address = match checked_bytes::<T>(len)? {
            0 => 0,
            bytes => allocate(bytes)?,
        };
        Ok(Self {
            device: device.clone(),
            address,
            len,
            elements: PhantomData,
        })
    }

    /// A buffer of memory that was allocated elsewhere.
    ///
    /// # Safety
    /// 1. `address` is an allocation with the bytes of `len` elements, aligned to 256 bytes, that
    ///    `device` can free and that nothing else uses; 0 exactly if there are no bytes.
    #[cfg(feature = "cust")]
    pub(crate) unsafe fn of_allocation(device: &Device, address: u64, len: usize) -> Self {
        const { assert_alignment::<T>() };
        Self {
            device: device.clone(),
            address,
            len,
            elements: PhantomData,
        }
    }

    /// The address of the elements, which the caller frees from now on, and their number.
    #[cfg(feature = "cust")]
    pub(crate) fn into_allocation(self) -> (u64, usize) {
        let mut buffer = self;
        // Without elements there is nothing that `drop` frees.
        (buffer.address, std::mem::take(&mut buffer.len))
    }

    /// The buffer under a name, by which the simulator's reports of defects tell it from others: "at
    /// byte 400 (element 100 of 4 bytes) of buffer `weights` of 4096 bytes". The last name counts.
    /// CUDA devices have no such reports and do not keep it.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// let device = Device::simulator();
    /// let weights = device.upload(&[0.5_f32; 1024])?.named("weights");
    /// assert_eq!(weights.len(), 1024);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        if self.address != 0 {
            self.device.backend().name(self.address, name);
        }
        self
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device that holds the elements.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The address of the first element on the device, for foreign libraries; 0 if the buffer
    /// has no bytes. It is aligned to 256 bytes.
    #[must_use]
    pub fn device_address(&self) -> u64 {
        self.address
    }

    /// The size in bytes. It was checked when the buffer was made.
    fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }
}

impl<T: Element> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.bytes() > 0 {
            // SAFETY: (1) the address and the size are those of `allocated`, and nothing can use
            // the buffer after `drop`.
            unsafe { self.device.backend().free(self.address, self.bytes()) }
        }
    }
}

/// Shows the size and the place, not the elements: those are on the device.
impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug::debug::<T>(formatter, "Buffer", self.len, &self.device)
    }
}

/// What addresses of device memory and of pinned memory are multiples of.
pub(crate) const ALIGNMENT: usize = 256;

/// Refuses to compile for elements that such memory does not align.
pub(crate) const fn assert_alignment<T>() {
    assert!(
        align_of::<T>() <= ALIGNMENT,
        "device memory and pinned memory are aligned to 256 bytes: use elements that need no more"
    );
}

/// The bytes of `len` elements, if one allocation can have them.
fn checked_bytes<T>(len: usize) -> Outcome<usize> {
    len.checked_mul(size_of::<T>())
        .filter(|bytes| isize::try_from(*bytes).is_ok())
        .ok_or_else(|| {
            let what = format!("a buffer of {len} elements of {} bytes", size_of::<T>());
            ErrorKind::size_overflow(what)
        })
}
