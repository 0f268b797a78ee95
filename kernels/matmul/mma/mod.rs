//! Products on tensor cores with `mma.sync`: each warp computes a tile of outputs.
//!
//! An f64 product adds in order of k, by fused multiply-adds (`docs/tensor_cores.md`), with the bits of the CUDA cores.
//! An f16 or bf16 product adds the products of 16 k to the sum as the chip does. An i8 product is exact.
//!
//! For each 8 k, a large f64 block reads shared memory for 384 cycles (48 KiB), and its tensor cores multiply for 1024
//! cycles. To keep them busy, warps have tiles as large as registers allow, read fragments before the last ones are
//! multiplied, and never wait for copies.
//!
//! | part | file |
//! |---|---|
//! | tile sizes | `tile.rs` |
//! | element types, and how fragments are read | `element.rs` |
//! | operands in shared memory | `stage.rs` |
//! | a block's operands, and their copies | `block_operands.rs` |
//! | a warp's outputs | `warp_tile.rs` |
//! | the main loop, and stores of sums | `product.rs` |
//! | the main loop of f64 | `peeled_loop.rs` |
//! | kernels | `entries.rs`; `grouped.rs` for products of unequal shapes |
//! | main loop and kernels of f32 products of split operands | `split.rs` |
//! | products whose sums another crate maps | `mapped.rs` |

mod block_operands;
mod element;
#[cfg(feature = "entries")]
mod entries;
#[cfg(feature = "entries")]
mod grouped;
mod mapped;
mod peeled_loop;
mod product;
#[cfg(feature = "entries")]
mod split;
mod stage;
mod tile;
mod warp_tile;

#[cfg(feature = "entries")]
pub use entries::*;
#[cfg(feature = "entries")]
pub use grouped::*;
#[doc(hidden)]
pub use mapped::map_product_by_warps;
#[cfg(feature = "entries")]
pub use split::*;
#[doc(hidden)]
pub use tile::{MmaTile, NARROW_LARGE, NARROW_SMALL};
#[doc(hidden)]
pub use warp_tile::WarpTile;
