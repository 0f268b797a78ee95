//! Programs as kernels of the simulator.

mod asynchronous;
mod fragments;
mod invalid;
mod kernel;
mod kernels;
mod lines;
mod matrices;
mod memory;
mod places;
mod print;
mod printf;
mod raw;
mod start;
mod storage;
mod textures;
mod thread;
mod variables;
mod warp;
mod warpgroup;
mod wmma;

pub use kernel::{ArgumentError, Kernel};
pub use kernels::{KernelError, Kernels};
pub use variables::Variables;
