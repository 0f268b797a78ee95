//! Requests in loops: the lanes' accesses in the same round are one request.

use crate::common::{sync, thread_x};
use crate::harness::{MEMORY, View, counted};
use cuda_std::kernel::Kernel as _;
use cuda_std::prelude::*;
use simt::Operation;

#[test]
fn occurrences_of_a_loop_are_requests_of_their_own() {
    let counts = counted(32, 1, 64, || {
        for step in 0..10 {
            View.load(step * 64 + thread_x());
        }
    });
    let load = counts.of(Operation::GlobalLoad);
    assert_eq!((load.requests, load.lanes), (20, 640));
    assert_eq!(load.global.lines, 20);
}

/// Each lane skips one round in eight. Nsight Compute counts the same.
#[test]
fn lanes_that_skip_a_round_take_part_in_the_others() {
    let counts = counted(32, 1, 32, || {
        let mut rounds = simt::loop_rounds();
        for round in 0..8 {
            rounds.begin();
            if round != thread_x() % 8 {
                View.load(round * 32 + thread_x());
            }
        }
    });
    let load = counts.of(Operation::GlobalLoad);
    assert_eq!((load.requests, load.lanes), (8, 7 * 32));
    assert_eq!(load.global.sectors, 32);
}

/// Each lane skips one round in eight, but reaches the last line of each.
#[kernel]
fn skip_a_round(words: Global<u32>) {
    let lane = thread::thread_idx_x();
    for round in 0..8 {
        if round == lane % 8 {
            continue;
        }
        let mut step = 0;
        let value = loop {
            if step == lane % 3 {
                break words.get((round * 32 + lane) as usize);
            }
            step += 1;
        };
        assert_eq!(value, Some(0));
    }
}

#[test]
fn the_loops_of_a_kernel_are_marked() {
    let counts = counted(32, 1, 32, || {
        // SAFETY: the words are static. No thread writes them.
        let words = unsafe { Global::from_raw_parts(MEMORY.0.as_ptr(), MEMORY.0.len()) };
        // SAFETY: the kernel is safe. No thread writes the words.
        unsafe { skip_a_round::run((words,)) };
    });
    let load = counts.of(Operation::GlobalLoad);
    assert_eq!((load.lanes, load.requests), (7 * 32, 8 * 3));
}

/// Each lane skips one round in eight, in a function that a kernel calls.
#[device_function]
fn skip_in_function(words: Global<u32>, lane: u32) {
    for round in 0..8 {
        if round == lane % 8 {
            continue;
        }
        assert_eq!(words.get((round * 32 + lane) as usize), Some(0));
    }
}

/// The same in an inner loop, which ends early for some lanes.
struct Steps(u32);

impl Steps {
    #[device_function]
    fn take(&self, words: Global<u32>) -> u32 {
        let mut step = 0;
        loop {
            step += 1;
            if step == self.0 % 3 {
                continue;
            }
            if words.get((step * 32 + self.0) as usize) != Some(0) || step == 8 {
                break step;
            }
        }
    }
}

/// The same without the attribute: the accesses of a lane that skips a round are paired with those of other
/// rounds.
fn skip_unmarked(words: Global<u32>, lane: u32) {
    for round in 0..8 {
        if round == lane % 8 {
            continue;
        }
        assert_eq!(words.get((round * 32 + lane) as usize), Some(0));
    }
}

#[test]
fn the_loops_of_device_functions_are_marked() {
    let requests = |action: fn(Global<u32>, u32)| {
        let counts = counted(32, 1, 32, || {
            // SAFETY: the words are static. No thread writes them.
            let words = unsafe { Global::from_raw_parts(MEMORY.0.as_ptr(), MEMORY.0.len()) };
            action(words, thread_x());
        });
        let load = counts.of(Operation::GlobalLoad);
        (load.lanes, load.requests)
    };
    assert_eq!(requests(skip_in_function), (7 * 32, 8));
    assert_eq!(requests(skip_unmarked), (7 * 32, 7));
    // Lanes 1 and 2 modulo 3 skip one round in eight.
    let steps = requests(|words, lane| assert_eq!(Steps(lane).take(words), 8));
    assert_eq!(steps, (8 * 11 + 7 * 21, 8));
}

/// Lanes run an inner loop as often as their number.
#[test]
fn rounds_of_nested_loops_are_told_apart() {
    let counts = counted(32, 1, 32, || {
        let mut outer = simt::loop_rounds();
        for round in 0..3 {
            outer.begin();
            let mut inner = simt::loop_rounds();
            for step in 0..(thread_x() + round) % 4 {
                inner.begin();
                View.load(1024 * round + 32 * step + thread_x());
            }
            drop(inner);
            View.store(32 * round + thread_x());
        }
    });
    let load = counts.of(Operation::GlobalLoad);
    assert_eq!((load.requests, load.lanes), (9, 3 * 8 * (1 + 2 + 3)));
    let store = counts.of(Operation::GlobalStore);
    assert_eq!((store.requests, store.lanes), (3, 96));
}

/// A loop that runs again, outside of any other marked loop.
#[test]
fn a_loop_may_be_executed_again() {
    let counts = counted(32, 1, 32, || {
        (0..5).for_each(|again| {
            let mut rounds = simt::loop_rounds();
            for step in 0..4 {
                rounds.begin();
                View.load(128 * again + 32 * step + thread_x());
            }
        });
    });
    let load = counts.of(Operation::GlobalLoad);
    assert_eq!((load.requests, load.global.lines), (20, 20));
}

/// Lanes that run far ahead wait for the others, so that memory stays bounded and requests whole.
#[test]
fn long_loops_without_a_meeting_stay_exact() {
    let counts = counted(32, 1, 64, || {
        for step in 0..20_000_u32 {
            View.load(step % 64 * 32 + thread_x() % 32);
        }
    });
    let load = counts.of(Operation::GlobalLoad);
    assert_eq!((load.requests, load.lanes), (40_000, 64 * 20_000));
    assert_eq!(load.global.lines, 40_000);
}

/// One lane works while the others wait for it.
#[test]
fn long_loops_of_one_lane_stay_exact() {
    let counts = counted(32, 1, 32, || {
        if thread_x() == 3 {
            (0..20_000).for_each(|step| View.load(step % 4096));
        }
        sync();
        View.load(thread_x());
    });
    let lines: Vec<_> = counts
        .lines
        .iter()
        .filter(|line| line.operation == Operation::GlobalLoad)
        .collect();
    assert_eq!(
        (lines[0].tally.requests, lines[0].tally.lanes),
        (20_000, 20_000)
    );
    assert_eq!((lines[1].tally.requests, lines[1].tally.lanes), (1, 32));
}
