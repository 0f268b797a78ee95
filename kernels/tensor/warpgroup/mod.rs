//! Products by warpgroups, whose tiles come to shared memory by bulk copies of the blocks of a cluster.
//!
//! | part | file |
//! |---|---|
//! | the entries' parameters | `entry.rs` |
//! | a main loop: a warpgroup copies, others multiply | `product.rs` |
//! | the same with totals on the CUDA cores | `promoted.rs` |
//! | small results: a block for each, without a cluster | `single.rs` |
//! | element types, and how their sums are kept | `element.rs` |
//! | f16 and bf16 | `half.rs` |
//! | i8 and floats of 8 bits | `bytes.rs` |
//! | results of few columns or rows | `skinny.rs` |
//! | f32 from products of halves | `split_product.rs` |
//! | their main loop, with totals on the CUDA cores | `split_loop.rs` |
//! | how a tile of an operand comes to shared memory, and how products read it | `operand.rs` |
//! | what the blocks of a cluster have in common | `cluster.rs` |
//! | sizes | `shape.rs` |
//! | registers of threads that copy and that multiply | `registers.rs` |
//! | which tiles of C a cluster computes, in which order | `schedule.rs` |
//! | how outputs come from registers to global memory | `outputs.rs`; `columns.rs` where they have few columns |
//! | outputs that an epilogue computes | `finish.rs`, by way of the crate's `finish/` |

#[macro_use]
mod entry;

mod bytes;
mod cluster;
mod columns;
mod element;
mod finish;
mod half;
mod operand;
mod outputs;
mod product;
mod promoted;
mod registers;
mod schedule;
mod shape;
mod single;
mod skinny;
mod split_loop;
mod split_product;

pub use bytes::*;
pub use half::*;
pub use schedule::ClusterTile;
pub use shape::{HALF_DEPTH, TensorShape};
pub use skinny::*;
pub use split_product::*;
