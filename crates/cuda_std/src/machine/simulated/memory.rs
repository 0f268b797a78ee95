//! Loads and stores, checked against the view's bounds.

use bytemuck::Pod;
use simt::{AccessKind, DefectKind};

pub use simt::Space;

/// Checks an access of elements `index..index + count` before it happens.
///
/// # Safety
/// 1. If the `len` elements at `base` are in global memory, they are allocated until the launch has ended. Meanwhile
///    no host thread except the simulator's workers writes them or, unless the access is a read, touches them.
#[inline]
#[track_caller]
pub(super) unsafe fn announce<T>(
    space: Space,
    kind: AccessKind,
    base: *const T,
    len: usize,
    index: usize,
    count: usize,
) {
    let element = size_of::<T>();
    let bytes = count * element;
    let align = if count > 1 { bytes } else { align_of::<T>() };
    let offset = index.saturating_mul(element);
    // SAFETY: the caller's contract.
    unsafe {
        simt::access(
            space,
            kind,
            base.addr(),
            len * element,
            offset,
            bytes,
            align,
        );
    }
}

/// Elements `index..index + N`.
///
/// # Safety
/// 1. The `len` elements at `base` are allocated and initialised. (The index is checked here.)
/// 2. Meanwhile no host thread except the simulator's workers writes them.
#[inline]
#[track_caller]
pub unsafe fn load<T: Pod, const N: usize>(
    space: Space,
    base: *const T,
    len: usize,
    index: usize,
) -> [T; N] {
    // SAFETY: the elements are allocated, and only the workers access them: the caller's contract.
    unsafe { announce(space, AccessKind::Read, base, len, index, N) };
    // SAFETY: the caller's contract.
    unsafe { read(space, base, index) }
}

/// Elements `index..index + N` of global memory, through the read-only cache.
///
/// # Safety
/// As for [`load`].
#[inline]
#[track_caller]
pub unsafe fn load_read_only<T: Pod, const N: usize>(
    base: *const T,
    len: usize,
    index: usize,
) -> [T; N] {
    // SAFETY: the elements are allocated, and only the workers access them: the caller's contract.
    unsafe { announce(Space::Global, AccessKind::ReadOnly, base, len, index, N) };
    // SAFETY: the caller's contract.
    unsafe { read(Space::Global, base, index) }
}

/// Reads elements `index..index + N`, after [`announce`].
///
/// # Safety
/// As for [`load`]. The index has been checked.
#[inline]
unsafe fn read<T: Pod, const N: usize>(space: Space, base: *const T, index: usize) -> [T; N] {
    // SAFETY: the elements are allocated: the caller's contract. The index has been checked. Shared
    // memory belongs to this host thread, constant memory is not written, and global memory is read
    // atomically.
    unsafe {
        let first = base.add(index).cast::<[T; N]>();
        match space {
            Space::Global => simt::load_relaxed(first),
            Space::Shared | Space::Constant => first.read(),
        }
    }
}

/// Writes elements `index..index + N`.
///
/// # Safety
/// 1. The `len` elements at `base` are allocated. (The index is checked here.)
/// 2. Meanwhile no host thread except the simulator's workers touches them.
#[inline]
#[track_caller]
pub unsafe fn store<T: Pod, const N: usize>(
    space: Space,
    base: *mut T,
    len: usize,
    index: usize,
    values: [T; N],
) {
    // SAFETY: the elements are allocated, and only the workers access them: the caller's contract.
    unsafe { announce(space, AccessKind::Write, base, len, index, N) };
    // SAFETY: as in `load`.
    unsafe {
        let first = base.add(index).cast::<[T; N]>();
        match space {
            Space::Global => simt::store_relaxed(first, values),
            Space::Shared | Space::Constant => first.write(values),
        }
    }
}

/// The caches of a load from global memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    All,
    L2,
    Streaming,
}

/// Loads elements `index..index + N` of global memory, 4, 8 or 16 bytes. There is no cache, but the checks
/// distinguish the operators. A vector must be aligned to its size.
///
/// # Safety
/// As for [`load`].
#[inline]
#[track_caller]
pub unsafe fn load_cached<T: Pod, const N: usize>(
    cache: Cache,
    base: *const T,
    len: usize,
    index: usize,
) -> [T; N] {
    let kind = match cache {
        Cache::All => AccessKind::CachedRead,
        Cache::L2 | Cache::Streaming => AccessKind::Read,
    };
    // SAFETY: the elements are allocated, and only the workers access them: the caller's contract.
    unsafe { announce(Space::Global, kind, base, len, index, N) };
    // SAFETY: the caller's contract.
    unsafe { read(Space::Global, base, index) }
}

/// Counts a request. There is no cache to prefetch into.
///
/// # Safety
/// 1. `index` lies within the `len` elements at `base`.
#[inline]
#[track_caller]
pub unsafe fn prefetch_l2<T: Pod>(_base: *const T, len: usize, index: usize) {
    debug_assert!(index < len, "the caller has compared them");
    simt::count_prefetch();
}

/// Checks that `count` elements from `place` lie in one row of a tile of `extent` rows and columns.
#[inline]
#[track_caller]
pub fn check_in_tile(place: (usize, usize), count: usize, extent: (usize, usize)) {
    let in_row = count <= extent.1 && place.1 <= extent.1 - count;
    if place.0 >= extent.0 || !in_row {
        out_of_tile(place, count, extent);
    }
}

#[cold]
#[track_caller]
fn out_of_tile(place: (usize, usize), count: usize, extent: (usize, usize)) -> ! {
    let ((row, column), (rows, columns)) = (place, extent);
    simt::fail(
        DefectKind::OutOfBounds,
        format!("{count} elements at ({row}, {column}) of a shared tile of {rows} x {columns}"),
    )
}

/// The launch's dynamic shared memory: its address, a multiple of 128, and its size in bytes.
#[track_caller]
pub fn dynamic_shared() -> (*mut u8, usize) {
    simt::dynamic_shared()
}

/// [`dynamic_shared`], which always begins at a multiple of 1024.
#[track_caller]
pub fn dynamic_shared_of_tiles() -> (*mut u8, usize) {
    simt::dynamic_shared()
}

/// The offset of an address from the start of the block's shared memory, for instructions on shared memory.
#[track_caller]
pub fn shared_address<T>(pointer: *const T) -> u32 {
    simt::shared_offset(pointer.addr()) as u32
}

/// The first element of the running launch's copy of the static array with these initial values;
/// `None` outside a launch.
#[inline]
pub fn static_array<T: Pod, const LEN: usize>(initial: &[T; LEN]) -> Option<*mut T> {
    simt::static_memory(bytemuck::cast_slice(initial)).map(<*mut u8>::cast)
}

/// The block's memory for the static array identified by `key`. On a GPU it is a static.
#[track_caller]
pub fn static_shared(key: &'static u8, bytes: usize, align: usize) -> *mut u8 {
    simt::static_shared(core::ptr::from_ref(key).addr(), bytes, align)
}
