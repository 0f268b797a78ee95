//! The order of warps and blocks, and the resources that launches take.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

mod borrowed;
mod common;

use common::{block_x, launch, launch_with, serial, sync, thread_x};
use simt::Options;
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The block and thread numbers, in the order in which threads pass two lines.
fn order(seed: u64) -> Vec<(u32, u32)> {
    order_of(3, &serial(seed))
}

fn order_of(blocks: u32, options: &Options) -> Vec<(u32, u32)> {
    let order = Mutex::new(Vec::new());
    launch_with(options, blocks, 256, || {
        let note = || order.lock().unwrap().push((block_x(), thread_x()));
        note();
        sync();
        note();
    })
    .unwrap();
    order.into_inner().unwrap()
}

#[test]
fn a_seed_gives_one_order() {
    for seed in [0, 1, 77] {
        assert_eq!(order(seed), order(seed));
    }
}

#[test]
fn seeds_give_different_orders() {
    let orders: HashSet<_> = (0..20).map(order).collect();
    assert_eq!(orders.len(), 20);
}

#[test]
fn blocks_have_orders_of_their_own() {
    let order = order(0);
    let threads_of = |part: usize| order[part * 512..][..256].iter().map(|(_, thread)| *thread);
    assert!(!threads_of(0).eq(threads_of(1)));
}

/// The last thread to arrive at a barrier continues at once. After it, any warp may be next, not only its own.
#[test]
fn every_warp_may_be_next_behind_a_barrier() {
    let own_warp_is_next = |seed| {
        let order = order_of(1, &serial(seed));
        let (last, next) = (order[255].1, order[257].1);
        last / 32 == next / 32
    };
    let count = (0..200).filter(|seed| own_warp_is_next(*seed)).count();
    assert!((1..100).contains(&count), "{count} of 200");
}

#[test]
fn every_warp_is_first_under_some_seed() {
    let first = |seed| order_of(1, &serial(seed))[0].1 / 32;
    let warps: HashSet<_> = (0..200).map(first).collect();
    assert_eq!(warps.len(), 8);
}

/// Two warps, no barrier between write and read: half of the seeds show it.
#[test]
fn a_missing_barrier_shows_under_some_seeds() {
    let stale = |seed| {
        let written = AtomicBool::new(false);
        let stale = AtomicBool::new(false);
        launch_with(&serial(seed), 1, 64, || match thread_x() {
            0 => written.store(true, Ordering::Relaxed),
            32 => stale.store(!written.load(Ordering::Relaxed), Ordering::Relaxed),
            _ => {}
        })
        .unwrap();
        stale.into_inner()
    };
    let stale_runs = (0..100).filter(|seed| stale(*seed)).count();
    assert!((25..75).contains(&stale_runs), "{stale_runs} of 100");
}

#[test]
fn launches_of_several_host_threads_at_once() {
    std::thread::scope(|scope| {
        for thread in 0..6_u32 {
            scope.spawn(move || {
                for round in 0..20 {
                    let count = AtomicU32::new(0);
                    let result = launch(10, 32 + thread * 16, || {
                        count.fetch_add(1, Ordering::Relaxed);
                        sync();
                        assert!(round % 5 != 4 || block_x() != 3, "round {round}");
                    });
                    if round % 5 == 4 {
                        assert_eq!(result.unwrap_err().message, format!("round {round}"));
                    } else {
                        result.unwrap();
                        assert_eq!(count.into_inner(), 10 * (32 + thread * 16));
                    }
                }
            });
        }
    });
}

#[test]
fn a_host_thread_pool_may_launch() {
    use rayon::prelude::*;
    (0..32_u32).into_par_iter().for_each(|threads| {
        launch(3, threads + 1, sync).unwrap();
    });
}

/// In a pool of the program, a kernel that waits for the pool would run other blocks on a simulated thread's stack.
#[test]
fn kernels_run_on_threads_of_the_simulator_alone() {
    launch(8, 64, || {
        sync();
        assert_eq!(rayon::current_thread_index(), None);
        assert_eq!(rayon::yield_now(), None);
        assert_eq!(rayon::join(|| 1, || 2), (1, 2));
        sync();
    })
    .unwrap();
}

/// Memory mappings of this process.
#[cfg(target_os = "linux")]
fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps")
        .unwrap()
        .lines()
        .count()
}

/// Stacks are kept for the next block, including those of stopped threads.
#[test]
#[cfg(target_os = "linux")]
fn stacks_are_used_again() {
    let stop_in_the_middle = || {
        let found = launch(2, 1024, || {
            sync();
            assert!(thread_x() != 500);
            sync();
        });
        assert!(found.is_err());
    };
    stop_in_the_middle();
    (0..50).for_each(|_| stop_in_the_middle());
    // Each worker keeps two mappings per stack. Other tests of this process add theirs, on the same workers.
    let workers = std::thread::available_parallelism()
        .unwrap()
        .get()
        .min(simt::MAX_WORKERS);
    let most = workers * 1024 * 2 + 1000;
    assert!(
        mappings() < most,
        "{} mappings, expected at most {most}",
        mappings()
    );
}

#[test]
fn deep_stacks_can_be_asked_for() {
    let options = Options {
        stack_bytes: 1 << 20,
        ..Options::default()
    };
    launch_with(&options, 2, 8, || {
        let array = std::hint::black_box([thread_x() as u8; 200_000]);
        sync();
        assert!(array.iter().all(|byte| u32::from(*byte) == thread_x()));
    })
    .unwrap();
}

#[test]
fn a_panic_fits_into_the_smallest_stack() {
    let options = Options {
        stack_bytes: 16 * 1024,
        ..Options::default()
    };
    let found = launch_with(&options, 1, 64, || {
        sync();
        assert!(
            thread_x() != 40,
            "thread {} of {:?}",
            thread_x(),
            simt::position()
        );
    });
    assert!(
        found
            .unwrap_err()
            .message
            .starts_with("thread 40 of Position")
    );
}
