//! Bulk copies between global and shared memory (TMA): boxes of tensors, and contiguous elements.
//!
//! A [`TensorMap`] is a kernel parameter that describes a matrix in global memory and the size of the box that one
//! copy moves. The host makes it, and checks the hardware's requirements. A load fills a
//! [`SwizzledTile`](crate::shared::SwizzledTile) and counts its bytes at the barrier of a
//! [`Slot`](crate::mbarrier::Slot); elements outside the matrix become zero. A store copies a tile back, except for
//! elements outside the matrix. (PTX ISA, 9.7.8.24, "Data Movement and Conversion Instructions: Asynchronous copy:
//! bulk and tensor copy".)
//!
//! ```text
//! load:   slot.expect(bytes); map.load(tile, &slot, (row, column)); a consumer's wait
//! store:  every thread writes its part of the tile; tma::fence(); a barrier;
//!         one thread: map.store(tile, (row, column)); tma::commit(); tma::wait_read::<0>()
//! ```
//!
//! Contiguous elements need no map: [`Global::bulk_load`](crate::global::Global::bulk_load) and
//! [`GlobalMut::bulk_store`](crate::global::GlobalMut::bulk_store) copy them (PTX ISA, `cp.async.bulk`).
//!
//! Both accept a [`CachePolicy`] for L2, for example if one matrix is read once and another by all blocks:
//! `map.hinted(policy).load(tile, &slot, (row, column))`. It changes no result.

mod boxes;
mod elements;
mod hinted;
mod policy;

pub use boxes::{Place, TensorMap, TensorMapMut};
pub use policy::{CachePolicy, Hinted};

use crate::machine;

/// Closes the group of stores that the calling thread has started since the last call.
#[inline(always)]
#[track_caller]
pub fn commit() {
    machine::bulk_commit();
}

/// Waits until at most `PENDING` of the calling thread's groups of stores still read their tiles, which
/// may then be written again.
#[inline(always)]
#[track_caller]
pub fn wait_read<const PENDING: u32>() {
    machine::bulk_wait_read::<PENDING>();
}

/// Waits until at most `PENDING` of the calling thread's groups of stores are unfinished.
#[inline(always)]
#[track_caller]
pub fn wait<const PENDING: u32>() {
    machine::bulk_wait::<PENDING>();
}

/// Makes the calling thread's writes to shared memory visible to later bulk copies and products,
/// which use another proxy (PTX ISA, 8.6, "Proxies").
#[inline(always)]
#[track_caller]
pub fn fence() {
    machine::fence_proxy_async();
}
