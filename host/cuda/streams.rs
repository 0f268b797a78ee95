//! The streams of a device, and the order between them.

use super::context::{Current, Stream, untimed_event};
use super::driver::{Failure, call};
use crate::locks::lock;
use crate::stream_set::{MAX_STREAMS, StreamNumber, StreamSet};
use cuda_bindings::driver::sys;
use std::ptr;
use std::sync::Mutex;

/// The live streams of a device, by number.
#[derive(Debug, Default)]
pub struct Streams {
    /// Locked while a stream is waited for, so that it is not destroyed meanwhile.
    places: Mutex<Vec<Option<Place>>>,
}

/// A live stream.
#[derive(Debug)]
struct Place {
    stream: sys::CUstream,
    /// The event for streams that wait for this one, which is recorded anew each time; null until it is needed.
    event: sys::CUevent,
    /// Whether the driver records its work, which no stream may wait for. Earlier work is done.
    is_capturing: bool,
}

// SAFETY: any thread may call the driver's functions with a stream and an event.
unsafe impl Send for Place {}

impl Streams {
    /// Adds a stream, whose later work waits for the earlier work of the others; `None` if there are too many.
    ///
    /// # Safety
    /// 1. The stream is alive until it is removed, and of the context that is current.
    pub unsafe fn add(
        &self,
        stream: &Stream,
        current: &Current<'_>,
    ) -> Result<Option<StreamNumber>, Failure> {
        let mut places = lock(&self.places);
        let vacant = places.iter().position(Option::is_none);
        let number = vacant.unwrap_or(places.len());
        if number >= MAX_STREAMS as usize {
            return Ok(None);
        }
        wait_for(&mut places, StreamSet::ALL, stream, current)?;
        let place = Place {
            stream: stream.raw(),
            event: ptr::null_mut(),
            is_capturing: false,
        };
        match vacant {
            Some(number) => places[number] = Some(place),
            None => places.push(Some(place)),
        }
        Ok(Some(StreamNumber(number as u32)))
    }

    /// Makes later work of `stream` wait for the earlier work of those in `others` that live.
    pub fn wait_for(
        &self,
        others: StreamSet,
        stream: &Stream,
        current: &Current<'_>,
    ) -> Result<(), Failure> {
        wait_for(&mut lock(&self.places), others, stream, current)
    }

    /// Waits until the work of all streams is done.
    pub fn synchronize(&self, _current: &Current<'_>) -> Result<(), Failure> {
        let places = lock(&self.places);
        places
            .iter()
            .flatten()
            .filter(|place| !place.is_capturing)
            .try_for_each(|place| {
                // SAFETY: the stream is alive: it is not removed while the places are locked.
                unsafe { call!(cuStreamSynchronize(place.stream)) }
            })
    }

    /// Notes whether the driver records the work of a stream instead of running it.
    pub fn set_capturing(&self, StreamNumber(number): StreamNumber, is_capturing: bool) {
        if let Some(Some(place)) = lock(&self.places).get_mut(number as usize) {
            place.is_capturing = is_capturing;
        }
    }

    /// Removes a stream whose work is done, or lost with the device.
    pub fn remove(&self, StreamNumber(number): StreamNumber, _current: &Current<'_>) {
        let place = lock(&self.places)[number as usize].take();
        if let Some(event) = place.map(|it| it.event).filter(|event| !event.is_null()) {
            // SAFETY: the event is alive, and this is its last use.
            let _ = unsafe { call!(cuEventDestroy_v2(event)) };
        }
    }
}

fn wait_for(
    places: &mut [Option<Place>],
    others: StreamSet,
    stream: &Stream,
    _current: &Current<'_>,
) -> Result<(), Failure> {
    for number in others.numbers() {
        let place = places.get_mut(number.0 as usize).and_then(Option::as_mut);
        let Some(place) = place.filter(|place| !place.is_capturing) else {
            continue;
        };
        if let Err(failure) = place.let_wait(stream) {
            // Memory is freed or lent after this, so if the driver has no event, the host waits.
            // SAFETY: the stream is alive: it is not destroyed while the places are locked.
            let waited = unsafe { call!(cuStreamSynchronize(place.stream)) };
            waited.map_err(|_| failure)?;
        }
    }
    Ok(())
}

impl Place {
    /// Makes later work of `stream` wait for the earlier work of this one. The places are locked.
    fn let_wait(&mut self, stream: &Stream) -> Result<(), Failure> {
        if self.event.is_null() {
            self.event = untimed_event()?;
        }
        // SAFETY: event and stream are alive: neither is destroyed while the places are locked.
        unsafe { call!(cuEventRecord(self.event, self.stream)) }?;
        // SAFETY: stream and event are alive, as before; the flags are 0, as required. The driver remembers what was
        // recorded last, so the event may be recorded anew.
        unsafe { call!(cuStreamWaitEvent(stream.raw(), self.event, 0)) }
    }
}
