//! Bulk copies: performed at a moment of the seed's choice between their issue and their wait.

use simt::TensorMap;

/// Starts to copy the box at (`row`, `column`) of a tensor of two dimensions to shared memory. Its
/// bytes count at `barrier`.
///
/// # Safety
/// 1. `map` is a tensor map of the simulator's, of memory that lives until the copy has landed; the
///    addresses in shared memory are checked.
#[track_caller]
pub unsafe fn tensor_load(
    map: *const u8,
    destination: *mut u8,
    barrier: *mut u64,
    (row, column): (u32, u32),
) {
    // SAFETY: (1) is the caller's.
    unsafe { load(map, destination, barrier, (row, column), None) };
}

/// [`tensor_load`] to the same place in each block of the cluster whose bit in `blocks` is set; the
/// bytes count at the barrier in the same place of each.
///
/// # Safety
/// As for [`tensor_load`].
#[track_caller]
pub unsafe fn tensor_load_multicast(
    map: *const u8,
    destination: *mut u8,
    barrier: *mut u64,
    (row, column): (u32, u32),
    blocks: u16,
) {
    // SAFETY: (1) is the caller's.
    unsafe { load(map, destination, barrier, (row, column), Some(blocks)) };
}

/// # Safety
/// As for [`tensor_load`].
#[track_caller]
unsafe fn load(
    map: *const u8,
    destination: *mut u8,
    barrier: *mut u64,
    (row, column): (u32, u32),
    blocks: Option<u16>,
) {
    let coordinates = [column as i32, row as i32];
    // SAFETY: (1) of `tensor_load` for the map; the simulator checks the rest.
    unsafe {
        let map = &*map.cast::<TensorMap>();
        simt::tensor_load(map, destination, barrier.addr(), &coordinates, blocks);
    }
}

/// Starts to copy a box of shared memory to (`row`, `column`) of a tensor of two dimensions.
///
/// # Safety
/// 1. `map` is a tensor map of the simulator's, of memory that lives until the copy has landed; the
///    addresses in shared memory are checked.
#[track_caller]
pub unsafe fn tensor_store(map: *const u8, source: *const u8, (row, column): (u32, u32)) {
    // SAFETY: (1) is the caller's; the simulator checks the rest.
    unsafe {
        let map = &*map.cast::<TensorMap>();
        simt::tensor_store(map, source, &[column as i32, row as i32]);
    }
}

/// Closes the group of bulk stores that this thread has started since the last call.
#[track_caller]
pub fn bulk_commit() {
    simt::bulk_commit();
}

/// Waits until at most `PENDING` of this thread's groups of bulk stores still read their source.
#[track_caller]
pub fn bulk_wait_read<const PENDING: u32>() {
    simt::bulk_wait_read(PENDING);
}

/// Waits until at most `PENDING` of this thread's groups of bulk stores are unfinished.
#[track_caller]
pub fn bulk_wait<const PENDING: u32>() {
    simt::bulk_wait(PENDING);
}

/// Orders this thread's accesses of shared memory before those of bulk copies and products.
#[track_caller]
pub fn fence_proxy_async() {
    simt::fence_proxy_async();
}

/// Nothing: there is no cache.
///
/// # Safety
/// 1. None.
pub unsafe fn prefetch_tensor_map(_map: *const u8) {}
