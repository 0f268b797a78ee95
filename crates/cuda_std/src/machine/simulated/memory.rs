//! Loads and stores. Each is checked against its view's bounds before it is performed.

use bytemuck::Pod;
use simt::{AccessKind, DefectKind};

pub use simt::Space;

/// Checks the access of elements `index..index + count` that is about to happen.
///
/// # Safety
/// 1. Those of the `len` elements at `base` that are in global memory are allocated until the launch has ended, and no
///    host thread but the simulator's workers touches them meanwhile, or writes them where they are read.
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
    // SAFETY: (1) is (1).
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
/// 1. The `len` elements at `base` are allocated and initialised; that the index lies within is
///    checked here.
/// 2. No host thread but the simulator's workers writes them meanwhile.
#[inline]
#[track_caller]
pub unsafe fn load<T: Pod, const N: usize>(
    space: Space,
    base: *const T,
    len: usize,
    index: usize,
) -> [T; N] {
    // SAFETY: (1) is (1), (2).
    unsafe { announce(space, AccessKind::Read, base, len, index, N) };
    // SAFETY: (1), (2) are the caller's.
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
    // SAFETY: (1) is (1), (2).
    unsafe { announce(Space::Global, AccessKind::ReadOnly, base, len, index, N) };
    // SAFETY: (1), (2) are the caller's.
    unsafe { read(Space::Global, base, index) }
}

/// Elements `index..index + N`, whose access has been announced.
///
/// # Safety
/// As for [`load`]; that the index lies within has been checked.
#[inline]
unsafe fn read<T: Pod, const N: usize>(space: Space, base: *const T, index: usize) -> [T; N] {
    // SAFETY: (1) and the check. Shared memory belongs to this host thread, constant
    // memory is not written, and global memory is read with atomics, by (2).
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
/// 1. The `len` elements at `base` are allocated; that the index lies within is checked here.
/// 2. No host thread but the simulator's workers touches them meanwhile.
#[inline]
#[track_caller]
pub unsafe fn store<T: Pod, const N: usize>(
    space: Space,
    base: *mut T,
    len: usize,
    index: usize,
    values: [T; N],
) {
    // SAFETY: (1) is (1), (2).
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

/// Which caches a load from global memory uses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    All,
    L2,
    Streaming,
}

/// Elements `index..index + N` of global memory, 4, 8 or 16 bytes: a load, as there is no cache; the
/// checks know which ones it would use.
/// It may be of one element or of a vector, which is aligned as such.
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
    // SAFETY: (1) is (1), (2).
    unsafe { announce(Space::Global, kind, base, len, index, N) };
    // SAFETY: (1), (2) are the caller's.
    unsafe { read(Space::Global, base, index) }
}

/// A request that is counted, and no more: there is no cache.
///
/// # Safety
/// 1. `index` lies within the `len` elements at `base`.
#[inline]
#[track_caller]
pub unsafe fn prefetch_l2<T: Pod>(_base: *const T, len: usize, index: usize) {
    debug_assert!(index < len, "the caller has compared them");
    simt::count_prefetch();
}

/// Checks that `count` elements from `place` on lie in one row of a tile of `extent` rows and
/// columns.
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

/// The launch's dynamic shared memory: its address, a multiple of 128, and its bytes.
#[track_caller]
pub fn dynamic_shared() -> (*mut u8, usize) {
    simt::dynamic_shared()
}

/// [`dynamic_shared`] at a multiple of 1024, where all of it begins.
#[track_caller]
pub fn dynamic_shared_of_tiles() -> (*mut u8, usize) {
    simt::dynamic_shared()
}

/// The distance of an address from the start of the block's shared memory, as instructions on shared
/// memory want it.
#[track_caller]
pub fn shared_address<T>(pointer: *const T) -> u32 {
    simt::shared_offset(pointer.addr()) as u32
}

/// The first element of the running launch's copy of the static array with these initial values;
/// none outside of a launch.
#[inline]
pub fn static_array<T: Pod, const LEN: usize>(initial: &[T; LEN]) -> Option<*mut T> {
    simt::static_memory(bytemuck::cast_slice(initial)).map(<*mut u8>::cast)
}

/// The block's memory for the static array that `key` stands for. On a GPU it is a static.
#[track_caller]
pub fn static_shared(key: &'static u8, bytes: usize, align: usize) -> *mut u8 {
    simt::static_shared(core::ptr::from_ref(key).addr(), bytes, align)
}
