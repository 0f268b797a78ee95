//! Elements in device memory.

mod contents;
mod debug;
mod range;
mod view;
mod view_mut;

pub(crate) use range::resolve;
pub use view::{BufferView, IntoBufferView};
pub use view_mut::BufferViewMut;

use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::holder::{Holder, Written};
use crate::uses::Uses;
#[cfg(feature = "cuda")]
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

/// A typed array in one device's memory, freed on drop.
///
/// An empty buffer is allowed, and takes no memory. The memory is aligned to 256 bytes. Element types with a larger
/// alignment do not compile:
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
    uses: Uses,
    /// Keeps the caller's memory alive; `None` if the device allocated it.
    #[cfg(feature = "cuda")]
    owner: Option<Box<dyn Any + Send + Sync>>,
    /// The device address; 0 if and only if the buffer has no bytes.
    address: u64,
    len: usize,
    elements: PhantomData<T>,
}

impl Device {
    /// Allocates `len` elements with all bytes zero.
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
    /// [`ErrorKind::TooLarge`] if the size in bytes is too large for one allocation; [`ErrorKind::OutOfMemory`],
    /// [`ErrorKind::DeviceLost`] or [`ErrorKind::Cuda`] if the device fails.
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::zeroed(self, len).during("zeros")
    }

    /// Allocates `len` elements with unspecified values, for a kernel that writes all of them.
    ///
    /// # Errors
    /// The errors of [`Device::zeros`].
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
        let bytes = bytes_of::<T>("a buffer of", len)?;
        let address = match bytes {
            0 => 0,
            bytes => allocate(bytes)?,
        };
        let uses = Uses::new(device.backend().stream(), bytes);
        if let Some(capture) = device.backend().capture() {
            uses.permit(capture.number());
        }
        Ok(Self {
            device: device.clone(),
            uses,
            #[cfg(feature = "cuda")]
            owner: None,
            address,
            len,
            elements: PhantomData,
        })
    }

    /// Takes over memory that was allocated elsewhere.
    ///
    /// # Safety
    /// 1. `address` is an allocation of `len` elements, aligned to 256 bytes. `device` can free it, and nothing else
    ///    uses it. It is 0 if and only if there are no bytes.
    #[cfg(any(feature = "cudarc", feature = "cust"))]
    pub(crate) unsafe fn of_allocation(device: &Device, address: u64, len: usize) -> Self {
        const { assert_alignment::<T>() };
        Self {
            device: device.clone(),
            uses: Uses::new(device.backend().stream(), len * size_of::<T>()),
            owner: None,
            address,
            len,
            elements: PhantomData,
        }
    }

    /// A buffer of memory that `owner` keeps alive.
    ///
    /// # Safety
    /// 1. `address` is that of `len` elements, aligned for them, in memory that kernels of `device` can access. It is 0
    ///    if and only if there are no bytes.
    /// 2. While `owner` lives, the memory stays allocated and nothing else uses it.
    #[cfg(feature = "cuda")]
    pub(crate) unsafe fn of_owner(
        device: &Device,
        address: u64,
        len: usize,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Self {
        Self {
            device: device.clone(),
            uses: Uses::new(device.backend().stream(), len * size_of::<T>()),
            owner: Some(owner),
            address,
            len,
            elements: PhantomData,
        }
    }

    /// The address of the elements, which the caller must free after the work of the buffer's stream, and their number.
    ///
    /// Fails if the memory is not the device's own or a graph's, or if the stream cannot wait for others that use the
    /// buffer.
    #[cfg(any(feature = "cudarc", feature = "cust"))]
    pub(crate) fn into_allocation(self) -> Outcome<(u64, usize)> {
        if self.owner.is_some() {
            return Err(ErrorKind::Interop {
                reason: "the buffer's memory belongs to the owner that it was made with, which frees it; pass a copy",
            });
        }
        if let Some(capture) = self.device.backend().capture() {
            // If other code freed it, another buffer could get its address while a graph still uses it.
            return Err(capture.refuse(
                "a buffer that another library frees",
                "each launch of the graph uses its memory again",
            ));
        }
        self.uses.order_writes(self.device.backend(), true)?;
        let mut buffer = self;
        // `drop` frees nothing if there are no elements.
        Ok((buffer.address, std::mem::take(&mut buffer.len)))
    }

    /// Names the buffer in the simulator's defect reports.
    ///
    /// A report then reads "at byte 400 (element 100 of 4 bytes) of buffer `weights` of 4096 bytes". A second name
    /// replaces the first. CUDA devices ignore names.
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

    /// The device address of the first element, for other libraries; 0 if the buffer has no bytes.
    ///
    /// It is aligned to 256 bytes.
    #[must_use]
    pub fn device_address(&self) -> u64 {
        self.address
    }

    pub(crate) fn holder(&self) -> Holder<'_> {
        Holder {
            device: &self.device,
            uses: Some(&self.uses),
        }
    }

    /// The elements as the result of a call.
    pub(crate) fn written(&self) -> Written<'_> {
        self.holder().written(self.bytes())
    }

    /// Lets the capture with this number record calls that use the elements.
    pub(crate) fn permit(&self, capture: u64) {
        self.uses.permit(capture);
    }

    /// Orders later work of `device`, such as that of other code in its stream, after all work that uses the elements.
    #[cfg(any(feature = "cudarc", feature = "dlpack"))]
    pub(crate) fn order_all(&self, device: &Device) -> Outcome<()> {
        // As for a part of the buffer: its other owners may read it meanwhile.
        self.written().as_part().order(device)
    }

    /// The size in bytes. It was checked when the buffer was made.
    fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }
}

impl<T: Element> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.bytes() > 0 {
            let stream = self.device.backend();
            #[cfg(feature = "cuda")]
            if let Some(owner) = self.owner.take() {
                let ordered = self.uses.order_writes(stream, true);
                if ordered.and_then(|()| stream.synchronize()).is_err() {
                    // The device is lost, or work may still use the memory.
                    std::mem::forget(owner);
                }
                return;
            }
            // If other streams cannot be waited for, the device is lost, and its memory with it.
            if self.uses.order_writes(stream, true).is_ok() {
                // SAFETY: one live allocation, not used again: the address and the size are those of `allocated`,
                // nothing can use the buffer after `drop`, and work of other streams that uses it comes earlier.
                unsafe { stream.free(self.address, self.bytes()) }
            }
        }
    }
}

/// Shows the number of elements and the device, but not the elements, which are on the device.
impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug::debug::<T>(formatter, "Buffer", self.len, &self.device)
    }
}

/// Alignment of device memory and of pinned memory, in bytes.
pub(crate) const ALIGNMENT: usize = 256;

/// Fails to compile if such memory is not aligned enough for `T`.
pub(crate) const fn assert_alignment<T>() {
    assert!(
        align_of::<T>() <= ALIGNMENT,
        "device memory and pinned memory are aligned to 256 bytes: use elements that need no more"
    );
}

/// The size of `len` elements in bytes, if one allocation can have it.
pub(crate) fn checked_bytes<T>(len: usize) -> Option<usize> {
    len.checked_mul(size_of::<T>())
        .filter(|bytes| isize::try_from(*bytes).is_ok())
}

/// [`checked_bytes`], or the error for the memory `what`, such as "a buffer of".
pub(crate) fn bytes_of<T>(what: &str, len: usize) -> Outcome<usize> {
    checked_bytes::<T>(len).ok_or_else(|| {
        let bytes = size_of::<T>();
        ErrorKind::size_overflow(format!("{what} {len} elements of {bytes} bytes"))
    })
}
