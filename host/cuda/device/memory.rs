//! Memory of a CUDA device, and copies in its stream.

use super::CudaDevice;
use crate::backend::{Backend as _, DeviceMemory, MemoryUse, RowExtent, Rows};
use crate::cuda::context::Current;
use crate::cuda::driver::{Failure, call};
use crate::cuda::memory;
use crate::cuda::rows::{Place, copy_rows, placed};
use crate::cuda::staged::{self, HostMemory};
use crate::error::{ErrorKind, Outcome};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

impl CudaDevice {
    pub(super) fn allocation_error(
        &self,
        bytes: usize,
        failure: Failure,
        current: &Current<'_>,
    ) -> ErrorKind {
        if failure != Failure::OUT_OF_MEMORY {
            return self.gpu.error(failure);
        }
        let free = self.gpu.allocator.memory(current);
        ErrorKind::OutOfMemory {
            device: self.label(),
            requested: bytes as u64,
            free: free.map_or(0, |memory| memory.free + memory.kept),
            total: self.gpu.properties.memory_bytes,
        }
    }

    /// Copies pageable memory through page-locked chunks, if that is faster; returns whether it did.
    ///
    /// # Safety
    /// 1. Host and device memory have the bytes. Nothing writes the source and nothing else accesses the destination
    ///    until this returns.
    unsafe fn copy_staged(&self, host: HostMemory, device: u64, bytes: usize) -> Outcome<bool> {
        let memory = (&self.gpu.context, &self.gpu.chunks);
        self.run(|current| {
            // SAFETY: memory without conflicting accesses: the caller's contract. Whatever happens, the copy has ended
            // when this returns.
            let copied =
                unsafe { staged::copy(memory, &self.stream, host, device, bytes, current) };
            if let Ok(true) = copied {
                self.gpu.modules.outputs.print(false);
            }
            copied
        })
    }
}

impl DeviceMemory for CudaDevice {
    fn allocate(&self, bytes: usize) -> Outcome<u64> {
        let current = self.gpu.enter()?;
        let is_capturing = self.is_capturing.load(Ordering::Relaxed);
        // Not a part of what is recorded: the memory stays while the graph does.
        let stream = match is_capturing {
            true => &self.transfers,
            false => &self.stream,
        };
        let address = self
            .gpu
            .allocator
            .allocate(bytes, stream, &self.gpu.streams, &current)
            .map_err(|failure| self.allocation_error(bytes, failure, &current))?;
        if is_capturing {
            let waited = stream.synchronize(&current);
            waited.map_err(|failure| self.gpu.error(failure))?;
        }
        Ok(address)
    }

    unsafe fn free(&self, address: u64, _bytes: usize) {
        // A lost device has lost its memory. Other failures are those of earlier work, which the next call reports.
        let _ = self.run(|current| {
            // SAFETY: a live allocation that is not used again: the caller's contract.
            unsafe { self.gpu.allocator.free(address, &self.stream, current) }
        });
    }

    fn memory(&self) -> Outcome<MemoryUse> {
        self.run(|current| self.gpu.allocator.memory(current))
    }

    fn trim_memory(&self, kept: u64) -> Outcome<()> {
        self.run(|current| {
            self.gpu.streams.synchronize(current)?;
            self.gpu.allocator.trim(kept)
        })
    }

    fn keep_memory(&self, kept: u64) -> Outcome<()> {
        self.run(|_current| self.gpu.allocator.keep(kept))
    }

    unsafe fn copy_to_device(&self, destination: u64, source: &[u8]) -> Outcome<()> {
        let memory = HostMemory::Source(source.as_ptr());
        // SAFETY: `source` has the bytes and stays borrowed until the copy is complete. The destination is live memory
        // without conflicting work: the caller's contract.
        if unsafe { self.copy_staged(memory, destination, source.len()) }? {
            return Ok(());
        }
        // SAFETY: as before: this waits for the copy.
        let started = unsafe { self.start_copy_to_device(destination, source) };
        self.run(|current| self.wait(current)).and(started)
    }

    fn copies_directly(&self, memory: &[u8]) -> bool {
        // A slice may have memory of several allocations.
        let ends = [memory.first(), memory.last()];
        let is_direct = self.run(|current| {
            let is_page_locked = |byte| staged::is_page_locked(HostMemory::Source(byte), current);
            Ok(ends.into_iter().flatten().all(|byte| is_page_locked(byte)))
        });
        is_direct.unwrap_or(false)
    }

    unsafe fn copy_to_host(&self, destination: &mut [u8], source: u64) -> Outcome<()> {
        let memory = HostMemory::Destination(destination.as_mut_ptr());
        // SAFETY: `destination` has the bytes and stays borrowed until the copy is complete. The source is live memory
        // without conflicting work: the caller's contract.
        if unsafe { self.copy_staged(memory, source, destination.len()) }? {
            return Ok(());
        }
        // SAFETY: as before: this waits for the copy.
        let started = unsafe { self.start_copy_to_host(destination, source) };
        self.run(|current| self.wait(current)).and(started)
    }

    unsafe fn start_copy_to_device(&self, destination: u64, source: &[u8]) -> Outcome<()> {
        let (pointer, bytes) = (source.as_ptr().cast(), source.len());
        self.run(|_current| {
            let stream = self.stream.raw();
            // SAFETY: `source` has the bytes and stays until the stream is done with them, and the destination is live
            // memory without conflicting work: the caller's contract.
            unsafe { call!(cuMemcpyHtoDAsync_v2(destination, pointer, bytes, stream)) }
        })
    }

    unsafe fn start_copy_to_host(&self, destination: &mut [u8], source: u64) -> Outcome<()> {
        let (pointer, bytes) = (destination.as_mut_ptr().cast(), destination.len());
        self.run(|_current| {
            let stream = self.stream.raw();
            // SAFETY: `destination` is large enough and stays until the stream is done with it, and the source is live
            // memory without conflicting work: the caller's contract.
            unsafe { call!(cuMemcpyDtoHAsync_v2(pointer, source, bytes, stream)) }
        })
    }

    unsafe fn copy_on_device(&self, destination: u64, source: u64, bytes: usize) -> Outcome<()> {
        self.run(|_current| {
            let stream = self.stream.raw();
            // SAFETY: both ranges are live memory without conflicting work: the caller's contract.
            unsafe { call!(cuMemcpyDtoDAsync_v2(destination, source, bytes, stream)) }
        })
    }

    unsafe fn copy_rows_to_device(
        &self,
        destination: Rows<u64>,
        source: Rows<*const u8>,
        extent: RowExtent,
    ) -> Outcome<()> {
        let source = placed(source, |first| Place::Host(first.cast_mut()));
        self.run(|current| {
            // SAFETY: both sides have the rows and nothing conflicts until the stream is done: the caller's contract,
            // for device memory and for host memory.
            let copied = unsafe {
                copy_rows(
                    placed(destination, Place::Device),
                    source,
                    extent,
                    &self.stream,
                )
            };
            // Wait even after a failure: earlier rows may still be in flight.
            self.wait(current).and(copied)
        })
    }

    unsafe fn copy_rows_to_host(
        &self,
        destination: Rows<*mut u8>,
        source: Rows<u64>,
        extent: RowExtent,
    ) -> Outcome<()> {
        let destination = placed(destination, Place::Host);
        self.run(|current| {
            // SAFETY: both sides have the rows and nothing conflicts until the stream is done: the caller's contract,
            // for device memory and for host memory.
            let copied = unsafe {
                copy_rows(
                    destination,
                    placed(source, Place::Device),
                    extent,
                    &self.stream,
                )
            };
            // Wait even after a failure: earlier rows may still be in flight.
            self.wait(current).and(copied)
        })
    }

    unsafe fn copy_rows_on_device(
        &self,
        destination: Rows<u64>,
        source: Rows<u64>,
        extent: RowExtent,
    ) -> Outcome<()> {
        let (destination, source) = (
            placed(destination, Place::Device),
            placed(source, Place::Device),
        );
        self.run(|_current| {
            // SAFETY: both sides have the rows and nothing conflicts: the caller's contract.
            unsafe { copy_rows(destination, source, extent, &self.stream) }
        })
    }

    unsafe fn fill_zero(&self, address: u64, bytes: usize) -> Outcome<()> {
        self.run(|_current| {
            // SAFETY: the range is live memory without conflicting work: the caller's contract.
            unsafe { call!(cuMemsetD8Async(address, 0, bytes, self.stream.raw())) }
        })
    }

    fn allocate_pinned(&self, bytes: usize) -> Outcome<NonNull<u8>> {
        let current = self.gpu.enter()?;
        memory::allocate_pinned(bytes, &current).map_err(|failure| match failure {
            Failure::OUT_OF_MEMORY => ErrorKind::OutOfHostMemory {
                requested: bytes as u64,
            },
            failure => self.gpu.error(failure),
        })
    }

    unsafe fn free_pinned(&self, first: NonNull<u8>, _bytes: usize) {
        // A lost device's memory stays allocated until the process ends.
        let _ = self.run(|current| {
            // SAFETY: a live allocation that nothing uses any more: the caller's contract, and every copy was
            // complete when its call returned.
            unsafe { memory::free_pinned(first, current) }
        });
    }
}
