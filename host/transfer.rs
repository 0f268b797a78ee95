//! Copies between page-locked host memory and a device that do not block the host.
//!
//! `staging.rs`: page-locked memory that other host memory passes through; `lanes.rs`: copies by several threads, in
//! pieces (`runs.rs`).

mod lanes;
mod runs;
mod staging;

pub use lanes::Lanes;
pub(crate) use lanes::{LEAST_BYTES, piece_len, threads};
pub use staging::Staging;

use crate::buffer::{BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result, check_length};
use crate::event::Event;
use crate::pinned::PinnedBuffer;
use std::mem::ManuallyDrop;
use std::ptr;

/// A copy in progress, which owns its host memory until the copy is complete.
///
/// [`BufferViewMut::start_copy_from`] and [`BufferView::start_copy_to`] start one. Dropping a `Transfer` waits for the
/// copy, and forgetting it leaks the host memory, so the copy never accesses freed memory.
#[derive(Debug)]
#[must_use = "dropping a transfer waits for it"]
pub struct Transfer<T: Element> {
    host: ManuallyDrop<PinnedBuffer<T>>,
    complete: Event,
}

impl<T: Element> Transfer<T> {
    /// The transfer that `start` starts in the stream of `device`, from or to `host`, which is leaked if that fails. It
    /// may reuse the event of an earlier transfer.
    fn of(
        (host, event): (PinnedBuffer<T>, Option<Event>),
        device: &Device,
        start: impl FnOnce(&mut [T]) -> Outcome<()>,
    ) -> Outcome<Self> {
        // Even if the event cannot be recorded, the copy may be running.
        let mut host = ManuallyDrop::new(host);
        start(&mut host)?;
        let complete = match event {
            Some(event) => event.recorded_again(device)?,
            None => Event::record_untimed(device)?,
        };
        Ok(Self { host, complete })
    }

    /// Waits for the copy, and returns the host memory.
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`](crate::Device::synchronize). If the wait fails, the host memory is leaked.
    pub fn wait(self) -> Result<PinnedBuffer<T>> {
        let (host, _) = self.finished().during("synchronize")?;
        Ok(host)
    }

    /// Waits for the copy, and returns the host memory and the event, which may serve again.
    fn finished(self) -> Outcome<(PinnedBuffer<T>, Event)> {
        self.complete.wait()?;
        let mut transfer = ManuallyDrop::new(self);
        // SAFETY: neither is used again: `transfer` is not dropped.
        Ok(unsafe {
            let event = ptr::read(&raw const transfer.complete);
            (ManuallyDrop::take(&mut transfer.host), event)
        })
    }

    /// Whether the copy is complete; does not wait.
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`](crate::Device::synchronize).
    pub fn is_done(&self) -> Result<bool> {
        self.complete.is_done()
    }
}

impl<T: Element> Drop for Transfer<T> {
    fn drop(&mut self) {
        // If waiting fails, the copy may still be running, and the memory stays.
        if self.complete.synchronize().is_ok() {
            // SAFETY: the memory is not used again, and the copy is complete.
            unsafe { ManuallyDrop::drop(&mut self.host) };
        }
    }
}

impl<T: Element> BufferViewMut<'_, T> {
    /// Starts copying `source` to these elements, and returns without waiting for the copy.
    ///
    /// Later calls in any stream see the new elements. The copy runs in the stream of the buffer's device.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::from_env()?;
    /// let mut host = device.pinned::<f32>(1000)?;
    /// host.fill(0.5);
    /// let mut x = device.uninit::<f32>(1000)?;
    /// let upload = x.view_mut().start_copy_from(host)?;
    /// assert_eq!(device.reduce_sum(&x)?, 500.0); // after the copy
    /// let host = upload.wait()?; // to be filled again
    /// # assert_eq!(host[999], 0.5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `source` has a different length, and those of
    /// [`Device::synchronize`](crate::Device::synchronize). A call that fails does not return `source`.
    pub fn start_copy_from(&mut self, source: PinnedBuffer<T>) -> Result<Transfer<T>> {
        self.started_from(source).during("start_copy_from")
    }

    fn started_from(&mut self, source: PinnedBuffer<T>) -> Outcome<Transfer<T>> {
        let rule = "as many as it overwrites";
        check_length("the source", source.len(), self.len(), rule)?;
        self.started_from_first(source, None)
    }

    /// Starts a copy of the first elements of `source`, which has at least as many as these. `event` may be one of an
    /// earlier transfer.
    fn started_from_first(
        &mut self,
        source: PinnedBuffer<T>,
        event: Option<Event>,
    ) -> Outcome<Transfer<T>> {
        let (device, len) = (self.device(), self.len());
        self.written().order(device)?;
        let address = self.view().device_address();
        Transfer::of((source, event), device, |source| {
            let source = bytemuck::cast_slice(&source[..len]);
            // SAFETY: the range is in one live allocation, without conflicting work, as for a copy that blocks: this
            // is ordered after earlier work. The source stays until an event after the copy has come.
            unsafe { device.backend().start_copy_to_device(address, source) }
        })
    }
}

impl<T: Element> BufferView<'_, T> {
    /// Starts copying these elements to `destination`, and returns without waiting for the copy.
    ///
    /// Later calls that write these elements run after the copy. [`Transfer::wait`] returns the filled `destination`.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `destination` has a different length, and those of
    /// [`Device::synchronize`](crate::Device::synchronize). A call that fails does not return `destination`.
    pub fn start_copy_to(&self, destination: PinnedBuffer<T>) -> Result<Transfer<T>> {
        self.started_to(destination).during("start_copy_to")
    }

    fn started_to(&self, destination: PinnedBuffer<T>) -> Outcome<Transfer<T>> {
        let rule = "as many as are copied to it";
        check_length("the destination", destination.len(), self.len(), rule)?;
        self.started_to_first(destination, None)
    }

    /// Starts a copy to the first elements of `destination`, which has at least as many as these. `event` may be one of
    /// an earlier transfer.
    fn started_to_first(
        &self,
        destination: PinnedBuffer<T>,
        event: Option<Event>,
    ) -> Outcome<Transfer<T>> {
        let (device, len) = (self.device(), self.len());
        self.holder().order_reads(device)?;
        Transfer::of((destination, event), device, |destination| {
            let destination = bytemuck::cast_slice_mut(&mut destination[..len]);
            // SAFETY: the range is in one live allocation, without conflicting work, as for a copy that blocks: this
            // is ordered after earlier work. The destination stays, unused, until an event after the copy has come.
            unsafe {
                device
                    .backend()
                    .start_copy_to_host(destination, self.device_address())
            }
        })
    }
}
