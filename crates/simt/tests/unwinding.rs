//! While a block is stopped, unwinding that is caught, resumed, or panics again neither hangs nor ends the process, and
//! no panic leaves a launch.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

mod borrowed;
mod common;

use common::child::in_child;
use common::{launch, launch_with, serial, sync, thread_x};
use simt::{AccessKind, Defect, DefectKind, Report, Space};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

/// Checks that `result` is a panic, and that the simulator still works.
#[track_caller]
fn assert_panic(result: Result<Report, Box<Defect>>) -> Box<Defect> {
    let defect = result.unwrap_err();
    assert_eq!(defect.kind, DefectKind::Panic, "{defect}");
    let report = launch(8, 64, || {
        sync();
        assert!(!std::thread::panicking());
    });
    assert_eq!(report.unwrap().barriers, 8);
    defect
}

/// Waits for its block when it is dropped.
struct Waits;

impl Drop for Waits {
    fn drop(&mut self) {
        sync();
    }
}

/// Accesses memory past the end of a view when it is dropped.
struct Fails;

impl Drop for Fails {
    fn drop(&mut self) {
        // SAFETY: the memory is not registered.
        unsafe { simt::access(Space::Global, AccessKind::Read, 4096, 4, 4, 4, 4) };
    }
}

/// Panics when it is dropped, and then `0` more times with the same payload.
struct PanicsOnDrop(u32);

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        if self.0 > 0 {
            panic_any(PanicsOnDrop(self.0 - 1));
        }
    }
}

fn panic_in_thread(thread: u32) {
    assert!(thread_x() != thread, "of purpose");
}

#[test]
fn unwinding_that_is_always_caught_ends() {
    in_child("unwinding_that_is_always_caught_ends", || {
        for options in [serial(0), serial(1), simt::Options::default()] {
            assert_panic(launch_with(&options, 2, 64, || {
                panic_in_thread(40);
                loop {
                    let _ = catch_unwind(AssertUnwindSafe(sync));
                }
            }));
        }
    });
}

/// Unwinding that is caught a few times still drops everything.
#[test]
fn unwinding_that_is_caught_goes_on() {
    struct Counts<'a>(&'a AtomicU32);
    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    in_child("unwinding_that_is_caught_goes_on", || {
        let dropped = AtomicU32::new(0);
        assert_panic(launch(1, 64, || {
            let _counted = Counts(&dropped);
            // All threads have begun.
            sync();
            for _ in 0..10 {
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    panic_in_thread(40);
                    sync();
                }));
            }
            sync();
        }));
        assert_eq!(dropped.into_inner(), 64);
    });
}

#[test]
fn a_destructor_may_wait_while_it_unwinds() {
    in_child("a_destructor_may_wait_while_it_unwinds", || {
        for seed in 0..4 {
            assert_panic(launch_with(&serial(seed), 2, 64, || {
                let _waits = Waits;
                panic_in_thread(40);
            }));
        }
    });
}

#[test]
fn a_destructor_may_wait_while_resumed_unwinding() {
    in_child("a_destructor_may_wait_while_resumed_unwinding", || {
        for seed in 0..4 {
            assert_panic(launch_with(&serial(seed), 2, 64, || {
                let _waits = Waits;
                if thread_x() == 40 {
                    resume_unwind(Box::new("of purpose"));
                }
                sync();
            }));
        }
    });
}

#[test]
fn unwinding_may_be_resumed() {
    in_child("unwinding_may_be_resumed", || {
        assert_panic(launch(2, 64, || {
            let wait = || {
                panic_in_thread(40);
                sync();
            };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(wait)) {
                resume_unwind(payload);
            }
        }));
    });
}

#[test]
fn a_defect_in_a_destructor_is_not_a_second_panic() {
    in_child("a_defect_in_a_destructor_is_not_a_second_panic", || {
        for _ in 0..4 {
            assert_panic(launch(2, 64, || {
                let _fails = Fails;
                panic_in_thread(40);
                sync();
            }));
        }
    });
}

#[test]
fn a_payload_that_panics_does_not_leave_the_launch() {
    in_child("a_payload_that_panics_does_not_leave_the_launch", || {
        for depth in 0..4 {
            assert_panic(launch(2, 64, || {
                if thread_x() == 40 {
                    panic_any(PanicsOnDrop(depth));
                }
                sync();
            }));
        }
    });
}
