//! The driver's start, and the devices that it shows.

use super::driver::{Failure, call};
use crate::error::{CudaVersion, Error, Result};
use cust::sys;

/// The oldest driver that has every function that is called here; that of the bindings of `cust`.
pub const OLDEST_DRIVER: CudaVersion = CudaVersion {
    major: 11,
    minor: 4,
};

/// Starts the driver, which all later calls need, and checks its version.
pub fn start_driver(ordinal: u32) -> Result<CudaVersion> {
    // SAFETY: flags are 0, as they have to be.
    unsafe { call!(cuInit(0)) }.map_err(|failure| start_error(ordinal, failure))?;
    let mut version = 0;
    // SAFETY: `version` is a place for one number.
    unsafe { call!(cuDriverGetVersion(&raw mut version)) }
        .map_err(|failure| start_error(ordinal, failure))?;
    let version = u32::try_from(version).unwrap_or(0);
    let found = CudaVersion {
        major: version / 1000,
        minor: version % 1000 / 10,
    };
    if found < OLDEST_DRIVER {
        let needed = OLDEST_DRIVER;
        return Err(Error::DriverTooOld { found, needed });
    }
    Ok(found)
}

fn start_error(ordinal: u32, failure: Failure) -> Error {
    let reason = match failure {
        Failure::STUB_LIBRARY => {
            "the program was started with a stub of libcuda.so.1, which links but computes \
             nothing; install the NVIDIA driver, and keep the stub's folder out of LD_LIBRARY_PATH"
        }
        Failure::NO_DEVICE => {
            "the driver finds no device; see what `nvidia-smi -L` and CUDA_VISIBLE_DEVICES say"
        }
        failure => return cuda_error("start the driver", failure),
    };
    let reason = reason.to_owned();
    Error::NoDevice { ordinal, reason }
}

/// The device of this number, counted from 0.
pub fn find_device(ordinal: u32) -> Result<sys::CUdevice> {
    let mut count = 0;
    // SAFETY: `count` is a place for one number.
    unsafe { call!(cuDeviceGetCount(&raw mut count)) }
        .map_err(|failure| start_error(ordinal, failure))?;
    let number = i32::try_from(ordinal)
        .ok()
        .filter(|number| *number < count)
        .ok_or_else(|| Error::NoDevice {
            ordinal,
            reason: format!("the driver shows {count} devices, numbered from 0"),
        })?;
    let mut device = 0;
    // SAFETY: `device` is a place for one handle.
    unsafe { call!(cuDeviceGet(&raw mut device, number)) }
        .map_err(|failure| start_error(ordinal, failure))?;
    Ok(device)
}

/// The error for a failure that does not lose the device.
pub fn cuda_error(operation: &'static str, failure: Failure) -> Error {
    Error::Cuda {
        operation,
        code: failure.code,
        message: failure.to_string(),
    }
}
