//! Chunks in flight to the device, two at a time.

use crate::buffer::{Buffer, BufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Error, Outcome};
use crate::transfer::{Lanes, Staging};
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

/// Chunks in flight: while one is copied and reduced, the host fills the other.
const IN_FLIGHT: usize = 2;

/// Launches whose results stay on the device at once. The host waits for the device when it copies results.
const MOST_PENDING: usize = 64;

/// Memory for [`IN_FLIGHT`] chunks of `len` elements, and a stream for the copies of each.
#[derive(Debug)]
pub struct Pipeline<T: Element> {
    device: Device,
    copies: [Device; IN_FLIGHT],
    len: usize,
    slots: [Option<Slot<T>>; IN_FLIGHT],
}

/// Memory for one chunk, allocated on first use.
#[derive(Debug)]
pub struct Slot<T: Element> {
    chunk: Buffer<T>,
    staging: Staging<T>,
    lanes: Lanes<T>,
}

impl<T: Element> Pipeline<T> {
    /// Memory for chunks of `len` elements of `device`.
    pub fn new(device: &Device, len: usize) -> Outcome<Self> {
        let stream = || device.new_stream().map_err(Error::into_kind);
        Ok(Self {
            device: device.clone(),
            copies: [stream()?, stream()?],
            len,
            slots: [const { None }; IN_FLIGHT],
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
    /// `load` takes the number of the chunk and its memory, and returns how many elements it copies there. `launch`
    /// starts work on a chunk, whose result `collect` receives later, in the order of the chunks. Errors other than
    /// those of `load` name the call `call`.
    pub fn run<P: Element, E: From<Error>>(
        &mut self,
        call: &'static str,
        mut load: impl FnMut(usize, &mut Slot<T>) -> Result<usize, E>,
        mut launch: impl FnMut(usize, BufferView<'_, T>) -> Outcome<Buffer<P>>,
        mut collect: impl FnMut(usize, Vec<P>),
    ) -> Result<(), E> {
        let mut pending = Pending::default();
        for number in 0.. {
            let place = number % IN_FLIGHT;
            let slot = &mut self.slots[place];
            let slot = Slot::get(slot, &self.copies[place], self.len).during(call)?;
            let loaded = load(number, slot)?;
            if loaded == 0 {
                break;
            }
            let launched = slot.launch(loaded, |chunk| launch(number, chunk));
            pending.results.push(launched.during(call)?);
            if pending.results.len() == MOST_PENDING {
                pending.drain(&mut collect).during(call)?;
            }
        }
        Ok(pending.drain(&mut collect).during(call)?)
    }

    /// Loads `chunks` and launches work for each, as [`run`](Self::run) does, with a thread for every other chunk:
    /// while one waits for its device memory, or for the last of its host threads, the other keeps the link busy.
    ///
    /// Returns the results in the order of the chunks.
    pub fn run_by_two<P: Element>(
        &mut self,
        chunks: usize,
        load: impl Fn(usize, &mut Slot<T>) -> Outcome<usize> + Sync,
        launch: impl Fn(usize, BufferView<'_, T>) -> Outcome<Buffer<P>> + Sync,
    ) -> Outcome<Vec<Vec<P>>> {
        let len = self.len;
        let every_other = |first: usize, slot: &mut Option<Slot<T>>, copies: &Device| {
            let mut results: Vec<Buffer<P>> = Vec::new();
            for number in (first..chunks).step_by(IN_FLIGHT) {
                let slot = Slot::get(slot, copies, len)?;
                let loaded = load(number, slot)?;
                results.push(slot.launch(loaded, |chunk| launch(number, chunk))?);
            }
            Outcome::Ok(results)
        };
        let [one, other] = &mut self.slots;
        let [copies_of_one, copies_of_other] = &self.copies;
        let (even, odd) = thread::scope(|scope| {
            let odd = scope.spawn(|| every_other(1, other, copies_of_other));
            let even = every_other(0, one, copies_of_one);
            let odd = odd.join();
            (even, odd.unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let (mut even, mut odd) = (even?.into_iter(), odd?.into_iter());
        let in_order = (0..chunks).map(|number| match number % IN_FLIGHT {
            0 => even.next(),
            _ => odd.next(),
        });
        let elements = |result: Buffer<P>| result.view().elements();
        in_order.flatten().map(elements).collect()
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
                lanes: Lanes::half(),
            })),
        }
    }

    /// Starts the work of `launch` on the chunk, the first `loaded` elements. The next copies to the slot wait for it,
    /// and not for the launches of other slots that come later.
    fn launch<P: Element>(
        &mut self,
        loaded: usize,
        launch: impl FnOnce(BufferView<'_, T>) -> Outcome<Buffer<P>>,
    ) -> Outcome<Buffer<P>> {
        let result = launch(self.chunk.view().part(..loaded)?)?;
        self.chunk.view_mut().order_next_writes()?;
        Ok(result)
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
    pub fn gather(&mut self, x: &[T], runs: &[Range<usize>]) -> Outcome<usize> {
        let len = runs.iter().map(Range::len).sum();
        let part = self.chunk.slice_mut(..len).map_err(Error::into_kind)?;
        let runs = runs.iter().map(|run| &x[run.clone()]);
        self.lanes.upload(part, runs)?;
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
