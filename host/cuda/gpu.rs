//! State that the streams of one device share: its context, memory and modules.

use super::context::{Context, Current, Stream};
use super::driver::Failure;
use super::memory::Allocator;
use super::modules::Modules;
use super::properties;
use super::staged::Chunks;
use super::start::{cuda_error, find_device, start_driver};
use super::streams::Streams;
use crate::error::{CudaVersion, ErrorKind, Outcome};
use crate::properties::DeviceProperties;
use cuda_bindings::driver::sys;
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// Keeps a context and a stream of other code alive.
pub type Owner = Arc<dyn Any + Send + Sync>;

/// A context of a CUDA device, with the state that all its streams share.
#[derive(Debug)]
pub struct Gpu {
    pub properties: DeviceProperties,
    /// The driver's handle, which is the device's number.
    pub number: sys::CUdevice,
    pub context: Context,
    pub allocator: Allocator,
    pub modules: Modules,
    pub streams: Streams,
    pub chunks: Chunks,
    /// The first failure that lost the device, in the driver's words.
    lost: OnceLock<String>,
    /// The owner of a borrowed context and of the stream that was borrowed with it. As a field, it outlives the body of
    /// `drop`, which uses the context.
    pub owner: Option<Owner>,
}

impl Gpu {
    /// Device `ordinal`, in its primary context.
    pub fn open(ordinal: u32) -> Outcome<Self> {
        let driver = start_driver(ordinal)?;
        let device = find_device(ordinal)?;
        let context = Context::retain_primary(device);
        context
            .and_then(|context| {
                Self::in_context(context, driver, |current| Allocator::new(device, current))
            })
            .map_err(cuda_error)
    }

    /// A device in `context`, with memory from `allocator`.
    pub fn in_context(
        context: Context,
        driver: CudaVersion,
        allocator: impl FnOnce(&Current<'_>) -> Result<Allocator, Failure>,
    ) -> Result<Self, Failure> {
        let number = context.device();
        let properties = properties::read(number, driver)?;
        let allocator = allocator(&context.enter()?)?;
        Ok(Self {
            properties,
            number,
            context,
            allocator,
            modules: Modules::default(),
            streams: Streams::default(),
            chunks: Chunks::default(),
            lost: OnceLock::new(),
            owner: None,
        })
    }

    /// Runs `body` in the device's context, unless the device was lost.
    pub fn run<R>(&self, body: impl FnOnce(&Current<'_>) -> Result<R, Failure>) -> Outcome<R> {
        let current = self.enter()?;
        body(&current).map_err(|failure| self.error(failure))
    }

    /// Waits until the work of `stream` is complete, and prints the output of kernels.
    pub fn wait(&self, stream: &Stream, current: &Current<'_>) -> Result<(), Failure> {
        let waited = stream.synchronize(current);
        self.modules.outputs.print(false);
        waited
    }

    pub fn enter(&self) -> Outcome<Current<'_>> {
        if self.lost.get().is_some() {
            return Err(self.lost_error());
        }
        self.context.enter().map_err(|failure| self.error(failure))
    }

    /// The error for a failure. A failure that loses the device is remembered.
    pub fn error(&self, failure: Failure) -> ErrorKind {
        if !failure.loses_device() {
            return cuda_error(failure);
        }
        // Before the lock of `lost`, and before the panic is read: another thread may have locked standard output.
        self.modules.outputs.print(true);
        self.lost.get_or_init(|| {
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

    pub fn label(&self) -> String {
        format!("{} (cuda:{})", self.properties.name, self.number)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        let Ok(current) = self.context.enter() else {
            return;
        };
        self.chunks.free(&current);
        // SAFETY: nothing is used again: the device is dropped, so its streams, buffers, events and modules are gone;
        // its work is done, or lost with the device.
        unsafe {
            self.modules.unload(&current);
            self.allocator.destroy(&current);
        }
    }
}
