//! Arrays in the shared memory of the running block.

use super::control::fail;
use crate::current::instruction;

/// The static shared array `key` of the running block, the same for all of its threads.
///
/// It has `bytes` bytes and is aligned to `align`. `key` is unique to the declaration, for example the address of a
/// static. Before the first use in a block, each byte is `0xff`.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn static_shared(key: usize, bytes: usize, align: usize) -> *mut u8 {
    let array = instruction(|_, block, declared| block.shared.array(key, bytes, align, declared));
    match array {
        Ok(start) => start,
        Err(error) => fail(error.kind(), error.to_string()),
    }
}

/// The dynamic shared memory of the running block, and its length in bytes.
///
/// It is aligned to at least 128 bytes. Before its first use, each byte is `0xff`.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn dynamic_shared() -> (*mut u8, usize) {
    instruction(|_, block, _| block.shared.dynamic())
}
