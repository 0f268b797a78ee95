//! Chunks on their way to the device, two at a time.

use crate::buffer::{Buffer, BufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Error, Outcome};
use crate::pinned::PinnedBuffer;
use crate::transfer::Transfer;

/// Chunks in flight: while one is copied and reduced, the host fills the other.
const IN_FLIGHT: usize = 2;

/// Launches whose results stay on the device at once. The host waits for the device when it copies results.
const MOST_PENDING: usize = 64;

/// Page-locked memory and device memory for [`IN_FLIGHT`] chunks of `len` elements, and a stream for the copies.
#[derive(Debug)]
pub struct Pipeline<T: Element> {
    device: Device,
    copies: Device,
    len: usize,
    slots: [Slot<T>; IN_FLIGHT],
}

/// Memory for one chunk, allocated on first use.
#[derive(Debug)]
struct Slot<T: Element> {
    host: Option<PinnedBuffer<T>>,
    /// The copy of the last chunk, which has the page-locked memory.
    upload: Option<Transfer<T>>,
    chunk: Option<Buffer<T>>,
}

impl<T: Element> Pipeline<T> {
    /// Memory for chunks of `len` elements of `device`.
    pub fn new(device: &Device, len: usize) -> Outcome<Self> {
        Ok(Self {
            device: device.clone(),
            copies: device.new_stream().map_err(Error::into_kind)?,
            len,
            slots: Default::default(),
        })
    }

    /// The device with the stream of the launches.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The number of elements of a chunk.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Makes chunks have at least `len` elements.
    pub fn grow(&mut self, len: usize) {
        if len > self.len {
            self.len = len;
            // Frees the smaller memory before more is allocated.
            self.slots = Default::default();
        }
    }

    /// Fills chunk after chunk, and starts its copy and then its launch, until `fill` fills nothing.
    ///
    /// `fill` takes the number of the chunk and page-locked memory, and returns how many elements it has written
    /// there. `launch` starts work on a chunk, whose result `collect` receives later, in the order of the chunks.
    /// Errors that are not those of `fill` have the call's name `during`.
    pub fn run<P: Element, E: From<Error>>(
        &mut self,
        during: &'static str,
        mut fill: impl FnMut(usize, &mut [T]) -> Result<usize, E>,
        mut launch: impl FnMut(usize, BufferView<'_, T>) -> Outcome<Buffer<P>>,
        mut collect: impl FnMut(usize, Vec<P>),
    ) -> Result<(), E> {
        let mut pending = Pending::default();
        for number in 0.. {
            let slot = &mut self.slots[number % IN_FLIGHT];
            let mut host = slot.take_host(&self.device, self.len).during(during)?;
            let filled = match fill(number, &mut host) {
                Ok(filled @ 1..) => filled,
                done => {
                    slot.host = Some(host);
                    done?;
                    break;
                }
            };
            let chunk = slot.upload(host, filled, &self.copies, self.len);
            let launched = chunk.and_then(|chunk| launch(number, chunk));
            pending.results.push(launched.during(during)?);
            if pending.results.len() == MOST_PENDING {
                pending.drain(&mut collect).during(during)?;
            }
        }
        Ok(pending.drain(&mut collect).during(during)?)
    }
}

impl<T: Element> Slot<T> {
    /// The slot's page-locked memory of `len` elements, which no copy uses any more.
    fn take_host(&mut self, device: &Device, len: usize) -> Outcome<PinnedBuffer<T>> {
        if let Some(upload) = self.upload.take() {
            return upload.wait().map_err(Error::into_kind);
        }
        match self.host.take() {
            Some(host) => Ok(host),
            None => device.pinned(len).map_err(Error::into_kind),
        }
    }

    /// Starts a copy of the first `filled` elements of `host`, and returns them on the device.
    fn upload(
        &mut self,
        host: PinnedBuffer<T>,
        filled: usize,
        copies: &Device,
        len: usize,
    ) -> Outcome<BufferView<'_, T>> {
        let chunk = match &mut self.chunk {
            Some(chunk) => chunk,
            none => none.insert(Buffer::uninit(copies, len)?),
        };
        let mut part = chunk.slice_mut(..filled).map_err(Error::into_kind)?;
        self.upload = Some(part.started_from_first(host)?);
        chunk.view().part(..filled)
    }
}

impl<T: Element> Default for Slot<T> {
    fn default() -> Self {
        Self {
            host: None,
            upload: None,
            chunk: None,
        }
    }
}

/// Results on the device that the host has not copied.
struct Pending<P: Element> {
    /// The number of the first one's chunk.
    first: usize,
    results: Vec<Buffer<P>>,
}

impl<P: Element> Pending<P> {
    fn drain(&mut self, collect: &mut impl FnMut(usize, Vec<P>)) -> Outcome<()> {
        for result in self.results.drain(..) {
            collect(self.first, result.view().elements()?);
            self.first += 1;
        }
        Ok(())
    }
}

impl<P: Element> Default for Pending<P> {
    fn default() -> Self {
        Self {
            first: 0,
            results: Vec::new(),
        }
    }
}
