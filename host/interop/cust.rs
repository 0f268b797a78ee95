//! Interoperation with the crate `cust`: contexts, buffers and streams.
//!
//! [`device`] opens a device in the context that `cust` made current. Buffers move in both directions without a copy,
//! and a stream's work can be ordered before or after the device's.
//!
//! ```no_run
//! use cust::memory::{CopyDestination as _, DeviceBuffer};
//! use tilewright::interop::cust as interop;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let _context = cust::quick_init()?;
//! let device = interop::device()?;
//! let theirs = DeviceBuffer::from_slice(&[1.0_f32, 2.0, 3.5])?;
//! // SAFETY: nothing else uses the memory: there is no slice or pointer of the buffer, and no stream works on it.
//! let x = unsafe { interop::buffer_from_cust(&device, theirs) }?;
//! assert_eq!(device.reduce_sum(&x)?, 6.5);
//! let theirs = interop::buffer_into_cust(x)?;
//! let mut back = [0.0; 3];
//! theirs.copy_to(&mut back)?;
//! # Ok(())
//! # }
//! ```
//!
//! The memory of such a device comes directly from the driver instead of a pool, because `cust` frees it with
//! `cuMemFree`. So allocating takes longer than with [`Device::cuda`], and freeing waits for the device's work.

use crate::backend::Exchange;
use crate::buffer::Buffer;
use crate::cuda;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use ::cust::memory::{DeviceBuffer, DeviceCopy, DevicePointer};
use ::cust::stream::Stream;
use std::ptr;

/// The alignment that kernels rely on: `cuMemAlloc` aligns to at least 256 bytes.
const ALIGNMENT: u64 = 256;

/// Opens a device in the calling thread's current context, which must be a primary one.
///
/// `cust::quick_init` and `cust::context::Context::new` make the primary context of a device current. The device
/// keeps it alive.
///
/// Each call makes a new device: clone it to use its buffers elsewhere. It shares its context with the device of
/// [`Device::cuda`], but neither accepts the other's buffers.
///
/// # Errors
/// [`ErrorKind::Interop`] if no context is current, or the current one is not primary; those of [`Device::cuda`].
pub fn device() -> Result<Device> {
    cuda::open_current_primary()
        .map(Device::of_backend)
        .during("interop::cust::device")
}

/// Opens a device in the context that is current on the calling thread, primary or not.
///
/// The context may be one that `cust::context::legacy` created.
///
/// # Errors
/// [`ErrorKind::Interop`] if no context is current; those of [`Device::cuda`].
///
/// # Safety
/// 1. The context outlives the device, its clones, and all its buffers, matrices, modules and events.
pub unsafe fn device_in_unowned_context() -> Result<Device> {
    // SAFETY: the context outlives the device: the caller's contract.
    let backend = unsafe { cuda::open_current() };
    backend
        .map(Device::of_backend)
        .during("interop::cust::device_in_unowned_context")
}

/// Turns `buffer` into a buffer of `device`, without a copy. Dropping the result frees the memory.
///
/// Work on the result runs after the earlier work of `cust`'s streams and after `cust`'s copies.
///
/// Elements must be [`Element`]s; `DeviceCopy` alone is not enough:
///
/// ```compile_fail,E0277
/// # use cust::memory::DeviceBuffer;
/// # use tilewright::{Buffer, Device, interop::cust::buffer_from_cust};
/// fn adopt(device: &Device, flags: DeviceBuffer<bool>) -> tilewright::Result<Buffer<bool>> {
///     // SAFETY: there is none: a kernel could write a bool that is neither true nor false.
///     unsafe { buffer_from_cust(device, flags) }
/// }
/// ```
///
/// # Errors
/// [`ErrorKind::Interop`] if `device` is not from this module, or if the memory does not belong to its context or is
/// not aligned to 256 bytes; those of [`Device::synchronize`]. A call that fails drops `buffer`.
///
/// # Safety
/// 1. While the result lives, nothing else uses the memory: no `DeviceSlice`, which is `Copy` and outlives its
///    buffer, no pointer, no kernel of `cust`.
/// 2. Work on the memory in streams that `cust` did not create is done.
pub unsafe fn buffer_from_cust<T: Element + DeviceCopy>(
    device: &Device,
    buffer: DeviceBuffer<T>,
) -> Result<Buffer<T>> {
    // SAFETY: nothing else uses the memory, and other streams' work on it is done: the caller's contract.
    unsafe { adopt(device, buffer) }.during("buffer_from_cust")
}

/// # Safety
/// The requirements of [`buffer_from_cust`].
unsafe fn adopt<T: Element + DeviceCopy>(
    device: &Device,
    buffer: DeviceBuffer<T>,
) -> Outcome<Buffer<T>> {
    let exchange = exchange(device)?;
    let (address, len) = (buffer.as_device_ptr().as_raw(), buffer.len());
    if len * size_of::<T>() == 0 {
        // SAFETY: there are no bytes, and the address is 0.
        return Ok(unsafe { Buffer::of_allocation(device, 0, len) });
    }
    if !address.is_multiple_of(ALIGNMENT) {
        return Err(ErrorKind::Interop {
            reason: "the memory is not aligned to 256 bytes, as kernels need it; a DeviceBuffer \
                     has to begin where an allocation does",
        });
    }
    exchange.check_memory(address)?;
    // All streams of `cust` are blocking: the null stream waits for them, and so does the device.
    // SAFETY: a live stream or null: it is null.
    unsafe { exchange.wait_for_stream(ptr::null_mut()) }?;
    std::mem::forget(buffer);
    // SAFETY: an allocation of `len` elements: it was the buffer's, which is forgotten, and the alignment was
    // checked. The device can free it: it uses `cuMemFree`, like `cust`. Nothing else uses it: the caller's contract.
    Ok(unsafe { Buffer::of_allocation(device, address, len) })
}

/// Turns `buffer` into a buffer of `cust`, without a copy. Dropping the result frees the memory.
///
/// The call waits until the device's work is done, because `cust` may free the memory at any time.
///
/// # Errors
/// [`ErrorKind::Interop`] if the buffer's device is not from this module; those of [`Device::synchronize`]. A call that
/// fails drops `buffer`.
pub fn buffer_into_cust<T: Element + DeviceCopy>(buffer: Buffer<T>) -> Result<DeviceBuffer<T>> {
    let (address, len) = exchange(buffer.device())
        .map(|_| buffer.device().clone())
        .and_then(|device| {
            let allocation = buffer.into_allocation()?;
            device.backend().synchronize()?;
            Ok(allocation)
        })
        .during("buffer_into_cust")?;
    let pointer = DevicePointer::from_raw(address);
    // SAFETY: the pointer and the length are those of a `cuMemAlloc` allocation of the same element type, which
    // nothing else uses or frees. Without bytes the pointer is null, as in `cust`.
    Ok(unsafe { DeviceBuffer::from_raw_parts(pointer, len) })
}

/// Makes later work of `device` wait for the earlier work of `stream`. The calling thread does not wait.
///
/// # Errors
/// [`ErrorKind::Interop`] if `device` is not from this module; those of [`Device::synchronize`], also if `stream`
/// belongs to another context.
pub fn wait_for_stream(device: &Device, stream: &Stream) -> Result<()> {
    exchange(device)
        // SAFETY: a live stream: it is borrowed.
        .and_then(|exchange| unsafe { exchange.wait_for_stream(stream.as_inner().cast()) })
        .during("wait_for_stream")
}

/// Makes later work of `stream` wait for the earlier work of `device`. The calling thread does not wait.
///
/// # Errors
/// [`ErrorKind::Interop`] if `device` is not from this module; those of [`Device::synchronize`].
pub fn let_stream_wait(stream: &Stream, device: &Device) -> Result<()> {
    exchange(device)
        // SAFETY: a live stream: it is borrowed.
        .and_then(|exchange| unsafe { exchange.let_stream_wait(stream.as_inner().cast()) })
        .during("let_stream_wait")
}

fn exchange(device: &Device) -> Outcome<&dyn Exchange> {
    device.backend().exchange().ok_or(ErrorKind::Interop {
        reason: "the device does not exchange with cust; make it with \
                 tilewright::interop::cust::device",
    })
}
