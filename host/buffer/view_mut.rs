//! Parts of a buffer, borrowed mutably.

use super::Buffer;
use super::debug::debug;
use super::view::{BufferView, IntoBufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result, check_length};
use crate::holder::Written;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// How many elements the source of a copy needs.
const OVERWRITES: &str = "as many as it overwrites";

/// A contiguous part of a [`Buffer`], borrowed mutably.
///
/// Pass it to a kernel's parameter of type `GlobalMut<T>`. [`Buffer::split_at_mut`] returns parts that do not overlap,
/// so one launch can write several parts of one buffer.
///
/// ```
/// use tilewright::Device;
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let mut buffer = device.zeros::<u32>(5)?;
/// let (mut head, mut tail) = buffer.split_at_mut(2)?;
/// head.copy_from_slice(&[1, 2])?;
/// tail.slice_mut(1..)?.copy_from_slice(&[4, 5])?;
/// assert_eq!(buffer.to_vec()?, [1, 2, 0, 4, 5]);
/// # Ok(())
/// # }
/// ```
pub struct BufferViewMut<'a, T: Element> {
    view: BufferView<'a, T>,
    borrow: PhantomData<&'a mut [T]>,
}

impl<T: Element> Buffer<T> {
    /// All elements, borrowed mutably.
    #[must_use]
    pub fn view_mut(&mut self) -> BufferViewMut<'_, T> {
        BufferViewMut::of_elements(self.view())
    }

    /// Borrows the elements of `range` mutably.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` does not lie within the buffer.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<BufferViewMut<'_, T>> {
        self.view_mut().into_slice(range)
    }

    /// Splits the buffer into its first `mid` elements and the rest.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are fewer than `mid` elements.
    pub fn split_at_mut(
        &mut self,
        mid: usize,
    ) -> Result<(BufferViewMut<'_, T>, BufferViewMut<'_, T>)> {
        self.view_mut().into_parts(mid)
    }
}

impl<'a, T: Element> BufferViewMut<'a, T> {
    /// The same elements, as those of another stream of their device.
    pub(crate) fn in_stream_of(self, device: &'a Device) -> Self {
        Self {
            view: self.view.in_stream_of(device),
            ..self
        }
    }

    /// The elements of `view`, for writing.
    ///
    /// # Safety
    /// 1. No other view that is used during `'a` has any of its elements.
    pub(crate) unsafe fn of_view(view: BufferView<'a, T>) -> Self {
        Self::of_elements(view)
    }

    /// The same elements, borrowed for reading.
    #[must_use]
    pub fn view(&self) -> BufferView<'_, T> {
        self.view
    }

    /// The view of the elements, for a mutable view of another shape.
    pub(crate) fn into_view(self) -> BufferView<'a, T> {
        self.view
    }

    /// Reborrows the same elements, so that this view can be used again after the launch.
    #[must_use]
    pub fn view_mut(&mut self) -> BufferViewMut<'_, T> {
        BufferViewMut::of_elements(self.view)
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.view.len()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.view.is_empty()
    }

    /// The device that holds the elements.
    #[must_use]
    pub fn device(&self) -> &'a Device {
        self.view.device()
    }

    /// The elements of `range`, counted from the view's first.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` does not lie within the view.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<BufferViewMut<'_, T>> {
        self.view_mut().into_slice(range)
    }

    /// Splits the view into its first `mid` elements and the rest.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are fewer than `mid` elements.
    pub fn split_at_mut(
        &mut self,
        mid: usize,
    ) -> Result<(BufferViewMut<'_, T>, BufferViewMut<'_, T>)> {
        self.view_mut().into_parts(mid)
    }

    fn into_slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
        let part = self.view.part(range).during("slice_mut")?;
        Ok(Self::of_elements(part))
    }

    /// The elements, as the result of a call.
    pub(crate) fn written(&self) -> Written<'a> {
        self.view.holder().written(self.view.bytes())
    }

    /// Orders later writes in the elements' own stream after the work so far that uses them. Without this call, a later
    /// write waits for all work that the other users' streams were given until then.
    pub(crate) fn order_next_writes(&self) -> Outcome<()> {
        self.written().order(self.device())
    }

    /// Orders later work of `device` that writes the elements.
    fn order_writes(&self, device: &Device) -> Outcome<()> {
        self.written().order(device)
    }

    /// Two views that do not overlap, so that each may be mutable.
    fn into_parts(self, mid: usize) -> Result<(Self, Self)> {
        let parts = || Ok((self.view.part(..mid)?, self.view.part(mid..)?));
        let (head, tail) = parts().during("split_at_mut")?;
        Ok((Self::of_elements(head), Self::of_elements(tail)))
    }

    /// Consecutive views with `lens` elements each. They do not overlap, so that each may be mutable.
    pub(crate) fn into_runs(self, lens: impl IntoIterator<Item = usize>) -> Outcome<Vec<Self>> {
        let mut next = 0;
        let runs = lens.into_iter().map(|len| {
            let run = self.view.part(next..next + len)?;
            next += len;
            Ok(Self::of_elements(run))
        });
        runs.collect()
    }

    fn of_elements(view: BufferView<'a, T>) -> Self {
        Self {
            view,
            borrow: PhantomData,
        }
    }

    /// Overwrites all elements with `source`.
    ///
    /// # Errors
    /// The errors of [`Buffer::copy_from_slice`].
    pub fn copy_from_slice(&mut self, source: &[T]) -> Result<()> {
        self.read_host(source).during("copy_from_slice")
    }

    pub(crate) fn read_host(&mut self, source: &[T]) -> Outcome<()> {
        check_length("the source", source.len(), self.len(), OVERWRITES)?;
        if self.view.bytes() == 0 {
            return Ok(());
        }
        let source = bytemuck::cast_slice(source);
        let device = self.device();
        self.order_writes(device)?;
        // SAFETY: the range is in one live allocation: `source` has as many bytes as the view, which is within one.
        // No conflicting work: the mutable borrow keeps other threads away, and this is ordered after earlier work.
        unsafe {
            device
                .backend()
                .copy_to_device(self.view.device_address(), source)
        }
    }

    /// Overwrites all elements with `source`, a buffer or a view on the same device.
    ///
    /// # Errors
    /// The errors of [`Buffer::copy_from_buffer`].
    pub fn copy_from_buffer<'b>(&mut self, source: impl IntoBufferView<'b, T>) -> Result<()> {
        self.read_view(source.into()).during("copy_from_buffer")
    }

    pub(super) fn read_view(&mut self, source: BufferView<'_, T>) -> Outcome<()> {
        let device = self.view.device();
        device.check_owns(|| "the source".to_owned(), source.device())?;
        check_length("the source", source.len(), self.len(), OVERWRITES)?;
        if self.view.bytes() == 0 {
            return Ok(());
        }
        source.holder().order_reads(device)?;
        self.order_writes(device)?;
        let (destination, bytes) = (self.view.device_address(), self.view.bytes());
        // SAFETY: both ranges are in live allocations and have the same number of bytes. They do not overlap: no
        // other view has elements of a mutable one. No conflicting work: the borrows keep it away, and this is ordered
        // after earlier work.
        unsafe {
            device
                .backend()
                .copy_on_device(destination, source.device_address(), bytes)
        }
    }

    /// Overwrites all bytes with zero.
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`](crate::Device::synchronize).
    pub fn fill_zero(&mut self) -> Result<()> {
        self.clear().during("fill_zero")
    }

    pub(crate) fn clear(&mut self) -> Outcome<()> {
        let (address, bytes) = (self.view.device_address(), self.view.bytes());
        if bytes == 0 {
            return Ok(());
        }
        let device = self.device();
        self.order_writes(device)?;
        // SAFETY: the range is in one live allocation: the view is within one. No conflicting work: the mutable
        // borrow keeps other threads away, and this is ordered after earlier work.
        unsafe { device.backend().fill_zero(address, bytes) }
    }
}

impl<'a, T: Element> From<&'a mut Buffer<T>> for BufferViewMut<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        buffer.view_mut()
    }
}

impl<'a, T: Element> From<&'a mut BufferViewMut<'_, T>> for BufferViewMut<'a, T> {
    fn from(view: &'a mut BufferViewMut<'_, T>) -> Self {
        view.view_mut()
    }
}

impl<'a, T: Element> IntoBufferView<'a, T> for &'a BufferViewMut<'_, T> {}

impl<'a, T: Element> From<&'a BufferViewMut<'_, T>> for BufferView<'a, T> {
    fn from(view: &'a BufferViewMut<'_, T>) -> Self {
        view.view()
    }
}

/// Shows the number of elements and the device, but not the elements, which are on the device.
impl<T: Element> fmt::Debug for BufferViewMut<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug::<T>(formatter, "BufferViewMut", self.len(), self.device())
    }
}
