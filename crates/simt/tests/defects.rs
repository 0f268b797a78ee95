//! Broken rules become reports, at once and with the right place; nothing
//! hangs, and the next launch works.

mod common;

use common::{block_x, launch, launch_with, serial, sync, thread_x};
use simt::{
    AccessKind, BarrierId, Defect, DefectKind, Dim3, Launch, Options, Profile, Report, Space,
};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The defect, after a check that the simulator still works.
#[track_caller]
fn defect(result: Result<Report, Box<Defect>>) -> Box<Defect> {
    launch(2, 64, sync).unwrap();
    result.unwrap_err()
}

/// Checks kind and source line of a defect in this file.
#[track_caller]
fn assert_at(defect: &Defect, kind: DefectKind, line: u32) {
    assert_eq!(defect.kind, kind, "{defect}");
    let location = defect.location.as_ref().expect("a kernel line");
    assert!(location.file.ends_with("defects.rs"), "{defect}");
    assert_eq!(location.line, line, "{defect}");
}

#[test]
fn early_return_before_a_barrier() {
    for seed in 0..10 {
        let line = line!() + 5;
        let found = defect(launch_with(&serial(seed), 1, 96, || {
            if thread_x() == 37 {
                return;
            }
            sync();
        }));
        assert_at(&found, DefectKind::BarrierDivergence, line);
        assert!(found.message.contains("exited"), "{found}");
        assert!(
            found.to_string().contains("thread (37, 0, 0): exited"),
            "{found}"
        );
    }
}

/// Under some seeds the warp has exited before anybody arrives.
#[test]
fn a_warp_that_returns_before_a_barrier() {
    for seed in 0..10 {
        let found = defect(launch_with(&serial(seed), 1, 64, || {
            if thread_x() >= 32 {
                return;
            }
            sync();
        }));
        assert_eq!(found.kind, DefectKind::BarrierDivergence, "{found}");
        assert!(found.message.contains("exited"), "{found}");
    }
}

#[test]
fn a_report_reads_well() {
    let line = line!() + 5;
    let found = defect(launch_with(&serial(0), 2, 64, || {
        if block_x() == 1 && thread_x() == 37 {
            return;
        }
        sync();
        simt::warp_barrier(0xffff_ffff);
    }));
    let file = file!();
    let column = 9;
    let (first, others) = (found.thread.unwrap().x, found.related[0].note.clone());
    let report = format!(
        "kernel `test_kernel`: divergent block barrier: threads wait at barrier 0 for all threads of the block, but thread (37, 0, 0) has exited
  at {file}:{line}:{column}
  in thread ({first}, 0, 0) of block (1, 0, 0)
  - {others}, {file}:{line}:{column}
  - thread (37, 0, 0): exited
  simulated with seed 0"
    );
    assert_eq!(found.to_string(), report);
    assert!(
        others.ends_with(" more: waits at block barrier 0"),
        "{others}"
    );
}

#[test]
fn barriers_in_two_branches() {
    let found = defect(launch(1, 32, || match thread_x() {
        0..7 => sync(),
        _ => sync(),
    }));
    assert_eq!(found.kind, DefectKind::BarrierDivergence);
    assert!(found.message.contains("different lines"), "{found}");
}

/// Each branch is taken by a whole warp.
#[test]
fn barriers_in_the_branches_of_two_warps() {
    for seed in 0..10 {
        let found = defect(launch_with(&serial(seed), 1, 64, || match thread_x() {
            0..32 => sync(),
            _ => sync(),
        }));
        assert_eq!(found.kind, DefectKind::BarrierDivergence, "{found}");
        assert!(
            found
                .message
                .starts_with("warps of the block are at different lines of barrier 0"),
            "{found}"
        );
        let other = found.related[0].location.as_ref().expect("a line");
        assert_ne!(found.location.as_ref(), Some(other), "{found}");
    }
}

/// As those of warps that produce and warps that consume.
#[test]
fn a_barrier_for_some_warps_may_be_at_two_lines() {
    for seed in 0..10 {
        launch_with(&serial(seed), 1, 64, || match thread_x() {
            0..32 => simt::block_barrier(BarrierId(1), Some(64)),
            _ => simt::block_barrier(BarrierId(1), Some(64)),
        })
        .unwrap();
    }
}

#[test]
fn warps_at_different_barriers() {
    let found = defect(launch(1, 64, || {
        simt::block_barrier(BarrierId(thread_x() / 32), None);
    }));
    assert_eq!(found.kind, DefectKind::BarrierDivergence);
    assert_eq!(found.related.len(), 2, "{found}");
}

#[test]
fn one_warp_short_at_a_named_barrier() {
    let found = defect(launch(1, 96, || {
        if thread_x() < 32 {
            simt::block_barrier(BarrierId(1), Some(64));
        }
    }));
    assert_eq!(found.kind, DefectKind::BarrierDivergence);
}

#[test]
fn barrier_operands() {
    for (id, threads) in [(16, None), (0, Some(33)), (0, Some(0)), (0, Some(96))] {
        let found = defect(launch(1, 64, || {
            simt::block_barrier(BarrierId(id), threads)
        }));
        assert_eq!(found.kind, DefectKind::InvalidArgument, "{found}");
    }
    let found = defect(launch(1, 64, || {
        let all = thread_x() < 32;
        simt::block_barrier(BarrierId(0), if all { None } else { Some(32) });
    }));
    assert_eq!(found.kind, DefectKind::BarrierDivergence, "{found}");
}

#[test]
fn mask_that_names_an_exited_lane() {
    for seed in 0..10 {
        let line = line!() + 5;
        let found = defect(launch_with(&serial(seed), 1, 32, || {
            if thread_x() == 9 {
                return;
            }
            simt::warp_barrier(0xffff_ffff);
        }));
        assert_at(&found, DefectKind::WarpDivergence, line);
        assert!(found.message.contains("lane 9"), "{found}");
    }
}

#[test]
fn mask_that_names_no_lane_of_the_warp() {
    let missing = defect(launch(1, 48, || simt::warp_barrier(0xffff_ffff)));
    assert_eq!(missing.kind, DefectKind::WarpDivergence);
    assert!(missing.message.contains("lane 16"), "{missing}");
    let itself = defect(launch(1, 32, || simt::warp_barrier(0b10)));
    assert!(itself.message.contains("does not name it"), "{itself}");
    let none = defect(launch(1, 32, || simt::warp_barrier(0)));
    assert_eq!(none.kind, DefectKind::WarpDivergence);
}

#[test]
fn two_lanes_at_different_operations() {
    let found = defect(launch(1, 2, || {
        let kind = if thread_x() == 0 { "shuffle" } else { "ballot" };
        simt::warp_collective(kind, 0b11, 0, |_| ());
    }));
    assert_eq!(found.kind, DefectKind::WarpDivergence);
    assert!(found.message.contains("shuffle") && found.message.contains("ballot"));
}

#[test]
fn overlapping_masks_that_wait_for_each_other() {
    let found = defect(launch(1, 3, || {
        let mask = if thread_x() == 0 { 0b11 } else { 0b111 };
        simt::warp_barrier(mask);
    }));
    assert_eq!(found.kind, DefectKind::WarpDivergence);
    assert!(found.message.contains("different masks"), "{found}");
}

#[test]
fn masks_that_wait_in_a_circle() {
    let found = defect(launch(1, 3, || {
        let masks = [0b011, 0b110, 0b101];
        simt::warp_barrier(masks[thread_x() as usize]);
    }));
    assert_eq!(found.kind, DefectKind::WarpDivergence, "{found}");
}

#[test]
fn barrier_against_warp_operation() {
    let found = defect(launch(1, 32, || {
        if thread_x() == 4 {
            simt::warp_barrier(0xffff_ffff);
        } else {
            sync();
        }
    }));
    assert_eq!(found.kind, DefectKind::Deadlock);
    assert_eq!(found.related.len(), 2, "{found}");
}

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
    let check =
        |index: usize| simt::access(Space::Global, AccessKind::Write, 4096, 400, index * 4, 4, 4);
    let line = line!() - 1;
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

#[test]
fn bounds_and_alignment_of_accesses() {
    let at = |base: usize, bytes: usize, offset: usize, size: usize, align: usize| {
        launch(1, 1, || {
            simt::access(
                Space::Global,
                AccessKind::Read,
                base,
                bytes,
                offset,
                size,
                align,
            )
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
        // Would wait for ever in a block that goes on.
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

#[test]
fn endless_nesting_of_warp_operations() {
    fn nest(depth: u32) {
        if depth > 0 {
            let lane = simt::position().lane;
            simt::warp_collective("nested", 1 << lane, 0, |_| nest(depth - 1));
        }
    }
    launch(1, 32, || nest(64)).unwrap();
    let found = defect(launch(1, 32, || nest(65)));
    assert_eq!(found.kind, DefectKind::Panic);
}

#[test]
fn the_lowest_block_with_a_defect_is_reported() {
    for _ in 0..20 {
        let found = defect(launch(500, 32, || {
            assert!(block_x() % 100 != 70);
        }));
        assert_eq!(found.block, Some(Dim3::new(70, 0, 0)));
    }
}

#[test]
fn a_late_defect_of_a_lower_block_is_preferred() {
    let found = defect(launch(64, 1, || {
        if block_x() == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("every block has a defect");
    }));
    assert_eq!(found.block, Some(Dim3::new(0, 0, 0)));
}

#[test]
fn blocks_that_wait_for_a_broken_block_are_stopped() {
    if std::thread::available_parallelism().unwrap().get() == 1 {
        // Block 0 would wait for a block that cannot start.
        return;
    }
    let flag = AtomicU32::new(0);
    let found = defect(launch(2, 32, || {
        assert!(block_x() == 0, "never sets the flag");
        while flag.load(Ordering::Relaxed) == 0 {
            simt::yield_now();
        }
    }));
    assert_eq!(found.kind, DefectKind::Panic, "{found}");
}

#[test]
fn what_lives_on_the_stacks_of_stopped_threads_is_dropped() {
    struct Counted<'a>(&'a AtomicU32);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            // A destructor may ask where it is, and must not wait for anybody.
            assert!(simt::position().lane < 32);
            sync();
            simt::warp_barrier(1 << simt::position().lane);
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let alive = AtomicU32::new(0);
    let found = defect(launch_with(&serial(0), 1, 256, || {
        alive.fetch_add(1, Ordering::Relaxed);
        let _counted = Counted(&alive);
        let started = simt::block_barrier_reduce(true);
        assert_eq!(started, 0, "stop");
    }));
    assert_eq!(found.kind, DefectKind::Panic);
    assert_eq!(alive.into_inner(), 0);
}

#[test]
fn launch_limits() {
    let options = Options::default();
    let kind = |grid: Dim3, block: Dim3, dynamic_shared_bytes: usize, options: &Options| {
        let launch = Launch {
            kernel: "limits",
            grid,
            block,
            cluster: simt::Dim3::from(1),
            dynamic_shared_bytes,
            options,
        };
        simt::run(&launch, &|| ())
            .map(|_| ())
            .map_err(|found| found.kind)
    };
    let one = Dim3::from(1);
    let limit = Err(DefectKind::LaunchLimit);
    assert_eq!(kind(one, one, simt::MAX_SHARED_BYTES, &options), Ok(()));
    assert_eq!(kind(one, one, simt::MAX_SHARED_BYTES + 1, &options), limit);
    assert_eq!(kind(Dim3::from(0), one, 0, &options), limit);
    assert_eq!(kind(one, (4, 0).into(), 0, &options), limit);
    assert_eq!(kind(one, 1025.into(), 0, &options), limit);
    assert_eq!(kind(one, (32, 33).into(), 0, &options), limit);
    assert_eq!(kind(one, (1, 1, 65).into(), 0, &options), limit);
    assert_eq!(kind((1, 65536).into(), one, 0, &options), limit);
    let odd_warps = Options {
        warp_width: 16,
        ..options.clone()
    };
    assert_eq!(kind(one, one, 0, &odd_warps), limit);
    for stack_bytes in [0, usize::MAX] {
        let odd_stacks = Options {
            stack_bytes,
            ..options.clone()
        };
        assert_eq!(kind(one, one, 0, &odd_stacks), limit);
    }
}

/// A block of an A100 can have 163 KiB of shared memory.
#[test]
fn static_and_dynamic_shared_memory_over_the_limit_of_the_device() {
    let options = Options {
        profile: Profile::A100,
        ..Options::default()
    };
    let run = |dynamic_kib: usize, static_kib: usize| {
        let launch = Launch {
            kernel: "limits",
            grid: Dim3::from(2),
            block: Dim3::from(32),
            cluster: simt::Dim3::from(1),
            dynamic_shared_bytes: dynamic_kib << 10,
            options: &options,
        };
        simt::run(&launch, &|| {
            simt::static_shared(0, static_kib << 10, 16);
        })
    };
    run(163, 0).unwrap();
    run(123, 40).unwrap();
    let found = defect(run(164, 0));
    assert_eq!(found.kind, DefectKind::LaunchLimit, "{found}");
    let found = defect(run(124, 40));
    assert_eq!(found.kind, DefectKind::LaunchLimit, "{found}");
    assert_eq!(
        found.message,
        "40960 static and 126976 dynamic bytes of shared memory: a block can have 166912, \
         alignment included"
    );
    assert!(found.location.is_some(), "{found}");
}

#[test]
fn a_kernel_cannot_launch() {
    let found = defect(launch(1, 1, || {
        let _ = launch(1, 1, || ());
    }));
    assert_eq!(found.kind, DefectKind::NestedLaunch);
}

#[test]
#[should_panic(expected = "inside a simulated launch")]
fn kernel_functions_need_a_launch() {
    assert!(!simt::is_simulated_thread());
    simt::position();
}
