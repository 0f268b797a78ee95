//! Products by warpgroups. The blocks of a cluster load tiles to shared memory by bulk copies.
//!
//! | part | file |
//! |---|---|
//! | the entries' parameters | `entry.rs` |
//! | the main loop: a warpgroup copies, others multiply | `product.rs` |
//! | the main loop with totals on the CUDA cores | `promoted.rs` |
//! | factors of the sums that are added to totals | `scaling.rs`; `block_scales.rs` for scales of the operands' blocks, `column_scales.rs` for those of a transpose |
//! | the main loop for small results: a block for each tile, without a cluster | `single.rs` |
//! | element types, and whether their sums need totals | `element.rs` |
//! | f16 and bf16 | `half.rs` |
//! | i8 and floats of 8 bits | `bytes.rs` |
//! | skinny products: few columns or rows | `skinny.rs` |
//! | products with block scales, and of groups of rows | `scaled.rs` |
//! | tiles of groups of rows, whose sizes are in device memory | `counted.rs` |
//! | products whose sums another crate maps | `mapped.rs` |
//! | f32 products of split operands | `split_product.rs` |
//! | their main loop, with totals on the CUDA cores | `split_loop.rs` |
//! | how a tile of an operand is loaded, and how products read it | `operand.rs` |
//! | both operands of a main loop | `operands.rs` |
//! | what the blocks of a cluster share | `cluster.rs` |
//! | sizes | `shape.rs` |
//! | registers of threads that copy or multiply | `registers.rs` |
//! | which tiles of C a cluster computes, and in which order | `schedule.rs` |
//! | from registers to global memory | `outputs.rs`; `columns.rs` for skinny products, `turned.rs` for the transpose of C |
//! | epilogues | `finish.rs`, which uses the crate's `finish/` |

#[cfg(feature = "entries")]
#[macro_use]
mod entry;

#[cfg(feature = "entries")]
mod block_scales;
#[cfg(feature = "entries")]
mod bytes;
mod cluster;
#[cfg(feature = "entries")]
mod column_scales;
mod columns;
#[cfg(feature = "entries")]
mod counted;
mod element;
mod finish;
mod half;
mod mapped;
mod operand;
mod operands;
mod outputs;
mod product;
mod promoted;
mod registers;
#[cfg(feature = "entries")]
mod scaled;
mod scaling;
mod schedule;
mod shape;
mod single;
#[cfg(feature = "entries")]
mod skinny;
#[cfg(feature = "entries")]
mod split_loop;
#[cfg(feature = "entries")]
mod split_product;
mod turned;

#[cfg(feature = "entries")]
pub use block_scales::{SCALE_BLOCK, ScaleShape, ScaleSteps};
#[cfg(feature = "entries")]
pub use bytes::*;
pub use half::*;
#[doc(hidden)]
pub use mapped::{MappedMap, map_product_by_warpgroups};
#[cfg(feature = "entries")]
pub use scaled::*;
pub use schedule::ClusterTile;
pub use shape::{HALF_DEPTH, TensorShape};
#[cfg(feature = "entries")]
pub use skinny::*;
#[cfg(feature = "entries")]
pub use split_product::*;
