//! What a launch costs, line by line.

mod common;

use common::{block_x, launch_with, sync, thread_x};
use cuda_std::kernel::Kernel as _;
use cuda_std::prelude::*;
use simt::{AccessKind, Arithmetic, Counts, Operation, Options, Space};

/// 32-bit words in device memory: aligned to a line, as a buffer's are.
#[repr(align(256))]
struct Words([u32; 4096]);

static MEMORY: Words = Words([0; 4096]);

/// A view of [`MEMORY`] as a kernel has it.
#[derive(Clone, Copy)]
struct View;

impl View {
    #[track_caller]
    fn access(self, kind: AccessKind, index: u32, words: usize) {
        let base = MEMORY.0.as_ptr().addr();
        let bytes = size_of_val(&MEMORY.0);
        let offset = index as usize * 4;
        simt::access(Space::Global, kind, base, bytes, offset, 4 * words, 4);
    }

    #[track_caller]
    fn load(self, index: u32) {
        self.access(AccessKind::Read, index, 1);
    }

    #[track_caller]
    fn store(self, index: u32) {
        self.access(AccessKind::Write, index, 1);
    }
}

fn counted(warp_width: u32, blocks: u32, threads: u32, body: impl Fn() + Sync) -> Counts {
    let options = Options {
        counters: true,
        // The kernels are patterns of access: they read what was never written.
        checks: false,
        warp_width,
        ..Options::default()
    };
    let report = launch_with(&options, blocks, threads, body).expect("no defect");
    *report.counts.expect("the launch was counted")
}

#[test]
fn nothing_is_counted_unless_asked_for() {
    let report = launch_with(&Options::default(), 1, 32, || View.load(0)).expect("no defect");
    assert_eq!(report.counts, None);
}

#[test]
fn requests_of_warps() {
    let counts = counted(32, 3, 80, || View.load(block_x() * 80 + thread_x()));
    let load = counts.of(Operation::GlobalLoad);
    assert_eq!((load.requests, load.lanes), (9, 240));
    assert_eq!(load.branch_efficiency(), Some(1.0));
    assert_eq!(load.global.bytes_asked, 960);
    assert_eq!(load.global.sectors, 30);
    assert_eq!((counts.sectors_read, counts.sectors_written), (30, 0));
}

/// Usual patterns of access, each as a kernel: lines, sectors.
#[test]
fn efficiency_of_usual_patterns() {
    let case = |index: fn(u32) -> u32| {
        let counts = counted(32, 1, 32, || View.load(index(thread_x())));
        let load = counts.of(Operation::GlobalLoad).global;
        let efficiency = (load.line_efficiency(), load.sector_efficiency());
        (efficiency.0.unwrap(), efficiency.1.unwrap())
    };
    assert_eq!(case(|lane| lane), (1.0, 1.0));
    assert_eq!(case(|lane| lane ^ 21), (1.0, 1.0));
    assert_eq!(case(|lane| lane + 4), (0.5, 0.8));
    assert_eq!(case(|_| 7), (0.03125, 0.125));
    assert_eq!(case(|lane| lane * 64), (0.03125, 0.125));
}

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

/// Each lane skips one round of eight. Nsight Compute counts the same.
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

/// Each lane skips one round of eight, and is at the last line of each.
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
        // SAFETY: (1) the words are there for ever. (2) No thread writes them.
        let words = unsafe { Global::from_raw_parts(MEMORY.0.as_ptr(), MEMORY.0.len()) };
        // SAFETY: (1) the kernel is safe. (2) As above.
        unsafe { skip_a_round::run((words,)) };
    });
    let load = counts.of(Operation::GlobalLoad);
    assert_eq!((load.lanes, load.requests), (7 * 32, 8 * 3));
}

/// Lanes go through an inner loop as often as their number says.
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

/// A loop that is executed again outside of any other that is marked.
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

#[test]
fn places_on_one_line_are_told_apart() {
    let counts = counted(32, 1, 32, || {
        let _both = [View.load(thread_x()), View.load(32 * thread_x())];
    });
    assert_eq!(counts.lines.len(), 2);
    assert_eq!(counts.lines[0].tally.global.lines, 1);
    assert_eq!(counts.lines[1].tally.global.lines, 32);
}

/// The pairs that thread `t` adds in a step of a reduction, as loads of two
/// elements and a store.
fn reduction(pair: impl Fn(u32, u32) -> Option<(u32, u32)> + Sync, interleaved: bool) -> Counts {
    counted(32, 1, 512, move || {
        let steps = (0..9).map(|step| 1 << step);
        let strides: Vec<u32> = if interleaved {
            steps.rev().collect()
        } else {
            steps.collect()
        };
        for stride in strides {
            if let Some((left, right)) = pair(thread_x(), stride) {
                View.load(left);
                View.load(right);
                View.store(left);
            }
            sync();
        }
    })
}

/// A block of 512 in nine steps.
#[test]
fn divergence_of_a_reduction() {
    let neighboured = reduction(
        |t, stride| t.is_multiple_of(2 * stride).then_some((t, t + stride)),
        false,
    );
    let less_divergent = reduction(
        |t, stride| (2 * stride * t < 512).then_some((2 * stride * t, 2 * stride * t + stride)),
        false,
    );
    let interleaved = reduction(|t, stride| (t < stride).then_some((t, t + stride)), true);

    let store = |counts: &Counts| counts.of(Operation::GlobalStore);
    // 511 additions each. Neighboured: 16 warps in the first five steps, then 8, 4, 2, 1.
    assert_eq!(
        (store(&neighboured).lanes, store(&neighboured).requests),
        (511, 95)
    );
    // The others: 8, 4, 2 and 1 whole warps, then one warp in each of five steps.
    assert_eq!(
        (
            store(&less_divergent).lanes,
            store(&less_divergent).requests
        ),
        (511, 20)
    );
    assert_eq!(
        (store(&interleaved).lanes, store(&interleaved).requests),
        (511, 20)
    );
    assert_eq!(
        store(&neighboured).branch_efficiency(),
        Some(511.0 / (95.0 * 32.0))
    );
    assert_eq!(
        store(&interleaved).branch_efficiency(),
        Some(511.0 / (20.0 * 32.0))
    );

    // Interleaved also reads neighbouring words: fewer lines for the same data.
    let lines = |counts: &Counts| counts.of(Operation::GlobalLoad).global.lines;
    assert_eq!(lines(&interleaved), 40);
    assert!(lines(&less_divergent) > lines(&interleaved));
}

/// Half of a warp of 64 lanes takes each branch.
#[test]
fn half_and_half_branch() {
    let counts = counted(64, 1, 64, || {
        if thread_x() < 32 {
            simt::count_arithmetic(Arithmetic::MulAddF32, 1);
        } else {
            simt::count_arithmetic(Arithmetic::MulAddF32, 2);
        }
        simt::count_arithmetic(Arithmetic::MulAddF32, 1);
    });
    let efficiency: Vec<_> = counts
        .lines
        .iter()
        .map(|line| line.tally.branch_efficiency())
        .collect();
    assert_eq!(efficiency, [Some(0.5), Some(0.5), Some(1.0)]);
    assert_eq!(counts.total().flops_f32, 2 * (32 + 2 * 32 + 64));
}

/// A block of 200 threads is 4 warps of 64, 64, 64 and 8 lanes.
#[test]
fn partial_warp_of_64_lanes() {
    let load = counted(64, 1, 200, || View.load(thread_x())).of(Operation::GlobalLoad);
    assert_eq!(
        (load.requests, load.lanes, load.lanes_of_warps),
        (4, 200, 200)
    );
}

#[test]
fn exited_lanes_do_not_count_after_the_next_meeting() {
    let counts = counted(32, 1, 32, || {
        if thread_x() >= 8 {
            return;
        }
        // In this turn of the warp the other lanes exit.
        simt::yield_now();
        simt::warp_barrier(0xff);
        View.load(thread_x());
    });
    let load = counts.of(Operation::GlobalLoad);
    assert_eq!((load.lanes, load.lanes_of_warps), (8, 8));
    assert_eq!(counts.of(Operation::WarpBarrier).requests, 1);
}

#[test]
fn bank_conflicts() {
    let ways = |stride: usize, bytes: usize| {
        let counts = counted(32, 1, 64, || {
            let base = simt::static_shared(1, 32 * 1024, 16).addr();
            let offset = thread_x() as usize % 32 * stride * 4;
            simt::access(
                Space::Shared,
                AccessKind::Read,
                base,
                32 * 1024,
                offset,
                bytes,
                bytes,
            );
        });
        assert_eq!(counts.static_shared_bytes, 32 * 1024);
        let shared = counts.of(Operation::SharedLoad).shared;
        (shared.wavefronts, shared.conflicts())
    };
    assert_eq!(ways(0, 4), (2, 0));
    assert_eq!(ways(1, 4), (2, 0));
    assert_eq!(ways(2, 4), (4, 2));
    assert_eq!(ways(8, 4), (16, 14));
    assert_eq!(ways(33, 4), (2, 0));
    assert_eq!(ways(2, 8), (4, 0));
    assert_eq!(ways(4, 16), (8, 0));
    assert_eq!(ways(8, 16), (16, 8));
}

#[test]
fn asynchronous_copies_count_on_both_sides() {
    let counts = counted(32, 1, 32, || {
        let shared = simt::static_shared(1, 4096, 16);
        let lane = thread_x() as usize;
        let present = if lane < 16 { 16 } else { 0 };
        let source = MEMORY.0.as_ptr().cast::<u8>().wrapping_add(16 * lane);
        // SAFETY: (1) 16 bytes of the array of 4096, and (2) of the static memory; none writes it.
        unsafe { simt::async_copy(shared.add(16 * lane), source, 16, present) };
        simt::async_wait_all();
    });
    let read = counts.of(Operation::AsyncCopyRead);
    assert_eq!((read.requests, read.lanes, read.global.sectors), (1, 16, 8));
    let written = counts.of(Operation::AsyncCopyWrite);
    assert_eq!((written.lanes, written.shared.wavefronts), (32, 4));
}

#[test]
fn tensor_products_are_counted() {
    let operation = Operation::TensorProduct { operations: 4096 };
    let counts = counted(32, 2, 64, || {
        // SAFETY: (1) no other operation is of this kind.
        unsafe {
            simt::warp_exchange(
                "product",
                Some(operation),
                u64::from(u32::MAX),
                &mut (),
                |_| (),
            );
            simt::warp_exchange("loads", None, u64::from(u32::MAX), &mut (), |_| ());
        }
    });
    assert_eq!(counts.of(operation).requests, 4);
    assert_eq!(counts.total().tensor_operations, 4 * 4096);
    assert_eq!(counts.total().requests, 4);
}

#[test]
fn meetings_are_counted() {
    let counts = counted(32, 2, 64, || {
        sync();
        simt::warp_collective("shuffle_xor", u64::from(u32::MAX), 0, |_| ());
        simt::warp_collective("ballot", u64::from(u32::MAX), 0, |_| ());
    });
    assert_eq!(counts.of(Operation::BlockBarrier).requests, 4);
    assert_eq!(counts.of(Operation::Shuffle).requests, 4);
    assert_eq!(counts.of(Operation::WarpOperation).requests, 4);
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

#[test]
fn counts_do_not_depend_on_the_schedule() {
    let count = |seed, parallel_blocks| {
        let options = Options {
            counters: true,
            checks: false,
            seed,
            parallel_blocks,
            ..Options::default()
        };
        let report = launch_with(&options, 8, 96, || {
            for step in 0..thread_x() % 3 {
                View.load(step * 100 + thread_x());
                simt::yield_now();
            }
            sync();
            View.store(block_x() * 96 + thread_x());
        });
        *report.expect("no defect").counts.expect("counted")
    };
    let first = count(0, false);
    for seed in 1..6 {
        assert_eq!(count(seed, seed % 2 == 0), first);
    }
}
