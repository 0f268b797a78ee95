//! The devices of the crate for those of tensors.

use crate::errors::{Class, exception};
use dlpark::ffi::{DLDevice, DLDeviceType};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, PoisonError};
use tilewright::interop::raw;
use tilewright::{Device, default_device};

/// A device number, with the handle of a stream of another library if calls work in one.
type Place = (u32, Option<usize>);

/// The CUDA devices that were opened. They are never closed: a stream that dies is one in which no call works any more.
static DEVICES: Mutex<Option<HashMap<Place, Device>>> = Mutex::new(None);

/// The device for tensors in host memory: that of `TILEWRIGHT_DEVICE`, or the first GPU, or else the simulator.
///
/// A simulator that a thread of the parent used at a fork stays locked in the child, which gets one of its own.
pub fn host_device() -> PyResult<Device> {
    static SIMULATOR: Mutex<Option<(u32, Device)>> = Mutex::new(None);
    let device = default_device().map_err(exception)?;
    if !device.is_simulator() {
        return Ok(device.clone());
    }
    let mut simulator = SIMULATOR.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    let device = match &*simulator {
        Some((of_process, device)) if *of_process == process => return Ok(device.clone()),
        Some(_) => Device::from_env().map_err(exception)?,
        None => device.clone(),
    };
    Ok(simulator.insert((process, device)).1.clone())
}

/// The device for tensors on `device`, in the stream of this handle if there is one.
///
/// # Safety
/// 1. The handle is null, or a live stream of the device's primary context, which stays alive while calls work in it.
pub unsafe fn device_of(device: DLDevice, stream: Option<usize>) -> PyResult<Device> {
    match device.device_type {
        DLDeviceType::CPU => host_device(),
        DLDeviceType::CUDA => {
            let ordinal = u32::try_from(device.device_id).unwrap_or_default();
            // SAFETY: the caller's contract.
            unsafe { cuda((ordinal, stream)) }.map_err(exception)
        }
        DLDeviceType(other) => Err(Class::Value.error(format!(
            "arrays have to be on the CPU or on a CUDA device, and this one is on a device of DLPack type {other}"
        ))),
    }
}

/// [`device_of`] for a CUDA device that is open, unless another thread is opening one. It does not wait.
pub fn open_device(device: DLDevice, stream: Option<usize>) -> Option<Device> {
    let ordinal = u32::try_from(device.device_id).ok()?;
    let is_cuda = device.device_type == DLDeviceType::CUDA;
    let devices = is_cuda.then(|| DEVICES.try_lock().ok()).flatten()?;
    devices.as_ref()?.get(&(ordinal, stream)).cloned()
}

/// A CUDA device, opened by the first call.
///
/// # Safety
/// That of [`device_of`].
unsafe fn cuda((ordinal, stream): Place) -> tilewright::Result<Device> {
    let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    let devices = devices.get_or_insert_default();
    let own = match devices.entry((ordinal, None)) {
        Entry::Occupied(device) => device.get().clone(),
        Entry::Vacant(place) => place.insert(Device::cuda(ordinal)?).clone(),
    };
    let Some(handle) = stream else { return Ok(own) };
    match devices.entry((ordinal, Some(handle))) {
        Entry::Occupied(device) => Ok(device.get().clone()),
        Entry::Vacant(place) => {
            let stream: *mut c_void = ptr::with_exposed_provenance_mut(handle);
            // SAFETY: a live stream or null: the caller's contract. The device is never dropped, and works in the
            // stream only when a call names it.
            let device = unsafe { raw::with_stream(&own, stream) }?;
            Ok(place.insert(device).clone())
        }
    }
}

/// The name of the device for arrays in host memory.
#[pyfunction]
pub fn device_name(py: Python<'_>) -> PyResult<String> {
    Ok(py.detach(host_device)?.name().to_owned())
}

/// Whether the device for arrays in host memory is the simulator.
#[pyfunction]
pub fn is_simulator(py: Python<'_>) -> PyResult<bool> {
    Ok(py.detach(host_device)?.is_simulator())
}
