//! Bulk copies: `cp.async.bulk` and `cp.async.bulk.tensor` of the PTX ISA.

use super::bulk_copy::BulkCopy;
use crate::basics::{CallSite, DefectKind};
use crate::block::{Block, Thread};
use crate::check::Agent;
use crate::current::{instruction, live_instruction};
use crate::state::{ATOMIC_WEIGHT, IssuedStore, Job, MAX_SHARED_BYTES, TensorMap, TensorMapFields};

/// Bulk copies have addresses and lengths that are multiples of this.
const BULK_UNIT: usize = 16;

/// The alignment of a box in shared memory.
const BOX_ALIGNMENT: usize = 128;

/// Issues a bulk copy of `bytes` bytes from global memory to the block's shared memory.
///
/// When it has arrived, it counts its bytes on the mbarrier at address `barrier`. With `blocks`, it is a multicast:
/// it arrives at the same offset in each block of the cluster whose rank has a bit there, and counts on the mbarrier
/// at the same offset.
///
/// # Safety
///
/// 1. `source` is valid for reads of `bytes` bytes until the copy has arrived; other threads write
///    there only through this crate.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub unsafe fn bulk_load(
    destination: *mut u8,
    source: *const u8,
    bytes: usize,
    barrier: usize,
    blocks: Option<u16>,
) {
    live_instruction(|thread, block, site| {
        let addresses = destination.addr() | source.expose_provenance() | bytes;
        block.check_bulk_unit(thread, addresses, bytes, site);
        let shared = block.tile_of(thread, destination.addr(), bytes, site);
        let copy = BulkCopy::whole(shared, source.addr(), bytes);
        block.issue_load(thread, copy, barrier, blocks, site);
    });
}

/// Issues a bulk copy of a box of the tensor of `map` to the block's shared memory.
///
/// As [`bulk_load`], for the box at `coordinates`, innermost first. Elements outside the tensor become zeros.
///
/// # Safety
///
/// 1. The elements of the tensor are valid for reads until the copy has arrived; other threads write
///    there only through this crate.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub unsafe fn tensor_load(
    map: &TensorMap,
    destination: *mut u8,
    barrier: usize,
    coordinates: &[i32],
    blocks: Option<u16>,
) {
    live_instruction(|thread, block, site| {
        let (fields, shared) = block.check_box(thread, map, destination.addr(), coordinates, site);
        let copy = BulkCopy::of_box(&fields, shared, coordinates);
        block.issue_load(thread, copy, barrier, blocks, site);
    });
}

/// Issues a bulk copy of `bytes` bytes from the block's shared memory to global memory.
///
/// # Safety
///
/// 1. `destination` is valid for writes of `bytes` bytes until the launch has ended; other threads
///    access it only through this crate.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub unsafe fn bulk_store(destination: *mut u8, source: *const u8, bytes: usize) {
    live_instruction(|thread, block, site| {
        let addresses = destination.expose_provenance() | source.addr() | bytes;
        block.check_bulk_unit(thread, addresses, bytes, site);
        let shared = block.tile_of(thread, source.addr(), bytes, site);
        let copy = BulkCopy::whole(shared, destination.addr(), bytes);
        block.issue_store(thread, copy, site);
    });
}

/// Issues a bulk copy of a box in the block's shared memory to the tensor of `map`.
///
/// Elements outside the tensor are not stored.
///
/// # Safety
///
/// 1. The elements of the tensor are valid for writes until the launch has ended; other threads
///    access them only through this crate.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub unsafe fn tensor_store(map: &TensorMap, source: *const u8, coordinates: &[i32]) {
    live_instruction(|thread, block, site| {
        let (fields, shared) = block.check_box(thread, map, source.addr(), coordinates, site);
        block.issue_store(thread, BulkCopy::of_box(&fields, shared, coordinates), site);
    });
}

/// Groups the bulk stores that the running thread has issued since its last commit.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn bulk_commit() {
    instruction(|thread, _, _| {
        thread.machine.bulk.borrow_mut().commit();
    });
}

/// Waits until at most the `pending` youngest groups of the running thread's bulk stores are incomplete.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn bulk_wait(pending: u32) {
    instruction(|thread, block, _| {
        let finished = thread.machine.bulk.borrow_mut().finish(pending as usize);
        for IssuedStore { number, .. } in &finished {
            if let Some(Job::Store(mut store)) = block.engine.take(*number) {
                block.write(&mut store);
            }
        }
        let [reads, writes] = [Agent::StoreReads, Agent::StoreWrites];
        block.acquire_stores(thread, &finished, &[reads, writes]);
    });
}

/// Waits until at most the `pending` youngest groups of the running thread's bulk stores still read their sources.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn bulk_wait_read(pending: u32) {
    instruction(|thread, block, _| {
        let read = thread.machine.bulk.borrow_mut().read(pending as usize);
        for IssuedStore { number, .. } in &read {
            if let Some(Job::Store(mut store)) = block.engine.take(*number) {
                block.read(&mut store);
                block.engine.put_back(*number, Job::Store(store));
            }
        }
        block.acquire_stores(thread, &read, &[Agent::StoreReads]);
    });
}

/// Makes the running thread's earlier writes visible to the asynchronous proxy (`fence.proxy.async`).
///
/// Bulk stores and products of warpgroups read through that proxy.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn fence_proxy_async() {
    instruction(|thread, block, _| {
        block.before_visible_step(thread, ATOMIC_WEIGHT);
        block.mbarriers.fence_of(thread.position.thread());
        if let Some(check) = block.active_check() {
            check.fence_proxy(&thread.position);
        }
    });
}

impl Block {
    fn check_bulk_unit(&self, thread: &Thread, addresses: usize, bytes: usize, site: CallSite) {
        if !addresses.is_multiple_of(BULK_UNIT) || bytes == 0 {
            let message = format!(
                "a bulk copy of {bytes} bytes: its addresses and its length must be multiples of \
                 {BULK_UNIT}, and the length not 0"
            );
            self.fail(thread, DefectKind::Misaligned, message, site);
        }
    }

    /// The start of a tile of shared memory, which must be wholly the block's.
    pub(super) fn tile_of(
        &self,
        thread: &Thread,
        address: usize,
        bytes: usize,
        site: CallSite,
    ) -> usize {
        let offset = self.shared.offset_of(address);
        let is_inside = |offset: &usize| bytes <= MAX_SHARED_BYTES - offset;
        let Some(offset) = offset.filter(is_inside) else {
            if offset.is_none()
                && let Some((owner, _)) = self.owner_of(address)
            {
                let message = format!(
                    "shared memory of block {} of the cluster: the simulator copies there as a multicast alone",
                    owner.rank.get()
                );
                self.fail(thread, DefectKind::InvalidArgument, message, site);
            }
            let message = format!(
                "{bytes} bytes at address {address:#x}, which are not in the block's shared memory"
            );
            self.fail(thread, DefectKind::OutOfBounds, message, site);
        };
        offset
    }

    /// The fields of a map, and where its box begins in shared memory.
    fn check_box(
        &self,
        thread: &Thread,
        map: &TensorMap,
        address: usize,
        coordinates: &[i32],
        site: CallSite,
    ) -> (TensorMapFields, usize) {
        let Some(fields) = map.fields() else {
            let message = "the bytes of the tensor map are not those of a map".to_owned();
            self.fail(thread, DefectKind::InvalidArgument, message, site);
        };
        if coordinates.len() != fields.rank as usize {
            let (rank, given) = (fields.rank, coordinates.len());
            let message = format!("{given} coordinates for a tensor of {rank} dimensions");
            self.fail(thread, DefectKind::InvalidArgument, message, site);
        }
        if !address.is_multiple_of(BOX_ALIGNMENT) {
            let message = format!(
                "a box at address {address:#x} of shared memory, which is not a multiple of \
                 {BOX_ALIGNMENT}"
            );
            self.fail(thread, DefectKind::Misaligned, message, site);
        }
        let offset = self.tile_of(thread, address, fields.box_bytes(), site);
        (fields, offset)
    }
}
