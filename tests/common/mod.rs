//! What the tests of all devices share.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::Write as _;
use tilewright::Device;

/// Every device at hand: the simulator always, and the first CUDA device in a build with the
/// feature `cuda`. Where there is none, the test says so on stderr.
pub fn devices() -> Vec<Device> {
    let mut devices = vec![Device::simulator()];
    devices.extend(cuda_device());
    devices
}

/// The first CUDA device, if this build and this machine have one.
///
/// A device that is there but does not open is a failure, not a reason to skip.
pub fn cuda_device() -> Option<Device> {
    if !cfg!(feature = "cuda") {
        return None;
    }
    match Device::cuda(0) {
        Ok(device) => Some(device),
        Err(tilewright::Error::NoDevice { reason, .. }) => {
            // Not `eprintln!`: the test harness would hide it.
            let line = format!("skipped: no CUDA device ({reason})\n");
            std::io::stderr().write_all(line.as_bytes()).unwrap();
            None
        }
        Err(error) => panic!("the CUDA device does not open: {error}"),
    }
}
