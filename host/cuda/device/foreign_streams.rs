//! The order of a device's work and the streams of other code.

use super::CudaDevice;
use crate::backend::{Backend, ForeignStreams};
use crate::cuda::context::{Stream, order};
use crate::error::Outcome;
use std::ffi::c_void;
use std::sync::Arc;

impl ForeignStreams for CudaDevice {
    #[cfg(feature = "dlpack")]
    fn ordinal(&self) -> i32 {
        self.gpu.number
    }

    unsafe fn with_stream(&self, stream: *mut c_void) -> Outcome<Arc<dyn Backend>> {
        // SAFETY: a stream of the context or null, which outlives the result: the caller's contract.
        let stream = unsafe { Stream::borrowed(stream.cast()) };
        let device = Self::on(Arc::clone(&self.gpu), |_| Ok(stream))?;
        Ok(Arc::new(device))
    }

    unsafe fn wait_for_stream(&self, stream: *mut c_void) -> Outcome<()> {
        // SAFETY: both streams are alive or null: `stream` by the caller's contract, and the other is the device's
        // own.
        self.run(|_current| unsafe { order(stream.cast(), self.stream.raw()) })
    }

    unsafe fn let_stream_wait(&self, stream: *mut c_void) -> Outcome<()> {
        // SAFETY: as before. The device's own stream is of the context that is current.
        self.run(|_current| unsafe { order(self.stream.raw(), stream.cast()) })
    }
}
