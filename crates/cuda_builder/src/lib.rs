#![doc = include_str!("../README.md")]

mod arch;
mod archive;
mod builder;
mod cargo;
pub mod checked_in;
mod error;
mod ir;
mod pipeline;
mod source_hash;
mod toolchain;

pub use arch::{Arch, ParseArchError};
pub use builder::{Build, CudaBuilder, PtxModule};
pub use error::{BuildError, RejectedToolchain};
pub use source_hash::source_hash;
pub use toolchain::Toolchain;
