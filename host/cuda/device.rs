//! One CUDA device as a backend.

mod events;
mod kernels;
mod launch;
mod memory;
mod peers;
mod results;
mod tensor_maps;
mod textures;

use super::context::{Context, Current, Stream};
use super::driver::Failure;
use super::memory::{Allocator, free_pinned};
use super::modules::Modules;
use super::properties;
use super::start::{cuda_error, find_device, start_driver};
use crate::backend::{Backend, DeviceMemory as _};
use crate::error::{CudaVersion, ErrorKind, Outcome};
use crate::properties::DeviceProperties;
use crate::scratch::{Allocation, Scratch};
use cudarc::driver::sys;
use std::ffi::c_void;
use std::mem;
use std::ptr::NonNull;
use std::sync::OnceLock;

/// One CUDA device: a context, a stream for all its work, and a stream for transfers from other devices.
#[derive(Debug)]
pub struct CudaDevice {
    properties: DeviceProperties,
    /// The driver's handle, which is the device's number.
    number: sys::CUdevice,
    pub(super) context: Context,
    pub(super) stream: Stream,
    /// For transfers between devices, concurrent with the work.
    transfers: Stream,
    pub(super) allocator: Allocator,
    modules: Modules,
    /// The first failure that lost the device, in the driver's words.
    lost: OnceLock<String>,
    scratch: Scratch,
}

impl CudaDevice {
    pub fn open(ordinal: u32) -> Outcome<Self> {
        let driver = start_driver(ordinal)?;
        let device = find_device(ordinal)?;
        Context::retain_primary(device)
            .and_then(|context| {
                Self::in_context(context, driver, Stream::new, |current| {
                    Allocator::new(device, current)
                })
            })
            .map_err(cuda_error)
    }

    /// A device in `context` whose work goes to `stream`.
    ///
    /// # Safety
    /// 1. `context` is alive, and `stream` is a live stream of it or null. Both outlive the result.
    pub unsafe fn open_in(context: NonNull<c_void>, stream: *mut c_void) -> Outcome<Self> {
        let driver = start_driver(0)?;
        // SAFETY: the context is alive and outlives the result: the caller's contract.
        let context = unsafe { Context::borrowed(context.as_ptr().cast()) };
        context
            .and_then(|context| {
                let device = context.device();
                // SAFETY: a stream of the context or null, which outlives the result: the caller's contract.
                let stream = unsafe { Stream::borrowed(stream.cast()) };
                let stream = |_: &Current<'_>| Ok(stream);
                Self::in_context(context, driver, stream, |current| {
                    Allocator::new(device, current)
                })
            })
            .map_err(cuda_error)
    }

    /// A device in `context`, with work in `stream` and memory from `allocator`.
    pub(super) fn in_context(
        context: Context,
        driver: CudaVersion,
        stream: impl FnOnce(&Current<'_>) -> Result<Stream, Failure>,
        allocator: impl FnOnce(&Current<'_>) -> Result<Allocator, Failure>,
    ) -> Result<Self, Failure> {
        let device = context.device();
        let properties = properties::read(device, driver)?;
        let current = context.enter()?;
        let stream = stream(&current)?;
        let transfers = Stream::new(&current)?;
        let allocator = allocator(&current)?;
        drop(current);
        Ok(Self {
            properties,
            number: device,
            context,
            stream,
            transfers,
            allocator,
            modules: Modules::default(),
            lost: OnceLock::new(),
            scratch: Scratch::default(),
        })
    }

    /// Runs `body` in the device's context, unless the device was lost.
    pub(super) fn run<R>(
        &self,
        body: impl FnOnce(&Current<'_>) -> Result<R, Failure>,
    ) -> Outcome<R> {
        let current = self.enter()?;
        body(&current).map_err(|failure| self.error(failure))
    }

    /// Waits until all submitted work is complete, and prints the output of its kernels.
    pub(super) fn wait(&self, current: &Current<'_>) -> Result<(), Failure> {
        let waited = self.stream.synchronize(current);
        self.modules.outputs.print(false);
        waited
    }

    fn enter(&self) -> Outcome<Current<'_>> {
        if self.lost.get().is_some() {
            return Err(self.lost_error());
        }
        self.context.enter().map_err(|failure| self.error(failure))
    }

    /// The error for a failure. A failure that loses the device is remembered.
    fn error(&self, failure: Failure) -> ErrorKind {
        if !failure.loses_device() {
            return cuda_error(failure);
        }
        self.lost.get_or_init(|| {
            self.modules.outputs.print(true);
            let code = failure.code;
            let words = format!("CUDA error {code}: {failure}");
            match (self.modules.outputs.panic(), failure.hint()) {
                (Some(panic), _) => format!("{panic}\n  {words}"),
                (None, Some(hint)) => format!("{words}; {hint}"),
                (None, None) => words,
            }
        });
        self.lost_error()
    }

    fn lost_error(&self) -> ErrorKind {
        ErrorKind::DeviceLost {
            device: self.label(),
            cause: self.lost.get().cloned().unwrap_or_default(),
        }
    }
}

impl Backend for CudaDevice {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn is_simulator(&self) -> bool {
        false
    }

    fn label(&self) -> String {
        format!("{} (cuda:{})", self.properties.name, self.number)
    }

    fn synchronize(&self) -> Outcome<()> {
        self.run(|current| self.wait(current))
    }

    fn raw_stream(&self) -> Option<NonNull<c_void>> {
        NonNull::new(self.stream.raw().cast())
    }

    #[cfg(feature = "cust")]
    fn exchange(&self) -> Option<&dyn crate::backend::Exchange> {
        self.allocator.is_the_drivers().then_some(self)
    }

    fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    fn with_current(&self, body: &mut dyn FnMut()) -> Outcome<()> {
        let _current = self.enter()?;
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
        let Ok(current) = self.context.enter() else {
            return;
        };
        let _ = self.wait(&current);
        for chunk in mem::take(&mut self.scratch.slots().chunks) {
            // SAFETY: a live allocation that nothing uses any more: the device allocated it, no call has a slot of
            // it, and no work is left.
            let _ = unsafe { free_pinned(chunk.host, &current) };
        }
        // SAFETY: nothing is used again: the device is dropped, so its buffers, events and modules are gone; its work
        // is done, or lost with the device.
        unsafe {
            self.modules.unload(&current);
            self.allocator.destroy(&current);
            self.transfers.destroy(&current);
            self.stream.destroy(&current);
        }
    }
}
