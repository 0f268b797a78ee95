//! Several streams of one device.

use crate::backend::StreamPriority;
use crate::device::Device;
use crate::error::{During, Outcome, Result};
use crate::event::Event;

impl Device {
    /// Returns the same device with a new stream, whose work can overlap that of other streams.
    ///
    /// Calls on the result submit their work to the new stream. Buffers, matrices, textures and modules belong to
    /// the device, so all its streams accept them. If two streams use the same buffer and one of them writes it, the
    /// later call waits on the device for the earlier one; the host does not wait. A copy to the host waits for the
    /// data that it copies.
    ///
    /// The new stream's work runs after all work that was submitted before this call. A device has at most 64
    /// streams at once. Dropping the last clone of a stream waits for its work.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::from_env()?;
    /// let other = device.new_stream()?;
    /// let x = device.upload(&[1.0_f32; 1000])?;
    /// let y = other.upload(&[2.0_f32; 1000])?;
    /// let (mut of_x, mut of_y) = (device.zeros(1)?, other.zeros(1)?);
    /// // These two may run at the same time.
    /// device.reduce_sum_into(&x, &mut of_x)?;
    /// other.reduce_sum_into(&y, &mut of_y)?;
    /// // This one waits for both.
    /// assert_eq!(device.reduce_dot(&of_x, &of_y)?, 2_000_000.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) for more than 64 streams; those of
    /// [`Device::synchronize`].
    pub fn new_stream(&self) -> Result<Self> {
        self.another_stream(StreamPriority::Normal)
            .during("new_stream")
    }

    /// [`new_stream`](Self::new_stream) with a priority. The simulator ignores the priority.
    ///
    /// # Errors
    /// The errors of [`new_stream`](Self::new_stream).
    pub fn new_stream_with_priority(&self, priority: StreamPriority) -> Result<Self> {
        self.another_stream(priority)
            .during("new_stream_with_priority")
    }

    fn another_stream(&self, priority: StreamPriority) -> Outcome<Self> {
        self.backend().new_stream(priority).map(Self::of_backend)
    }

    /// Whether `other` submits its work to the same stream of the same device, as a clone does.
    #[must_use]
    pub fn is_same_stream(&self, other: &Self) -> bool {
        self.is_same(other) && self.backend().stream() == other.backend().stream()
    }

    /// Makes later work of this stream wait for `event`.
    ///
    /// You need this only for work that other code submits: calls of this library wait for the data that they use. The
    /// host waits only if the event was recorded on another device.
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`].
    pub fn wait_for(&self, event: &Event) -> Result<()> {
        event.let_wait(self).during("wait_for")
    }
}
