//! A kernel that never ends is reported and stopped. One that is only slow is not.

mod borrowed;
mod common;

use common::child::in_child;
use common::{block_x, launch_with, serial, sync, thread_x};
use simt::{AccessKind, Defect, DefectKind, Dim3, Launch, MemoryScope, Options, Report, Space};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Short compared with the tests' limits, long compared with their kernels.
const LIMIT: Duration = Duration::from_millis(80);

fn limited(options: Options) -> Options {
    Options {
        time_limit: Some(LIMIT),
        yield_limit: u64::MAX,
        ..options
    }
}

/// Runs `body` under several options. Each time the time limit must stop it, and the next launch must work.
#[track_caller]
fn assert_stopped(body: impl Fn() + Sync) -> [Box<Defect>; 3] {
    assert_stopped_as(&[DefectKind::TimeLimit], body)
}

/// [`assert_stopped`] for threads that poll a word. They are stopped as a deadlock if they poll often before their time
/// is up.
#[track_caller]
fn assert_spinning(body: impl Fn() + Sync) -> [Box<Defect>; 3] {
    assert_stopped_as(&[DefectKind::Deadlock, DefectKind::TimeLimit], body)
}

#[track_caller]
fn assert_stopped_as(kinds: &[DefectKind], body: impl Fn() + Sync) -> [Box<Defect>; 3] {
    let unchecked = Options {
        checks: false,
        ..Options::default()
    };
    [Options::default(), unchecked, serial(1)]
        .map(|options| assert_stopped_under(&limited(options), kinds, &body))
}

#[track_caller]
fn assert_stopped_under(
    options: &Options,
    kinds: &[DefectKind],
    body: impl Fn() + Sync,
) -> Box<Defect> {
    let begin = Instant::now();
    let defect = launch_with(options, 2, 64, body).unwrap_err();
    let elapsed = begin.elapsed();
    assert!(kinds.contains(&defect.kind), "{defect}");
    assert!(defect.message.contains("with_time_limit"), "{defect}");
    assert!(
        defect.block.is_some() && defect.thread.is_some(),
        "{defect}"
    );
    assert!(elapsed >= LIMIT && elapsed < 50 * LIMIT, "{elapsed:?}");
    let unlimited = Options {
        time_limit: None,
        ..options.clone()
    };
    assert_eq!(launch_with(&unlimited, 8, 64, sync).unwrap().barriers, 8);
    defect
}

fn touch(word: &AtomicU32, kind: AccessKind) {
    // SAFETY: the memory is not registered.
    unsafe { simt::access(Space::Global, kind, word.as_ptr().addr(), 4, 0, 4, 4) };
}

#[test]
fn yields() {
    in_child("yields", || {
        let never = AtomicU32::new(0);
        for defect in assert_spinning(|| {
            if thread_x() == 5 {
                while never.load(Ordering::Relaxed) == 0 {
                    simt::yield_now();
                }
            }
            sync();
        }) {
            assert_eq!(defect.thread, Some(Dim3::new(5, 0, 0)), "{defect}");
            assert!(defect.location.is_some(), "{defect}");
            assert!(
                defect.to_string().contains("waits at block barrier 0"),
                "{defect}"
            );
        }
    });
}

#[test]
fn plain_accesses() {
    in_child("plain_accesses", || {
        let word = AtomicU32::new(0);
        let defects = assert_stopped(|| {
            if thread_x() == 5 {
                loop {
                    touch(&word, AccessKind::Read);
                    // SAFETY: the word is valid, and no thread writes it.
                    black_box(unsafe { simt::load_relaxed(word.as_ptr()) });
                }
            }
            sync();
        });
        for defect in &defects {
            assert_eq!(defect.thread, Some(Dim3::new(5, 0, 0)), "{defect}");
        }
        assert!(defects[0].location.is_some(), "{}", defects[0]);
    });
}

#[test]
fn atomic_updates() {
    in_child("atomic_updates", || {
        let lock = AtomicU32::new(1);
        assert_spinning(|| {
            touch(&lock, AccessKind::Atomic);
            // SAFETY: the word is valid, and only this function accesses it.
            while unsafe { simt::atomic_update_u32(lock.as_ptr(), |_| 1) } != 0 {
                simt::fence(MemoryScope::Device);
            }
        });
    });
}

#[test]
fn barriers() {
    in_child("barriers", || {
        assert_stopped(|| {
            loop {
                sync();
            }
        });
        assert_stopped(|| {
            loop {
                simt::warp_barrier(0xffff_ffff);
            }
        });
    });
}

#[test]
fn arithmetic() {
    in_child("arithmetic", || {
        if !cfg!(target_os = "linux") {
            return;
        }
        for defect in assert_stopped(|| {
            sync();
            if thread_x() == 5 {
                let mut x = 1_u64;
                loop {
                    x = black_box(x.wrapping_mul(3));
                }
            }
            sync();
        }) {
            assert_eq!(defect.thread, Some(Dim3::new(5, 0, 0)), "{defect}");
            assert!(
                defect.to_string().contains("waits at block barrier 0"),
                "{defect}"
            );
        }
    });
}

/// A loop that allocates is stopped between its calls, not within the allocator.
#[test]
fn allocations() {
    in_child("allocations", || {
        if !cfg!(target_os = "linux") {
            return;
        }
        for _ in 0..5 {
            assert_stopped_under(
                &limited(Options::default()),
                &[DefectKind::TimeLimit],
                || {
                    loop {
                        let list: Vec<u32> = black_box((0..40).collect());
                        black_box(list.len());
                    }
                },
            );
            let list: Vec<Vec<u8>> = (0..1000).map(|i| vec![1; i]).collect();
            assert_eq!(black_box(list).len(), 1000);
        }
    });
}

/// One thread panics. Another one catches its unwinding and runs forever.
#[test]
fn caught_unwinding() {
    in_child("caught_unwinding", || {
        if !cfg!(target_os = "linux") {
            return;
        }
        let defect = launch_with(&limited(Options::default()), 1, 64, || {
            if thread_x() == 5 {
                let _ = catch_unwind(AssertUnwindSafe(sync));
                let mut x = 1_u64;
                loop {
                    x = black_box(x.wrapping_mul(3));
                }
            }
            assert!(thread_x() != 40, "of purpose");
            sync();
        })
        .unwrap_err();
        assert_eq!(defect.kind, DefectKind::Panic, "{defect}");
    });
}

#[test]
fn a_cooperative_launch() {
    in_child("a_cooperative_launch", || {
        let options = &limited(Options::default());
        let launch = Launch::new("test_kernel", 4, 32, options);
        let defect = crate::borrowed::run_cooperative(&launch, &|| {
            loop {
                simt::grid_barrier();
            }
        })
        .unwrap_err();
        assert_eq!(defect.kind, DefectKind::TimeLimit, "{defect}");
    });
}

/// Many short blocks take longer than the limit together.
#[test]
fn the_limit_is_that_of_a_block() {
    let begin = Instant::now();
    let result: Result<Report, _> = launch_with(&limited(Options::default()), 64, 32, || {
        let begin = Instant::now();
        while thread_x() == 0 && begin.elapsed() < LIMIT / 10 {}
    });
    result.unwrap();
    assert!(begin.elapsed() > LIMIT);
}

/// A block may wait for a slow one while that one has time left.
#[test]
fn a_block_may_wait_for_one_that_works() {
    let options = Options {
        time_limit: Some(2 * LIMIT),
        ..limited(Options::default())
    };
    let is_done = AtomicU32::new(0);
    let wait = || {
        if block_x() == 0 {
            // Each thread takes half of the limit and exits; then the next one starts.
            if thread_x() < 6 {
                let begin = Instant::now();
                while begin.elapsed() < LIMIT {
                    sleep(Duration::from_millis(1));
                }
            } else {
                is_done.store(1, Ordering::Relaxed);
            }
        } else {
            while is_done.load(Ordering::Relaxed) == 0 {
                simt::yield_now();
            }
        }
    };
    if std::thread::available_parallelism().is_ok_and(|threads| threads.get() > 1) {
        launch_with(&options, 2, 7, wait).unwrap();
    }
}

#[test]
fn no_limit_is_an_option() {
    let options = Options {
        time_limit: None,
        ..serial(0)
    };
    launch_with(&options, 1, 32, || {
        let begin = Instant::now();
        while thread_x() == 0 && begin.elapsed() < 2 * LIMIT {}
    })
    .unwrap();
}
