//! A process that has launched kernels may fork: the child launches its own.

#![cfg(target_os = "linux")]

mod borrowed;
mod common;

use common::child::in_child;
use common::{launch, launch_with, serial, sync};
use simt::{DefectKind, Options};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Forks, and returns whether `in_fork` has returned true in the child.
fn fork(in_fork: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child ends without returning to the test harness, whose threads it lacks.
    unsafe {
        match libc::fork() {
            0 => libc::_exit(if in_fork() { 0 } else { 1 }),
            child => {
                let mut status = 0;
                assert_eq!(libc::waitpid(child, &mut status, 0), child);
                status == 0
            }
        }
    }
}

fn launches_work() -> bool {
    let endless = Options {
        time_limit: Some(Duration::from_millis(30)),
        ..Options::default()
    };
    let stopped = launch_with(&endless, 2, 32, || {
        loop {
            sync();
        }
    });
    launch(8, 64, sync).is_ok_and(|report| report.barriers == 8)
        && launch_with(&serial(1), 8, 64, sync).is_ok()
        && stopped.is_err_and(|defect| defect.kind == DefectKind::TimeLimit)
}

#[test]
fn a_forked_child_launches() {
    in_child("a_forked_child_launches", || {
        assert!(launches_work());
        for _ in 0..2 {
            assert!(fork(|| launches_work() && fork(launches_work)));
            assert!(launches_work());
        }
    });
}

/// Forks when it is dropped.
struct Forks;

impl Drop for Forks {
    fn drop(&mut self) {
        assert!(fork(|| launch(2, 32, sync).is_ok()));
    }
}

thread_local! {
    static FORKS: Forks = const { Forks };
}

#[test]
fn a_thread_forks_as_it_ends() {
    in_child("a_thread_forks_as_it_ends", || {
        let ends = std::thread::spawn(|| {
            FORKS.with(|_| ());
            assert!(fork(|| launch(2, 32, sync).is_ok()));
        });
        ends.join().unwrap();
        assert!(launch(2, 32, sync).is_ok());
    });
}

/// Other threads allocate and launch, for the first time in this process, while this one forks. In the child, no lock
/// stays locked, and nothing stays half initialised.
#[test]
fn a_fork_beside_launches() {
    in_child("a_fork_beside_launches", || {
        let is_done = AtomicBool::new(false);
        // A starting or ending thread holds a lock of the standard library.
        let all_run = Barrier::new(3);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let memory = [0_u8; 64];
                    all_run.wait();
                    while !is_done.load(Ordering::Relaxed) {
                        let address = memory.as_ptr().addr();
                        // SAFETY: no launch accesses the memory.
                        unsafe {
                            simt::register_allocation(address, 64, simt::Contents::Initialised)
                        }
                        .unwrap();
                        simt::forget_allocation(address, 64);
                        launch(1, 1, || ()).unwrap();
                    }
                });
            }
            all_run.wait();
            for _ in 0..12 {
                assert!(fork(|| launch(2, 32, sync).is_ok()));
            }
            is_done.store(true, Ordering::Relaxed);
        });
    });
}
