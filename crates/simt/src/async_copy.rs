//! Asynchronous copies: `cp.async` of the PTX ISA (section "Data Movement and
//! Conversion Instructions: Asynchronous copy").
//!
//! On hardware, a copy may be performed at any moment between its issue and its
//! wait. The simulator takes the latest: whoever forgets the wait, or waits for
//! too few groups, reads what was there before.

use crate::block::count;
use crate::current::with_current;
use crate::defect::DefectKind;
use crate::memory::copy_from_global;
use std::collections::VecDeque;

/// A copy that has been issued and not yet performed.
struct AsyncCopy {
    destination: *mut u8,
    source: *const u8,
    bytes: usize,
    source_bytes: usize,
}

impl AsyncCopy {
    fn perform(&self) {
        // SAFETY: the caller of `async_copy` has promised (1, 2) that both
        // ranges stay valid until the wait, which is now.
        unsafe {
            copy_from_global(self.destination, self.source, self.source_bytes);
            self.destination
                .add(self.source_bytes)
                .write_bytes(0, self.bytes - self.source_bytes);
        }
    }
}

/// The copies of one thread, in the order in which they were issued.
#[derive(Default)]
pub(crate) struct CopyQueue {
    copies: VecDeque<AsyncCopy>,
    /// How many copies each committed group holds, oldest group first.
    groups: VecDeque<usize>,
    /// Copies that belong to no group yet.
    uncommitted: usize,
}

impl CopyQueue {
    pub fn clear(&mut self) {
        self.copies.clear();
        self.groups.clear();
        self.uncommitted = 0;
    }

    fn commit(&mut self) {
        self.groups.push_back(self.uncommitted);
        self.uncommitted = 0;
    }

    /// Performs the oldest groups until `pending` are left.
    fn wait(&mut self, pending: usize) {
        while self.groups.len() > pending {
            let copies = self.groups.pop_front().unwrap_or(0);
            self.copies.drain(..copies).for_each(|copy| copy.perform());
        }
    }

    /// Performs every copy, those of no group too.
    fn wait_all(&mut self) {
        self.copies.drain(..).for_each(|copy| copy.perform());
        self.groups.clear();
        self.uncommitted = 0;
    }
}

/// Issues a copy of `src_bytes` bytes from global to shared memory; the rest of
/// the `bytes` bytes of the destination becomes 0.
///
/// Source and destination are read and written when the thread waits for the
/// group of the copy. A copy that its thread never waits for is not performed.
/// `bytes` must be 4, 8 or 16, `src_bytes` at most as many, and both addresses
/// must be multiples of `bytes`: anything else ends the launch.
///
/// # Safety
///
/// 1. `dst` is valid for writes of `bytes` bytes of the block's shared memory,
///    until the wait.
/// 2. `src` is valid for reads of `src_bytes` bytes until the wait; other
///    threads write there only through this crate.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub unsafe fn async_copy(dst: *mut u8, src: *const u8, bytes: usize, src_bytes: usize) {
    if !matches!(bytes, 4 | 8 | 16) || src_bytes > bytes {
        crate::fail(
            DefectKind::InvalidArgument,
            format!(
                "an asynchronous copy of {src_bytes} of {bytes} bytes: copies have 4, 8 or 16 bytes"
            ),
        );
    }
    // A copy that only fills with zeros may name any source.
    let misaligned_source = src_bytes != 0 && !src.addr().is_multiple_of(bytes);
    if !dst.addr().is_multiple_of(bytes) || misaligned_source {
        crate::fail(
            DefectKind::Misaligned,
            format!(
                "an asynchronous copy of {bytes} bytes whose addresses are no multiples of that"
            ),
        );
    }
    with_current(|thread, block| {
        let mut queue = thread.copies.borrow_mut();
        queue.copies.push_back(AsyncCopy {
            destination: dst,
            source: src,
            bytes,
            source_bytes: src_bytes,
        });
        queue.uncommitted += 1;
        count(&block.counters.async_copies);
    });
}

/// Makes one group of the copies that the running thread has issued since its
/// last commit; a group may be empty.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn async_commit() {
    with_current(|thread, _| thread.copies.borrow_mut().commit());
}

/// Waits until at most `pending_groups` of the running thread's youngest groups
/// are left unfinished.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn async_wait(pending_groups: u32) {
    with_current(|thread, _| thread.copies.borrow_mut().wait(pending_groups as usize));
}

/// Waits for all copies of the running thread, committed or not.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn async_wait_all() {
    with_current(|thread, _| thread.copies.borrow_mut().wait_all());
}
