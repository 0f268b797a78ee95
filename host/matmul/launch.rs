//! The launches of products.
//!
//! `product.rs` takes a product from its operands to the selected launch. `chain.rs` and `words.rs` run on CUDA
//! cores; `mma.rs` (warps) and `tensor.rs` (warpgroups) on tensor cores. `split.rs` multiplies split f32, by
//! warpgroups or, in `split_mma.rs`, at warp level. `vector.rs` multiplies rows or columns by a vector, and `bytes.rs`
//! those of 8-bit elements. `parts.rs` splits K, `grouped.rs` has several products in one launch, and `mirror.rs`
//! writes the other half of a symmetric one.
//!
//! `lines.rs` makes operands fit for bulk copies and words: `align.rs` aligns their lines, and `transpose.rs`
//! transposes those that lie across k. `aligned.rs` launches kernels that read such lines. `persistent.rs` has
//! grids of persistent clusters, and `tile_grid.rs` grids with a block for each tile.

mod align;
mod aligned;
pub mod bytes;
pub mod chain;
pub mod grouped;
mod lines;
mod mirror;
pub mod mma;
pub mod parts;
mod persistent;
mod product;
pub mod split;
mod split_mma;
pub mod tensor;
mod tile_grid;
mod transpose;
pub mod vector;
pub mod words;
