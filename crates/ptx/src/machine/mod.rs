//! Programs as kernels of the simulator.

mod kernel;
mod memory;
mod start;
mod storage;
mod thread;
mod warp;

pub use kernel::{ArgumentError, Kernel};
