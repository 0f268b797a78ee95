//! The context of a device, and streams.

use super::driver::{Failure, call};
use cuda_bindings::driver::sys;
use std::marker::PhantomData;
use std::ptr;

/// A context of a device: usually the primary one, which CUDA's runtime API also uses.
#[derive(Debug)]
pub struct Context {
    device: sys::CUdevice,
    context: sys::CUcontext,
    /// Whether this is a reference to the primary context, which `drop` releases.
    retained: bool,
}

// SAFETY: any thread may call the driver's functions with a context.
unsafe impl Send for Context {}
// SAFETY: as for `Send`.
unsafe impl Sync for Context {}

impl Context {
    /// The primary context of `device`. It lives at least as long as the result.
    pub fn retain_primary(device: sys::CUdevice) -> Result<Self, Failure> {
        let mut context = ptr::null_mut();
        // SAFETY: `context` is valid for one handle; the driver checks the device.
        unsafe { call!(cuDevicePrimaryCtxRetain(&raw mut context, device)) }?;
        Ok(Self {
            device,
            context,
            retained: true,
        })
    }

    /// A context that someone else owns.
    ///
    /// # Safety
    /// 1. `context` is alive, and lives as long as the result.
    pub unsafe fn borrowed(context: sys::CUcontext) -> Result<Self, Failure> {
        let mut device = 0;
        let mut borrowed = Self {
            device,
            context,
            retained: false,
        };
        let current = borrowed.enter()?;
        // SAFETY: `device` is valid for one handle; a context is current.
        unsafe { call!(cuCtxGetDevice(&raw mut device)) }?;
        drop(current);
        borrowed.device = device;
        Ok(borrowed)
    }

    pub fn device(&self) -> sys::CUdevice {
        self.device
    }

    pub fn raw(&self) -> sys::CUcontext {
        self.context
    }

    /// Makes the context current on the calling thread until the result is dropped, which restores the previous one.
    ///
    /// If the context is already current, as within another `enter`, it is not switched. The driver is asked each
    /// time, because its other users may switch contexts between two calls.
    pub fn enter(&self) -> Result<Current<'_>, Failure> {
        let mut before = ptr::null_mut();
        // SAFETY: `before` is valid for one handle.
        unsafe { call!(cuCtxGetCurrent(&raw mut before)) }?;
        let is_pushed = before != self.context;
        if is_pushed {
            // SAFETY: the context lives as long as `self`: by its reference, or by the contract of `borrowed`.
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
            // After a failure the context stays until the process ends: nothing else can be done.
            // SAFETY: `retain_primary` took the reference that is released here.
            let _ = unsafe { call!(cuDevicePrimaryCtxRelease_v2(self.device)) };
        }
    }
}

/// Proof that a context is current on this thread.
#[derive(Debug)]
#[must_use]
pub struct Current<'a> {
    /// Whether `drop` must restore the previous context.
    is_pushed: bool,
    context: PhantomData<&'a Context>,
    /// Each thread has its own current context, so the proof must not leave its thread.
    thread: PhantomData<*const ()>,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        if !self.is_pushed {
            return;
        }
        let mut context = ptr::null_mut();
        // SAFETY: `context` is valid for one handle. Proofs are dropped in the reverse order in which `enter` pushed,
        // so the top of the stack is the context of this one.
        let _ = unsafe { call!(cuCtxPopCurrent_v2(&raw mut context)) };
    }
}

/// A stream of the context that was current when it was created.
#[derive(Debug)]
pub struct Stream {
    stream: sys::CUstream,
    /// Whether someone else owns it.
    is_borrowed: bool,
}

// SAFETY: any thread may call the driver's functions with a stream.
unsafe impl Send for Stream {}
// SAFETY: as for `Send`.
unsafe impl Sync for Stream {}

impl Stream {
    /// A stream that does not wait for the null stream of other libraries.
    pub fn new(current: &Current<'_>) -> Result<Self, Failure> {
        Self::of_priority(0, current)
    }

    /// A stream whose waiting blocks start before those of others.
    pub fn of_high_priority(current: &Current<'_>) -> Result<Self, Failure> {
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: both are valid for one number, and a context is current.
        unsafe {
            call!(cuCtxGetStreamPriorityRange(
                &raw mut least,
                &raw mut greatest
            ))
        }?;
        Self::of_priority(greatest, current)
    }

    fn of_priority(priority: i32, _current: &Current<'_>) -> Result<Self, Failure> {
        const NON_BLOCKING: u32 = sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
        let mut stream = ptr::null_mut();
        let place = &raw mut stream;
        // SAFETY: `place` is valid for one handle, and a context is current.
        unsafe { call!(cuStreamCreateWithPriority(place, NON_BLOCKING, priority)) }?;
        Ok(Self {
            stream,
            is_borrowed: false,
        })
    }

    /// A stream that someone else owns.
    ///
    /// # Safety
    /// 1. `stream` is a stream of the device's context, or null for its null stream, and lives as long as the result.
    pub unsafe fn borrowed(stream: sys::CUstream) -> Self {
        Self {
            stream,
            is_borrowed: true,
        }
    }

    pub fn raw(&self) -> sys::CUstream {
        self.stream
    }

    /// Waits until the stream's work is done.
    pub fn synchronize(&self, _current: &Current<'_>) -> Result<(), Failure> {
        // SAFETY: the stream is alive, and a context is current.
        unsafe { call!(cuStreamSynchronize(self.stream)) }
    }

    /// Whether the stream's work is done; does not wait.
    pub fn is_done(&self, _current: &Current<'_>) -> Result<bool, Failure> {
        // SAFETY: the stream is alive, and a context is current.
        match unsafe { call!(cuStreamQuery(self.stream)) } {
            Ok(()) => Ok(true),
            Err(Failure::NOT_READY) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Destroys the stream, unless it is borrowed; its work still completes.
    ///
    /// # Safety
    /// 1. The stream is not used again.
    pub unsafe fn destroy(&self, _current: &Current<'_>) {
        if !self.is_borrowed {
            // SAFETY: this is the last use of the stream: the caller's contract.
            let _ = unsafe { call!(cuStreamDestroy_v2(self.stream)) };
        }
    }
}

/// A new event of the current context, without a time.
pub fn untimed_event() -> Result<sys::CUevent, Failure> {
    const WITHOUT_TIME: u32 = sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32;
    let mut event = ptr::null_mut();
    // SAFETY: `event` is valid for one handle.
    unsafe { call!(cuEventCreate(&raw mut event, WITHOUT_TIME)) }?;
    Ok(event)
}

/// Makes later work of `then` wait for the earlier work of `first`.
///
/// # Safety
/// 1. Both are live streams, or null for the current context's null stream. The context of `first` is the current
///    one.
pub unsafe fn order(first: sys::CUstream, then: sys::CUstream) -> Result<(), Failure> {
    let event = untimed_event()?;
    // SAFETY: the stream is alive: the caller's contract. So is the event.
    let ordered = unsafe { call!(cuEventRecord(event, first)) }
        // SAFETY: stream and event are alive, as before; the flags are 0, as required.
        .and_then(|()| unsafe { call!(cuStreamWaitEvent(then, event, 0)) });
    // The driver keeps the event until `then` has reached it.
    // SAFETY: the event is alive, and this is its last use.
    let destroyed = unsafe { call!(cuEventDestroy_v2(event)) };
    ordered.and(destroyed)
}
