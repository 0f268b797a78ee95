//! One CUDA device as a backend.

mod events;
mod foreign_streams;
mod graphs;
mod kernels;
mod launch;
mod memory;
mod peers;
mod results;
mod streams;
mod tensor_maps;
mod textures;

use super::context::{Context, Current, Stream};
use super::driver::Failure;
use super::gpu::{Gpu, Owner};
use super::memory::{Allocator, free_pinned};
use super::start::{cuda_error, start_driver};
use crate::backend::{Backend, DeviceMemory as _, StreamPriority};
use crate::error::Outcome;
use crate::properties::DeviceProperties;
use crate::scratch::{Allocation, Scratch};
use crate::stream_set::{StreamNumber, too_many_streams};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// One stream of a CUDA device, with a stream for transfers from other devices.
#[derive(Debug)]
pub struct CudaDevice {
    pub(super) gpu: Arc<Gpu>,
    pub(super) stream: Stream,
    number: StreamNumber,
    /// For transfers between devices, concurrent with the work.
    transfers: Stream,
    scratch: Scratch,
    /// Whether the driver records what is submitted to the stream.
    is_capturing: AtomicBool,
}

impl CudaDevice {
    /// A stream of its own on device `ordinal`.
    pub fn open(ordinal: u32) -> Outcome<Self> {
        Self::on(Arc::new(Gpu::open(ordinal)?), Stream::new)
    }

    /// A device in `context` whose work goes to `stream`, and which keeps their `owner`.
    ///
    /// # Safety
    /// 1. `context` is alive, and `stream` is a live stream of it or null. Both outlive the result or its owner.
    pub unsafe fn open_in(
        context: NonNull<c_void>,
        stream: *mut c_void,
        owner: Option<Owner>,
    ) -> Outcome<Self> {
        let driver = start_driver(0)?;
        // SAFETY: the context is alive and outlives the result: the caller's contract.
        let context = unsafe { Context::borrowed(context.as_ptr().cast()) };
        let gpu = context.and_then(|context| {
            let device = context.device();
            Gpu::in_context(context, driver, |current| Allocator::new(device, current))
        });
        let mut gpu = gpu.map_err(cuda_error)?;
        gpu.owner = owner;
        // SAFETY: a stream of the context or null, which outlives the result: the caller's contract.
        let stream = unsafe { Stream::borrowed(stream.cast()) };
        Self::on(Arc::new(gpu), |_| Ok(stream))
    }

    /// A stream of `gpu`, which `make` makes in its context.
    pub(super) fn on(
        gpu: Arc<Gpu>,
        make: impl FnOnce(&Current<'_>) -> Result<Stream, Failure>,
    ) -> Outcome<Self> {
        let current = gpu.enter()?;
        let stream = make(&current).map_err(|failure| gpu.error(failure))?;
        let rest = Stream::new(&current).and_then(|transfers| {
            // SAFETY: the stream is alive until `drop` removes it, and of the device's context, which is current.
            match unsafe { gpu.streams.add(&stream, &current) } {
                Ok(Some(number)) => Ok(Some((transfers, number))),
                other => {
                    // SAFETY: the stream is not used again.
                    unsafe { transfers.destroy(&current) };
                    other.map(|_| None)
                }
            }
        });
        let Ok(Some((transfers, number))) = rest else {
            // SAFETY: the stream is not used again.
            unsafe { stream.destroy(&current) };
            return Err(match rest {
                Err(failure) => gpu.error(failure),
                Ok(_) => too_many_streams(),
            });
        };
        drop(current);
        Ok(Self {
            gpu,
            stream,
            number,
            transfers,
            scratch: Scratch::default(),
            is_capturing: AtomicBool::new(false),
        })
    }

    /// Runs `body` in the device's context, unless the device was lost.
    pub(super) fn run<R>(
        &self,
        body: impl FnOnce(&Current<'_>) -> Result<R, Failure>,
    ) -> Outcome<R> {
        self.gpu.run(body)
    }

    /// Waits until all work of the stream is complete, and prints the output of kernels.
    pub(super) fn wait(&self, current: &Current<'_>) -> Result<(), Failure> {
        self.gpu.wait(&self.stream, current)
    }
}

impl Backend for CudaDevice {
    fn properties(&self) -> &DeviceProperties {
        &self.gpu.properties
    }

    fn is_simulator(&self) -> bool {
        false
    }

    fn label(&self) -> String {
        self.gpu.label()
    }

    fn synchronize(&self) -> Outcome<()> {
        self.run(|current| self.wait(current))
    }

    fn new_stream(&self, priority: StreamPriority) -> Outcome<Arc<dyn Backend>> {
        let gpu = Arc::clone(&self.gpu);
        let stream = match priority {
            StreamPriority::Normal => Self::on(gpu, Stream::new),
            StreamPriority::High => Self::on(gpu, Stream::of_high_priority),
        };
        Ok(Arc::new(stream?))
    }

    fn raw_stream(&self) -> Option<NonNull<c_void>> {
        NonNull::new(self.stream.raw().cast())
    }

    fn foreign_streams(&self) -> Option<&dyn crate::backend::ForeignStreams> {
        Some(self)
    }

    #[cfg(feature = "cust")]
    fn exchange(&self) -> Option<&dyn crate::backend::Exchange> {
        self.gpu.allocator.is_the_drivers().then_some(self)
    }

    fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    fn with_current(&self, body: &mut dyn FnMut()) -> Outcome<()> {
        let _current = self.gpu.enter()?;
        body();
        Ok(())
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        for Allocation { address, bytes } in self.scratch.take() {
            // SAFETY: one live allocation, not used again: the device allocated it with this size, and nothing uses
            // it after `drop`.
            unsafe { self.free(address, bytes) };
        }
        let Ok(current) = self.gpu.context.enter() else {
            return;
        };
        let _ = self.wait(&current);
        for chunk in self.scratch.take_chunks() {
            // SAFETY: a live allocation that nothing uses any more: the device allocated it, no call has a slot of
            // it, and no work is left.
            let _ = unsafe { free_pinned(chunk.host, &current) };
        }
        self.gpu.streams.remove(self.number, &current);
        // SAFETY: neither is used again: this is dropped, the streams' work is done, or lost with the device, and no
        // other stream waits for this one any more.
        unsafe {
            self.transfers.destroy(&current);
            self.stream.destroy(&current);
        }
    }
}
