//! Sums and matrix products on the GPU, with kernels written in Rust.
//!
//! ```
//! assert_eq!(tilewright::reduce_sum(&[1.0_f32, 2.0, 3.5])?, 6.5);
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! A [`Device`] is a CUDA device (feature `cuda`) or the simulator, which runs the same kernels
//! on the CPU and checks every access. Data lives in a [`Buffer`] or a row-major [`Matrix`] of
//! one device; a [`Module`] launches kernels with arguments whose types are checked at compile
//! time.
//!
//! ```
//! use tilewright::Device;
//!
//! # fn main() -> tilewright::Result<()> {
//! let device = Device::simulator();
//! let x = device.upload(&[1.0_f32, 2.0, 3.0])?;
//! assert_eq!(device.reduce_sum(&x)?, 6.0);
//!
//! let a = device.matrix(2, 2, &[1.0_f32, 2.0, 3.0, 4.0])?;
//! let b = device.matrix(2, 1, &[10.0_f32, 100.0])?;
//! let c = device.matmul_coarsened(&a, &b)?;
//! assert_eq!(c.to_vec()?, [210.0, 430.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! - `half` (on by default): re-exports the crate `half`, whose `f16` and `bf16` are element types.
//! - `ndarray` (on by default): arrays to and from [`Matrix`] and [`Buffer`].
//! - `cuda`: CUDA devices. Building needs a CUDA toolkit to link against (or `cargo xtask
//!   cuda-stub` in this repository), and the program starts only where `libcuda.so.1` is there.

#![deny(missing_docs)]

mod backend;
mod buffer;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod element;
mod environment;
mod error;
mod event;
mod kernels;
pub mod ladder;
mod launch;
mod launch_args;
mod matmul;
mod matrix;
mod module;
#[cfg(feature = "ndarray")]
mod ndarray;
mod pinned;
mod reduce;
mod report;
mod residency;
mod simulator;
pub mod testing;
mod texture;
mod workspace;

#[cfg(feature = "ndarray")]
pub use crate::ndarray::{matmul_coarsened, matmul_tiled};
pub use buffer::Buffer;
pub use device::{Device, DeviceProperties, default_device};
pub use element::Element;
pub use environment::DeviceChoice;
pub use error::{CudaVersion, Error, ImageRejection, Result};
pub use event::Event;
pub use launch::LaunchConfig;
pub use launch_args::{LaunchArg, LaunchArgs};
pub use matmul::{Coarsening, Factor};
pub use matrix::{Matrix, MatrixView, Order};
pub use module::{Module, ModuleSource};
pub use pinned::PinnedBuffer;
pub use reduce::{Summand, reduce_sum, reduce_sum_height};
pub use report::{Bottleneck, KernelReport, LaunchReport, Roofline};
pub use simt::{
    AddressMode, Counts, Datasheet, Defect, Dim3, Operation, Profile, Tally, TextureFilter,
    TextureOptions, UnknownProfile, occupancy,
};
pub use simulator::SimulatorOptions;
pub use texture::{Texel, Texture};

#[cfg(feature = "half")]
pub use half;

/// The README's examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
