//! Writing records, on the device.

use super::ring::{CAPACITY, Memory, Record, Ring, WRITTEN};
use super::value::Value;
use super::{MAX_TEXT_BYTES, MAX_VALUES};
use core::ptr::{self, NonNull};
use core::sync::atomic::{Ordering, fence};

/// A panic and where it happened.
#[cfg(any(test, cuda_panic_locations))]
pub(crate) struct Panic<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) message: &'a str,
    pub(crate) block: [u32; 3],
    pub(crate) thread: [u32; 3],
}

impl Ring {
    /// Records a line, unless the ring is full or has no memory.
    ///
    /// # Safety
    /// 1. The ring's memory is null, or a live [`Memory`] that the host has zeroed.
    pub(crate) unsafe fn record_line(&self, text: &str, values: &[Value]) {
        // SAFETY: the ring's memory is null or live and zeroed: the caller's contract.
        let Some(record) = (unsafe { self.take() }) else {
            return;
        };
        let record = record.as_ptr();
        // SAFETY: `take` gave the record to this thread alone, until it is marked as written. The
        // copies fit their arrays.
        unsafe {
            for (place, value) in values.iter().take(MAX_VALUES).enumerate() {
                (*record).kinds[place] = value.kind as u8;
                (*record).values[place] = value.bits;
            }
            (*record).text_bytes = [copy_text(record, 0, text), 0];
            publish(record);
        }
    }

    /// Records the module's first panic. If another thread is recording it, waits until that record
    /// is complete: ending the launch earlier would stop the other thread.
    ///
    /// # Safety
    /// 1. As for [`record_line`](Self::record_line).
    #[cfg(any(test, cuda_panic_locations))]
    pub(crate) unsafe fn record_panic(&self, panic: &Panic<'_>) {
        let Some(memory) = self.memory() else { return };
        // SAFETY: the record is part of live memory: the caller's contract.
        let record = unsafe { &raw mut (*memory.as_ptr()).panic };
        let is_first = self
            .panicked
            .compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok();
        if !is_first {
            // SAFETY: the state is an atomic in live memory: the caller's contract.
            while unsafe { (*record).state.load(Ordering::Relaxed) } != WRITTEN {
                core::hint::spin_loop();
            }
            return;
        }
        // SAFETY: the memory is live: the caller's contract. The exchange gave the record to this thread. The copies
        // fit their arrays.
        unsafe {
            (*record).kernel = self.kernel.load(Ordering::Relaxed);
            (*record).line = panic.line;
            (*record).column = panic.column;
            (*record).block = panic.block;
            (*record).thread = panic.thread;
            let file = copy_text(record, 0, panic.file);
            let message = copy_text(record, file as usize, panic.message);
            (*record).text_bytes = [file, message];
            publish(record);
        }
        fence(Ordering::SeqCst);
    }

    fn memory(&self) -> Option<NonNull<Memory>> {
        let address = self.memory.load(Ordering::Relaxed) as usize;
        NonNull::new(ptr::with_exposed_provenance_mut(address))
    }

    /// Takes a record that no other thread has.
    ///
    /// # Safety
    /// 1. As for [`record_line`](Self::record_line).
    pub(super) unsafe fn take(&self) -> Option<NonNull<Record>> {
        let memory = self.memory()?.as_ptr();
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            // SAFETY: the number is an atomic in live memory: the caller's contract.
            let drained = unsafe { (*memory).drained.load(Ordering::Relaxed) };
            if taken.wrapping_sub(drained) >= CAPACITY {
                self.lost.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            let next = taken.wrapping_add(1);
            let exchanged =
                self.taken
                    .compare_exchange(taken, next, Ordering::Relaxed, Ordering::Relaxed);
            match exchanged {
                Ok(_) => break,
                Err(now) => taken = now,
            }
        }
        // Pairs with the host, which reads a record before it gives it back.
        fence(Ordering::Acquire);
        // SAFETY: the index is below the length. The memory is live: the caller's contract.
        let record = unsafe { &raw mut (*memory).lines[(taken % CAPACITY) as usize] };
        NonNull::new(record)
    }
}

/// Copies as much of `text` as fits after `start`, and returns the number of bytes.
///
/// # Safety
/// 1. The record is the calling thread's.
unsafe fn copy_text(record: *mut Record, start: usize, text: &str) -> u32 {
    let bytes = text.len().min(MAX_TEXT_BYTES - start);
    // SAFETY: the record is this thread's: the caller's contract. The text and the array have the
    // bytes.
    unsafe {
        let place = (&raw mut (*record).text).cast::<u8>().add(start);
        ptr::copy_nonoverlapping(text.as_ptr(), place, bytes);
    }
    bytes as u32
}

/// Marks the record as written, after its contents are visible.
///
/// # Safety
/// 1. The record is the calling thread's, and the thread does not write it again.
unsafe fn publish(record: *mut Record) {
    fence(Ordering::Release);
    // SAFETY: the record is this thread's: the caller's contract.
    unsafe { (*record).state.store(WRITTEN, Ordering::Relaxed) };
}
