//! The context of a device, and the stream that all of its work goes through.

use super::driver::{Failure, call};
use cudarc::driver::sys;
use std::marker::PhantomData;
use std::ptr;

/// A context of a device: as a rule the primary one, which CUDA's runtime API uses too.
#[derive(Debug)]
pub struct Context {
    device: sys::CUdevice,
    context: sys::CUcontext,
    /// Whether this is a reference to the primary context, which `drop` releases.
    retained: bool,
}

// SAFETY: the driver's functions may be called with one context from any thread.
unsafe impl Send for Context {}
// SAFETY: as for `Send`.
unsafe impl Sync for Context {}

impl Context {
    /// The primary context of `device`, which lives at least as long as the result.
    pub fn retain_primary(device: sys::CUdevice) -> Result<Self, Failure> {
        let mut context = ptr::null_mut();
        // SAFETY: `context` is a place for one handle; the driver checks the device.
        unsafe { call!(cuDevicePrimaryCtxRetain(&raw mut context, device)) }?;
        Ok(Self {
            device,
            context,
            retained: true,
        })
    }

    /// A context of `device` that has another owner.
    ///
    /// # Safety
    /// 1. `context` is of `device`, and lives as long as the result.
    #[cfg(feature = "cust")]
    pub unsafe fn borrowed(context: sys::CUcontext, device: sys::CUdevice) -> Self {
        Self {
            device,
            context,
            retained: false,
        }
    }

    pub fn device(&self) -> sys::CUdevice {
        self.device
    }

    pub fn raw(&self) -> sys::CUcontext {
        self.context
    }

    /// Makes the context the calling thread's current one until the result is dropped. What was
    /// current before is current again then.
    ///
    /// Where the context is current already, as within another `enter`, it is not switched. The
    /// driver is asked each time: other users of it may switch contexts between two calls.
    pub fn enter(&self) -> Result<Current<'_>, Failure> {
        let mut before = ptr::null_mut();
        // SAFETY: `before` is a place for one handle.
        unsafe { call!(cuCtxGetCurrent(&raw mut before)) }?;
        let is_pushed = before != self.context;
        if is_pushed {
            // SAFETY: the context lives as long as `self`: by its reference, or by (1) of `borrowed`.
            unsafe { call!(cuCtxPushCurrent_v2(self.context)) }?;
        }
        Ok(Current {
            is_pushed,
            context: PhantomData,
            thread: PhantomData,
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.retained {
            // A failure leaves the context to the end of the process: nothing else can be done.
            // SAFETY: `retain_primary` took the reference that is released here.
            let _ = unsafe { call!(cuDevicePrimaryCtxRelease_v2(self.device)) };
        }
    }
}

/// The proof that a context is current on this thread.
#[derive(Debug)]
#[must_use]
pub struct Current<'a> {
    /// Whether `drop` has to make current what was so before.
    is_pushed: bool,
    context: PhantomData<&'a Context>,
    /// What is current is a matter of the thread: the proof must not leave it.
    thread: PhantomData<*const ()>,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        if !self.is_pushed {
            return;
        }
        let mut context = ptr::null_mut();
        // SAFETY: `context` is a place for one handle. Proofs are dropped in the reverse order in
        // which `enter` pushed, so the top of the stack is the context of this one.
        let _ = unsafe { call!(cuCtxPopCurrent_v2(&raw mut context)) };
    }
}

/// A stream of the context that was current when it was made.
#[derive(Debug)]
pub struct Stream {
    stream: sys::CUstream,
}

// SAFETY: the driver's functions may be called with one stream from any thread.
unsafe impl Send for Stream {}
// SAFETY: as for `Send`.
unsafe impl Sync for Stream {}

impl Stream {
    /// A stream that does not wait for the null stream of foreign libraries.
    pub fn new(_current: &Current<'_>) -> Result<Self, Failure> {
        const NON_BLOCKING: u32 = sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
        let mut stream = ptr::null_mut();
        // SAFETY: `stream` is a place for one handle, and a context is current.
        unsafe { call!(cuStreamCreate(&raw mut stream, NON_BLOCKING)) }?;
        Ok(Self { stream })
    }

    pub fn raw(&self) -> sys::CUstream {
        self.stream
    }

    /// Waits until the stream's work is done.
    pub fn synchronize(&self, _current: &Current<'_>) -> Result<(), Failure> {
        // SAFETY: the stream is alive, and a context is current.
        unsafe { call!(cuStreamSynchronize(self.stream)) }
    }

    /// Whether the stream's work is done; does not wait for it.
    pub fn is_done(&self, _current: &Current<'_>) -> Result<bool, Failure> {
        // SAFETY: the stream is alive, and a context is current.
        match unsafe { call!(cuStreamQuery(self.stream)) } {
            Ok(()) => Ok(true),
            Err(Failure::NOT_READY) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Gives the stream back; its work is done all the same.
    ///
    /// # Safety
    /// 1. The stream is not used again.
    pub unsafe fn destroy(&self, _current: &Current<'_>) {
        // SAFETY: by (1) this is the last use of the stream.
        let _ = unsafe { call!(cuStreamDestroy_v2(self.stream)) };
    }
}

/// Makes work that `then` is given from now on wait for the work that `first` was given.
///
/// # Safety
/// 1. Both are live streams, or null for the current context's null stream; the context of `first` is the
///    current one.
pub unsafe fn order(first: sys::CUstream, then: sys::CUstream) -> Result<(), Failure> {
    const WITHOUT_TIME: u32 = sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32;
    let mut event = ptr::null_mut();
    // SAFETY: `event` is a place for one handle.
    unsafe { call!(cuEventCreate(&raw mut event, WITHOUT_TIME)) }?;
    // SAFETY: by (1) the stream is alive, and so is the event.
    let ordered = unsafe { call!(cuEventRecord(event, first)) }
        // SAFETY: as before; flags are 0, as they have to be.
        .and_then(|()| unsafe { call!(cuStreamWaitEvent(then, event, 0)) });
    // The driver keeps the event until `then` has come to it.
    // SAFETY: the event is alive, and this is its last use.
    let destroyed = unsafe { call!(cuEventDestroy_v2(event)) };
    ordered.and(destroyed)
}
