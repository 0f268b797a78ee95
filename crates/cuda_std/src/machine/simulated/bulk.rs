//! Bulk copies, performed between issue and wait, at a moment that the seed chooses. Cache policies have no effect
//! and are not counted: there is no cache.

use bytemuck::Pod;
use simt::{DefectKind, Space, TensorMap};

/// Eviction priority of cache lines in L2.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Eviction {
    First,
    Last,
}

/// Does nothing: there is no cache.
pub fn cache_policy(_eviction: Eviction) -> u64 {
    0
}

/// Starts to copy the box at `place` of a tensor of `RANK` dimensions, 2 or 3, to shared memory. Its bytes count at
/// `barrier`. `place` is the coordinates, the contiguous dimension first; the third is ignored if the tensor has two
/// dimensions.
///
/// # Safety
/// 1. `map` is a tensor map of the simulator, of memory that lives until the copy has landed. (Dimensions and
///    addresses in shared memory are checked.)
#[track_caller]
pub unsafe fn tensor_load<const RANK: usize>(
    map: *const u8,
    destination: *mut u8,
    barrier: *mut u64,
    place: [u32; 3],
    _policy: Option<u64>,
) {
    // SAFETY: the caller's contract.
    unsafe { load::<RANK>(map, destination, barrier, place, None) };
}

/// [`tensor_load`] to each block of the cluster whose bit in `blocks` is set. Destination and
/// barrier are at the same offset in each.
///
/// # Safety
/// As for [`tensor_load`].
#[track_caller]
pub unsafe fn tensor_load_multicast<const RANK: usize>(
    map: *const u8,
    destination: *mut u8,
    barrier: *mut u64,
    place: [u32; 3],
    blocks: u16,
    _policy: Option<u64>,
) {
    // SAFETY: the caller's contract.
    unsafe { load::<RANK>(map, destination, barrier, place, Some(blocks)) };
}

/// # Safety
/// As for [`tensor_load`].
#[track_caller]
unsafe fn load<const RANK: usize>(
    map: *const u8,
    destination: *mut u8,
    barrier: *mut u64,
    place: [u32; 3],
    blocks: Option<u16>,
) {
    let coordinates = place.map(|it| it as i32);
    // SAFETY: the map is live: the contract of `tensor_load`. The simulator checks the rest.
    unsafe {
        let map = &*map.cast::<TensorMap>();
        let barrier = barrier.addr();
        simt::tensor_load(map, destination, barrier, &coordinates[..RANK], blocks);
    }
}

/// Starts to copy a box of shared memory to `place` of a tensor of `RANK` dimensions, as for
/// [`tensor_load`].
///
/// # Safety
/// 1. `map` is a tensor map of the simulator, of memory that lives until the copy has landed.
///    (Dimensions and addresses in shared memory are checked.)
#[track_caller]
pub unsafe fn tensor_store<const RANK: usize>(
    map: *const u8,
    source: *const u8,
    place: [u32; 3],
    _policy: Option<u64>,
) {
    let coordinates = place.map(|it| it as i32);
    // SAFETY: the caller's contract. The simulator checks the rest.
    unsafe {
        let map = &*map.cast::<TensorMap>();
        simt::tensor_store(map, source, &coordinates[..RANK]);
    }
}

/// Starts to copy `count` elements from element `source_index` of global memory to element `index` of shared memory,
/// of the block or of each block of the cluster whose bit in `blocks` is set. Their bytes count at `barrier`, at the
/// same offset in each block.
///
/// # Safety
/// 1. Source and destination are allocated with the given lengths until the copy has landed. (Ranges and alignment
///    are checked here.)
#[expect(clippy::too_many_arguments, reason = "two places, each in its memory")]
#[track_caller]
pub unsafe fn bulk_load<T: Pod>(
    base: *mut T,
    len: usize,
    index: usize,
    source: *const T,
    source_len: usize,
    source_index: usize,
    count: usize,
    barrier: *mut u64,
    blocks: Option<u16>,
    _policy: Option<u64>,
) {
    let places = ((source_index, source_len), (index, len));
    check_within("from", (Space::Global, source.addr()), places.0, count);
    check_within("to", (Space::Shared, base.addr()), places.1, count);
    // SAFETY: both are allocated: the caller's contract. The ranges were checked above.
    unsafe {
        let (to, from) = (base.add(index), source.add(source_index));
        let bytes = count * size_of::<T>();
        simt::bulk_load(to.cast(), from.cast(), bytes, barrier.addr(), blocks);
    }
}

/// Starts to copy `count` elements from element `source_index` of shared memory to element `index` of
/// global memory.
///
/// # Safety
/// 1. Source and destination are allocated with the given lengths until the launch has ended. (Ranges and alignment
///    are checked here.)
#[expect(clippy::too_many_arguments, reason = "two places, each in its memory")]
#[track_caller]
pub unsafe fn bulk_store<T: Pod>(
    base: *mut T,
    len: usize,
    index: usize,
    source: *const T,
    source_len: usize,
    source_index: usize,
    count: usize,
    _policy: Option<u64>,
) {
    let places = ((source_index, source_len), (index, len));
    check_within("from", (Space::Shared, source.addr()), places.0, count);
    check_within("to", (Space::Global, base.addr()), places.1, count);
    // SAFETY: both are allocated: the caller's contract. The ranges were checked above.
    unsafe {
        let (to, from) = (base.add(index), source.add(source_index));
        simt::bulk_store(to.cast(), from.cast(), count * size_of::<T>());
    }
}

/// Ends the launch unless `first..first + count` lies within the `len` elements of a view that begins at this
/// address.
#[track_caller]
fn check_within(
    direction: &str,
    (space, base): (Space, usize),
    (first, len): (usize, usize),
    count: usize,
) {
    if count > len || first > len - count {
        let memory = simt::describe_view(space, base);
        simt::fail(
            DefectKind::OutOfBounds,
            format!(
                "a bulk copy of {count} elements {direction} element {first} of a {space} view{memory}, whose \
                 length is {len}"
            ),
        );
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

/// Does nothing: there is no cache.
///
/// # Safety
/// 1. None.
pub unsafe fn prefetch_tensor_map(_map: *const u8) {}
