//! The launches of products.
//!
//! `product.rs` takes a product from its operands to what was selected for it. `chain.rs` and `words.rs` are
//! on the ordinary units, `mma.rs` of warps and `tensor.rs` of warpgroups on tensor cores, `split.rs` of f32 in
//! halves, by warpgroups or by `split_mma.rs`, `vector.rs` of lines and a vector, `bytes.rs` the same of elements of
//! 8 bits. `parts.rs` divides K, `grouped.rs` has several products in one launch, `mirror.rs` the other half of a
//! symmetric one. `lines.rs` makes operands fit for bulk copies and words, by `align.rs`, and by `transpose.rs` where
//! their lines lie across k, and `aligned.rs` launches kernels that read such lines. `persistent.rs` has grids of
//! clusters that stay, `tile_grid.rs` those of a block for each tile.

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
