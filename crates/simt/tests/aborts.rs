//! Errors that no launch can survive end the process, with a message that says what happened.

#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod borrowed;
mod common;

use common::child::{aborts_in_child, in_child};
use common::{block_x, launch, launch_with, serial, sync, thread_x};
use simt::{DefectKind, Options};
use std::fmt::{self, Display, Formatter};
use std::hint::black_box;
use std::sync::{Barrier, Mutex};
use std::time::Duration;

/// The longest time for an abort, on a busy machine: limits are in processor time.
const SOON: Duration = Duration::from_secs(25);

/// Checks that the messages occur in this order.
#[track_caller]
fn assert_says(errors: &str, parts: &[&str]) {
    let mut rest = errors;
    for part in parts {
        let place = rest
            .find(part)
            .unwrap_or_else(|| panic!("{part}: {errors}"));
        rest = &rest[place + part.len()..];
    }
}

/// A value that must be consumed before it is dropped, and says so.
struct MustBeEmpty(u32);

impl Drop for MustBeEmpty {
    fn drop(&mut self) {
        assert!(self.0 == 0, "dropped with {} left", self.0);
    }
}

#[test]
fn a_destructor_that_panics_while_it_is_cut_off() {
    let name = "a_destructor_that_panics_while_it_is_cut_off";
    let errors = aborts_in_child(name, SOON, || {
        let _ = launch(1, 64, || {
            let mut left = MustBeEmpty(3);
            assert!(thread_x() != 5, "of purpose");
            sync();
            left.0 = 0;
        });
    });
    if let Some(errors) = errors {
        assert_says(
            &errors,
            &[
                "kernel `test_kernel`, thread (",
                "of block (0, 0, 0)",
                "a destructor panics",
                "of purpose",
                "dropped with 3 left",
            ],
        );
    }
}

/// The finding is another block's.
#[test]
fn a_destructor_that_panics_in_another_block() {
    let name = "a_destructor_that_panics_in_another_block";
    let errors = aborts_in_child(name, SOON, || {
        let _ = launch_with(&serial(3), 4, 32, || {
            let mut left = (block_x() != 0).then(|| MustBeEmpty(3));
            for _ in 0..100 {
                simt::yield_now();
            }
            assert!(block_x() != 0, "of purpose");
            for _ in 0..100_000 {
                simt::yield_now();
            }
            if let Some(left) = &mut left {
                left.0 = 0;
            }
        });
    });
    if let Some(errors) = errors {
        assert_says(
            &errors,
            &["kernel `test_kernel`", "of purpose", "dropped with 3 left"],
        );
    }
}

#[allow(improper_ctypes_definitions, reason = "only Rust calls it")]
extern "C" fn called_from_c(action: &dyn Fn()) {
    action();
}

/// A thread that waits under a function that cannot unwind is not unwound.
#[test]
fn a_barrier_under_a_function_that_cannot_unwind() {
    in_child("a_barrier_under_a_function_that_cannot_unwind", || {
        for options in [Options::default(), serial(0), serial(1)] {
            let result = launch_with(&options, 2, 64, || {
                called_from_c(&|| {
                    if thread_x() != 5 {
                        sync();
                    }
                });
                assert!(thread_x() != 5, "of purpose");
                sync();
            });
            let defect = result.unwrap_err();
            assert_eq!(defect.kind, DefectKind::Panic, "{defect}");
            assert_eq!(launch(8, 64, sync).unwrap().barriers, 8);
        }
    });
}

/// An instruction under such a function finds a defect of the thread itself.
#[test]
fn a_defect_under_a_function_that_cannot_unwind() {
    in_child("a_defect_under_a_function_that_cannot_unwind", || {
        let result = launch(1, 64, || {
            called_from_c(&|| {
                // SAFETY: the access is out of its view's bounds, and no memory is registered there.
                unsafe {
                    simt::access(
                        simt::Space::Global,
                        simt::AccessKind::Read,
                        4096,
                        4,
                        4,
                        4,
                        4,
                    );
                }
            });
        });
        let defect = result.unwrap_err();
        assert_eq!(defect.kind, DefectKind::OutOfBounds, "{defect}");
        assert_eq!(launch(8, 64, sync).unwrap().barriers, 8);
    });
}

#[test]
fn a_panic_under_a_function_that_cannot_unwind() {
    let name = "a_panic_under_a_function_that_cannot_unwind";
    let errors = aborts_in_child(name, SOON, || {
        let _ = launch(1, 64, || {
            called_from_c(&|| assert!(thread_x() != 5, "of purpose"));
        });
    });
    if let Some(errors) = errors {
        assert_says(
            &errors,
            &[
                "kernel `test_kernel`, thread (5, 0, 0) of block (0, 0, 0)",
                "cannot unwind",
                "of purpose",
            ],
        );
    }
}

fn limited() -> Options {
    Options {
        time_limit: Some(Duration::from_millis(500)),
        ..Options::default()
    }
}

#[test]
fn a_lock_that_is_held_over_a_barrier() {
    let name = "a_lock_that_is_held_over_a_barrier";
    let errors = aborts_in_child(name, SOON, || {
        let lock = Mutex::new(());
        let _ = launch_with(&limited(), 1, 64, || {
            let held = lock.lock();
            sync();
            drop(held);
        });
    });
    if let Some(errors) = errors {
        assert_says(
            &errors,
            &[
                "kernel `test_kernel`, thread (",
                "of block (0, 0, 0)",
                "over its time limit",
                "waits for the host, such as for a lock",
                "waits at ",
                "crates/simt/tests/aborts.rs",
                "a lock that one of them holds",
                "`Options::time_limit`",
            ],
        );
    }
}

/// Threads of blocks on several host threads hold locks in two orders.
#[test]
fn locks_in_two_orders() {
    let name = "locks_in_two_orders";
    let errors = aborts_in_child(name, SOON, || {
        let locks = [Mutex::new(()), Mutex::new(())];
        let met = Barrier::new(2);
        let _ = launch_with(&limited(), 2, 1, || {
            let own = block_x() as usize;
            let held = locks[own].lock();
            met.wait();
            drop(locks[1 - own].lock());
            drop(held);
        });
    });
    if let Some(errors) = errors {
        assert_says(&errors, &["waits for the host"]);
    }
}

#[test]
fn a_destructor_that_never_ends_while_it_unwinds() {
    struct NeverEnds;
    impl Drop for NeverEnds {
        fn drop(&mut self) {
            let mut x = 1_u64;
            loop {
                x = black_box(x.wrapping_mul(3));
            }
        }
    }
    let name = "a_destructor_that_never_ends_while_it_unwinds";
    let errors = aborts_in_child(name, SOON, || {
        let _ = launch_with(&limited(), 1, 64, || {
            let _never_ends = NeverEnds;
            assert!(thread_x() != 5, "of purpose");
            sync();
        });
    });
    if let Some(errors) = errors {
        let parts = ["kernel `test_kernel`, thread (", "loops in a destructor"];
        assert_says(&errors, &parts);
    }
}

/// A value whose formatting needs more stack or time than there is.
struct Endless {
    recurses: bool,
}

impl Display for Endless {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let frame = black_box([7_u64; 16]);
        let mut x = 1_u64;
        while black_box(!self.recurses) {
            x = x.wrapping_mul(3);
        }
        self.fmt(formatter)?;
        write!(formatter, "{}", frame[3])
    }
}

#[test]
fn an_overflow_while_standard_output_is_locked() {
    let name = "an_overflow_while_standard_output_is_locked";
    let errors = aborts_in_child(name, SOON, || {
        let _ = launch(1, 1, || println!("{}", Endless { recurses: true }));
        println!("the next line");
    });
    if let Some(errors) = errors {
        assert_says(
            &errors,
            &[
                "kernel `test_kernel`, thread (0, 0, 0) of block (0, 0, 0)",
                "has overflowed its stack",
                "standard output locked for ever",
                "stack_bytes",
            ],
        );
    }
}

/// A hook that the program sets later would wait for ever.
#[test]
fn an_overflow_while_a_message_of_a_panic_is_formatted() {
    let name = "an_overflow_while_a_message_of_a_panic_is_formatted";
    let errors = aborts_in_child(name, SOON, || {
        let _ = launch(1, 1, || panic!("{}", Endless { recurses: true }));
        std::panic::set_hook(Box::new(|_| ()));
    });
    if let Some(errors) = errors {
        assert_says(
            &errors,
            &[
                "kernel `test_kernel`, thread (0, 0, 0) of block (0, 0, 0)",
                "has overflowed its stack",
                "the panic hook locked for ever",
                "stack_bytes",
            ],
        );
    }
}

/// The hook is free once it has returned.
#[test]
fn an_overflow_while_a_panic_unwinds() {
    struct Recurses;
    impl Drop for Recurses {
        fn drop(&mut self) {
            black_box(format!("{}", Endless { recurses: true }));
        }
    }
    in_child("an_overflow_while_a_panic_unwinds", || {
        for _ in 0..3 {
            let defect = launch(2, 64, || {
                let _recurses = Recurses;
                assert!(thread_x() != 5, "of purpose");
            })
            .unwrap_err();
            assert!(
                matches!(defect.kind, DefectKind::Panic | DefectKind::StackOverflow),
                "{defect}"
            );
            std::panic::set_hook(Box::new(|_| ()));
        }
    });
}

#[test]
fn the_end_of_the_time_while_standard_error_is_locked() {
    let name = "the_end_of_the_time_while_standard_error_is_locked";
    let errors = aborts_in_child(name, SOON, || {
        let _ = launch_with(&limited(), 1, 1, || {
            eprintln!("{}", Endless { recurses: false });
        });
    });
    if let Some(errors) = errors {
        let parts = ["was over its time limit", "standard error locked for ever"];
        assert_says(&errors, &parts);
    }
}

/// A thread that waits under a function that cannot unwind, and holds a lock of the process.
#[test]
fn a_thread_that_cannot_be_unwound_while_standard_output_is_locked() {
    struct Waits;
    impl Display for Waits {
        fn fmt(&self, _: &mut Formatter<'_>) -> fmt::Result {
            called_from_c(&|| sync());
            Ok(())
        }
    }
    let name = "a_thread_that_cannot_be_unwound_while_standard_output_is_locked";
    let errors = aborts_in_child(name, SOON, || {
        let _ = launch(1, 2, || {
            if thread_x() == 0 {
                println!("{Waits}");
            }
            panic!("of purpose");
        });
    });
    if let Some(errors) = errors {
        let parts = ["could not be unwound", "standard output locked for ever"];
        assert_says(&errors, &parts);
    }
}

/// A lock that other threads hold, or that the thread has released, ends nothing.
#[test]
fn an_overflow_while_another_thread_prints() {
    in_child("an_overflow_while_another_thread_prints", || {
        let held = std::io::stdout().lock();
        let overflow = || {
            let result = launch(1, 1, || {
                black_box(format!("{}", Endless { recurses: true }));
            });
            let defect = result.unwrap_err();
            assert_eq!(defect.kind, DefectKind::StackOverflow, "{defect}");
        };
        overflow();
        drop(held);
        let defect = launch(1, 1, || {
            println!("{}", thread_x());
            black_box(format!("{}", Endless { recurses: true }));
        })
        .unwrap_err();
        assert_eq!(defect.kind, DefectKind::StackOverflow, "{defect}");
        println!("the next line");
    });
}
