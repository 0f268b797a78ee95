#![doc = include_str!("../README.md")]

mod arch;
mod archive;
mod builder;
mod cargo;
pub mod checked_in;
mod error;
mod ir;
mod pipeline;
mod process;
mod rust_file;
mod surroundings;
mod toolchain;

pub use arch::{Arch, ParseArchError};
pub use builder::{Build, CudaBuilder, PtxModule};
pub use cargo::LinkedPackage;
pub use error::{BuildError, RejectedToolchain};
pub use surroundings::exit_with_error;
pub use toolchain::Toolchain;
