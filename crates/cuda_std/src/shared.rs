//! Shared memory: arrays and tiles that the threads of a block share.
//!
//! Declare a static array where it is used, with [`shared_array!`](crate::shared_array) or
//! [`shared_tile!`](crate::shared_tile), and pass it by value; its type has its shape. Its contents
//! are unspecified at the start of a block (the simulator fills it with 0xFF bytes, which are NaN).
//!
//! Accesses are `unsafe`: a thread may read another's writes only after
//! [`sync_threads`](crate::thread::sync_threads), or [`warp::sync`](crate::warp::sync) within a
//! warp.
//!
//! Shared memory ends with its block, so its views are neither `Send` nor `Sync`, and live no
//! longer than the block of code that declares them. A helper function can take a view, but cannot
//! return one that it declares:
//!
//! ```compile_fail,E0515
//! use cuda_std::prelude::*;
//!
//! fn tile() -> SharedArray<'static, f32, 256> {
//!     shared_array![f32; 256]
//! }
//! ```
//!
//! To derive something from a view, bind the view to a variable first:
//!
//! ```
//! # use cuda_std::prelude::*;
//! #[kernel]
//! pub fn clear() {
//!     let tile = shared_array![f32; 256];
//!     let tile = tile.as_slice();
//!     if let 0..256 = thread::rank_in_block() {
//!         // SAFETY: the index was compared with the length. Each thread writes a different
//!         // element.
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
