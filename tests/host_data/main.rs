//! Reductions of host data in chunks, and products in panels: the bits of data in one buffer.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod chunks;
#[cfg(all(feature = "cuda", target_os = "linux"))]
#[path = "../common/fake_driver.rs"]
mod fake_driver;
mod gathered;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod order;
mod products;
mod refusals;
#[cfg(all(feature = "cuda", target_os = "linux"))]
#[path = "../cudarc/traced.rs"]
mod traced;
mod values;
