//! Matrix products C = A B: A is M x K, B is K x N, C is M x N and row-major.
//!
//! An entry's name ends in the layouts of A and B, in the notation of BLAS for row-major operands:
//! `n` is an operand that lies row after row, `t` one that is the transpose of such a matrix and so
//! lies column after column. `matmul_tiled_f32_tn` multiplies a column-major A by a row-major B.
//!
//! Every kernel of f32 and f64 here adds the K products of one output in order, from +0 on, each by a fused
//! multiply-add onto the sum so far, and writes one NaN for all (`Float::canonical_nan`). So all
//! kernels give the same bits as the naive loop that does the same, the sign of a zero included,
//! whatever their tiles, and |C' - C| <= gamma_K |A||B| (Higham, Accuracy and Stability of
//! Numerical Algorithms, 3.5). Those of i8 add in i32, which wraps around. Those of f16 and bf16 add in f32 as
//! the tensor cores of the device do (`docs/tensor_cores.md`).
//!
//! A kernel is put together from parts:
//!
//! | part | file |
//! |---|---|
//! | a main loop: load, wait, multiply, store | `coarsened.rs`, `tiled.rs`, `mma/` on tensor cores, with their entries; `grouped.rs` and `mma/grouped.rs` have entries for products of unequal shapes, `group.rs` their table |
//! | the sizes of its tiles | `config.rs`: a `TileConfig` |
//! | a loader for each operand | `loader.rs`: a `TileLoader`; `direct_load.rs`, `transposed_load.rs`; `mma/stage.rs` |
//! | the outputs of a thread | `accumulators.rs`: `Accumulators`; `register_tile.rs` on the CUDA cores, `mma/warp_tile.rs` on tensor cores |
//! | what is done with a finished sum | `sink.rs`: a `Sink` |
//!
//! `element.rs` says what is multiplied, `operand.rs` is an operand in global memory, `tile.rs` a tile in shared memory, `grid.rs` which
//! block computes which part of C, `block.rs` how a block's threads share it, and `descriptor.rs`
//! what the host knows of an entry.

mod accumulators;
mod block;
mod coarsened;
mod config;
mod copy_rows;
mod descriptor;
mod direct_load;
mod element;
mod grid;
mod group;
mod grouped;
mod loader;
mod mma;
mod operand;
mod register_tile;
mod shape;
mod sink;
mod tile;
mod tiled;
mod transposed_load;

pub use coarsened::*;
pub use descriptor::{BlockTile, OperandLayout, ProductDescriptor, ProductKernel};
pub use group::{GROUP, GroupedProduct, ProductGroup};
pub use grouped::*;
pub use mma::*;
pub use shape::ProductShape;
pub use tiled::*;
