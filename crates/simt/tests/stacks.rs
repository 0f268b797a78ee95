//! A simulated thread that overflows its stack is reported, and the process continues.

#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod borrowed;
mod common;

use common::child::in_child;
use common::{block_x, launch, launch_with, serial, sync, thread_x};
use simt::{Body, Defect, DefectKind, Dim3, Launch, Options, Report};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Writes to an array of `BYTES` bytes on the stack.
#[inline(never)]
fn use_stack<const BYTES: usize>() -> u8 {
    let mut array = [0_u8; BYTES];
    black_box(&mut array)[BYTES / 2] = 1;
    array[black_box(BYTES / 2)]
}

/// Recurses `depth` times, then calls `action`.
#[inline(never)]
fn recurse(depth: usize, action: &dyn Fn()) -> u64 {
    let frame = black_box([depth as u64; 16]);
    if depth == 0 {
        action();
        return 0;
    }
    recurse(depth - 1, action) + frame[3]
}

/// Checks that `result` is an overflow in thread 3 of block 1, and that the simulator still works.
#[track_caller]
fn assert_overflow(result: Result<Report, Box<Defect>>) -> Box<Defect> {
    let defect = result.unwrap_err();
    assert_eq!(defect.kind, DefectKind::StackOverflow, "{defect}");
    assert_eq!(defect.kernel, "test_kernel");
    assert_eq!(defect.block, Some(Dim3::new(1, 0, 0)), "{defect}");
    assert_eq!(defect.thread, Some(Dim3::new(3, 0, 0)), "{defect}");
    assert!(defect.message.contains("with_stack_bytes"), "{defect}");
    for _ in 0..10 {
        assert_eq!(launch(8, 64, sync).unwrap().barriers, 8);
    }
    defect
}

fn is_the_one() -> bool {
    block_x() == 1 && thread_x() == 3
}

#[test]
fn an_array_that_a_gpu_has_room_for_fits() {
    in_child("an_array_that_a_gpu_has_room_for_fits", || {
        launch(4, 64, || assert_eq!(use_stack::<{ 480 * 1024 }>(), 1)).unwrap();
    });
}

#[test]
fn an_array_that_is_too_large_is_reported() {
    in_child("an_array_that_is_too_large_is_reported", || {
        for _ in 0..20 {
            assert_overflow(launch(4, 64, || {
                sync();
                if is_the_one() {
                    use_stack::<{ 600 * 1024 }>();
                }
                sync();
            }));
        }
    });
}

#[test]
fn the_size_of_the_stack_is_an_option() {
    in_child("the_size_of_the_stack_is_an_option", || {
        let with = |stack_bytes| Options {
            stack_bytes,
            ..Options::default()
        };
        let body = || {
            if is_the_one() {
                use_stack::<{ 160 * 1024 }>();
            }
        };
        assert_overflow(launch_with(&with(64 * 1024), 4, 64, body));
        launch_with(&with(192 * 1024), 4, 64, body).unwrap();
    });
}

#[test]
fn endless_recursion_is_reported() {
    in_child("endless_recursion_is_reported", || {
        for options in [Options::default(), serial(3)] {
            assert_overflow(launch_with(&options, 4, 64, || {
                if is_the_one() {
                    recurse(usize::MAX, &|| ());
                }
                sync();
            }));
        }
    });
}

/// At any depth, an instruction either works or is reported, with its line if there is stack to find it. No lock of the
/// simulator stays locked.
#[test]
fn an_instruction_near_the_end_of_the_stack_is_reported() {
    in_child(
        "an_instruction_near_the_end_of_the_stack_is_reported",
        || {
            let cell = std::sync::atomic::AtomicU32::new(0);
            let address = cell.as_ptr().addr();
            let options = Options {
                stack_bytes: 32 * 1024,
                ..serial(0)
            };
            let mut with_line = 0;
            let mut overflows = 0;
            for depth in (50..1000).step_by(7) {
                let result = launch_with(&options, 2, 32, || {
                    if is_the_one() {
                        recurse(depth, &|| {
                            // SAFETY: the memory is not registered.
                            unsafe {
                                simt::access(
                                    simt::Space::Global,
                                    simt::AccessKind::Write,
                                    address,
                                    4,
                                    0,
                                    4,
                                    4,
                                )
                            };
                        });
                    }
                });
                if let Err(defect) = result {
                    overflows += 1;
                    with_line += u32::from(defect.location.is_some());
                    assert_overflow(Err(defect));
                }
            }
            assert!(
                with_line > 10 && overflows > with_line,
                "{overflows} {with_line}"
            );
        },
    );
}

/// Any other fault still ends the process.
#[test]
fn other_faults_are_handed_on() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    if std::env::var_os("SIMT_TEST_FAULT").is_some() {
        let _ = launch(1, 32, || {
            let nowhere = std::ptr::with_exposed_provenance::<u8>(black_box(8));
            // SAFETY: none: the test is about the fault.
            black_box(unsafe { nowhere.read_volatile() });
        });
        return;
    }
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "other_faults_are_handed_on"])
        .env("SIMT_TEST_FAULT", "1")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.signal(), Some(11), "{status}");
}

/// An overflow in an unwinding thread leaves its host thread marked as panicking forever. Later launches must not run
/// there.
#[test]
fn an_overflow_while_unwinding_is_no_lasting_harm() {
    struct Overflows;
    impl Drop for Overflows {
        fn drop(&mut self) {
            recurse(usize::MAX, &|| ());
        }
    }
    in_child("an_overflow_while_unwinding_is_no_lasting_harm", || {
        for _ in 0..4 {
            let defect = launch(4, 64, || {
                sync();
                let _overflows = (block_x() == 1).then(|| Overflows);
                assert!(!is_the_one(), "of purpose");
                sync();
            })
            .unwrap_err();
            assert_eq!(defect.kind, DefectKind::Panic, "{defect}");
            let report = launch(64, 64, || {
                sync();
                assert!(!std::thread::panicking());
            });
            assert_eq!(report.unwrap().barriers, 64);
        }
    });
}

/// Whether the scoped thread of the next test may read, and the value that it has read.
static MAY_READ: AtomicBool = AtomicBool::new(false);
static READ: AtomicU32 = AtomicU32::new(0);

/// Lets another host thread read `value` later, in a scope that never ends.
fn lend_and_overflow(value: &u32) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !MAY_READ.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(1));
            }
            READ.store(*value, Ordering::Release);
        });
        use_stack::<{ 600 * 1024 }>();
    });
}

#[test]
fn what_a_left_thread_has_lent_stays() {
    in_child("what_a_left_thread_has_lent_stays", || {
        let lent = Arc::new(11_u32);
        let of_body = Arc::clone(&lent);
        let body = Body::new(move || lend_and_overflow(&of_body));
        let options = serial(0);
        let launch = Launch::new("lend", 1, 1, &options);
        let defect = simt::run(&launch, &body).unwrap_err();
        assert_eq!(defect.kind, DefectKind::StackOverflow, "{defect}");
        drop(body);
        assert_eq!(
            Arc::strong_count(&lent),
            2,
            "the body is dropped while it is lent"
        );
        MAY_READ.store(true, Ordering::Release);
        while READ.load(Ordering::Acquire) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(READ.load(Ordering::Acquire), 11);
    });
}

#[test]
fn a_body_is_dropped_where_no_thread_is_left() {
    let owned = Arc::new(());
    let of_body = Arc::clone(&owned);
    let body = Body::new(move || {
        black_box(&of_body);
        sync();
        assert!(thread_x() != 3, "a defect that ends the block");
    });
    let options = serial(0);
    let launch = Launch::new("fail", 1, 64, &options);
    simt::run(&launch, &body).unwrap_err();
    drop(body);
    assert_eq!(Arc::strong_count(&owned), 1);
}
