//! A stream that records.

mod refused;

use super::recorded::{Recorded, free};
use crate::backend::*;
use crate::capture::Capture;
use crate::device::Device;
use crate::error::{ErrorKind, Outcome};
use crate::module_source::ModuleSource;
use crate::properties::DeviceProperties;
use crate::report::LaunchRecorder;
use crate::residency::Residency;
use crate::scratch::{Allocation, Scratch};
use crate::stream_set::{StreamNumber, StreamSet};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The backend of a stream while it records: it passes on calls that a graph can record, and refuses the rest.
///
/// A device that outlives the recording refuses all calls, so that the stream runs the graph alone.
#[derive(Debug)]
pub(super) struct Recorder {
    stream: Device,
    pub(super) capture: Capture,
    has_ended: AtomicBool,
    /// Stands in for the stream's memory after the recording, since the graph uses it: empty.
    no_scratch: Scratch,
}

const WAITS: &str = "it waits for the work before it, which has not run; call it after a launch of the graph, or use the \
                     `_into` form";
const OTHERS: &str = "it shares work with other streams or devices; call it outside of the graph";
const ENDED: &str =
    "its stream recorded a graph, which is complete; use the device that the graph was made on";

impl Recorder {
    pub(super) fn start(stream: &Device) -> Outcome<Arc<Self>> {
        stream.backend().start_capture()?;
        Ok(Arc::new(Self {
            stream: stream.clone(),
            capture: Capture::new(),
            has_ended: AtomicBool::new(false),
            no_scratch: Scratch::default(),
        }))
    }

    /// Ends the recording, and returns what was recorded.
    pub(super) fn end(&self) -> Outcome<Recorded> {
        let stream = &self.stream;
        self.refuse_calls();
        let handle = stream.backend().end_capture();
        let scratch = stream.backend().scratch().allocations();
        let addresses: Vec<u64> = scratch.iter().map(|it| it.address).collect();
        let new = scratch
            .iter()
            .filter(|it| self.capture.has_live(it.address));
        // The memory that a reduction expects to be zero was filled only in the recording.
        let filled = new.copied().try_for_each(|Allocation { address, bytes }| {
            // SAFETY: a live allocation, which only work of this stream uses.
            unsafe { stream.backend().fill_zero(address, bytes) }
        });
        let (memory, ended) = self.capture.end(&addresses);
        match handle {
            Ok(handle) => {
                let recorded = Recorded {
                    stream: stream.clone(),
                    handle,
                    memory,
                };
                ended.and(filled).map(|()| recorded)
            }
            Err(error) => {
                free(stream, &memory);
                Err(error)
            }
        }
    }

    /// Refuses later calls. Calls of other threads that use the stream's own memory complete first: a later failure
    /// of theirs would free it under the graph.
    fn refuse_calls(&self) {
        let scratch = self.backend().scratch();
        let _unused = (scratch.workspace(), scratch.counters());
        self.has_ended.store(true, Ordering::Release);
    }

    fn backend(&self) -> &dyn Backend {
        self.stream.backend()
    }

    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// The stream, for a call that a graph can record or that needs no stream.
    fn open(&self, call: &str) -> Outcome<&dyn Backend> {
        match self.has_ended() {
            true => Err(self.capture.refuse(call, ENDED)),
            false => Ok(self.backend()),
        }
    }

    fn refuse<T>(&self, call: &str, reason: &'static str) -> Outcome<T> {
        self.open(call)?;
        Err(self.capture.refuse(call, reason))
    }

    fn note(&self, address: u64) -> u64 {
        self.capture.note_allocated(address);
        address
    }
}

impl Backend for Recorder {
    fn properties(&self) -> &DeviceProperties {
        self.backend().properties()
    }

    fn is_simulator(&self) -> bool {
        self.backend().is_simulator()
    }

    fn label(&self) -> String {
        self.backend().label()
    }

    fn new_stream(&self, _priority: StreamPriority) -> Outcome<Arc<dyn Backend>> {
        self.refuse("a new stream", OTHERS)
    }

    fn synchronize(&self) -> Outcome<()> {
        self.refuse("a call that waits", WAITS)
    }

    fn raw_stream(&self) -> Option<NonNull<c_void>> {
        self.backend().raw_stream().filter(|_| !self.has_ended())
    }

    fn recorder(&self) -> Option<&LaunchRecorder> {
        self.backend().recorder()
    }

    fn capture(&self) -> Option<&Capture> {
        (!self.has_ended()).then_some(&self.capture)
    }

    fn scratch(&self) -> &Scratch {
        match self.has_ended() {
            true => &self.no_scratch,
            false => self.backend().scratch(),
        }
    }

    fn with_current(&self, body: &mut dyn FnMut()) -> Outcome<()> {
        self.backend().with_current(body)
    }
}

impl DeviceMemory for Recorder {
    fn allocate(&self, bytes: usize) -> Outcome<u64> {
        let address = self.open("an allocation")?.allocate(bytes)?;
        Ok(self.note(address))
    }

    unsafe fn free(&self, address: u64, bytes: usize) {
        match self.has_ended() {
            // SAFETY: a live allocation that is not used again: the caller's contract. No graph uses it: a capture
            // whose memory outlives it makes none.
            true => unsafe { self.backend().free(address, bytes) },
            // The lock must not stay locked if a kernel that drops a buffer is stopped.
            false => simt::uninterrupted(|| self.capture.keep(Allocation { address, bytes })),
        }
    }

    fn name(&self, address: u64, name: &str) {
        self.backend().name(address, name);
    }

    fn memory(&self) -> Outcome<MemoryUse> {
        self.backend().memory()
    }

    fn trim_memory(&self, _kept: u64) -> Outcome<()> {
        self.refuse("a call that waits", WAITS)
    }

    fn keep_memory(&self, kept: u64) -> Outcome<()> {
        self.backend().keep_memory(kept)
    }

    unsafe fn copy_to_device(&self, _destination: u64, _source: &[u8]) -> Outcome<()> {
        self.refuse("a copy from host memory", WAITS)
    }

    unsafe fn copy_to_host(&self, _destination: &mut [u8], _source: u64) -> Outcome<()> {
        self.refuse("a copy to host memory", WAITS)
    }

    unsafe fn start_copy_to_device(&self, _destination: u64, _source: &[u8]) -> Outcome<()> {
        self.refuse("a copy from host memory", WAITS)
    }

    unsafe fn start_copy_to_host(&self, _destination: &mut [u8], _source: u64) -> Outcome<()> {
        self.refuse("a copy to host memory", WAITS)
    }

    unsafe fn copy_on_device(&self, destination: u64, source: u64, bytes: usize) -> Outcome<()> {
        let stream = self.open("a copy")?;
        // SAFETY: the caller's contract.
        unsafe { stream.copy_on_device(destination, source, bytes) }
    }

    unsafe fn copy_rows_to_device(
        &self,
        _destination: Rows<u64>,
        _source: Rows<*const u8>,
        _extent: RowExtent,
    ) -> Outcome<()> {
        self.refuse("a copy from host memory", WAITS)
    }

    unsafe fn copy_rows_to_host(
        &self,
        _destination: Rows<*mut u8>,
        _source: Rows<u64>,
        _extent: RowExtent,
    ) -> Outcome<()> {
        self.refuse("a copy to host memory", WAITS)
    }

    unsafe fn copy_rows_on_device(
        &self,
        destination: Rows<u64>,
        source: Rows<u64>,
        extent: RowExtent,
    ) -> Outcome<()> {
        let stream = self.open("a copy")?;
        // SAFETY: the caller's contract.
        unsafe { stream.copy_rows_on_device(destination, source, extent) }
    }

    unsafe fn fill_zero(&self, address: u64, bytes: usize) -> Outcome<()> {
        let stream = self.open("a fill")?;
        // SAFETY: the caller's contract.
        unsafe { stream.fill_zero(address, bytes) }
    }

    fn allocate_pinned(&self, bytes: usize) -> Outcome<NonNull<u8>> {
        self.open("an allocation")?.allocate_pinned(bytes)
    }

    unsafe fn free_pinned(&self, first: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's contract.
        unsafe { self.backend().free_pinned(first, bytes) }
    }
}

impl DeviceTensorMaps for Recorder {
    fn encode_tensor_map(&self, request: &TensorMapRequest) -> Outcome<[u64; 16]> {
        self.open("a tensor map")?.encode_tensor_map(request)
    }
}

impl DeviceStreams for Recorder {
    fn stream(&self) -> StreamNumber {
        self.backend().stream()
    }

    fn identity(&self) -> usize {
        self.backend().identity()
    }

    /// For the order of frees after the recording. Recorded work is ordered when the graph is launched.
    fn wait_for(&self, others: StreamSet) -> Outcome<()> {
        match self.has_ended() {
            true => self.backend().wait_for(others),
            false => Ok(()),
        }
    }

    unsafe fn wait_for_event(&self, _event: EventHandle) -> Outcome<()> {
        self.refuse("an event", OTHERS)
    }
}

impl DeviceKernels for Recorder {
    fn load(&self, source: &'static ModuleSource) -> Outcome<()> {
        self.backend().load(source)
    }

    fn warnings(&self, source: &'static ModuleSource) -> Outcome<Vec<String>> {
        self.backend().warnings(source)
    }

    fn write_symbol(&self, _symbol: &SymbolRequest, _source: &[u8]) -> Outcome<()> {
        self.refuse("a copy from host memory", WAITS)
    }

    fn read_symbol(&self, _symbol: &SymbolRequest, _destination: &mut [u8]) -> Outcome<()> {
        self.refuse("a copy to host memory", WAITS)
    }

    fn residency(&self, request: &ResidencyRequest<'_>) -> Outcome<Residency> {
        self.backend().residency(request)
    }

    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Outcome<()> {
        let call = || format!("a launch of `{}`", request.entry.kernel);
        let stream = self.open(&call())?;
        if request.bounds.cooperative {
            return Err(self.capture.refuse(&call(), COOPERATIVE));
        }
        // SAFETY: the caller's contract.
        match unsafe { stream.launch(request) } {
            // Noted, so that no graph results if the closure ignores the error.
            Err(ErrorKind::NotRecorded { call, reason }) => Err(self.capture.refuse(&call, reason)),
            launched => launched,
        }
    }
}

const COOPERATIVE: &str =
    "cooperative launches of all streams share the counters of the grid's barrier";
