//! Programs as kernels of the simulator.

mod asynchronous;
mod fragments;
mod kernel;
mod kernels;
mod lines;
mod matrices;
mod memory;
mod start;
mod storage;
mod textures;
mod thread;
mod warp;
mod warpgroup;

pub use kernel::{ArgumentError, Kernel};
pub use kernels::{KernelError, Kernels};
