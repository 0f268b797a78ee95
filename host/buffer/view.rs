//! Parts of a buffer, borrowed.

use super::debug::debug;
use super::{Buffer, resolve};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result, check_length, zeroed_vec};
use crate::holder::Holder;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// A contiguous part of a [`Buffer`], borrowed.
///
/// Pass it to a kernel's parameter of type `Global<T>`.
///
/// ```
/// use tilewright::Device;
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let buffer = device.upload(&[1, 2, 3, 4, 5])?;
/// let middle = buffer.slice(1..4)?;
/// assert_eq!(middle.to_vec()?, [2, 3, 4]);
/// assert_eq!(middle.slice(1..)?.to_vec()?, [3, 4]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct BufferView<'a, T: Element> {
    holder: Holder<'a>,
    /// The device address; meaningless if there are no bytes.
    address: u64,
    len: usize,
    elements: PhantomData<&'a [T]>,
}

impl<T: Element> Buffer<T> {
    /// All elements, borrowed.
    #[must_use]
    pub fn view(&self) -> BufferView<'_, T> {
        BufferView {
            holder: self.holder(),
            address: self.address,
            len: self.len,
            elements: PhantomData,
        }
    }

    /// Borrows the elements of `range`.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` does not lie within the buffer.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<BufferView<'_, T>> {
        self.view().slice(range)
    }
}

impl<'a, T: Element> BufferView<'a, T> {
    /// A view of a matrix's elements.
    ///
    /// # Safety
    /// 1. If they have bytes, the `len` elements at `address` are in one live allocation of `holder` that stays for
    ///    `'a`, and no other thread submits work that writes them meanwhile.
    pub(crate) unsafe fn of_elements(holder: Holder<'a>, address: u64, len: usize) -> Self {
        Self {
            holder,
            address,
            len,
            elements: PhantomData,
        }
    }

    /// The same elements, as those of another stream of their device.
    pub(super) fn in_stream_of(self, device: &'a Device) -> Self {
        let uses = self.holder.uses;
        Self {
            holder: Holder { device, uses },
            ..self
        }
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
    pub fn device(&self) -> &'a Device {
        self.holder.device
    }

    pub(crate) fn holder(&self) -> Holder<'a> {
        self.holder.of_bytes(self.bytes())
    }

    /// The device address of the first element, aligned for the element type.
    #[must_use]
    pub fn device_address(&self) -> u64 {
        self.address
    }

    /// The elements of `range`, counted from the view's first.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` does not lie within the view.
    pub fn slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
        self.part(range).during("slice")
    }

    pub(crate) fn part(self, range: impl RangeBounds<usize>) -> Outcome<Self> {
        let range = resolve(range, self.len, "elements")?;
        Ok(Self {
            address: self.address + (range.start * size_of::<T>()) as u64,
            len: range.len(),
            ..self
        })
    }

    /// Copies the elements to host memory.
    ///
    /// # Errors
    /// The errors of [`Buffer::to_vec`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.elements().during("to_vec")
    }

    /// [`to_vec`](Self::to_vec) without the call's name in errors.
    pub(crate) fn elements(&self) -> Outcome<Vec<T>> {
        let mut elements = zeroed_vec(self.len)?;
        self.write_host(&mut elements)?;
        Ok(elements)
    }

    /// Copies all elements to `destination`.
    ///
    /// # Errors
    /// The errors of [`Buffer::copy_to_slice`].
    pub fn copy_to_slice(&self, destination: &mut [T]) -> Result<()> {
        self.write_host(destination).during("copy_to_slice")
    }

    pub(crate) fn write_host(&self, destination: &mut [T]) -> Outcome<()> {
        let rule = "as many as are copied to it";
        check_length("the destination", destination.len(), self.len, rule)?;
        if self.bytes() == 0 {
            return Ok(());
        }
        let destination = bytemuck::cast_slice_mut(destination);
        let device = self.device();
        self.holder().order_reads(device)?;
        // SAFETY: the range is in one live allocation: `destination` has as many bytes as the view, which is within
        // one. No conflicting work: writing the elements needs a mutable borrow, so that work was submitted before,
        // and this is ordered after it.
        unsafe { device.backend().copy_to_host(destination, self.address) }
    }

    /// The size in bytes. The buffer's size was checked when it was made.
    pub(super) fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }
}

/// An argument that converts to a [`BufferView`]: `&buffer`, a view, or a slice of either.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed as a buffer on a device",
    label = "expected `&buffer`, or a view of a buffer",
    note = "upload host data first: `let x = device.upload(&x)?;`",
    note = "the elements of a matrix are `matrix.as_buffer()`"
)]
pub trait IntoBufferView<'a, T: Element>: Into<BufferView<'a, T>> {}

impl<'a, T: Element> IntoBufferView<'a, T> for BufferView<'a, T> {}
impl<'a, T: Element> IntoBufferView<'a, T> for &BufferView<'a, T> {}
impl<'a, T: Element> IntoBufferView<'a, T> for &'a Buffer<T> {}
impl<'a, T: Element> IntoBufferView<'a, T> for &'a mut Buffer<T> {}

impl<'a, T: Element> From<&'a Buffer<T>> for BufferView<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        buffer.view()
    }
}

impl<'a, T: Element> From<&'a mut Buffer<T>> for BufferView<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        buffer.view()
    }
}

impl<'a, T: Element> From<&BufferView<'a, T>> for BufferView<'a, T> {
    fn from(view: &BufferView<'a, T>) -> Self {
        *view
    }
}

/// Shows the number of elements and the device, but not the elements, which are on the device.
impl<T: Element> fmt::Debug for BufferView<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug::<T>(formatter, "BufferView", self.len, self.device())
    }
}
