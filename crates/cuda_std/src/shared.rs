//! Shared memory: arrays and tiles that the threads of one block have in common.
//!
//! A static array is declared where it is used, by [`shared_array!`](crate::shared_array) or
//! [`shared_tile!`](crate::shared_tile), and passed on as a value; its type carries its shape.
//! Its memory holds no meaningful value at the start of a block (the simulator fills it with
//! bytes of 0xFF, which are NaN).
//!
//! The accesses are `unsafe`: what one thread writes another may read only after
//! [`sync_threads`](crate::thread::sync_threads), or [`warp::sync`](crate::warp::sync) within a
//! warp.
//!
//! Shared memory ends with its block, so the views of it are neither `Send` nor `Sync` and live no
//! longer than the block of code that declares them. A helper function takes a view; it cannot
//! return one that it has declared:
//!
//! ```compile_fail,E0515
//! use cuda_std::prelude::*;
//!
//! fn tile() -> SharedArray<'static, f32, 256> {
//!     shared_array![f32; 256]
//! }
//! ```
//!
//! What is made of a view needs a variable for the view first:
//!
//! ```
//! # use cuda_std::prelude::*;
//! #[kernel]
//! pub fn clear() {
//!     let tile = shared_array![f32; 256];
//!     let tile = tile.as_slice();
//!     if let 0..256 = thread::rank_in_block() {
//!         // SAFETY: (1) is the comparison. (2) Each thread writes a different element.
//!         unsafe { tile.store(thread::rank_in_block() as usize, 0.0) };
//!     }
//! }
//! ```
mod allotment;
mod macros;
mod memory;
mod remote;
mod swizzled;
mod tile;
mod views;

pub use allotment::{Allotment, Memory};
#[doc(hidden)]
#[cfg(not(target_arch = "nvptx64"))]
pub use macros::simulated_storage;
#[doc(hidden)]
pub use memory::{AnyShape, ArrayShape, Scope, SharedMemory, TileShape};
pub use remote::RemoteSlice;
pub(crate) use swizzled::ROW_BYTES;
pub use swizzled::{SwizzledTile, SwizzledTiles};
pub use tile::SharedTile;
pub use views::{SharedArray, SharedSlice};
