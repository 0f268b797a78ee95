//! Records in memory that the GPU and the host share.
//!
//! A thread takes a record by a compare-and-swap on the module's static, fills it, and marks it as
//! written after a fence. The host reads records in the order in which they were taken and gives
//! each back, even while kernels run. If all records are taken, a line is lost and counted.

use super::{MAX_TEXT_BYTES, MAX_VALUES};
use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// Lines that a module keeps until the host prints them: a power of two.
pub(super) const CAPACITY: u32 = 1024;

/// `Record::state` of a free or incomplete record.
#[cfg(not(target_arch = "nvptx64"))]
pub(super) const EMPTY: u32 = 0;
/// `Record::state` of a complete record.
pub(super) const WRITTEN: u32 = 1;

/// One line, or one panic.
#[repr(C, align(16))]
pub(super) struct Record {
    pub(super) state: AtomicU32,
    /// For a panic: the number of the launch's kernel, from the host.
    pub(super) kernel: u32,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) block: [u32; 3],
    pub(super) thread: [u32; 3],
    /// Lengths in the text: a line's, or a panic's file and message.
    pub(super) text_bytes: [u32; 2],
    pub(super) kinds: [u8; MAX_VALUES],
    pub(super) values: [u64; MAX_VALUES],
    pub(super) text: [u8; MAX_TEXT_BYTES],
}

/// The memory shared with the host: its progress, the first panic, and the lines.
#[repr(C)]
pub(super) struct Memory {
    /// The number of lines that the host has given back.
    pub(super) drained: AtomicU32,
    pub(super) panic: Record,
    pub(super) lines: [Record; CAPACITY as usize],
}

/// A module's static in global memory, with the address of its [`Memory`]. The host writes all of it after it loads
/// the module; until then lines are dropped.
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
    /// A ring without memory.
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

    /// Offset of the running kernel's number, 4 bytes.
    pub const KERNEL_OFFSET: usize = offset_of!(Self, kernel);

    /// Offset of the number of lost lines, 4 bytes.
    pub const LOST_OFFSET: usize = offset_of!(Self, lost);
}
