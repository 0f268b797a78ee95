//! Copies of whole buffers, from and to the host and on the device.

use super::Buffer;
use super::view::{BufferView, IntoBufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result};

impl Device {
    /// Copies `data` to a new buffer on this device.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[1.0_f32, 2.0])?;
    /// assert_eq!(x.to_vec()?, [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::zeros`].
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>> {
        Buffer::uploaded(self, data).during("upload")
    }
}

impl<T: Element> Buffer<T> {
    pub(crate) fn uploaded(device: &Device, data: &[T]) -> Outcome<Self> {
        let mut buffer = Self::uninit(device, data.len())?;
        buffer.view_mut().read_host(data)?;
        Ok(buffer)
    }

    /// Copies the elements to host memory, after all earlier work.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let sums = device.reduce_rows(&device.matrix((2, 2), &[1_i32, 2, 3, 4])?, tilewright::ops::Sum)?;
    /// assert_eq!(sums.to_vec()?, [3, 7]); // waits for the sums
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::OutOfHostMemory`](crate::ErrorKind::OutOfHostMemory) if the host cannot allocate the vector, and
    /// those of [`copy_to_slice`](Self::copy_to_slice).
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.view().to_vec()
    }

    /// Copies all elements to `destination`, after all earlier work.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `destination` does not have [`len`](Self::len)
    /// elements; [`SimulatorError::NeverWritten`](crate::SimulatorError::NeverWritten) if the simulator finds an
    /// element that was never written; those of [`Device::synchronize`] if the copy or earlier work fails.
    pub fn copy_to_slice(&self, destination: &mut [T]) -> Result<()> {
        self.view().copy_to_slice(destination)
    }

    /// Overwrites all elements with `source`.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `source` does not have [`len`](Self::len)
    /// elements, and those of [`Device::synchronize`].
    pub fn copy_from_slice(&mut self, source: &[T]) -> Result<()> {
        self.view_mut().copy_from_slice(source)
    }

    /// Overwrites all elements with `source`, a buffer or a view on the same device.
    ///
    /// # Errors
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `source` is on another device;
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if it does not have [`len`](Self::len) elements;
    /// those of [`Device::synchronize`].
    pub fn copy_from_buffer<'a>(&mut self, source: impl IntoBufferView<'a, T>) -> Result<()> {
        self.view_mut().copy_from_buffer(source)
    }

    /// Overwrites all bytes with zero.
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`].
    pub fn fill_zero(&mut self) -> Result<()> {
        self.view_mut().fill_zero()
    }

    /// Copies the elements to a new buffer on the same device.
    ///
    /// # Errors
    /// The errors of [`Device::zeros`].
    pub fn try_clone(&self) -> Result<Self> {
        self.view().copied().during("try_clone")
    }
}

impl<T: Element> BufferView<'_, T> {
    /// Copies the elements to a new buffer on the same device.
    ///
    /// # Errors
    /// The errors of [`Device::zeros`].
    pub fn to_buffer(&self) -> Result<Buffer<T>> {
        self.copied().during("to_buffer")
    }

    pub(crate) fn copied(&self) -> Outcome<Buffer<T>> {
        let mut copy = Buffer::uninit(self.device(), self.len())?;
        copy.view_mut().read_view(*self)?;
        Ok(copy)
    }
}
