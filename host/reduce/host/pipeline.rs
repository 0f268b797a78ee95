//! Chunks on their way to the device, two at a time.

use crate::buffer::{Buffer, BufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Error, Outcome};
use crate::transfer::{Lanes, Staging};
use std::ops::Range;

/// Chunks in flight: while one is copied and reduced, the host fills the other.
const IN_FLIGHT: usize = 2;

/// Launches whose results stay on the device at once. The host waits for the device when it copies results.
const MOST_PENDING: usize = 64;

/// Memory for [`IN_FLIGHT`] chunks of `len` elements, and a stream for the copies.
#[derive(Debug)]
pub struct Pipeline<T: Element> {
    device: Device,
    copies: Device,
    len: usize,
    slots: [Option<Slot<T>>; IN_FLIGHT],
    lanes: Lanes<T>,
}

/// Memory for one chunk, allocated on first use.
#[derive(Debug)]
pub struct Slot<T: Element> {
    chunk: Buffer<T>,
    staging: Staging<T>,
}

impl<T: Element> Pipeline<T> {
    /// Memory for chunks of `len` elements of `device`.
    pub fn new(device: &Device, len: usize) -> Outcome<Self> {
        Ok(Self {
            device: device.clone(),
            copies: device.new_stream().map_err(Error::into_kind)?,
            len,
            slots: [const { None }; IN_FLIGHT],
            lanes: Lanes::default(),
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
            self.slots = [const { None }; IN_FLIGHT];
        }
    }

    /// Loads chunk after chunk, and starts a launch for each, until `load` loads nothing.
    ///
    /// `load` takes the number of the chunk, its memory, and page-locked memory for host threads, and returns how many
    /// elements it copies there. `launch` starts work on a chunk, whose result `collect` receives later, in the order of the chunks. Errors other than
    /// those of `load` name the call `call`.
    pub fn run<P: Element, E: From<Error>>(
        &mut self,
        call: &'static str,
        mut load: impl FnMut(usize, &mut Slot<T>, &mut Lanes<T>) -> Result<usize, E>,
        mut launch: impl FnMut(usize, BufferView<'_, T>) -> Outcome<Buffer<P>>,
        mut collect: impl FnMut(usize, Vec<P>),
    ) -> Result<(), E> {
        let mut pending = Pending::default();
        for number in 0.. {
            let slot = &mut self.slots[number % IN_FLIGHT];
            let slot = Slot::get(slot, &self.copies, self.len).during(call)?;
            let loaded = load(number, slot, &mut self.lanes)?;
            if loaded == 0 {
                break;
            }
            if let Some(next) = &mut self.slots[(number + 1) % IN_FLIGHT] {
                // Its copies do not wait for this launch.
                next.chunk.view_mut().order_next_writes().during(call)?;
            }
            let chunk = self.slots[number % IN_FLIGHT].as_ref();
            let chunk = chunk.expect("it was loaded").chunk.view().part(..loaded);
            let launched = chunk.and_then(|chunk| launch(number, chunk));
            pending.results.push(launched.during(call)?);
            if pending.results.len() == MOST_PENDING {
                pending.drain(&mut collect).during(call)?;
            }
        }
        Ok(pending.drain(&mut collect).during(call)?)
    }
}

impl<T: Element> Slot<T> {
    /// The memory of `slot`, for `len` elements.
    fn get<'a>(slot: &'a mut Option<Self>, copies: &Device, len: usize) -> Outcome<&'a mut Self> {
        match slot {
            Some(slot) => Ok(slot),
            None => Ok(slot.insert(Self {
                chunk: Buffer::uninit(copies, len)?,
                staging: Staging::default(),
            })),
        }
    }

    /// Fills page-locked memory, and starts its copy to the device.
    ///
    /// `fill` returns how many elements it has written. If it fails or there are none, nothing is copied.
    pub fn fill<E: From<Error>>(
        &mut self,
        call: &'static str,
        fill: impl FnOnce(&mut [T]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        self.staging.upload(call, self.chunk.view_mut(), fill)
    }

    /// Copies runs of `x`, one after another, through the page-locked memory of several threads. Returns the number
    /// of their elements.
    pub fn gather(
        &mut self,
        lanes: &mut Lanes<T>,
        x: &[T],
        runs: &[Range<usize>],
    ) -> Outcome<usize> {
        let len = runs.iter().map(Range::len).sum();
        let part = self.chunk.slice_mut(..len).map_err(Error::into_kind)?;
        lanes.upload(part, runs.iter().map(|run| &x[run.clone()]))?;
        Ok(len)
    }

    /// Copies runs of `x`, which lie at equal distances and have one length, that of the last run or more. Returns
    /// the number of their elements when the copy is complete; earlier launches run meanwhile.
    pub fn copy(&mut self, x: &[T], runs: &[Range<usize>]) -> Outcome<usize> {
        let [first, ..] = runs else {
            return Ok(0);
        };
        let whole = runs.iter().filter(|run| run.len() == first.len()).count();
        let apart = runs
            .get(1)
            .map_or(first.len(), |run| run.start - first.start);
        let parts = self.chunk.split_at_mut(whole * first.len());
        let (rows, mut rest) = parts.map_err(Error::into_kind)?;
        let rows = rows.into_matrix((whole, first.len()));
        let mut rows = rows.map_err(Error::into_kind)?;
        rows.read_strided(&x[first.start..], apart)?;
        if let Some(last) = runs.get(whole) {
            let place = rest.slice_mut(..last.len());
            let mut place = place.map_err(Error::into_kind)?;
            place.read_host(&x[last.clone()])?;
        }
        Ok(runs.iter().map(Range::len).sum())
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
