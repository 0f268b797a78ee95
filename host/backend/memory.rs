//! Device memory, and page-locked memory of the host.

use crate::error::Outcome;
use std::any::Any;
use std::ptr::NonNull;

/// A start of rows of bytes: a device address or a pointer to host memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<A> {
    /// The first row's first byte.
    pub(crate) first: A,
    /// Bytes from the start of one row to the start of the next.
    pub(crate) pitch: usize,
}

/// The use of a device's memory, in bytes, from [`Device::memory`](crate::Device::memory).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryUse {
    /// The device's memory.
    pub total: u64,
    /// Memory that no program uses.
    pub free: u64,
    /// Memory of this device's buffers and of its reductions, in any stream, until the work that uses it is done.
    pub used: u64,
    /// Memory of dropped buffers that this device keeps for new ones.
    pub kept: u64,
}

/// The size of a copy of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowExtent {
    pub(crate) rows: usize,
    /// The bytes of each row.
    pub(crate) bytes: usize,
}

/// Memory of a device. Work runs in the order in which it was submitted.
///
/// It is [`Any`], so that a device can find out whether a peer's memory is of its own kind.
///
/// Requirement numbers are those of [`Backend`](super::Backend).
pub(crate) trait DeviceMemory: Any {
    /// Allocates `bytes` (more than 0), aligned to 256 bytes, with unspecified contents.
    fn allocate(&self, bytes: usize) -> Outcome<u64>;

    /// Allocates `bytes` (more than 0), aligned to 256 bytes, filled with zero bytes. A stream that records records the
    /// fill, so the memory is zero in each launch of the graph.
    fn allocate_zeroed(&self, bytes: usize) -> Outcome<u64> {
        let address = self.allocate(bytes)?;
        // SAFETY: live memory: the range is the new allocation's. No conflicting work: nothing else refers to it yet.
        if let Err(error) = unsafe { self.fill_zero(address, bytes) } {
            // SAFETY: a live allocation that is not used again: it is new, and its address is not returned.
            unsafe { self.free(address, bytes) };
            return Err(error);
        }
        Ok(address)
    }

    /// Frees an allocation after the work submitted before; never panics.
    ///
    /// # Safety
    /// 1. `address` and `bytes` are those of one live allocation, which is not used again.
    unsafe fn free(&self, address: u64, bytes: usize);

    /// Names the allocation at `address` for reports; does nothing on a device without reports.
    fn name(&self, _address: u64, _name: &str) {}

    /// The use of the device's memory.
    fn memory(&self) -> Outcome<MemoryUse>;

    /// Waits for the work of all streams, and returns memory kept for reuse to the system, except `kept` bytes.
    fn trim_memory(&self, kept: u64) -> Outcome<()>;

    /// Keeps at most `kept` bytes for reuse when the host waits.
    fn keep_memory(&self, kept: u64) -> Outcome<()>;

    /// Copies `source` to the device.
    ///
    /// # Safety
    /// Requirements 1 and 2 of the trait for `source.len()` bytes at `destination`.
    unsafe fn copy_to_device(&self, destination: u64, source: &[u8]) -> Outcome<()>;

    /// Whether the device copies `memory` of the host directly, without another copy on the host: page-locked memory.
    fn copies_directly(&self, _memory: &[u8]) -> bool {
        true
    }

    /// Copies from the device to `destination`.
    ///
    /// # Safety
    /// Requirements 1 and 2 of the trait for `destination.len()` bytes at `source`.
    unsafe fn copy_to_host(&self, destination: &mut [u8], source: u64) -> Outcome<()>;

    /// Starts a copy of `source` to the device.
    ///
    /// # Safety
    /// 1. Requirements 1 and 2 of the trait for `source.len()` bytes at `destination`.
    /// 2. Until the stream has reached work that is submitted later, `source` stays allocated and nothing writes it.
    unsafe fn start_copy_to_device(&self, destination: u64, source: &[u8]) -> Outcome<()>;

    /// Starts a copy from the device to `destination`.
    ///
    /// # Safety
    /// 1. Requirements 1 and 2 of the trait for `destination.len()` bytes at `source`.
    /// 2. Until the stream has reached work that is submitted later, `destination` stays allocated and nothing else
    ///    accesses it.
    unsafe fn start_copy_to_host(&self, destination: &mut [u8], source: u64) -> Outcome<()>;

    /// Copies between two allocations of the device.
    ///
    /// # Safety
    /// Requirements 1 and 2 of the trait for `bytes` at both addresses, which do not overlap.
    unsafe fn copy_on_device(&self, destination: u64, source: u64, bytes: usize) -> Outcome<()>;

    /// Copies rows to the device.
    ///
    /// # Safety
    /// 1. Requirements 1 and 2 of the trait for each row of `destination`.
    /// 2. Each row of `source` is readable memory of the host that nothing writes meanwhile.
    unsafe fn copy_rows_to_device(
        &self,
        destination: Rows<u64>,
        source: Rows<*const u8>,
        extent: RowExtent,
    ) -> Outcome<()>;

    /// Copies rows from the device.
    ///
    /// # Safety
    /// 1. Requirements 1 and 2 of the trait for each row of `source`.
    /// 2. Each row of `destination` is writable memory of the host that nothing else accesses meanwhile.
    unsafe fn copy_rows_to_host(
        &self,
        destination: Rows<*mut u8>,
        source: Rows<u64>,
        extent: RowExtent,
    ) -> Outcome<()>;

    /// Copies rows within the device.
    ///
    /// # Safety
    /// Requirements 1 and 2 of the trait for each row of both, none of which overlap.
    unsafe fn copy_rows_on_device(
        &self,
        destination: Rows<u64>,
        source: Rows<u64>,
        extent: RowExtent,
    ) -> Outcome<()>;

    /// Fills with zero bytes.
    ///
    /// # Safety
    /// Requirements 1 and 2 of the trait for `bytes` at `address`.
    unsafe fn fill_zero(&self, address: u64, bytes: usize) -> Outcome<()>;

    /// Allocates `bytes` (more than 0) of page-locked host memory, aligned to 256 bytes and filled
    /// with zero bytes.
    fn allocate_pinned(&self, bytes: usize) -> Outcome<NonNull<u8>>;

    /// Frees page-locked host memory; never panics.
    ///
    /// # Safety
    /// 1. `first` and `bytes` are those of one live allocation by `allocate_pinned`, which is not used again.
    unsafe fn free_pinned(&self, first: NonNull<u8>, bytes: usize);
}
