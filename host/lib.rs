//! Fast reductions, scans and matrix products on NVIDIA GPUs, and custom GPU kernels in Rust.
//!
//! The same kernels run on a simulator that finds races, missing barriers and uninitialised reads, so you can develop
//! and test without a GPU.
//!
//! ```
//! use tilewright::Device;
//!
//! # fn main() -> tilewright::Result<()> {
//! let device = Device::from_env()?; // a CUDA device, or the simulator
//! let a = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0])?;
//! let c = device.matmul(&a, a.t())?;
//! assert_eq!(c.to_vec()?, [5.0, 11.0, 11.0, 25.0]);
//! assert_eq!(device.reduce_sum(c.as_buffer())?, 52.0);
//! # Ok(())
//! # }
//! ```
//!
//! A [`Device`] is a CUDA device or the simulator. A [`Buffer`] or a [`Matrix`] holds data in the memory of one device.
//! A [`Module`] launches custom kernels; the compiler checks the types of their arguments.
//!
//! # Where to start
//!
//! | for | start with | more |
//! |---|---|---|
//! | a device | [`Device::from_env`], [`Device::simulator`], [`Device::cuda`] | [`Device::new_stream`], [`default_device`], [`DeviceChoice`], [`DeviceProperties`] |
//! | data | [`Device::upload`], [`Device::matrix`], `Device::matrix_from_array` for an `ndarray` view, [`Buffer::to_vec`] | [`BufferView`], [`MatrixView`], [`PinnedBuffer`], [`Element`], [`Order`] |
//! | sums and other reductions | [`Device::reduce_sum`], [`Device::reduce`] with an operation from [`ops`] | [`Device::reduce_rows`], [`Device::segments`], [`Device::reduce_sum_reproducible`], [`ReduceElement`] |
//! | prefix sums | [`Device::scan_inclusive`], [`Device::scan_exclusive`] | [`Device::scan_inclusive_by`], [`Device::scan_rows_inclusive`], [`Device::scan_columns_inclusive`], [`Device::scan_segments_inclusive`], [`scan_height`] |
//! | the largest elements | [`Device::top_k`], [`Device::top_k_rows`] | |
//! | runs of keys | [`Device::reduce_by_key`] | [`Device::segments_of_keys`] |
//! | products | [`Device::matmul`], [`Device::matvec`] | [`Matmul`] with scales, biases, an [`Activation`] and batches; [`Arithmetic`], [`MatmulPlan`], [`tuning`] |
//! | several devices | [`DeviceGroup::all`], [`DeviceGroup::simulated`] | [`ShardedBuffer`], [`ShardedMatrix`], [`DeviceGroup::matmul`], [`DeviceGroup::all_reduce`]; across processes [`DeviceGroup::join`] |
//! | host data, in one call | [`reduce_sum()`], [`reduce()`], [`scan_inclusive()`] | `matmul`, `matvec` and `reduce_axis` for `ndarray` views |
//! | data larger than the device's memory | [`Device::reduce_host`], [`Device::matmul_host`] | [`HostReducer`], [`HostMultiplier`], [`HostMatrix`] |
//! | your own reduction or scan | `tilewright_kernels::reductions!`, [`Module::reduce`] | [`Module::reduce_rows`], [`Module::reduce_segments`], [`Module::scan_inclusive`] |
//! | your own map | `tilewright_kernels::maps!`, [`Module::map`] | [`Module::map_rows`], [`Module::map_product`], [`Module::map_buffers`] |
//! | custom kernels | [`cuda_std`], [`Device::load`], [`Module::launch`] | [`ModuleSource`], [`LaunchConfig`], [`LaunchArg`], [`Module::write_symbol`], [`Texture`], [`TensorMapView`] |
//! | finding bugs | [`Device::simulator`], [`testing::under_seeds`] | [`SimulatorOptions`], [`ErrorKind::KernelDefect`], [`DefectKind`](simt::DefectKind), [`Suppression`](simt::Suppression), `gpu_println!` in [`cuda_std`] |
//! | the cost of a kernel | [`Device::with_report`], [`LaunchReport`] | [`KernelReport::advice`], [`Roofline`], [`Event`], [`occupancy`] |
//! | errors | [`Error`], [`ErrorKind`] | [`GroupError`], [`SimulatorError`] |
//!
//! The repository documents [reductions][reductions], [products][products] and [functions][mathematics] with all
//! error bounds. It also has [a guide][guide], [a crate with custom kernels to copy][custom], and [ladders][ladder]
//! that lead from a plain kernel to a fast one.
//!
//! # Custom kernels
//!
//! A kernel is a Rust function. The simulator runs it unchanged, and `tilewright-cuda-builder` compiles it for GPUs:
//!
//! ```
//! use tilewright::cuda_std::prelude::*;
//! use tilewright::{Device, LaunchConfig, ModuleSource};
//!
//! /// Doubles each element.
//! #[kernel]
//! pub fn double(x: GlobalMut<f32>) {
//!     if let Some(x) = x.own(thread::unique_index()) {
//!         x.set(2.0 * x.get());
//!     }
//! }
//!
//! // SAFETY: there are no images that could differ from the kernel.
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
//! # Errors
//!
//! Each call's page lists its own errors. Any call on a device can also fail with one of these:
//!
//! - [`ErrorKind::OutOfMemory`], if it allocates memory for its result, for partial results or for split operands.
//! - [`ErrorKind::NoModule`], if it launches a kernel for the first time and the device can run none of its PTX images.
//! - [`ErrorKind::DeviceLost`] or [`ErrorKind::Cuda`], if the driver reports a fault; an earlier launch can be the
//!   cause.
//!
//! # Features
//!
//! - `cuda` (on by default): CUDA devices, and `tilewright::interop::raw` for the contexts, streams and memory of other
//!   code. A program builds and starts without CUDA: opening the first CUDA device loads the NVIDIA driver.
//! - `ndarray` (on by default): arrays to and from [`Matrix`] and [`Buffer`]. Re-exports the crate `ndarray`.
//! - `serde`: implements `Serialize` for [`LaunchReport`].
//! - `cudarc`: streams and slices of the crate `cudarc` 0.19, in `tilewright::interop::cudarc`. The program chooses the
//!   CUDA version, with one of `cudarc`'s features.
//! - `dlpack`: tensors of other libraries and languages, in `tilewright::interop::dlpack`.
//! - `ptx`: kernels run as their PTX on the simulator, by [`KernelBodies`]`::of_ptx`.
//! - `cust`: contexts, buffers and streams of the crate `cust`, in `tilewright::interop::cust`. `cust` links the
//!   driver, so the build needs a CUDA toolkit, and the program starts only on a machine with a driver.
//!
//! [guide]: https://github.com/tilewright/tilewright/blob/main/docs/guide/pages/SUMMARY.md
//! [custom]: https://github.com/tilewright/tilewright/tree/main/examples/custom_kernel
//! [reductions]: https://github.com/tilewright/tilewright/blob/main/docs/reductions.md
//! [products]: https://github.com/tilewright/tilewright/blob/main/docs/products.md
//! [mathematics]: https://github.com/tilewright/tilewright/blob/main/docs/mathematics.md
//! [ladder]: https://github.com/tilewright/tilewright/tree/main/ladder/pages

#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "ndarray")]
mod arrays;
mod backend;
mod buffer;
mod capture;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod element;
mod environment;
mod error;
mod event;
mod graph;
mod group;
mod holder;
mod images;
#[cfg(any(feature = "cuda", feature = "dlpack"))]
#[cfg_attr(docsrs, doc(cfg(any(feature = "cuda", feature = "dlpack"))))]
pub mod interop;
mod kernel_output;
mod kernels;
mod keys;
mod launch;
mod launch_args;
mod list;
mod locks;
mod map;
mod matmul;
mod matrix;
mod measure;
mod memory;
mod module;
mod module_source;
mod partition;
mod pinned;
mod properties;
mod reduce;
mod report;
mod residency;
mod result_slot;
mod rows;
mod scan;
mod scratch;
mod setters;
mod simulator;
mod stream_set;
mod streams;
mod tensor_map;
pub mod testing;
mod texture;
mod top_k;
mod transfer;
mod uses;
mod workspace;

#[cfg(feature = "ndarray")]
#[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
pub use crate::arrays::{
    gram, matmul, matmul_coarsened, matmul_tiled, matvec, reduce_axis, reduce_dot_axis,
};
pub use backend::{MemoryUse, StreamPriority};
pub use buffer::{Buffer, BufferView, BufferViewMut, IntoBufferView};
pub use device::{Device, default_device};
pub use element::Element;
pub use environment::{DeviceChoice, DeviceUuid};
#[cfg(feature = "dlpack")]
#[cfg_attr(docsrs, doc(cfg(feature = "dlpack")))]
pub use error::TensorError;
pub use error::{
    CudaVersion, Error, ErrorKind, GroupError, ImageRejection, Result, SimulatorError,
    TensorMapRule,
};
pub use event::Event;
pub use graph::{Graph, GraphOperands};
pub use group::{
    DeviceGroup, GroupId, GroupOptions, ShardedBuffer, ShardedMatmul, ShardedMatrix, Sharding,
};
pub use launch::LaunchConfig;
pub use launch_args::{LaunchArg, LaunchArgs};
pub use list::DeviceDescription;
pub use matmul::{
    Activation, Arithmetic, ChainElement, HostMatrix, HostMultiplier, Matmul, MatmulElement,
    MatmulGroup, MatmulInto, MatmulPlan, PreparedMatrix,
};
pub use matrix::{
    AsMatrixBatchMut, AsMatrixViewMut, IntoMatrixBatch, IntoMatrixView, Matrix, MatrixBatch,
    MatrixBatchMut, MatrixShape, MatrixView, MatrixViewMut, Order,
};
pub use module::Module;
pub use module_source::ModuleSource;
pub use pinned::PinnedBuffer;
pub use properties::DeviceProperties;
pub use reduce::{
    HostReducer, ReduceElement, Reducible, ReducibleInChunks, ReducibleLines, ReduciblePairs,
    ReducibleSegments, ReproducibleElement, ReproducibleSum, Segments, ops, reduce, reduce_dot,
    reduce_sum, reduce_sum_height, reduce_sum_reproducible,
};
pub use report::{
    Advice, Bottleneck, DevicePart, KernelReport, LaunchReport, LineEstimate, Roofline, SourceLine,
};
pub use rows::{IGNORED_CLASS, Normalization, QuantizeElement, Quantized, RowElement, row_height};
pub use scan::{CustomScan, ScanElement, Scannable, scan_exclusive, scan_height, scan_inclusive};
pub use simt::{
    AddressMode, Counts, Defect, Dim3, Operation, Preemption, Profile, Tally, TextureFilter,
    TextureOptions, occupancy,
};
pub use simulator::{KernelBodies, KernelCall, SimulatorOptions, SymbolCall};
pub use tensor_map::{TensorMapView, TensorMapViewMut};
pub use texture::{Texel, Texture};
pub use top_k::TopKElement;
pub use transfer::Transfer;

/// Tile sizes of products, and the decisions in a [`MatmulPlan`].
///
/// [`Matmul::tiles`] and [`Device::matmul_coarsened_with_into`] take a tile size; all other calls choose one.
pub mod tuning {
    pub use crate::matmul::{SelectionReason, Staging, TileSize};
}

/// The device library for kernels: `use tilewright::cuda_std::prelude::*`.
///
/// A kernel crate that is compiled for GPUs must itself depend on the package `tilewright-cuda-std`.
pub use cuda_std;
/// The simulator's types, for options and reports.
///
/// The names that programs use most are also re-exported at the root.
pub use simt;

/// The crate that defines the element types `f16` and `bf16`.
pub use half;
#[cfg(feature = "ndarray")]
#[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
pub use ndarray;

/// The README's examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
