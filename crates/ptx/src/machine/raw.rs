//! Accesses of memory by its address, after their checks.

use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

/// Replaces a word of 1, 2, 4 or 8 bytes, and returns the old one.
///
/// # Safety
/// 1. The address is valid for reads and writes of as many bytes, and a multiple of them.
/// 2. Other threads access the word only through `simt`.
pub(super) unsafe fn updated(host: usize, bytes: usize, replace: impl Fn(u64) -> u64) -> u64 {
    macro_rules! update {
        ($update:ident, $word:ty) => {{
            let narrow = |old: $word| replace(old.into()) as $word;
            // SAFETY: the caller's contract.
            u64::from(unsafe { simt::$update(with_exposed_provenance_mut(host), narrow) })
        }};
    }
    match bytes {
        1 => update!(atomic_update_u8, u8),
        2 => update!(atomic_update_u16, u16),
        4 => update!(atomic_update_u32, u32),
        _ => update!(atomic_update_u64, u64),
    }
}

/// Loads `bytes` bytes: 1, 2, 4, 8, 16 or 32.
///
/// # Safety
/// 1. The address is valid for reads of as many bytes.
/// 2. Other threads write there only through `simt`.
pub(super) unsafe fn copy_from(host: usize, to: &mut [u8; 32], bytes: usize) {
    macro_rules! load {
        ($count:literal) => {
            to[..$count].copy_from_slice(
                // SAFETY: the caller's contract.
                &unsafe { simt::load_relaxed(with_exposed_provenance::<[u8; $count]>(host)) },
            )
        };
    }
    match bytes {
        1 => load!(1),
        2 => load!(2),
        4 => load!(4),
        8 => load!(8),
        16 => load!(16),
        _ => load!(32),
    }
}

/// Stores `bytes` bytes: 1, 2, 4, 8, 16 or 32.
///
/// # Safety
/// 1. The address is valid for writes of as many bytes.
/// 2. Other threads access them only through `simt`.
pub(super) unsafe fn copy_to(host: usize, from: &[u8; 32], bytes: usize) {
    macro_rules! store {
        ($count:literal) => {{
            let mut value = [0; $count];
            value.copy_from_slice(&from[..$count]);
            // SAFETY: the caller's contract.
            unsafe { simt::store_relaxed(with_exposed_provenance_mut::<[u8; $count]>(host), value) }
        }};
    }
    match bytes {
        1 => store!(1),
        2 => store!(2),
        4 => store!(4),
        8 => store!(8),
        16 => store!(16),
        _ => store!(32),
    }
}
