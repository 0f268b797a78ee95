//! The block that is reported, and the fate of the others.

use crate::common::{block_x, launch, launch_with, serial, sync};
use crate::defect;
use simt::{DefectKind, Dim3};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

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
            // A destructor may query its position, and must not wait for other threads.
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
        let started = simt::block_barrier_reduce(simt::BarrierId(0), None, true);
        assert_eq!(started, 0, "stop");
    }));
    assert_eq!(found.kind, DefectKind::Panic);
    assert_eq!(alive.into_inner(), 0);
}
