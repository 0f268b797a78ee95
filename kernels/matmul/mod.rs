//! Matrix products C = A B: A is M x K, B is K x N, C is M x N and row-major.
//!
//! An entry's name ends in the layouts of A and B, in the notation of BLAS for row-major operands: `n` is a row-major
//! operand, `t` a column-major one. `matmul_tiled_f32_tn` multiplies a column-major A by a row-major B.
//!
//! The f32 and f64 kernels add an output's K products in order, from +0, each by a fused multiply-add, and write one
//! NaN for all (`Float::canonical_nan`). So they give the bits of a naive loop, including the sign of a zero, whatever
//! their tiles, and |C' - C| <= gamma_K |A||B| (Higham, Accuracy and Stability of Numerical Algorithms, 3.5). The i8
//! kernels add in i32, which wraps around. The f16 and bf16 kernels add in f32 as the device's tensor cores do
//! (`docs/tensor_cores.md`).
//!
//! Parts of a kernel:
//!
//! | part | file |
//! |---|---|
//! | main loop: load, wait, multiply, store | `coarsened_loop.rs`; `mma/` on tensor cores |
//! | entries | `coarsened.rs`, `tiled.rs` with its main loop; `mma/` |
//! | entries for products of unequal shapes, and the table of these | `grouped.rs`, `mma/grouped.rs`; `group.rs` |
//! | tile sizes: a `TileConfig` | `config.rs` |
//! | a loader for each operand: a `TileLoader` | `loader.rs`, `direct_load.rs`, `transposed_load.rs`; `mma/stage.rs` |
//! | a thread's outputs: `Accumulators` | `accumulators.rs`; `register_tile.rs` on the CUDA cores, `mma/warp_tile.rs` on tensor cores |
//! | what happens to a finished sum: a `Sink` | `sink.rs` |
//! | element types | `element.rs` |
//! | an operand in global memory, a tile in shared memory | `operand.rs`, `tile.rs` |
//! | which block computes which part of C, and how its threads share it | `grid.rs`, `block.rs` |
//! | descriptions of kernels for the host | `descriptor.rs` |
//!
//! # Requirements of product kernels
//!
//! The launch of a kernel meets these. The kernel's own `# Safety` adds the layouts of its operands.
//!
//! 1. *Block and grid.* A block has the threads along x and the dynamic shared memory of the kernel's
//!    [`ProductDescriptor`]. Along x, the grid has the blocks for the m x n of `shape` ([`BlockTile::blocks`]). Along
//!    y, it has a block for each product of the batch, or for each part of a divided K.
//! 2. *Operands.* `a` and `b` start with the first element of an m x k and a k x n matrix, and reach to the last
//!    element of the batch's last one. Rows (columns, if column-major), matrices, and parts of a divided K start as far
//!    apart as `shape` says.
//! 3. *Result.* `c` holds row-major m x n matrices likewise, no two of which share an element.
//!
//! The launch accesses no other elements of these views, so the elements between rows may belong to another of the
//! matrices.
//!
//! # Requirements of grouped kernels
//!
//! The launch of a kernel for a [`ProductGroup`] meets these instead.
//!
//! 1. *Block and grid.* A block has the threads along x and the dynamic shared memory of the kernel's
//!    [`ProductDescriptor`]. Along x, the grid has the blocks of all products, one product after the other, each with
//!    those for its m x n.
//! 2. *Matrices.* A product's addresses are those of m x k, k x n and m x n matrices, whose rows (columns, if
//!    column-major) start as far apart as it says. No C shares an element with another matrix of the group, and nothing
//!    else accesses its elements. Nothing writes the elements of A and B.
//! 3. *Views.* `operands` and `results` start at address 0 and have no elements: they tell the compiler that an address
//!    is one of global memory.

mod accumulators;
mod block;
#[cfg(feature = "entries")]
mod coarsened;
mod coarsened_loop;
mod config;
mod copy_rows;
mod descriptor;
mod direct_load;
mod element;
mod grid;
#[cfg(feature = "entries")]
mod group;
#[cfg(feature = "entries")]
mod grouped;
#[cfg(feature = "entries")]
mod left;
mod loader;
mod mapped;
#[cfg(not(target_arch = "nvptx64"))]
mod mapped_kernel;
mod mapped_macros;
mod mapped_tiles;
mod mma;
mod operand;
mod register_tile;
mod shape;
mod sink;
mod tile;
#[cfg(feature = "entries")]
mod tiled;
mod transposed_load;

#[cfg(feature = "entries")]
pub use coarsened::*;
#[doc(hidden)]
pub use config::{LargeF32, MediumF32, SmallF32, TileConfig};
pub use descriptor::{BlockTile, OperandLayout, ProductDescriptor, ProductKernel};
#[cfg(feature = "entries")]
pub use group::{GROUP, GroupedProduct, ProductGroup};
#[cfg(feature = "entries")]
pub use grouped::*;
#[doc(hidden)]
pub use mapped::StoreMapped;
pub use mapped::{MOST_OTHERS, MappedShape, ProductMap};
#[cfg(not(target_arch = "nvptx64"))]
pub use mapped_kernel::{MappedArguments, MappedDescriptor, NoMap, ProductMapKernel};
#[doc(hidden)]
pub use mapped_tiles::{MAPPED_TILE_THREADS, map_product_in_tiles, mapped_pitch};
#[cfg(feature = "entries")]
pub use mma::*;
#[doc(hidden)]
pub use mma::{MmaTile, NARROW_LARGE, NARROW_SMALL, WarpTile, map_product_by_warps};
pub use shape::ProductShape;
pub(crate) use sink::Sink;
#[cfg(feature = "entries")]
pub use tiled::*;

/// The element types of mapped products, for macros.
#[doc(hidden)]
pub mod elements {
    pub use core::primitive::f32;
    pub use half::{bf16, f16};
}
