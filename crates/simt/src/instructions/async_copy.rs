//! Asynchronous copies: `cp.async` of the PTX ISA (section "Data Movement and
//! Conversion Instructions: Asynchronous copy").
//!
//! On hardware, a copy may be performed at any moment between its issue and its
//! wait. The simulator takes the latest: a kernel that forgets the wait, or waits for
//! too few groups, reads what was there before.

use super::control::fail;
use super::counting::note_async_copy;
use crate::basics::DefectKind;
use crate::block::{Block, Thread, count};
use crate::check::{BlockCheck, Hazard};
use crate::current::instruction;
use crate::state::AsyncCopy;

/// Issues an asynchronous copy of `src_bytes` bytes from global to shared memory.
///
/// The rest of the destination's `bytes` bytes becomes 0. `bytes` must be 4, 8 or 16, `src_bytes` at most `bytes`,
/// and both addresses multiples of `bytes`: anything else ends the launch. The copy takes effect when the thread
/// waits for its group; a copy that its thread never waits for is not performed.
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
        fail(
            DefectKind::InvalidArgument,
            format!(
                "an asynchronous copy of {src_bytes} of {bytes} bytes: copies have 4, 8 or 16 bytes"
            ),
        );
    }
    // A copy that only fills with zeros may name any source.
    let misaligned_source = src_bytes != 0 && !src.addr().is_multiple_of(bytes);
    if !dst.addr().is_multiple_of(bytes) || misaligned_source {
        fail(
            DefectKind::Misaligned,
            format!(
                "an asynchronous copy of {bytes} bytes whose addresses are no multiples of that"
            ),
        );
    }
    let site = instruction(|thread, block, site| {
        block.check_has_waited(thread, "asynchronous copy", site);
        thread.copies.borrow_mut().issue(AsyncCopy {
            destination: dst,
            source: src,
            bytes,
            source_bytes: src_bytes,
            site,
            issued: block.check.as_ref().map_or(0, BlockCheck::issue_copy),
        });
        count(&block.counters.async_copies);
        site
    });
    note_async_copy((dst.addr(), bytes), (src.addr(), src_bytes), site);
}

/// Groups the copies that the running thread has issued since its last commit; a group may be empty.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn async_commit() {
    instruction(|thread, _, _| thread.copies.borrow_mut().commit());
}

/// Waits until at most the `pending_groups` youngest groups of the running thread are unfinished.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn async_wait(pending_groups: u32) {
    instruction(|thread, block, _| {
        let mut copies = thread.copies.borrow_mut();
        let result = block.perform(thread, copies.finish_groups(pending_groups as usize));
        drop(copies);
        block.end_on_hazard(thread, result);
    });
}

impl Block {
    /// Performs copies of `thread`, unless one of them has no certain result.
    fn perform(
        &self,
        thread: &Thread,
        mut copies: impl Iterator<Item = AsyncCopy>,
    ) -> Result<(), Hazard> {
        copies.try_for_each(|copy| {
            if let Some(check) = &self.check {
                check.land(&thread.position, &self.shared, &copy)?;
            }
            copy.perform();
            Ok(())
        })
    }

    fn end_on_hazard(&self, thread: &Thread, result: Result<(), Hazard>) {
        if let (Err(hazard), Some(check)) = (result, &self.check) {
            self.fail_with(thread, check.describe_hazard(&thread.position, &hazard));
        }
    }
}
