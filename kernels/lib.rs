//! The GPU kernels of tilewright, in Rust: reductions, prefix sums, row operations and matrix products.
//!
//! On `nvptx64` each `#[kernel]` is an entry of a PTX module. On the host it is the kernel's descriptor, with which
//! the host library launches it on a GPU or in the simulator. Everything that the host needs to choose a launch
//! (block sizes, tile shapes, the split of a reduction) is here, beside the kernel that relies on it.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]
#![cfg_attr(
    target_arch = "nvptx64",
    allow(
        dead_code,
        unused_imports,
        reason = "a kernel that states an architecture is not compiled for older ones; the host compiles all"
    )
)]
#![cfg_attr(
    not(feature = "entries"),
    allow(
        dead_code,
        unused_imports,
        reason = "some parts serve only the library's own kernels"
    )
)]

/// The fingerprint of this crate's sources, made by the build script.
#[doc(hidden)]
pub const SOURCE_HASH: &str = env!("SOURCE_HASH");

#[cfg(feature = "entries")]
pub mod align;
#[cfg(feature = "entries")]
mod catalogue;
#[cfg(feature = "entries")]
pub mod copy_shape;
pub mod epilogue;
#[cfg(feature = "entries")]
pub mod exact;
mod finish;
#[cfg(feature = "entries")]
pub mod keys;
pub mod map;
pub mod matmul;
#[cfg(feature = "entries")]
pub mod matvec;
#[doc(hidden)]
pub mod outputs;
#[cfg(feature = "entries")]
pub mod parts;
#[cfg(feature = "entries")]
pub mod quantize;
pub mod reduce;
pub mod rows;
pub mod scan;
pub mod tensor;
#[cfg(feature = "entries")]
pub mod top_k;
#[cfg(feature = "entries")]
pub mod transpose;
#[cfg(feature = "entries")]
pub mod transpose_words;
pub mod triangle;

/// For [`reductions!`].
#[doc(hidden)]
pub use cuda_std;
