//! A program whose allocator has one lock, like dlmalloc or a static musl's: an overflow within it ends the process
//! with a message.

#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod borrowed;
mod common;

use common::child::{aborts_in_child, in_child};
use common::{launch, launch_with, sync};
use simt::{DefectKind, Options};
use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::Mutex;
use std::time::Duration;

#[inline(never)]
fn use_stack(depth: u64) -> u64 {
    let frame = black_box([depth; 16]);
    match depth {
        0 => frame[1],
        _ => use_stack(depth - 1) + frame[3],
    }
}

/// Needs more stack than the kernel's frames do, so that it is the one that overflows.
struct Locked(Mutex<()>);

#[global_allocator]
static ALLOCATOR: Locked = Locked(Mutex::new(()));

impl Locked {
    #[inline(never)]
    fn locked<R>(&self, action: impl FnOnce() -> R) -> R {
        let _held = self.0.lock();
        if simt::is_simulated_thread() {
            use_stack(20);
        }
        action()
    }
}

// SAFETY: it forwards to the system's allocator.
unsafe impl GlobalAlloc for Locked {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract.
        self.locked(|| unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        self.locked(|| unsafe { System.dealloc(memory, layout) })
    }
}

/// Allocates in each call.
#[inline(never)]
fn recurse(depth: usize) -> usize {
    let boxed = black_box(Box::new(depth));
    match depth {
        0 => *boxed,
        _ => recurse(depth - 1) + *boxed,
    }
}

/// With and without a time limit.
#[track_caller]
fn assert_ends_in_the_allocator(name: &str, time_limit: Option<Duration>) {
    let errors = aborts_in_child(name, Duration::from_secs(15), || {
        let options = Options {
            time_limit,
            ..Options::default()
        };
        let _ = launch_with(&options, 1, 1, || {
            black_box(recurse(usize::MAX));
        });
    });
    let Some(errors) = errors else { return };
    for part in ["kernel `test_kernel`", "the allocator", "stack_bytes"] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
}

#[test]
fn an_overflow_in_the_allocator() {
    let limit = Options::default().time_limit;
    assert_ends_in_the_allocator("an_overflow_in_the_allocator", limit);
}

#[test]
fn an_overflow_in_the_allocator_without_a_limit() {
    assert_ends_in_the_allocator("an_overflow_in_the_allocator_without_a_limit", None);
}

#[test]
fn kernels_that_allocate_work() {
    in_child("kernels_that_allocate_work", || {
        launch(4, 64, || assert_eq!(recurse(10), 55)).unwrap();
        let defect = launch(1, 1, || {
            black_box(use_stack(u64::MAX));
        })
        .unwrap_err();
        assert_eq!(defect.kind, DefectKind::StackOverflow, "{defect}");
        assert_eq!(launch(8, 64, sync).unwrap().barriers, 8);
    });
}
