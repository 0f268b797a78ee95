//! Devices on streams of `cudarc`, and its slices as operands.

#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
#[path = "../common/fake_driver.rs"]
mod fake_driver;
mod gpu;
#[cfg(target_os = "linux")]
mod graphs;
#[cfg(target_os = "linux")]
mod order;
#[cfg(target_os = "linux")]
mod traced;
