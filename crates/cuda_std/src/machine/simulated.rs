//! The machine underneath: the simulated thread that is running.
//!
//! `nvptx.rs` has the same functions with the same meaning. Every access of memory is reported to
//! the simulator with the kernel's source line, which `#[track_caller]` carries down to here.

use bytemuck::Pod;
use simt::{AccessKind, BarrierId, DefectKind};

pub use simt::Space;

/// Lanes of a warp.
#[inline]
pub fn warp_width() -> u32 {
    simt::position().warp_width
}

macro_rules! special_registers {
    ($($name:ident = $field:ident . $axis:ident;)*) => {$(
        #[inline]
        pub fn $name() -> u32 {
            simt::position().$field.$axis
        }
    )*};
}
special_registers! {
    thread_idx_x = thread_idx.x; thread_idx_y = thread_idx.y; thread_idx_z = thread_idx.z;
    block_dim_x = block_dim.x; block_dim_y = block_dim.y; block_dim_z = block_dim.z;
    block_idx_x = block_idx.x; block_idx_y = block_idx.y; block_idx_z = block_idx.z;
    grid_dim_x = grid_dim.x; grid_dim_y = grid_dim.y; grid_dim_z = grid_dim.z;
}

#[inline]
pub fn lane_index() -> u32 {
    simt::position().lane
}

// ---- barriers and fences -------------------------------------------------------------------

#[track_caller]
pub fn block_barrier() {
    simt::block_barrier(BarrierId(0), None);
}

#[track_caller]
pub fn block_barrier_part(id: u32, threads: u32) {
    simt::block_barrier(BarrierId(id), Some(threads));
}

#[track_caller]
pub fn block_barrier_count(predicate: bool) -> u32 {
    simt::block_barrier_reduce(predicate)
}

#[track_caller]
pub fn warp_barrier(mask: u64) {
    simt::warp_barrier(mask);
}

/// The simulator performs each access where it stands, so fences have nothing to order yet.
pub fn fence_block() {}

/// As [`fence_block`], but blocks run on several host threads.
pub fn fence_device() {
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
}

/// As [`fence_device`].
pub fn fence_system() {
    fence_device();
}

pub fn yield_now() {
    simt::yield_now();
}

// ---- warps -----------------------------------------------------------------------------------

/// How a shuffle finds its source lane.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shuffle {
    Index,
    Up,
    Down,
    Xor,
}

impl Shuffle {
    fn name(self) -> &'static str {
        match self {
            Self::Index => "shuffle",
            Self::Up => "shuffle_up",
            Self::Down => "shuffle_down",
            Self::Xor => "shuffle_xor",
        }
    }

    /// The lane that `own` reads from, or itself where the source lies outside its segment
    /// (PTX ISA 8.0, 9.7.8.6).
    fn source(self, own: u32, lane: u32, width: u32) -> u32 {
        let first = own / width * width;
        let source = match self {
            Self::Index => Some(first + lane % width),
            Self::Up => own.checked_sub(lane).filter(|&source| source >= first),
            Self::Down => Some(own + lane).filter(|&source| source < first + width),
            Self::Xor => Some(own ^ lane).filter(|&source| source < first + width),
        };
        source.unwrap_or(own)
    }
}

#[track_caller]
pub fn shuffle(kind: Shuffle, mask: u64, bits: u64, _bytes: usize, lane: u32, width: u32) -> u64 {
    let source = kind.source(lane_index(), lane, width);
    let value = simt::warp_collective(kind.name(), mask, bits, |lanes| {
        (lanes.mask >> source & 1 == 1).then(|| lanes.values[source as usize])
    });
    value.unwrap_or_else(|| {
        simt::fail(
            DefectKind::WarpDivergence,
            format!(
                "{} reads lane {source}, which the member mask {mask:#x} does not name",
                kind.name()
            ),
        )
    })
}

#[track_caller]
pub fn ballot(mask: u64, predicate: bool) -> u64 {
    simt::warp_collective("ballot", mask, u64::from(predicate), |lanes| {
        members(lanes.mask).filter(|&lane| lanes.values[lane] == 1).fold(0, |set, lane| set | 1 << lane)
    })
}

#[track_caller]
pub fn match_any(mask: u64, bits: u64, _bytes: usize) -> u64 {
    simt::warp_collective("match_any", mask, bits, |lanes| {
        members(lanes.mask).filter(|&lane| lanes.values[lane] == bits).fold(0, |set, lane| set | 1 << lane)
    })
}

fn members(mask: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |lane| mask >> lane & 1 == 1)
}

pub fn active_lanes() -> u64 {
    simt::active_lanes()
}

#[track_caller]
pub fn reduce_add_u32(mask: u64, value: u32) -> Option<u32> {
    Some(simt::warp_collective("reduce_add", mask, u64::from(value), |lanes| {
        members(lanes.mask).fold(0_u32, |sum, lane| sum.wrapping_add(lanes.values[lane] as u32))
    }))
}

// ---- memory ----------------------------------------------------------------------------------

/// Reports the access of `count` elements that is about to happen.
#[inline]
#[track_caller]
fn announce<T>(space: Space, kind: AccessKind, base: *const T, len: usize, index: usize, count: usize) {
    let element = size_of::<T>();
    let bytes = count * element;
    let align = if count > 1 && bytes.is_power_of_two() { bytes } else { align_of::<T>() };
    simt::access(space, kind, base.addr(), len * element, index.saturating_mul(element), bytes, align);
}

/// # Safety
/// 1. The `len` elements at `base` are allocated; the simulator checks that the index lies within.
/// 2. No host thread but the simulator's workers writes them meanwhile.
#[inline]
#[track_caller]
pub unsafe fn load<T: Pod, const N: usize>(space: Space, base: *const T, len: usize, index: usize) -> [T; N] {
    announce(space, AccessKind::Read, base, len, index, N);
    // SAFETY: (1) and the check just made; shared memory belongs to this host thread, constant
    // memory is not written, and global memory is read with atomics.
    unsafe {
        let first = base.add(index).cast::<[T; N]>();
        match space {
            Space::Global => simt::load_relaxed(first),
            _ => first.read(),
        }
    }
}

/// # Safety
/// 1. The `len` elements at `base` are allocated; the simulator checks that the index lies within.
/// 2. No host thread but the simulator's workers touches them meanwhile.
#[inline]
#[track_caller]
pub unsafe fn store<T: Pod, const N: usize>(space: Space, base: *mut T, len: usize, index: usize, values: [T; N]) {
    announce(space, AccessKind::Write, base, len, index, N);
    // SAFETY: as in `load`.
    unsafe {
        let first = base.add(index).cast::<[T; N]>();
        match space {
            Space::Global => simt::store_relaxed(first, values),
            _ => first.write(values),
        }
    }
}

/// # Safety
/// As for [`load`].
#[inline]
#[track_caller]
pub unsafe fn load_streaming<T: Pod, const N: usize>(base: *const T, len: usize, index: usize) -> [T; N] {
    // SAFETY: the caller's.
    unsafe { load(Space::Global, base, len, index) }
}

/// # Safety
/// None here; the signature is the GPU's.
#[inline]
pub unsafe fn prefetch_l2<T: Pod>(_base: *const T, _len: usize, _index: usize) {}

pub fn dynamic_shared() -> (*mut u8, usize) {
    simt::dynamic_shared()
}

/// The block's memory for the static array that `key` stands for.
#[inline]
pub fn static_shared(key: &'static u8, bytes: usize, align: usize) -> *mut u8 {
    simt::static_shared(core::ptr::from_ref(key).addr(), bytes, align)
}

// ---- asynchronous copies -------------------------------------------------------------------

/// # Safety
/// 1. Source and destination are allocated with the lengths given; the simulator checks that the
///    indices lie within.
#[inline]
#[track_caller]
pub unsafe fn async_copy<T: Pod, const N: usize>(
    base: *mut T,
    len: usize,
    index: usize,
    source: *const T,
    source_len: usize,
    source_index: usize,
    source_bytes: u32,
) {
    let bytes = N * size_of::<T>();
    let present = source_bytes as usize;
    announce(Space::Shared, AccessKind::AsyncWrite, base, len, index, N);
    if present > 0 {
        let offset = source_index.saturating_mul(size_of::<T>());
        simt::access(Space::Global, AccessKind::AsyncRead, source.addr(), source_len * size_of::<T>(), offset, present, 1);
    }
    if !(source.addr() + source_index * size_of::<T>()).is_multiple_of(bytes) {
        simt::fail(
            DefectKind::Misaligned,
            format!("an asynchronous copy of {bytes} bytes reads from element {source_index}, whose address is no multiple of {bytes}"),
        );
    }
    // SAFETY: (1) and the checks just made.
    unsafe {
        simt::async_copy(
            base.add(index).cast(),
            source.wrapping_add(source_index).cast(),
            bytes,
            present,
        );
    }
}

/// # Safety
/// As for [`async_copy`].
#[inline]
#[track_caller]
pub unsafe fn async_copy_whole<T: Pod, const N: usize>(
    base: *mut T,
    len: usize,
    index: usize,
    source: *const T,
    source_len: usize,
    source_index: usize,
) {
    let bytes = (N * size_of::<T>()) as u32;
    // SAFETY: the caller's.
    unsafe { async_copy::<T, N>(base, len, index, source, source_len, source_index, bytes) }
}

pub fn async_commit() {
    simt::async_commit();
}

pub fn async_wait<const PENDING: u32>() {
    simt::async_wait(PENDING);
}

// ---- atomics -----------------------------------------------------------------------------------

/// A word on which the GPU has atomic operations.
pub trait AtomicWord: Pod {
    /// One atomic step: replaces the element by `f` of it and returns the old value.
    #[track_caller]
    unsafe fn update(space: Space, base: *mut Self, len: usize, index: usize, f: impl FnMut(Self) -> Self) -> Self;

    #[track_caller]
    unsafe fn add(space: Space, base: *mut Self, len: usize, index: usize, value: Self) -> Self;
}

macro_rules! integer_steps {
    ($($name:ident = |$old:ident, $value:ident| $new:expr;)*) => {$(
        #[track_caller]
        unsafe fn $name(space: Space, base: *mut Self, len: usize, index: usize, $value: Self) -> Self {
            // SAFETY: the caller's.
            unsafe { Self::update(space, base, len, index, |$old| $new) }
        }
    )*};
}

/// An integer word: the further operations.
pub trait AtomicInteger: AtomicWord + Ord + core::ops::BitAnd<Output = Self> + core::ops::BitOr<Output = Self> + core::ops::BitXor<Output = Self> {
    integer_steps! {
        rmw_min = |old, value| Ord::min(old, value);
        rmw_max = |old, value| Ord::max(old, value);
        rmw_and = |old, value| old & value;
        rmw_or = |old, value| old | value;
        rmw_xor = |old, value| old ^ value;
        rmw_exchange = |_old, value| value;
    }

    #[track_caller]
    unsafe fn compare_exchange(space: Space, base: *mut Self, len: usize, index: usize, current: Self, new: Self) -> Self {
        // SAFETY: the caller's.
        unsafe { Self::update(space, base, len, index, |old| if old == current { new } else { old }) }
    }

    #[track_caller]
    unsafe fn load(space: Space, base: *mut Self, len: usize, index: usize) -> Self {
        // SAFETY: the caller's.
        unsafe { Self::update(space, base, len, index, |old| old) }
    }

    #[track_caller]
    unsafe fn store(space: Space, base: *mut Self, len: usize, index: usize, value: Self) {
        // SAFETY: the caller's.
        unsafe { Self::update(space, base, len, index, |_| value) };
    }
}

macro_rules! atomic_words {
    ($($word:ty, $bits:ty, $update:ident, |$old:ident, $value:ident| $sum:expr;)*) => {$(
        impl AtomicWord for $word {
            #[track_caller]
            unsafe fn update(space: Space, base: *mut Self, len: usize, index: usize, mut f: impl FnMut(Self) -> Self) -> Self {
                announce(space, AccessKind::Atomic, base, len, index, 1);
                // SAFETY: the element is allocated, as the check just made shows.
                let old = unsafe {
                    simt::$update(base.add(index).cast::<$bits>(), |old| bytemuck::cast(f(bytemuck::cast(old))))
                };
                bytemuck::cast(old)
            }

            #[track_caller]
            unsafe fn add(space: Space, base: *mut Self, len: usize, index: usize, $value: Self) -> Self {
                // SAFETY: the caller's.
                unsafe { Self::update(space, base, len, index, |$old| $sum) }
            }
        }
    )*};
}
atomic_words! {
    u32, u32, atomic_update_u32, |old, value| old.wrapping_add(value);
    i32, u32, atomic_update_u32, |old, value| old.wrapping_add(value);
    u64, u64, atomic_update_u64, |old, value| old.wrapping_add(value);
    i64, u64, atomic_update_u64, |old, value| old.wrapping_add(value);
    f32, u32, atomic_update_u32, |old, value| old + value;
    f64, u64, atomic_update_u64, |old, value| old + value;
}
impl AtomicInteger for u32 {}
impl AtomicInteger for i32 {}
impl AtomicInteger for u64 {}
impl AtomicInteger for i64 {}

// ---- arithmetic --------------------------------------------------------------------------------

#[inline]
pub fn mul_add_f32(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

#[inline]
pub fn mul_add_f64(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

#[inline]
pub fn f16_to_f32(bits: u16) -> f32 {
    half::f16::from_bits(bits).to_f32()
}

#[inline]
pub fn f32_to_f16(value: f32) -> u16 {
    half::f16::from_f32(value).to_bits()
}
