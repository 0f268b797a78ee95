//! Passes through shared memory.

use crate::common::thread_x;
use crate::harness::{MEMORY, counted};
use simt::{AccessKind, Operation, Space};

#[test]
fn bank_conflicts() {
    let ways = |stride: usize, bytes: usize| {
        let counts = counted(32, 1, 64, || {
            let base = simt::static_shared(1, 32 * 1024, 16).addr();
            let offset = thread_x() as usize % 32 * stride * 4;
            // SAFETY: the view is of shared memory.
            unsafe {
                simt::access(
                    Space::Shared,
                    AccessKind::Read,
                    base,
                    32 * 1024,
                    offset,
                    bytes,
                    bytes,
                )
            };
        });
        assert_eq!(counts.static_shared_bytes, 32 * 1024);
        let shared = counts.of(Operation::SharedLoad).shared;
        (shared.wavefronts, shared.conflicts())
    };
    assert_eq!(ways(0, 4), (2, 0));
    assert_eq!(ways(1, 4), (2, 0));
    assert_eq!(ways(2, 4), (4, 2));
    assert_eq!(ways(8, 4), (16, 14));
    assert_eq!(ways(33, 4), (2, 0));
    assert_eq!(ways(2, 8), (4, 0));
    assert_eq!(ways(4, 16), (8, 0));
    assert_eq!(ways(8, 16), (16, 8));
}

#[test]
fn asynchronous_copies_count_on_both_sides() {
    let counts = counted(32, 1, 32, || {
        let shared = simt::static_shared(1, 4096, 16);
        let lane = thread_x() as usize;
        let present = if lane < 16 { 16 } else { 0 };
        let source = MEMORY.0.as_ptr().cast::<u8>().wrapping_add(16 * lane);
        // SAFETY: 16 bytes of the array of 4096, and of the static memory; none writes it.
        unsafe { simt::async_copy(shared.add(16 * lane), source, 16, present) };
        simt::async_commit();
        simt::async_wait(0);
    });
    let read = counts.of(Operation::AsyncCopyRead);
    assert_eq!((read.requests, read.lanes, read.global.sectors), (1, 16, 8));
    let written = counts.of(Operation::AsyncCopyWrite);
    assert_eq!((written.lanes, written.shared.wavefronts), (32, 4));
}
