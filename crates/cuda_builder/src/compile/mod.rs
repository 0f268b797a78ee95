//! Compiles a kernel crate to PTX with a device toolchain.

mod archive;
mod build;
mod cargo;
mod files;
mod ir;
mod pipeline;
mod process;
mod repetitions;
mod surroundings;
mod toolchain;

pub use build::{Build, PtxModule};
pub use toolchain::Toolchain;
