//! The protocol's names of devices and streams.

use crate::device::Device;
use crate::error::{During, ErrorKind, Outcome, Result};
use ::dlpark::ffi::DLDevice;

/// The legacy default stream, in the protocol's numbers for CUDA.
const LEGACY_DEFAULT: i64 = 1;
/// The consumer's request not to wait.
const NO_WAIT: i64 = -1;

/// The error for a CUDA device whose stream other code must not use.
const RECORDING: ErrorKind = ErrorKind::Interop {
    reason: "the device records a graph, or has recorded one; use the device that the graph was made on",
};

/// The protocol's name of a device.
pub(super) fn dl_device(device: &Device) -> Outcome<DLDevice> {
    #[cfg(feature = "cuda")]
    if let Some(device) = device.backend().foreign_streams() {
        return Ok(DLDevice::cuda(device.ordinal()));
    }
    match device.is_simulator() {
        true => Ok(DLDevice::CPU),
        false => Err(RECORDING),
    }
}

/// The stream of `device` in the protocol's numbers, for the producer of a tensor that you will import.
///
/// It is the argument `stream` of `__dlpack__`: `None` on the simulator, as for all CPU tensors; 1 for the null stream
/// of CUDA; otherwise the handle.
#[must_use]
pub fn stream_for_producer(device: &Device) -> Option<i64> {
    match device.raw_stream() {
        Some(stream) => Some(stream.as_ptr().expose_provenance() as i64),
        None if device.is_simulator() => None,
        None => Some(LEGACY_DEFAULT),
    }
}

/// Makes later work of a consumer's stream wait for the earlier work of `device`. The calling thread does not wait.
///
/// `stream` is the consumer's, in the protocol's numbers for CUDA: `None` and 1 are the legacy default stream, 2 the
/// calling thread's default stream, -1 a request not to wait, and larger numbers are handles. On the simulator it is
/// `None` or -1.
///
/// # Errors
/// [`ErrorKind::Interop`] if `stream` is 0 or another negative number, or names a stream and the device is the
/// simulator; those of [`Device::synchronize`].
///
/// # Safety
/// 1. If `stream` is a handle, it is a live `CUstream`.
pub unsafe fn let_consumer_wait(device: &Device, stream: Option<i64>) -> Result<()> {
    // SAFETY: a live stream: the caller's contract.
    unsafe { order(device, stream) }.during("interop::dlpack::let_consumer_wait")
}

/// # Safety
/// That of [`let_consumer_wait`].
pub(super) unsafe fn order(device: &Device, stream: Option<i64>) -> Outcome<()> {
    let refused = |reason| Err(ErrorKind::Interop { reason });
    if device.is_simulator() {
        return match stream {
            None | Some(NO_WAIT) => Ok(()),
            Some(_) => {
                refused("a tensor in host memory has no stream; the consumer must pass None")
            }
        };
    }
    match stream.unwrap_or(LEGACY_DEFAULT) {
        NO_WAIT => Ok(()),
        0 => refused("stream 0 is ambiguous in DLPack; pass 1 for the default stream, or a handle"),
        number if number < 0 => refused("a negative number is not a stream in DLPack, except -1"),
        #[cfg(feature = "cuda")]
        number => {
            let Some(streams) = device.backend().foreign_streams() else {
                return Err(RECORDING);
            };
            let stream = std::ptr::with_exposed_provenance_mut(number as usize);
            // SAFETY: a live stream by the caller's contract, or 1 or 2, which the driver reads as default streams.
            unsafe { streams.let_stream_wait(stream) }
        }
        #[cfg(not(feature = "cuda"))]
        _ => Ok(()),
    }
}
