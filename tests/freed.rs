//! A kernel that keeps the address of a buffer that is gone, or of memory that never was one, is found
//! on the simulator.

use cuda_std::prelude::*;
use tilewright::{Device, ErrorKind, LaunchConfig, ModuleSource, Result};
use tilewright_test_support::assert_kind;

/// Writes the first element at `address` to `out`.
///
/// # Safety
/// 1. At `address` is an f32 that no thread writes.
#[kernel]
pub unsafe fn read_at(address: u64, out: GlobalMut<f32>) {
    // SAFETY: (1) is that of the kernel.
    let value = unsafe { Global::from_raw_parts(address as *const f32, 1).load(0) };
    // SAFETY: (1) there is one element. (2) One thread is launched.
    unsafe { out.store(0, value) };
}

// SAFETY: (1) there are no images, so none that could differ from the kernel.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("freed", &[]) };

fn read(device: &Device, address: u64) -> Result<f32> {
    let mut out = device.upload(&[0.0_f32])?;
    let config = LaunchConfig::for_elements(1, 1);
    // SAFETY: (1) the callers pass a live buffer, or a mistake that the simulator finds.
    unsafe {
        device
            .load(&KERNELS)?
            .launch_unsafe(read_at, config, (address, &mut out))?;
    }
    Ok(out.to_vec()?[0])
}

#[test]
fn a_read_of_a_dropped_buffer_is_found() -> Result<()> {
    let device = Device::simulator();
    let kept = device.upload(&[3.0_f32; 8])?;
    assert_eq!(read(&device, kept.device_address())?, 3.0);
    let dropped = device.upload(&[4.0_f32; 8])?.named("weights");
    let address = dropped.device_address();
    drop(dropped);
    // A buffer of the same size is not put where the other one was.
    let _next = device.upload(&[5.0_f32; 8])?;
    let error = read(&device, address).expect_err("the buffer is gone");
    assert_kind!(error is ErrorKind::KernelDefect(_));
    let report = error.to_string();
    for part in ["use after free", "of buffer `weights` of 32 bytes"] {
        assert!(report.contains(part), "{report}");
    }
    Ok(())
}

#[test]
fn a_read_of_memory_that_is_no_buffers_is_found() -> Result<()> {
    let device = Device::simulator();
    let own = [3.0_f32; 8];
    let error = read(&device, own.as_ptr().expose_provenance() as u64);
    let error = error.expect_err("the array is no buffer");
    assert!(
        error.to_string().contains("in no buffer of the program"),
        "{error}"
    );
    Ok(())
}

/// As a CUDA device does.
#[test]
fn a_kernel_reads_page_locked_memory() -> Result<()> {
    let device = Device::simulator();
    let mut pinned = device.pinned::<f32>(8)?;
    pinned.fill(3.0);
    let address = pinned.as_ptr().expose_provenance() as u64;
    assert_eq!(read(&device, address)?, 3.0);
    drop(pinned);
    assert!(read(&device, address).is_err());
    Ok(())
}
