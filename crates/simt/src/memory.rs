//! Access to simulated memory: the checks before it, and loads and stores that
//! blocks on different host threads may make at once.

use crate::check::{self, FenceScope};
use crate::current::is_shared;
use crate::defect::DefectKind;
use crate::watch;
use bytemuck::Pod;
use std::fmt;
use std::mem::{MaybeUninit, size_of};
use std::panic::Location;
use std::sync::atomic::{self, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// A state space of the simulated machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Space {
    /// Memory of the device, seen by all blocks.
    Global,
    /// Memory of one block.
    Shared,
    /// Memory that kernels only read.
    Constant,
}

impl fmt::Display for Space {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Constant => "constant",
        })
    }
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessKind {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic read-modify-write.
    Atomic,
    /// An atomic load: it does not write.
    AtomicRead,
    /// An atomic store: it does not read.
    AtomicWrite,
    /// The source of an asynchronous copy.
    AsyncRead,
    /// The destination of an asynchronous copy.
    AsyncWrite,
}

impl fmt::Display for AccessKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Read => "a read",
            Self::Write => "a write",
            Self::Atomic => "an atomic update",
            Self::AtomicRead => "an atomic load",
            Self::AtomicWrite => "an atomic store",
            Self::AsyncRead => "an asynchronous read",
            Self::AsyncWrite => "an asynchronous write",
        })
    }
}

/// One access: `bytes` bytes at byte `offset` of a view of `view_bytes` bytes.
#[derive(Clone, Copy)]
pub(crate) struct Access {
    pub space: Space,
    pub kind: AccessKind,
    pub view_base: usize,
    pub view_bytes: usize,
    pub offset: usize,
    pub bytes: usize,
    align: usize,
}

/// Checks an access of simulated memory, before it is made: `bytes` bytes at
/// byte `offset` of the view that starts at address `view_base` and has
/// `view_bytes` bytes; its address must be a multiple of `align`, a power of
/// two, and shared memory must be that of the running block. A violation ends the launch at the
/// caller's line.
///
/// # Panics
///
/// On a violation outside of a launch.
#[inline]
#[track_caller]
pub fn access(
    space: Space,
    kind: AccessKind,
    view_base: usize,
    view_bytes: usize,
    offset: usize,
    bytes: usize,
    align: usize,
) {
    let in_bounds = bytes <= view_bytes && offset <= view_bytes - bytes;
    let aligned = view_base.wrapping_add(offset) & align.wrapping_sub(1) == 0;
    let is_sound = in_bounds && aligned && {
        // Whatever the checks, memory of another block is not touched: it may be gone.
        space != Space::Shared || is_shared(view_base.wrapping_add(offset), bytes)
    };
    if is_sound && !watch::is_anyone_watching() {
        return;
    }
    let access = Access {
        space,
        kind,
        view_base,
        view_bytes,
        offset,
        bytes,
        align,
    };
    if !is_sound {
        violation(access);
    }
    observe(access, Location::caller());
}

/// Shows an access to the checks and to the counters of the running block. Not cold at all where
/// they are on, but then the call is what costs least; where they are off, the kernel's values stay
/// in registers.
#[cold]
#[inline(never)]
fn observe(access: Access, site: &'static Location<'static>) {
    check::record(&access, site);
    crate::count::note_access(&access, site);
}

#[cold]
#[inline(never)]
#[track_caller]
fn violation(access: Access) -> ! {
    let Access {
        space,
        kind,
        view_base,
        view_bytes,
        offset,
        bytes,
        align,
    } = access;
    let fits = offset
        .checked_add(bytes)
        .is_some_and(|end| end <= view_bytes);
    let address = view_base.wrapping_add(offset);
    let aligned = address & align.wrapping_sub(1) == 0;
    if fits && aligned {
        crate::fail(
            DefectKind::OutOfBounds,
            format!(
                "{kind} of {bytes} bytes at address {address:#x}, which is not in the block's \
                 shared memory: the view is that of another block or of an earlier launch"
            ),
        );
    }
    if fits {
        crate::fail(
            DefectKind::Misaligned,
            format!(
                "{kind} of {bytes} bytes of {space} memory at address {address:#x}, \
                 which is not a multiple of {align}"
            ),
        );
    }
    crate::fail(
        DefectKind::OutOfBounds,
        format!("{kind} of {bytes} bytes at byte {offset} of a {space} view of {view_bytes} bytes"),
    )
}

/// The widest atomic word that divides both the address and the length.
#[inline]
fn word_bytes(address: usize, bytes: usize) -> usize {
    match (address | bytes) % 8 {
        0 => 8,
        4 => 4,
        2 | 6 => 2,
        _ => 1,
    }
}

/// Loads a value that another host thread may be writing.
///
/// The value is read in words of 8, 4, 2 or 1 bytes, the widest that its
/// address and size allow, each of them atomically and relaxed: as on a GPU, a
/// race can tear a value, but it is never a data race of the host program.
///
/// # Safety
///
/// 1. `ptr` is valid for reads of `size_of::<T>()` bytes; it need not be aligned.
/// 2. Other host threads write there only through this crate.
#[inline]
pub unsafe fn load_relaxed<T: Pod>(ptr: *const T) -> T {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY:
    // 1. The source is valid for `size_of::<T>()` bytes (1), and other threads
    //    write there only atomically (2).
    // 2. The destination is a local of that size; every byte of it is written,
    //    and every bit pattern is a `T`.
    unsafe {
        load_words(value.as_mut_ptr().cast(), ptr.cast(), size_of::<T>());
        value.assume_init()
    }
}

/// Stores a value that another host thread may be reading or writing, in the
/// words of [`load_relaxed`].
///
/// # Safety
///
/// 1. `ptr` is valid for writes of `size_of::<T>()` bytes; it need not be aligned.
/// 2. Other host threads read and write there only through this crate.
#[inline]
pub unsafe fn store_relaxed<T: Pod>(ptr: *mut T, value: T) {
    // SAFETY: the destination is valid for `size_of::<T>()` bytes (1), other
    // threads access it only atomically (2); the source is a local whose bytes
    // are all initialised, because `T` is `Pod`.
    unsafe { store_words(ptr.cast(), (&raw const value).cast(), size_of::<T>()) };
}

/// Copies from memory that other host threads may write to memory of this one.
///
/// # Safety
///
/// 1. `source` is valid for reads, `destination` for writes of `bytes` bytes;
///    they do not overlap.
/// 2. Other host threads write to `source` only through this crate, and do not
///    access `destination`.
pub(crate) unsafe fn copy_from_global(destination: *mut u8, source: *const u8, bytes: usize) {
    // SAFETY: 1 and 2 are those of `load_words`.
    unsafe { load_words(destination, source, bytes) };
}

/// Copies the words of one integer type with relaxed atomic loads.
macro_rules! load_as {
    ($atomic:ty, $word:ty, $destination:expr, $source:expr, $bytes:expr) => {
        for offset in (0..$bytes).step_by(size_of::<$word>()) {
            // SAFETY: the caller's 1 and 2; the address is a multiple of the
            // word's size, because `word_bytes` has chosen it.
            unsafe {
                let word = <$atomic>::from_ptr($source.add(offset).cast_mut().cast());
                let value: $word = word.load(Ordering::Relaxed);
                $destination
                    .add(offset)
                    .cast::<$word>()
                    .write_unaligned(value);
            }
        }
    };
}

/// Copies the words of one integer type with relaxed atomic stores.
macro_rules! store_as {
    ($atomic:ty, $word:ty, $destination:expr, $source:expr, $bytes:expr) => {
        for offset in (0..$bytes).step_by(size_of::<$word>()) {
            // SAFETY: the caller's 1 and 2; the address is a multiple of the
            // word's size, because `word_bytes` has chosen it.
            unsafe {
                let value = $source.add(offset).cast::<$word>().read_unaligned();
                let word = <$atomic>::from_ptr($destination.add(offset).cast());
                word.store(value, Ordering::Relaxed);
            }
        }
    };
}

/// # Safety
///
/// As [`copy_from_global`].
#[inline]
unsafe fn load_words(destination: *mut u8, source: *const u8, bytes: usize) {
    match word_bytes(source.addr(), bytes) {
        8 => load_as!(AtomicU64, u64, destination, source, bytes),
        4 => load_as!(AtomicU32, u32, destination, source, bytes),
        2 => load_as!(AtomicU16, u16, destination, source, bytes),
        _ => load_as!(AtomicU8, u8, destination, source, bytes),
    }
}

/// # Safety
///
/// 1. `source` is valid for reads, `destination` for writes of `bytes` bytes.
/// 2. Other host threads do not write to `source`, and access `destination`
///    only through this crate.
#[inline]
unsafe fn store_words(destination: *mut u8, source: *const u8, bytes: usize) {
    match word_bytes(destination.addr(), bytes) {
        8 => store_as!(AtomicU64, u64, destination, source, bytes),
        4 => store_as!(AtomicU32, u32, destination, source, bytes),
        2 => store_as!(AtomicU16, u16, destination, source, bytes),
        _ => store_as!(AtomicU8, u8, destination, source, bytes),
    }
}

/// Defines an atomic read-modify-write of one word type.
macro_rules! atomic_update {
    ($name:ident, $word:ty, $atomic:ty) => {
        /// Replaces the word by `f` of it, as one atomic step; returns the word
        /// as it was before. `f` may be called more than once.
        ///
        /// By itself it orders no other access: see [`fence`].
        ///
        /// # Safety
        ///
        /// 1. `ptr` is valid for reads and writes, and aligned to the word's size.
        /// 2. Other host threads access the word only through this crate.
        #[inline]
        pub unsafe fn $name(ptr: *mut $word, mut f: impl FnMut($word) -> $word) -> $word {
            // SAFETY: the pointer is valid and aligned (1), and other threads
            // access the word only atomically (2).
            let word = unsafe { <$atomic>::from_ptr(ptr) };
            let address = ptr.addr();
            check::release(address);
            let mut old = word.load(Ordering::Relaxed);
            while let Err(current) =
                word.compare_exchange_weak(old, f(old), Ordering::AcqRel, Ordering::Relaxed)
            {
                old = current;
            }
            check::acquire(address);
            old
        }
    };
}

atomic_update!(atomic_update_u16, u16, AtomicU16);
atomic_update!(atomic_update_u32, u32, AtomicU32);
atomic_update!(atomic_update_u64, u64, AtomicU64);

/// Orders the running thread's accesses before the fence against those after
/// it, as the threads in `scope` see them (`fence.acq_rel` of the PTX ISA).
///
/// Two threads agree on an order when one updates a word atomically after its
/// fence, and the other one fences after an atomic update that found it.
#[inline]
pub fn fence(scope: FenceScope) {
    atomic::fence(Ordering::SeqCst);
    check::fence(scope);
}
