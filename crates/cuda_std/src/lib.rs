//! The device-side standard library for GPU kernels written in Rust.
//!
//! Kernel code calls only this crate and `core`. On `nvptx64` its functions compile to
//! instructions. On every other target they act on the simulated thread that is running, so `cargo
//! test` runs the same kernel as a GPU.
//!
//! | scope | module | called by | who gets the result |
//! |---|---|---|---|
//! | thread | [`thread`], [`float`], [`math`], [`fp8`], [`constant`] | one thread | that thread |
//! | warp | [`warp`] | every lane in the member mask | the same lanes |
//! | warp, on tensor cores | [`mma`] | every lane of the warp | each lane its fragment |
//! | block | [`block`], [`thread::sync_threads`] | every thread of the block | see each function |
//! | shared memory | [`shared`], [`shared_array!`] | any thread of the block | |
//! | global memory | [`global`], [`atomic`], [`symbol`] | any thread of the grid | |
//! | parameters by value | [`kernel::ValueParam`], [`grid_constant`] | any thread of the grid | |
//! | textures | [`texture`] | one thread | that thread |
//! | groups of any scope | [`cooperative_groups`] | every thread of the group | see each function |
//! | clusters | [`cluster`] | every thread of the cluster | |
//! | launches that overlap | [`dependent_launch`] | each thread that accesses global memory | |
//! | warpgroups | [`warpgroup`], [`wgmma`] | every thread of the warpgroup | each thread its part |
//! | rings of stages | [`mbarrier`] | producers and consumers | the consumer that has waited |
//! | bulk copies | [`tma`] | one thread | the ring's consumers; the matrix |
//! | printed lines | [`gpu_println!`] | one thread | the host |
//! | asynchronous copies | [`pipeline`] | the thread that issued the copy waits for it | the block, after a barrier |
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! /// `y[i] += a * x[i]` for each `i` within both.
//! #[kernel]
//! pub fn axpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
//!     let i = thread::unique_index();
//!     if let (Some(x), Some(y)) = (x.get(i.get()), y.own(i)) {
//!         y.set(a.mul_add(x, y.get()));
//!     }
//! }
//! ```
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(asm_experimental_arch, link_llvm_intrinsics),
    allow(internal_features)
)]

#[doc(hidden)]
pub mod annotation;
pub mod array;
pub mod atomic;
pub mod block;
pub mod cluster;
mod const_text;
pub mod constant;
pub mod cooperative_groups;
pub mod dependent_launch;
pub mod float;
pub mod fp8;
pub mod global;
pub mod grid_constant;
pub mod hint;
pub mod integer;
#[cfg(not(target_arch = "nvptx64"))]
pub mod kernel;
pub mod math;
pub mod mbarrier;
pub mod mma;
pub mod output;
#[doc(hidden)]
pub mod parameter;
pub mod pipeline;
pub mod shared;
pub mod signature;
mod static_array;
pub mod symbol;
pub mod texture;
pub mod thread;
pub mod tma;
pub mod warp;
pub mod warpgroup;
pub mod wgmma;

#[cfg_attr(target_arch = "nvptx64", path = "machine/nvptx/mod.rs")]
#[cfg_attr(not(target_arch = "nvptx64"), path = "machine/simulated/mod.rs")]
mod machine;

pub use bytemuck::{self, Pod};
#[doc(hidden)]
pub use cuda_std_macros::catalogue;
pub use cuda_std_macros::device_function;
/// Prints a line from a kernel, on both machines: `gpu_println!("i = {i}, x = {:.3}", x[0])`.
///
/// The format is that of `println!`, with `{}`, `{:?}`, `{:x}`, `{:X}`, `{:b}`, `{:o}`, `{:e}` or `{:E}`, and
/// fill, alignment, sign, width and precision. There are at most 8 values, each a number, a `bool`, a
/// `char`, an f16 or a bf16. Widths and precisions are literal numbers, and the text has at most 384
/// bytes. The host formats the line and prints it to its standard output.
///
/// | | simulator | GPU |
/// |---|---|---|
/// | printed | when the launch ends, even with a defect | at calls that wait for the device: `synchronize`, copies to the host, results, and when the device is dropped or lost |
/// | order | the schedule's, which the seed determines | the order in which threads took their records, which varies |
/// | limit | none | 1024 lines of a module between two such calls; the host reports how many more were lost |
/// | cost | formatting | a call, a compare-and-swap and about 150 bytes over the bus per line; 0.5 MB of page-locked memory per module that prints |
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Prints the elements that are negative.
/// #[kernel]
/// pub fn find_negative(x: Global<f32>) {
///     let i = thread::unique_index().get();
///     if let Some(x) = x.get(i)
///         && x < 0.0
///     {
///         gpu_println!("x[{i}] = {x:.3}");
///     }
/// }
/// ```
pub use cuda_std_macros::gpu_println;
pub use cuda_std_macros::kernel;

/// The fingerprint of this crate's sources, made by the build script.
#[doc(hidden)]
pub const SOURCE_HASH: &str = env!("SOURCE_HASH");

/// The fingerprint of the sources of `#[kernel]`.
#[doc(hidden)]
pub const MACROS_SOURCE_HASH: &str = cuda_std_macros::source_hash!();

/// The names that nearly every kernel uses.
pub mod prelude {
    /// This crate under the name that `#[kernel]` refers to, even where another crate re-exports
    /// it.
    pub use crate as cuda_std;
    pub use crate::float::Float;
    pub use crate::global::{Global, GlobalAtomic, GlobalMatrix, GlobalMatrixMut, GlobalMut};
    pub use crate::grid_constant::GridConstant;
    pub use crate::pipeline::Pipeline;
    pub use crate::shared::{SharedArray, SharedTile};
    pub use crate::texture::{Texture1d, Texture2d};
    pub use crate::warp::LaneMask;
    pub use crate::{
        block, constant_array, device_function, dynamic_shared, dynamic_shared_allotment,
        global_array, gpu_println, kernel, shared_array, shared_tile, thread, warp,
    };
}

/// Items that the macros of this crate expand to. Not part of the public interface.
#[doc(hidden)]
pub mod internal {
    /// Storage of a static shared array: 16-byte aligned, so that its rows may be read as vectors.
    #[cfg(target_arch = "nvptx64")]
    #[repr(C, align(16))]
    pub struct SharedStorage<T, const LEN: usize>(pub core::mem::MaybeUninit<[T; LEN]>);
}

/// Compiles the README's kernel.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
