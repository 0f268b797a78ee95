//! Products on tensor cores with `mma.sync`: each warp computes a block of outputs.
//!
//! A product of f64 adds up in order of k, by a fused multiply-add each (`docs/tensor_cores.md`): the bits are
//! those of the CUDA cores. One of f16 or bf16 adds the products of 16 k to the sum as the chip does; those
//! of i8 are exact.
//!
//! For each 8 k a large block of f64 reads 48 KiB of shared memory in 384 cycles, in which its tensor cores
//! multiply for 1024. What it takes is a tile of outputs for each warp that is as large as registers allow,
//! fragments that are there before the last ones are multiplied, and copies that are never waited for.
//! `tile.rs` has the sizes of blocks, `element.rs` what is multiplied, and how fragments are read, `stage.rs` how
//! operands lie in shared memory, `block_operands.rs` what a block copies there, `warp_tile.rs` what a warp computes,
//! `product.rs` the main loop and how sums are stored, `peeled_loop.rs` the main loop of f64, `entries.rs` the
//! kernels, and `grouped.rs` those of products of unequal shapes. `split.rs` has the main loop and the kernels of f32
//! products of split operands.

mod block_operands;
mod element;
mod entries;
mod grouped;
mod peeled_loop;
mod product;
mod split;
mod stage;
mod tile;
mod warp_tile;

pub use entries::*;
pub use grouped::*;
pub use split::*;
