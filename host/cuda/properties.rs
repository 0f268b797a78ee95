//! Properties and limits of a CUDA device.

use super::driver::{Failure, call};
use crate::error::CudaVersion;
use crate::properties::DeviceProperties;
use cuda_bindings::driver::sys;
use simt::Dim3;
use std::ffi::CStr;

/// Reads the properties of `device`.
pub fn read(device: sys::CUdevice, driver: CudaVersion) -> Result<DeviceProperties, Failure> {
    use sys::CUdevice_attribute_enum as Attribute;
    let read = |attribute| attribute_of(device, attribute);
    let extent = |x, y, z| Ok(Dim3::from((read(x)?, read(y)?, read(z)?)));
    Ok(DeviceProperties {
        name: name_of(device)?,
        compute_capability: Some((
            read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        )),
        driver: Some(driver),
        multiprocessors: read(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        warp_threads: read(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        max_block_threads: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        max_block: extent(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
        )?,
        max_grid: extent(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
        )?,
        max_multiprocessor_threads: read(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        )?,
        shared_bytes_per_block: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
        max_shared_bytes_per_block: read(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?,
        l2_cache_bytes: u64::from(read(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?),
        memory_bytes: memory_bytes_of(device)?,
    })
}

/// One attribute of `device`. The attributes that are read here are never negative.
pub fn attribute_of(
    device: sys::CUdevice,
    attribute: sys::CUdevice_attribute,
) -> Result<u32, Failure> {
    let mut value = 0;
    // SAFETY: `value` is valid for one number; the driver checks the device.
    unsafe { call!(cuDeviceGetAttribute(&raw mut value, attribute, device)) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// Whether the device's compute mode lets no program use it.
pub fn is_prohibited(device: sys::CUdevice) -> Result<bool, Failure> {
    const PROHIBITED: u32 = sys::CUcomputemode_enum::CU_COMPUTEMODE_PROHIBITED as u32;
    let mode = sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE;
    Ok(attribute_of(device, mode)? == PROHIBITED)
}

fn name_of(device: sys::CUdevice) -> Result<String, Failure> {
    let mut name = [0_u8; 256];
    let capacity = i32::try_from(name.len()).expect("256 fits");
    // SAFETY: `name` has the capacity that the call is given.
    unsafe { call!(cuDeviceGetName(name.as_mut_ptr().cast(), capacity, device)) }?;
    let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
    Ok(name.to_string_lossy().into_owned())
}

fn memory_bytes_of(device: sys::CUdevice) -> Result<u64, Failure> {
    let mut bytes = 0;
    // SAFETY: `bytes` is valid for one number; the driver checks the device.
    unsafe { call!(cuDeviceTotalMem_v2(&raw mut bytes, device)) }?;
    Ok(bytes as u64)
}
