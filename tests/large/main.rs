//! More elements than 32 bits can count, on CUDA devices with the memory for them: without a device, or without the
//! memory, a test says so. Each test states the memory that it needs, in GB of 10^9 bytes.

#![cfg(feature = "cuda")]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
mod products;
mod reductions;

use common::{cuda_device, has_room};
use tilewright::Device;

/// The first CUDA device, if it has `bytes` bytes free.
fn device_with(bytes: usize) -> Option<Device> {
    cuda_device().filter(|device| has_room(device, bytes))
}
