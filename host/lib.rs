//! Reductions, scans and matrix products on the GPU, and GPU kernels of one's own, written in Rust.
//!
//! ```
//! assert_eq!(tilewright::reduce_sum(&[1.0_f32, 2.0, 3.5])?, 6.5);
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! A [`Device`] is a CUDA device or the simulator, which runs the same kernels on the CPU and
//! checks every access. Data lives in a [`Buffer`] or a row-major [`Matrix`] of
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
//! let a = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0])?;
//! let b = device.matrix((2, 1), &[10.0_f32, 100.0])?;
//! let c = device.matmul_coarsened(&a, &b)?;
//! assert_eq!(c.to_vec()?, [210.0, 430.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # What there is
//!
//! | for | start with | and |
//! |---|---|---|
//! | a device | [`Device::from_env`], [`Device::simulator`], [`Device::cuda`] | [`default_device`], [`DeviceChoice`], [`DeviceProperties`] |
//! | data | [`Device::upload`], [`Device::matrix`], `Device::matrix_from_array` of an `ndarray` view, [`Buffer::to_vec`] | [`BufferView`], [`MatrixView`], [`PinnedBuffer`], [`Element`], [`Order`] |
//! | sums and other reductions | [`Device::reduce_sum`], [`Device::reduce`] with an operation of [`ops`] | [`Device::reduce_rows`], [`Device::segments`], [`Device::reduce_sum_reproducible`], [`ReduceElement`] |
//! | prefix sums | [`Device::scan_inclusive`], [`Device::scan_exclusive`] | [`scan_height`] |
//! | products | [`Device::matmul`], [`Device::matvec`] | [`Matmul`] with scales, biases, [`Activation`] and batches; [`Arithmetic`], [`MatmulPlan`] |
//! | several devices | [`DeviceGroup::all`], [`DeviceGroup::simulated`] | [`ShardedBuffer`], [`ShardedMatrix`], [`DeviceGroup::matmul`], [`DeviceGroup::all_reduce`]; of several processes [`DeviceGroup::join`] |
//! | host data, without a device at hand | [`reduce_sum()`], [`reduce()`], [`scan_inclusive()`] | `matmul`, `matvec` and `reduce_axis` of `ndarray` views |
//! | own kernels | [`cuda_std`], [`Device::load`], [`Module::launch`] | [`ModuleSource`], [`LaunchConfig`], [`LaunchArg`], [`Module::write_symbol`], [`Texture`], [`TensorMapView`] |
//! | finding mistakes | [`Device::simulator`], [`testing::under_seeds`] | [`SimulatorOptions`], [`ErrorKind::KernelDefect`], [`DefectKind`](simt::DefectKind), [`Suppression`](simt::Suppression), `gpu_println!` in [`cuda_std`] |
//! | what a kernel costs | [`Device::with_report`], [`LaunchReport`] | [`KernelReport::advice`], [`Roofline`], [`Event`], [`occupancy`] |
//! | errors | [`Error`], [`ErrorKind`] | [`GroupError`], [`SimulatorError`] |
//!
//! A kernel of one's own is a Rust function, which the simulator runs as it is and
//! `tilewright-cuda-builder` compiles for GPUs:
//!
//! ```
//! use tilewright::cuda_std::prelude::*;
//! use tilewright::{Device, LaunchConfig, ModuleSource};
//!
//! /// Doubles each element.
//! #[kernel]
//! pub fn double(x: GlobalMut<f32>) {
//!     if let Some(x) = x.own(thread::own_index()) {
//!         x.set(2.0 * x.get());
//!     }
//! }
//!
//! // SAFETY: (1) there are no images, so none that could differ from the kernel.
//! static KERNELS: ModuleSource = unsafe { ModuleSource::new("my_kernels", &[]) };
//!
//! # fn main() -> tilewright::Result<()> {
//! let device = Device::simulator();
//! let mut x = device.upload(&[1.0_f32, 2.0, 3.0])?;
//! device.load(&KERNELS)?.launch(double, LaunchConfig::for_elements(3, 128), (&mut x,))?;
//! assert_eq!(x.to_vec()?, [2.0, 4.0, 6.0]);
//! # Ok(())
//! # }
//! ```
//!
//! In the repository: [a crate with kernels to copy][custom], [the rules and bounds of
//! reductions][reductions], [of products][products] and [of functions][mathematics], and [ladders][ladder]
//! from the plain version of a kernel to the fast one.
//!
//! [custom]: https://github.com/tilewright/tilewright/tree/main/examples/custom_kernel
//! [reductions]: https://github.com/tilewright/tilewright/blob/main/docs/reductions.md
//! [products]: https://github.com/tilewright/tilewright/blob/main/docs/products.md
//! [mathematics]: https://github.com/tilewright/tilewright/blob/main/docs/mathematics.md
//! [ladder]: https://github.com/tilewright/tilewright/tree/main/ladder/pages
//!
//! # Features
//!
//! - `cuda` (on by default): CUDA devices. Neither the build nor the start of the program needs CUDA:
//!   the NVIDIA driver is opened with the first CUDA device, and [`Device::from_env`] is the
//!   simulator where there is none. It uses the declarations of the crate `cudarc` for CUDA 12.8; a
//!   program that uses `cudarc` 0.19 itself names the feature `cuda-12080` there, too, or
//!   `cuda-version-from-build-system`, because two named versions do not compile together.
//! - `ndarray` (on by default): arrays to and from [`Matrix`] and [`Buffer`]; re-exports the crate
//!   `ndarray`, whose arrays these are.
//! - `serde`: a [`LaunchReport`] implements `Serialize`.
//! - `cust`: contexts, buffers and streams of programs that use the crate `cust`, in
//!   `tilewright::interop::cust`. That crate links the driver: the build needs a CUDA toolkit, and
//!   the program starts only where there is a driver.

#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "ndarray")]
mod arrays;
mod backend;
mod buffer;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod element;
mod environment;
mod error;
mod event;
mod group;
mod images;
#[cfg(feature = "cust")]
#[cfg_attr(docsrs, doc(cfg(feature = "cust")))]
pub mod interop;
mod kernel_output;
mod kernels;
mod launch;
mod launch_args;
mod matmul;
mod matrix;
mod measure;
mod module;
mod module_source;
mod pinned;
mod properties;
mod reduce;
mod report;
mod residency;
mod result_slot;
mod scan;
mod scratch;
mod simulator;
mod tensor_map;
pub mod testing;
mod texture;
mod workspace;

#[cfg(feature = "ndarray")]
#[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
pub use crate::arrays::{
    gram, matmul, matmul_coarsened, matmul_tiled, matvec, reduce_axis, reduce_dot_axis,
};
pub use buffer::{Buffer, BufferView, BufferViewMut};
pub use device::{Device, default_device};
pub use element::Element;
pub use environment::DeviceChoice;
pub use error::{
    CudaVersion, Error, ErrorKind, GroupError, ImageRejection, Result, SimulatorError,
    TensorMapRule,
};
pub use event::Event;
pub use group::{
    DeviceGroup, GroupId, GroupOptions, ShardedBuffer, ShardedMatmul, ShardedMatrix, Sharding,
};
pub use launch::LaunchConfig;
pub use launch_args::{LaunchArg, LaunchArgs};
pub use matmul::{
    Accumulate, Accumulator, Activation, Arithmetic, GemmElement, Matmul, MatmulElement,
    MatmulGroup, MatmulInto, MatmulPlan, PreparedMatrix, SelectionReason, TileConfig,
};
pub use matrix::{
    AsMatrixBatchMut, AsMatrixViewMut, Matrix, MatrixBatch, MatrixBatchMut, MatrixShape,
    MatrixView, MatrixViewMut, Order,
};
pub use module::Module;
pub use module_source::ModuleSource;
pub use pinned::PinnedBuffer;
pub use properties::DeviceProperties;
pub use reduce::{
    ReduceElement, Reducible, ReducibleLines, ReduciblePairs, ReducibleSegments,
    ReproducibleElement, ReproducibleSum, Segments, ops, reduce, reduce_dot, reduce_sum,
    reduce_sum_height, reduce_sum_reproducible,
};
pub use report::{
    Advice, Bottleneck, DevicePart, KernelReport, LaunchReport, LineEstimate, Roofline, SourceLine,
};
pub use scan::{ScanElement, scan_exclusive, scan_height, scan_inclusive};
pub use simt::{
    AddressMode, Counts, Defect, Dim3, Operation, Preemption, Profile, Tally, TextureFilter,
    TextureOptions, occupancy,
};
pub use simulator::SimulatorOptions;
pub use tensor_map::{TensorMapView, TensorMapViewMut};
pub use texture::{Texel, Texture};

/// The device library, in which kernels are written: a program that depends on `tilewright` alone
/// starts its kernels with `use tilewright::cuda_std::prelude::*`. A kernel crate that is compiled
/// for GPUs depends on the package `tilewright-cuda-std` itself.
pub use cuda_std;
/// The simulator, whose types the options and the reports of a simulated device have. The names that programs use
/// most are here at the root, too.
pub use simt;

/// The crate whose `f16` and `bf16` are element types.
pub use half;
#[cfg(feature = "ndarray")]
#[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
pub use ndarray;

/// The README's examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
