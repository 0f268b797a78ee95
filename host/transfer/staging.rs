//! Page-locked memory that data of the host passes through.

use super::Transfer;
use crate::buffer::{BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Error, Outcome};
use crate::event::Event;
use crate::pinned::PinnedBuffer;

/// Page-locked memory, allocated on first use, and the last copy that uses it.
#[derive(Debug)]
pub struct Staging<T: Element> {
    free: Option<PinnedBuffer<T>>,
    /// The event of copies, recorded again for each.
    event: Option<Event>,
    copy: Option<Transfer<T>>,
}

impl<T: Element> Default for Staging<T> {
    fn default() -> Self {
        Self {
            free: None,
            event: None,
            copy: None,
        }
    }
}

impl<T: Element> Staging<T> {
    /// Fills the memory, and starts copying the filled elements to the first ones of `destination`.
    ///
    /// `fill` gets as many elements as the destination has, and returns how many of the first ones it has written. If
    /// it fails or there are none, nothing is copied.
    pub fn upload<E: From<Error>>(
        &mut self,
        call: &'static str,
        destination: BufferViewMut<'_, T>,
        fill: impl FnOnce(&mut [T]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        let len = destination.len();
        let mut memory = self.take(destination.device(), len).during(call)?;
        match fill(&mut memory[..len]) {
            Ok(filled @ 1..) => {
                self.start_upload(memory, destination, filled)
                    .during(call)?;
                Ok(filled)
            }
            nothing => {
                self.free = Some(memory);
                nothing
            }
        }
    }

    fn start_upload(
        &mut self,
        memory: PinnedBuffer<T>,
        mut destination: BufferViewMut<'_, T>,
        filled: usize,
    ) -> Outcome<()> {
        let first = destination.slice_mut(..filled);
        let mut first = first.map_err(Error::into_kind)?;
        self.copy = Some(first.started_from_first(memory, self.event.take())?);
        Ok(())
    }

    /// Starts copying `source` to the first elements of the memory.
    pub fn start_download(&mut self, source: BufferView<'_, T>) -> Outcome<()> {
        let memory = self.take(source.device(), source.len())?;
        self.copy = Some(source.started_to_first(memory, self.event.take())?);
        Ok(())
    }

    /// The memory after its last copy.
    pub fn downloaded(&mut self) -> Outcome<&[T]> {
        self.finish()?;
        Ok(self.free.as_deref().unwrap_or_default())
    }

    /// Memory for `len` elements that no copy uses any more.
    fn take(&mut self, device: &Device, len: usize) -> Outcome<PinnedBuffer<T>> {
        self.finish()?;
        match self.free.take().filter(|memory| memory.len() >= len) {
            Some(memory) => Ok(memory),
            None => device.pinned(len).map_err(Error::into_kind),
        }
    }

    /// Waits for the last copy.
    fn finish(&mut self) -> Outcome<()> {
        if let Some(copy) = self.copy.take() {
            let (memory, event) = copy.finished()?;
            (self.free, self.event) = (Some(memory), Some(event));
        }
        Ok(())
    }
}
