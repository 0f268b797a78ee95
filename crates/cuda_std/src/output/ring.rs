//! Records in memory that the GPU and the host share.
//!
//! A thread takes a record by a compare-and-swap of the module's static, fills it, and marks it as
//! written behind a fence. The host reads records in the order in which they were taken, gives each
//! back, and may do so while kernels run. Where all records are taken, a line is lost and counted.

use super::{MAX_TEXT_BYTES, MAX_VALUES};
use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// Lines that a module keeps until the host prints them: a power of two.
pub(super) const CAPACITY: u32 = 1024;

/// `Record::state` of a record that is free or not complete.
#[cfg(not(target_arch = "nvptx64"))]
pub(super) const EMPTY: u32 = 0;
/// `Record::state` of a complete record.
pub(super) const WRITTEN: u32 = 1;

/// One line, or one panic.
#[repr(C, align(16))]
pub(super) struct Record {
    pub(super) state: AtomicU32,
    /// Of a panic: the number that the host gave to the launch's kernel.
    pub(super) kernel: u32,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) block: [u32; 3],
    pub(super) thread: [u32; 3],
    /// Bytes of the text: a line's, or a panic's file and message, one after the other.
    pub(super) text_bytes: [u32; 2],
    pub(super) kinds: [u8; MAX_VALUES],
    pub(super) values: [u64; MAX_VALUES],
    pub(super) text: [u8; MAX_TEXT_BYTES],
}

/// The shared memory: what the host has printed, the first panic, and the lines.
#[repr(C)]
pub(super) struct Memory {
    /// How many lines the host has given back.
    pub(super) drained: AtomicU32,
    pub(super) panic: Record,
    pub(super) lines: [Record; CAPACITY as usize],
}

/// A module's static, in global memory, with the address of its [`Memory`]. The host writes all of it
/// when it has loaded the module; until then lines go nowhere.
#[doc(hidden)]
#[derive(Debug, Default)]
#[repr(C, align(16))]
pub struct Ring {
    pub(super) memory: AtomicU64,
    pub(super) taken: AtomicU32,
    pub(super) lost: AtomicU32,
    pub(super) panicked: AtomicU32,
    pub(super) kernel: AtomicU32,
}

impl Ring {
    /// One without memory.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            memory: AtomicU64::new(0),
            taken: AtomicU32::new(0),
            lost: AtomicU32::new(0),
            panicked: AtomicU32::new(0),
            kernel: AtomicU32::new(0),
        }
    }

    /// The bytes of a ring whose memory is at `address`.
    #[must_use]
    pub fn bytes_with_memory(address: u64) -> [u8; size_of::<Self>()] {
        let mut bytes = [0; size_of::<Self>()];
        bytes[..size_of::<u64>()].copy_from_slice(&address.to_ne_bytes());
        bytes
    }

    /// Where in the ring the number of the kernel is that runs, 4 bytes.
    pub const KERNEL_OFFSET: usize = offset_of!(Self, kernel);

    /// Where in the ring the number of lost lines is, 4 bytes.
    pub const LOST_OFFSET: usize = offset_of!(Self, lost);
}
