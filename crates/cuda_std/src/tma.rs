//! Bulk copies between global and shared memory (TMA): boxes of tensors, and runs of elements.
//!
//! A [`TensorMap`] is a kernel's parameter that describes a matrix in global memory and the box of it
//! that one copy moves; the host makes it, and checks what the hardware asks of it. A load fills a
//! [`SwizzledTile`](crate::shared::SwizzledTile) and counts its bytes at the barrier of a
//! [`Slot`](crate::mbarrier::Slot); what lies outside of the matrix becomes zero. A store copies a tile
//! back, without what lies outside. (PTX ISA, 9.7.8.24, "Data Movement and Conversion Instructions:
//! Asynchronous copy: bulk and tensor copy".)
//!
//! ```text
//! load:   slot.expect(bytes); map.load(tile, &slot, (row, column)); a consumer's wait
//! store:  every thread writes its part of the tile; tma::fence(); a barrier;
//!         one thread: map.store(tile, (row, column)); tma::commit(); tma::wait_read::<0>()
//! ```
//!
//! Elements in a row need no map: [`Global::bulk_load`](crate::global::Global::bulk_load) and
//! [`GlobalMut::bulk_store`](crate::global::GlobalMut::bulk_store) copy them in the same way (PTX ISA,
//! `cp.async.bulk`).
//!
//! Both kinds take a [`CachePolicy`] for the second-level cache, such as for a matrix that is read once
//! beside one that all blocks read: `map.hinted(policy).load(tile, &slot, (row, column))`. It changes no
//! result.

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

/// Waits until at most `PENDING` of the calling thread's groups of stores have not written the matrix.
#[inline(always)]
#[track_caller]
pub fn wait<const PENDING: u32>() {
    machine::bulk_wait::<PENDING>();
}

/// Orders what the calling thread has written to shared memory before bulk copies and products that
/// read it: they do not go the way of ordinary accesses (PTX ISA, 8.6, "Proxies").
#[inline(always)]
#[track_caller]
pub fn fence() {
    machine::fence_proxy_async();
}
