//! Loads and stores of memory that several host threads may access at once: words of the widest
//! atomic type that fits, in relaxed order.

use bytemuck::Pod;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

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
/// It reads words of 8, 4, 2 or 1 bytes, the widest that address and size allow, each by a relaxed atomic load. As on a
/// GPU, a race can tear a value, but it is never a data race of the host program.
///
/// # Safety
///
/// 1. `ptr` is valid for reads of `size_of::<T>()` bytes; it need not be aligned.
/// 2. Other host threads write there only through this crate.
#[inline]
pub unsafe fn load_relaxed<T: Pod>(ptr: *const T) -> T {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY:
    // 1. The source is valid for reads of `size_of::<T>()` bytes, and other host threads write
    //    there only through this crate, that is atomically: the caller's contract.
    // 2. The destination is a local of that size; every byte of it is written,
    //    and every bit pattern is a `T`.
    unsafe {
        load_words(value.as_mut_ptr().cast(), ptr.cast(), size_of::<T>());
        value.assume_init()
    }
}

/// Stores a value that another host thread may be reading or writing, in words as in [`load_relaxed`].
///
/// # Safety
///
/// 1. `ptr` is valid for writes of `size_of::<T>()` bytes; it need not be aligned.
/// 2. Other host threads read and write there only through this crate.
#[inline]
pub unsafe fn store_relaxed<T: Pod>(ptr: *mut T, value: T) {
    // SAFETY: the destination is valid for writes of `size_of::<T>()` bytes, and other host threads
    // access it only through this crate: the caller's contract. The source is a local whose bytes
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
    // SAFETY: the caller's contract is that of `load_words`.
    unsafe { load_words(destination, source, bytes) };
}

/// Copies from memory of this host thread to memory that other host threads may access.
///
/// # Safety
///
/// 1. `source` is valid for reads, `destination` for writes of `bytes` bytes;
///    they do not overlap.
/// 2. Other host threads access `destination` only through this crate, and do not
///    write to `source`.
pub(crate) unsafe fn copy_to_global(destination: *mut u8, source: *const u8, bytes: usize) {
    // SAFETY: the caller's contract is that of `store_words`.
    unsafe { store_words(destination, source, bytes) };
}

/// Copies the words of one integer type with relaxed atomic loads.
///
/// It is inlined into kernels, which tests compile with few optimizations. So it is a plain loop without calls.
macro_rules! load_as {
    ($atomic:ty, $word:ty, $destination:expr, $source:expr, $bytes:expr) => {{
        let mut offset = 0;
        while offset < $bytes {
            // SAFETY: the word is within the bytes of the caller's contract, and its address is a
            // multiple of its size, because `word_bytes` has chosen the size.
            unsafe {
                let word = &*$source.add(offset).cast::<$atomic>();
                let value: $word = word.load(Ordering::Relaxed);
                $destination
                    .add(offset)
                    .cast::<$word>()
                    .write_unaligned(value);
            }
            offset += size_of::<$word>();
        }
    }};
}

/// Copies the words of one integer type with relaxed atomic stores.
macro_rules! store_as {
    ($atomic:ty, $word:ty, $destination:expr, $source:expr, $bytes:expr) => {{
        let mut offset = 0;
        while offset < $bytes {
            // SAFETY: the word is within the bytes of the caller's contract, and its address is a
            // multiple of its size, because `word_bytes` has chosen the size.
            unsafe {
                let value = $source.add(offset).cast::<$word>().read_unaligned();
                let word = &*$destination.add(offset).cast::<$atomic>();
                word.store(value, Ordering::Relaxed);
            }
            offset += size_of::<$word>();
        }
    }};
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
