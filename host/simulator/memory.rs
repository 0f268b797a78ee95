//! The memory of a simulated device: host memory, registered with the simulator.

use super::Simulator;
use super::pages::{self, host_pointer};
use super::quarantine::KEPT_BYTES;
use super::stream_check::MemoryAccess;
use super::work::Work;
use crate::backend::{Backend as _, DeviceMemory, MemoryUse, RowExtent, Rows};
use crate::error::{ErrorKind, Outcome, SimulatorError};
use simt::Contents;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::Ordering;

/// The byte that fills memory with unspecified contents. As any float type it is NaN, so a kernel that reads before it
/// writes gives a result that no test accepts.
const POISON: u8 = 0xFF;

/// Bytes of an allocation that are filled with it: the rest takes no host memory before it is used.
const POISONED_BYTES: usize = 1 << 20;

impl Simulator {
    /// Takes `bytes` from the simulated memory; the error says how much is left.
    pub(super) fn reserve(&self, bytes: usize) -> Outcome<()> {
        let reserved = self.machine.allocated_bytes.fetch_update(
            Ordering::Relaxed,
            Ordering::Relaxed,
            |used| {
                used.checked_add(bytes as u64)
                    .filter(|used| *used <= self.machine.properties.memory_bytes)
            },
        );
        match reserved {
            Ok(_) => Ok(()),
            Err(_) => Err(self.out_of_memory(bytes)),
        }
    }

    /// Frees an allocation that no kernel has seen.
    ///
    /// # Safety
    /// 1. The allocation of `bytes` bytes at `address` is live, and not used again.
    unsafe fn free_at_once(&self, address: u64, bytes: usize) {
        // SAFETY: a live allocation that only defective kernels still use: the caller's contract.
        unsafe { self.quarantine().free(address, bytes, 0) };
        self.release(bytes);
    }

    pub(super) fn release(&self, bytes: usize) {
        self.machine
            .allocated_bytes
            .fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn out_of_memory(&self, bytes: usize) -> ErrorKind {
        ErrorKind::OutOfMemory {
            device: self.label(),
            requested: bytes as u64,
            free: self.free_bytes(),
            total: self.machine.properties.memory_bytes,
        }
    }

    pub(super) fn free_bytes(&self) -> u64 {
        let allocated = self.machine.allocated_bytes.load(Ordering::Relaxed);
        self.machine
            .properties
            .memory_bytes
            .saturating_sub(allocated)
    }
}

impl DeviceMemory for Simulator {
    fn allocate(&self, bytes: usize) -> Outcome<u64> {
        let address = self.allocate_zeroed(bytes)?;
        let poisoned = bytes.min(POISONED_BYTES);
        // SAFETY: the allocation has `bytes` bytes, and nothing else refers to it yet.
        unsafe { ptr::write_bytes(host_pointer(address), POISON, poisoned) };
        // SAFETY: the memory stays while it is used, and host accesses wait for launches, as in `allocate_zeroed`.
        let registered =
            unsafe { simt::register_allocation(address as usize, bytes, Contents::Uninitialised) };
        if registered.is_err() {
            // SAFETY: a live allocation that is not used again: it was allocated above with this size.
            unsafe { self.free_at_once(address, bytes) };
            return Err(self.out_of_memory(bytes));
        }
        Ok(address)
    }

    fn allocate_zeroed(&self, bytes: usize) -> Outcome<u64> {
        simt::refuse_host_call("allocate");
        if isize::try_from(bytes).is_err() {
            return Err(ErrorKind::size_overflow(format!("{bytes} bytes")));
        }
        self.reserve(bytes)?;
        let Some(first) = pages::allocate(bytes) else {
            let error = self.out_of_memory(bytes);
            self.release(bytes);
            return Err(error);
        };
        let address = first.as_ptr().expose_provenance();
        // SAFETY: the bytes are valid while a launch may access them: launches are given views of live allocations,
        // which stay until the launches have ended. Other threads access them only through `simt`: the host's own
        // accesses wait while a launch runs, as in a stream.
        let registered =
            unsafe { simt::register_allocation(address, bytes, Contents::Initialised) };
        if registered.is_err() {
            // SAFETY: a live allocation that is not used again: it was allocated above with this size.
            unsafe { self.free_at_once(address as u64, bytes) };
            return Err(self.out_of_memory(bytes));
        }
        self.machine.stream_check().allocated(address as u64, bytes);
        Ok(address as u64)
    }

    unsafe fn free(&self, address: u64, bytes: usize) {
        let kept = if self.machine.options.checks {
            KEPT_BYTES
        } else {
            0
        };
        // The lock must not stay locked if a kernel that drops a buffer is stopped.
        simt::uninterrupted(|| {
            // First: once it is freed, another thread may get the address for an allocation of its own.
            self.check_freed(address);
            // SAFETY: a live allocation that is not used again, by the contract of `free`; `allocate_zeroed` allocated
            // it.
            unsafe { self.quarantine().free(address, bytes, kept) };
        });
        self.release(bytes);
    }

    fn name(&self, address: u64, name: &str) {
        simt::refuse_host_call("name");
        simt::name_allocation(address as usize, name);
    }

    fn memory(&self) -> Outcome<MemoryUse> {
        let (total, free) = (self.machine.properties.memory_bytes, self.free_bytes());
        Ok(MemoryUse {
            total,
            free,
            used: total - free,
            kept: 0,
        })
    }

    fn trim_memory(&self, _kept: u64) -> Outcome<()> {
        Ok(())
    }

    fn keep_memory(&self, _kept: u64) -> Outcome<()> {
        Ok(())
    }

    unsafe fn copy_to_device(&self, destination: u64, source: &[u8]) -> Outcome<()> {
        simt::refuse_host_call("copy to device");
        let _stream = self.statics()?;
        let written = MemoryAccess::write(destination, source.len());
        self.check_order(|| "a copy from host memory".to_owned(), || [written])?;
        // SAFETY: the destination is live memory that no other thread accesses: the caller's contract. So it cannot
        // overlap `source`, a borrowed slice.
        unsafe {
            ptr::copy_nonoverlapping(source.as_ptr(), host_pointer(destination), source.len());
        }
        simt::mark_written(destination as usize, source.len());
        Ok(())
    }

    unsafe fn copy_to_host(&self, destination: &mut [u8], source: u64) -> Outcome<()> {
        simt::refuse_host_call("copy to host");
        let _stream = self.statics()?;
        let bytes = destination.len();
        let read = MemoryAccess::read(source, bytes);
        self.check_order(|| "a copy to host memory".to_owned(), || [read])?;
        if self.machine.options.checks
            && let Some(first) = simt::first_unwritten(source as usize, bytes)
        {
            return Err(ErrorKind::Simulator(SimulatorError::NeverWritten {
                device: self.label(),
                buffer: simt::allocation_name(source as usize).map(|name| name.to_string()),
                bytes,
                first,
            }));
        }
        // SAFETY: the source is live memory that no thread writes: the caller's contract. It cannot overlap
        // `destination`, a mutably borrowed slice.
        unsafe {
            ptr::copy_nonoverlapping(
                host_pointer(source),
                destination.as_mut_ptr(),
                destination.len(),
            );
        }
        Ok(())
    }

    unsafe fn start_copy_to_device(&self, destination: u64, source: &[u8]) -> Outcome<()> {
        // SAFETY: the caller's contract.
        unsafe { self.copy_to_device(destination, source) }
    }

    unsafe fn start_copy_to_host(&self, destination: &mut [u8], source: u64) -> Outcome<()> {
        // SAFETY: the caller's contract.
        unsafe { self.copy_to_host(destination, source) }
    }

    unsafe fn copy_on_device(&self, destination: u64, source: u64, bytes: usize) -> Outcome<()> {
        simt::refuse_host_call("copy on device");
        let work = |()| Work::Copy {
            destination,
            source,
            bytes,
        };
        if self.record((), work).is_ok() {
            return Ok(());
        }
        let _stream = self.statics()?;
        let uses = [
            MemoryAccess::read(source, bytes),
            MemoryAccess::write(destination, bytes),
        ];
        self.check_order(|| "a copy on the device".to_owned(), || uses)?;
        // SAFETY: both ranges are live memory without conflicting use, and do not overlap: the caller's contract.
        unsafe {
            ptr::copy_nonoverlapping(host_pointer(source), host_pointer(destination), bytes);
        }
        simt::mark_copied(destination as usize, source as usize, bytes);
        Ok(())
    }

    unsafe fn copy_rows_to_device(
        &self,
        destination: Rows<u64>,
        source: Rows<*const u8>,
        extent: RowExtent,
    ) -> Outcome<()> {
        (0..extent.rows).try_for_each(|row| {
            // SAFETY: the row is readable host memory that nothing writes during the copy: the caller's contract. So
            // are live memory and no conflicting work for the row of the destination.
            unsafe {
                let source = source.first.add(row * source.pitch);
                let source = slice::from_raw_parts(source, extent.bytes);
                self.copy_to_device(address_of(destination, row), source)
            }
        })
    }

    unsafe fn copy_rows_to_host(
        &self,
        destination: Rows<*mut u8>,
        source: Rows<u64>,
        extent: RowExtent,
    ) -> Outcome<()> {
        (0..extent.rows).try_for_each(|row| {
            // SAFETY: the row is writable host memory that nothing else accesses during the copy: the caller's
            // contract. So are live memory and no conflicting work for the row of the source.
            let copied = unsafe {
                let destination = destination.first.add(row * destination.pitch);
                let destination = slice::from_raw_parts_mut(destination, extent.bytes);
                self.copy_to_host(destination, address_of(source, row))
            };
            copied.map_err(|error| within_rows(error, row, extent))
        })
    }

    unsafe fn copy_rows_on_device(
        &self,
        destination: Rows<u64>,
        source: Rows<u64>,
        extent: RowExtent,
    ) -> Outcome<()> {
        (0..extent.rows).try_for_each(|row| {
            let (to, from) = (address_of(destination, row), address_of(source, row));
            // SAFETY: live memory without conflicting work, and rows that do not overlap: the caller's contract.
            unsafe { self.copy_on_device(to, from, extent.bytes) }
        })
    }

    unsafe fn fill_zero(&self, address: u64, bytes: usize) -> Outcome<()> {
        simt::refuse_host_call("fill_zero");
        let work = |()| Work::Fill { address, bytes };
        if self.record((), work).is_ok() {
            return Ok(());
        }
        let _stream = self.statics()?;
        let written = MemoryAccess::write(address, bytes);
        self.check_order(|| "a fill with zeros".to_owned(), || [written])?;
        // SAFETY: this is live memory that no other thread accesses: the caller's contract.
        unsafe { ptr::write_bytes(host_pointer(address), 0, bytes) };
        simt::mark_written(address as usize, bytes);
        Ok(())
    }

    fn allocate_pinned(&self, bytes: usize) -> Outcome<NonNull<u8>> {
        simt::refuse_host_call("allocate");
        let requested = bytes as u64;
        let out_of_memory = || ErrorKind::OutOfHostMemory { requested };
        let first = pages::allocate(bytes).ok_or_else(out_of_memory)?;
        // Kernels may access it by its address, as those of a CUDA device may.
        // SAFETY: the memory stays while it is used, and host accesses wait for launches: only `unsafe` code gives
        // its address to a launch, and answers for both.
        let registered =
            unsafe { simt::register_allocation(first.addr().get(), bytes, Contents::Initialised) };
        match registered {
            Ok(()) => Ok(first),
            Err(_) => {
                // SAFETY: it was allocated above for as many bytes, and is not used.
                unsafe { pages::free(first.as_ptr(), bytes) };
                Err(out_of_memory())
            }
        }
    }

    unsafe fn free_pinned(&self, first: NonNull<u8>, bytes: usize) {
        // The lock of the allocations must not stay locked if a kernel that drops the memory is stopped.
        simt::uninterrupted(|| {
            simt::forget_allocation(first.addr().get(), bytes);
            // SAFETY: `allocate_pinned` allocated it for as many bytes, and it is not used again: the caller's contract.
            unsafe { pages::free(first.as_ptr(), bytes) };
        });
    }
}

/// The address of a row.
fn address_of(rows: Rows<u64>, row: usize) -> u64 {
    rows.first + (row * rows.pitch) as u64
}

/// The error of one row's copy, as an error of the whole copy.
fn within_rows(error: ErrorKind, row: usize, extent: RowExtent) -> ErrorKind {
    match error {
        ErrorKind::Simulator(SimulatorError::NeverWritten {
            device,
            buffer,
            bytes,
            first,
        }) => ErrorKind::Simulator(SimulatorError::NeverWritten {
            device,
            buffer,
            bytes: extent.rows * bytes,
            first: row * bytes + first,
        }),
        error => error,
    }
}
