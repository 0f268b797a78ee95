//! Defects of one thread: accesses, panics, endless loops.

use crate::common::{block_x, launch, launch_with, serial, sync, thread_x};
use crate::{assert_at, defect};
use simt::{AccessKind, DefectKind, Dim3, Options, Space};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[test]
fn spinning_for_ever() {
    let options = Options {
        yield_limit: 10_000,
        ..serial(0)
    };
    let line = line!() + 3;
    let found = defect(launch_with(&options, 1, 64, || {
        while thread_x() == 3 {
            simt::yield_now();
        }
        sync();
    }));
    assert_at(&found, DefectKind::Deadlock, line);
    assert_eq!(found.thread, Some(Dim3::new(3, 0, 0)));
}

#[test]
fn out_of_bounds_names_line_block_and_thread() {
    let check = |index: usize| {
        // SAFETY: the memory is not registered.
        unsafe { simt::access(Space::Global, AccessKind::Write, 4096, 400, index * 4, 4, 4) }
    };
    let line = line!() - 2;
    for options in [serial(3), Options::default()] {
        let found = defect(launch_with(&options, 4, 32, || {
            check((block_x() * 32 + thread_x()) as usize);
        }));
        assert_at(&found, DefectKind::OutOfBounds, line);
        assert_eq!(found.block, Some(Dim3::new(3, 0, 0)), "{found}");
        let thread = found.thread.unwrap();
        assert!((4..32).contains(&thread.x), "{found}");
        assert!(found.message.contains("400 bytes"), "{found}");
        assert!(
            found
                .to_string()
                .starts_with("kernel `test_kernel`: access out of bounds: ")
        );
    }
}

/// Each report names the fix, once.
#[test]
fn every_finding_has_a_remedy() {
    let access = |offset: usize| {
        // SAFETY: the memory is not registered.
        unsafe { simt::access(Space::Global, AccessKind::Read, 4096, 400, offset, 8, 8) };
    };
    let found = [
        defect(launch(1, 1, || access(400))),
        defect(launch(1, 1, || access(4))),
        defect(launch(1, 64, || {
            if thread_x() < 32 {
                sync();
            }
        })),
        defect(launch(1, 32, || simt::warp_barrier(0xffff))),
        defect(launch(1, 1, || {
            simt::block_barrier(simt::BarrierId(16), None)
        })),
    ];
    let remedies = found.iter().map(|defect| defect.remedy().unwrap());
    let expected = [
        "a check",
        "an address",
        "every thread",
        "a mask",
        "an operand",
    ];
    for ((remedy, expected), defect) in remedies.zip(expected).zip(&found) {
        assert!(remedy.starts_with(expected), "{defect}");
        assert_eq!(
            defect.to_string().matches("missing: ").count(),
            1,
            "{defect}"
        );
    }
}

#[test]
fn bounds_and_alignment_of_accesses() {
    let at = |base: usize, bytes: usize, offset: usize, size: usize, align: usize| {
        launch(1, 1, || {
            // SAFETY: the memory is not registered.
            unsafe {
                simt::access(
                    Space::Global,
                    AccessKind::Read,
                    base,
                    bytes,
                    offset,
                    size,
                    align,
                )
            }
        })
        .map(|_| ())
        .map_err(|found| found.kind)
    };
    assert_eq!(at(64, 16, 0, 16, 16), Ok(()));
    assert_eq!(at(64, 16, 12, 4, 4), Ok(()));
    assert_eq!(at(64, 16, 13, 4, 1), Err(DefectKind::OutOfBounds));
    assert_eq!(at(64, 16, usize::MAX, 4, 1), Err(DefectKind::OutOfBounds));
    assert_eq!(at(64, 0, 0, 1, 1), Err(DefectKind::OutOfBounds));
    assert_eq!(at(64, 16, 4, 8, 8), Err(DefectKind::Misaligned));
    assert_eq!(at(68, 16, 4, 8, 8), Ok(()));
}

#[test]
fn panics_become_defects() {
    let values = [1, 2, 3];
    let line = line!() + 2;
    let found = defect(launch_with(&serial(0), 1, 32, || {
        let _ = std::hint::black_box(values[thread_x() as usize % 4]);
    }));
    assert_at(&found, DefectKind::Panic, line);
    assert!(found.message.contains("index out of bounds"), "{found}");

    let found = defect(launch(3, 64, || {
        sync();
        assert!(thread_x() != 5, "thread {} is not welcome", thread_x());
        sync();
    }));
    assert_eq!(found.message, "thread 5 is not welcome");
    assert_eq!(found.thread, Some(Dim3::new(5, 0, 0)));
    assert_eq!(found.block, Some(Dim3::new(0, 0, 0)));
}

#[test]
fn a_panic_without_the_hook_is_a_defect_too() {
    let found = defect(launch(1, 1, || std::panic::resume_unwind(Box::new(7))));
    assert_eq!((found.kind, &found.location), (DefectKind::Panic, &None));
}

#[test]
fn a_caught_panic_is_still_a_defect() {
    let found = defect(launch(1, 64, || {
        let _ = std::panic::catch_unwind(|| panic!("caught"));
        // Would wait forever in a block that continues.
        while thread_x() < 64 {
            simt::yield_now();
        }
    }));
    assert_eq!(found.message, "caught");
}

#[test]
fn kernel_libraries_add_defects_of_their_own() {
    let line = line!() + 3;
    let found = defect(launch(1, 32, || {
        if thread_x() == 8 {
            simt::fail(DefectKind::InvalidArgument, "no such tile".to_owned());
        }
    }));
    assert_at(&found, DefectKind::InvalidArgument, line);
    assert_eq!(found.thread, Some(Dim3::new(8, 0, 0)));
}

/// Runs a thread with `kib` KiB of dynamic shared memory, without checks of memory. Bounds are always checked.
fn with_shared(kib: usize, body: impl Fn() + Sync) -> Result<simt::Report, Box<simt::Defect>> {
    let options = simt::Options {
        checks: false,
        ..serial(0)
    };
    let launch = simt::Launch {
        dynamic_shared_bytes: kib << 10,
        ..simt::Launch::new("shared", 1, 1, &options)
    };
    crate::borrowed::run(&launch, &body)
}

#[test]
fn more_bytes_than_shared_memory_has_are_not_in_it() {
    let access = |bytes: usize| {
        with_shared(1, || {
            let base = simt::dynamic_shared().0.addr();
            // SAFETY: the view is of shared memory.
            unsafe { simt::access(Space::Shared, AccessKind::Write, base, bytes, 0, bytes, 1) };
        })
    };
    access(simt::MAX_SHARED_BYTES).unwrap();
    for bytes in [simt::MAX_SHARED_BYTES + 1, usize::MAX / 2] {
        let found = defect(access(bytes));
        assert_eq!(found.kind, DefectKind::OutOfBounds, "{found}");
    }
}

#[test]
fn an_array_has_the_alignment_that_it_is_asked_for() {
    with_shared(0, || {
        simt::static_shared(1, 1, 1);
        let odd = simt::static_shared(2, 64, 1);
        assert!(!odd.addr().is_multiple_of(16));
        assert_eq!(odd, simt::static_shared(2, 64, 1));
    })
    .unwrap();
    let found = defect(with_shared(0, || {
        simt::static_shared(1, 1, 1);
        simt::static_shared(2, 64, 1);
        simt::static_shared(2, 64, 16);
    }));
    assert_eq!(found.kind, DefectKind::InvalidArgument, "{found}");
    assert!(found.message.contains("two alignments"), "{found}");
}

#[test]
fn rows_behind_the_last_number_are_not_in_a_tile() {
    let rows = |first| {
        with_shared(16, || {
            let mut shared = cuda_std::dynamic_shared_allotment!();
            let tile = shared.tiles::<f32, 64, 32, 1>().get(0);
            let _ = tile.rows::<16>(first);
        })
    };
    rows(48).unwrap();
    for first in [56, usize::MAX - 7] {
        let found = defect(rows(first));
        assert_eq!(found.kind, DefectKind::OutOfBounds, "{found}");
    }
}

/// Also after a request that was refused: that is a defect, after which this kernel continues.
#[test]
fn an_allotment_deals_out_what_is_there() {
    let refused = AtomicUsize::new(0);
    let is_behind = AtomicBool::new(false);
    let found = defect(with_shared(1, || {
        let mut shared = cuda_std::dynamic_shared_allotment!();
        let first = shared.array::<u64, 2>().as_mut_ptr();
        for _ in 0..8 {
            let result = catch_unwind(AssertUnwindSafe(|| {
                shared.array::<u8, { 1 << 62 }>().as_mut_ptr()
            }));
            refused.fetch_add(usize::from(result.is_err()), Ordering::Relaxed);
        }
        let second = shared.array::<u64, 2>().as_mut_ptr();
        is_behind.store(second == first.wrapping_add(2), Ordering::Relaxed);
    }));
    assert_eq!(found.kind, DefectKind::Panic, "{found}");
    assert_eq!(refused.into_inner(), 8);
    assert!(is_behind.into_inner());
}
