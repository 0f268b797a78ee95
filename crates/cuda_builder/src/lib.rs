#![doc = include_str!("../README.md")]

mod arch;
mod builder;
pub mod checked_in;
#[cfg(feature = "compile")]
mod compile;
mod error;
mod rust_file;
mod surroundings;

pub use arch::{Arch, ParseArchError};
pub use builder::CudaBuilder;
pub use checked_in::LinkedPackage;
#[cfg(feature = "compile")]
pub use compile::{Build, PtxModule, Toolchain};
pub use error::{BuildError, RejectedToolchain};
pub use surroundings::exit_with_error;
