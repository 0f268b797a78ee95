//! Starting the driver, and finding its devices.

use super::driver::{Failure, call};
use super::library::{self, OpenError};
use crate::environment::DeviceUuid;
use crate::error::{CudaVersion, ErrorKind, Outcome};
use cuda_bindings::driver::sys;
use std::ffi::c_int;

/// The oldest driver that has all functions that are called. Pools and stream-ordered allocation came with CUDA 11.2,
/// and 11.4 is the oldest version that was tested.
pub const OLDEST_DRIVER: CudaVersion = CudaVersion {
    major: 11,
    minor: 4,
};

/// Opens and starts the driver, and checks its version. All later calls need this.
pub fn start_driver(ordinal: u32) -> Outcome<CudaVersion> {
    library::open().map_err(open_error)?;
    // SAFETY: the flags are 0, as required.
    unsafe { call!(cuInit(0)) }.map_err(|failure| start_error(ordinal, failure))?;
    let mut version = 0;
    // SAFETY: `version` is valid for one number.
    unsafe { call!(cuDriverGetVersion(&raw mut version)) }
        .map_err(|failure| start_error(ordinal, failure))?;
    let found = cuda_version(version);
    if found < OLDEST_DRIVER {
        return Err(too_old(found));
    }
    Ok(found)
}

/// The version for the driver's number: 12040 is 12.4.
fn cuda_version(number: c_int) -> CudaVersion {
    let number = u32::try_from(number).unwrap_or(0);
    CudaVersion {
        major: number / 1000,
        minor: number % 1000 / 10,
    }
}

fn too_old(found: CudaVersion) -> ErrorKind {
    let needed = OLDEST_DRIVER;
    ErrorKind::DriverTooOld { found, needed }
}

/// The error of a driver without tensor maps, which came with CUDA 12.0.
pub fn no_tensor_maps() -> ErrorKind {
    const NEEDED: CudaVersion = CudaVersion {
        major: 12,
        minor: 0,
    };
    ErrorKind::DriverTooOld {
        found: library::version().map_or(OLDEST_DRIVER, cuda_version),
        needed: NEEDED,
    }
}

fn open_error(error: OpenError) -> ErrorKind {
    let library = library::NAME;
    let reason = match error {
        OpenError::Absent(reason) => return ErrorKind::NoDriver { library, reason },
        OpenError::Broken(reason) => reason,
        OpenError::NoFunction(function) => match library::version().map(cuda_version) {
            Some(found) if found < OLDEST_DRIVER => return too_old(found),
            _ => format!("it has no function `{function}`"),
        },
    };
    ErrorKind::UnusableDriver { library, reason }
}

fn start_error(ordinal: u32, failure: Failure) -> ErrorKind {
    match failure {
        Failure::STUB_LIBRARY => ErrorKind::UnusableDriver {
            library: library::NAME,
            reason: "it is a stub, which links but computes nothing; keep the stub's folder out \
                     of LD_LIBRARY_PATH"
                .to_owned(),
        },
        Failure::NO_DEVICE => ErrorKind::NoDevice {
            ordinal,
            reason: "the driver finds no device; see what `nvidia-smi -L` and \
                     CUDA_VISIBLE_DEVICES say"
                .to_owned(),
        },
        failure => cuda_error(failure),
    }
}

/// The numbers of all devices that the driver shows, and their handles.
pub fn all_devices() -> Outcome<Vec<(u32, sys::CUdevice)>> {
    let mut count = 0;
    // SAFETY: `count` is valid for one number.
    let counted = unsafe { call!(cuDeviceGetCount(&raw mut count)) };
    counted.map_err(cuda_error)?;
    let numbers = 0..u32::try_from(count).unwrap_or(0);
    numbers
        .map(|number| Ok((number, find_device(number)?)))
        .collect()
}

/// The number of the device whose UUID starts with the digits of `wanted`.
pub fn number_of(wanted: DeviceUuid) -> Outcome<u32> {
    let mut all = Vec::new();
    for (number, device) in all_devices()? {
        all.push((number, uuid_of(device).map_err(cuda_error)?.to_string()));
    }
    number_among(&all, &wanted.to_string())
}

/// The number in `all` whose name alone starts with `wanted`.
fn number_among(all: &[(u32, String)], wanted: &str) -> Outcome<u32> {
    let mut such = all.iter().filter(|(_, name)| name.starts_with(wanted));
    let found = match (such.next(), such.next()) {
        (Some((number, _)), None) => return Ok(*number),
        (None, _) => all.iter().collect(),
        (Some(first), Some(second)) => Vec::from_iter([first, second].into_iter().chain(such)),
    };
    Err(ErrorKind::NoDeviceWithUuid {
        uuid: wanted.to_owned(),
        found: found.into_iter().map(|(_, name)| name.clone()).collect(),
    })
}

/// The UUID of a device, which may be a MIG instance.
pub fn uuid_of(device: sys::CUdevice) -> Result<DeviceUuid, Failure> {
    let (mut of_gpu, mut own) = (
        sys::CUuuid { bytes: [0; 16] },
        sys::CUuuid { bytes: [0; 16] },
    );
    // SAFETY: `of_gpu` is valid for one; the driver checks the device.
    unsafe { call!(cuDeviceGetUuid(&raw mut of_gpu, device)) }?;
    // SAFETY: as above, for `own`.
    unsafe { call!(cuDeviceGetUuid_v2(&raw mut own, device)) }?;
    let is_mig = own.bytes != of_gpu.bytes;
    Ok(DeviceUuid::whole(own.bytes.map(|byte| byte as u8), is_mig))
}

/// The device with this number, counted from 0.
pub fn find_device(ordinal: u32) -> Outcome<sys::CUdevice> {
    let mut count = 0;
    // SAFETY: `count` is valid for one number.
    unsafe { call!(cuDeviceGetCount(&raw mut count)) }
        .map_err(|failure| start_error(ordinal, failure))?;
    let number = i32::try_from(ordinal)
        .ok()
        .filter(|number| *number < count)
        .ok_or_else(|| ErrorKind::NoDevice {
            ordinal,
            reason: match count {
                0 => "the driver lists no device; see what `nvidia-smi -L` and CUDA_VISIBLE_DEVICES say"
                    .to_owned(),
                1 => "the driver lists one device, number 0".to_owned(),
                _ => format!("the driver lists {count} devices, numbered from 0"),
            },
        })?;
    let mut device = 0;
    // SAFETY: `device` is valid for one handle.
    unsafe { call!(cuDeviceGet(&raw mut device, number)) }
        .map_err(|failure| start_error(ordinal, failure))?;
    Ok(device)
}

/// The error for a failure that does not lose the device.
pub fn cuda_error(failure: Failure) -> ErrorKind {
    ErrorKind::Cuda {
        code: failure.code,
        message: failure.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_one_device_name_it() {
        let all = [(0, "GPU-8f3a"), (1, "GPU-8f40"), (2, "MIG-8f3a")];
        let all = all.map(|(number, name)| (number, name.to_owned()));
        let number = |wanted| number_among(&all, wanted);
        assert_eq!(number("GPU-8f3").ok(), Some(0));
        assert_eq!(number("GPU-8f40").ok(), Some(1));
        assert_eq!(number("MIG-8").ok(), Some(2));
        for (wanted, words) in [
            (
                "GPU-8f3b",
                "there is no CUDA device GPU-8f3b: the driver lists GPU-8f3a and GPU-8f40 and MIG-8f3a",
            ),
            (
                "GPU-8f",
                "several CUDA devices have a UUID that starts with GPU-8f: GPU-8f3a and GPU-8f40; give more digits",
            ),
        ] {
            assert_eq!(number(wanted).unwrap_err().to_string(), words);
        }
    }
}
