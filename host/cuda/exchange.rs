//! Exchange with other users of the driver in the same process: contexts, and memory directly from the driver.

use super::context::{Context, Current, Stream};
use super::device::CudaDevice;
use super::driver::{Failure, call};
use super::gpu::Gpu;
use super::memory::{Allocator, read_attribute};
use super::start::{cuda_error, start_driver};
use crate::backend::{Backend, Exchange};
use crate::error::{ErrorKind, Outcome};
use cuda_bindings::driver::sys;
use std::ptr;
use std::sync::Arc;

/// A device in the context that is current on this thread, which must be the primary one of its device. It is kept
/// alive.
pub fn open_current_primary() -> Outcome<Arc<dyn Backend>> {
    open(|current, device| {
        let primary = active_primary(device).map_err(cuda_error)?;
        primary
            .filter(|primary| primary.raw() == current)
            .ok_or(ErrorKind::Interop {
                reason: "the current context is not the primary one of its device, and so cannot \
                         be kept alive; device_in_unowned_context takes it, which is unsafe",
            })
    })
}

/// A device in the context that is current on this thread.
///
/// # Safety
/// 1. The context outlives the result.
pub unsafe fn open_current() -> Outcome<Arc<dyn Backend>> {
    open(|current, _device| {
        // SAFETY: the context is alive and outlives the result: the caller's contract.
        unsafe { Context::borrowed(current) }.map_err(cuda_error)
    })
}

fn open(
    context: impl FnOnce(sys::CUcontext, sys::CUdevice) -> Outcome<Context>,
) -> Outcome<Arc<dyn Backend>> {
    let driver = start_driver(0)?;
    let (current, device) = current_context()
        .map_err(cuda_error)?
        .ok_or(ErrorKind::Interop {
            reason: "no context is current on this thread; make one, for example with \
                     cust::quick_init, and keep it",
        })?;
    let context = context(current, device)?;
    let allocator = |_: &Current<'_>| Ok(Allocator::of_the_driver());
    let gpu = Gpu::in_context(context, driver, allocator).map_err(cuda_error)?;
    Ok(Arc::new(CudaDevice::on(Arc::new(gpu), Stream::new)?))
}

/// The context that is current on this thread, and its device.
fn current_context() -> Result<Option<(sys::CUcontext, sys::CUdevice)>, Failure> {
    let mut context = ptr::null_mut();
    // SAFETY: `context` is valid for one handle.
    unsafe { call!(cuCtxGetCurrent(&raw mut context)) }?;
    if context.is_null() {
        return Ok(None);
    }
    let mut device = 0;
    // SAFETY: `device` is valid for one handle; a context is current.
    unsafe { call!(cuCtxGetDevice(&raw mut device)) }?;
    Ok(Some((context, device)))
}

/// The primary context of `device`, if it is active.
fn active_primary(device: sys::CUdevice) -> Result<Option<Context>, Failure> {
    let (mut flags, mut active) = (0, 0);
    let places = (&raw mut flags, &raw mut active);
    // SAFETY: both are valid for one number; the driver checks the device.
    unsafe { call!(cuDevicePrimaryCtxGetState(device, places.0, places.1)) }?;
    match active {
        0 => Ok(None),
        _ => Context::retain_primary(device).map(Some),
    }
}

impl Exchange for CudaDevice {
    fn check_memory(&self, address: u64) -> Outcome<()> {
        let fits = self
            .run(|_current| Ok(self.is_device_memory(address)? && self.is_of_context(address)?))?;
        if fits {
            return Ok(());
        }
        Err(ErrorKind::Interop {
            reason: "the memory is not device memory of the device's context; make the buffer in \
                     the context that was current when the device was made",
        })
    }
}

impl CudaDevice {
    fn is_device_memory(&self, address: u64) -> Result<bool, Failure> {
        const DEVICE: u32 = sys::CUmemorytype_enum::CU_MEMORYTYPE_DEVICE as u32;
        let attribute = sys::CUpointer_attribute_enum::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        let mut memory = 0_u32;
        // SAFETY: the type is right: this attribute is a 32-bit number.
        unsafe { read_attribute(address, attribute, &mut memory) }?;
        Ok(memory == DEVICE)
    }

    /// Whether the memory is of this context, or of a pool of its device, whose memory has no context.
    fn is_of_context(&self, address: u64) -> Result<bool, Failure> {
        use sys::CUpointer_attribute_enum as Attribute;
        let mut context: sys::CUcontext = ptr::null_mut();
        let attribute = Attribute::CU_POINTER_ATTRIBUTE_CONTEXT;
        // SAFETY: the type is right: this attribute is a context handle.
        unsafe { read_attribute(address, attribute, &mut context) }?;
        if !context.is_null() {
            return Ok(context == self.gpu.context.raw());
        }
        let mut device = 0;
        let attribute = Attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        // SAFETY: the type is right: this attribute is a 32-bit number.
        unsafe { read_attribute(address, attribute, &mut device) }?;
        Ok(device == self.gpu.context.device())
    }
}
