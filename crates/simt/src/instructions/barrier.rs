//! Block barriers: `bar.sync` and `bar.red` of the PTX ISA (section "Parallel
//! Synchronization and Communication Instructions: bar, barrier").

use crate::basics::{CallSite, DefectKind};
use crate::block::{Block, Thread, Wait, count};
use crate::count::Operation;
use crate::current::instruction;
use crate::state::{
    Barrier, BarrierId, BarrierOperation, GRID_BARRIER, Mismatch, barrier_name, divergence_at,
};
use std::ptr;

/// Waits at a barrier until `threads` threads have arrived; with none, all threads of the block.
///
/// `threads` must be a multiple of the warp width; whole warps arrive. All lanes of a warp must arrive at the same
/// source line. So must all threads of the block if the barrier is for all of them. An exited thread does not
/// count as arrived: a barrier for the whole block that some thread has missed ends the launch.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn block_barrier(name: BarrierId, threads: Option<u32>) {
    instruction(|thread, block, site| {
        if threads.is_some() || !block.wait_like_all(thread, name, site) {
            synchronize(thread, block, name, threads, site);
        }
    });
}

/// Not inlined, so that a thread on the common path has one small frame here.
#[inline(never)]
fn synchronize(
    thread: &Thread,
    block: &Block,
    name: BarrierId,
    threads: Option<u32>,
    site: CallSite,
) {
    let arrival = Arrival {
        id: name.0,
        threads,
        ..Arrival::of_all(site)
    };
    block.meet(thread, &arrival);
}

/// Arrives at a barrier for `threads` threads without waiting (`bar.arrive`).
///
/// The thread's earlier accesses come before the later ones of threads that wait at the barrier.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn block_barrier_arrive(name: BarrierId, threads: u32) {
    instruction(|thread, block, site| {
        let arrival = Arrival {
            id: name.0,
            threads: Some(threads),
            ..Arrival::of_all(site)
        };
        block.arrive_only(thread, &arrival);
    });
}

/// [`block_barrier`] that returns how many threads had a true `predicate`.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn block_barrier_reduce(name: BarrierId, threads: Option<u32>, predicate: bool) -> u32 {
    instruction(|thread, block, site| {
        let arrival = Arrival {
            id: name.0,
            threads,
            operation: BarrierOperation::CountTrue,
            predicate,
            ..Arrival::of_all(site)
        };
        block.meet(thread, &arrival)
    })
}

/// Waits for all threads of the grid, and sees their earlier writes.
///
/// All threads of a block must arrive at the same source line. The launch must be cooperative. A thread that has
/// exited or waits elsewhere ends the launch.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn grid_barrier() {
    instruction(|thread, block, site| {
        if block.grid.is_none() {
            let message = "a grid barrier in a launch that is not cooperative: its blocks need \
                           not run at the same time"
                .to_owned();
            block.fail(thread, DefectKind::GridBarrierDivergence, message, site);
        }
        let arrival = Arrival {
            id: GRID_BARRIER,
            operation: BarrierOperation::SynchronizeGrid,
            ..Arrival::of_all(site)
        };
        block.meet(thread, &arrival);
    });
}

/// Ends the launch if lanes of the running thread's warp wait at a barrier at another line: `bar` is for whole warps.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn check_aligned(name: BarrierId) {
    instruction(|thread, block, site| {
        let warp = thread.position.warp as usize;
        if name.0 >= GRID_BARRIER || block.is_unwinding(thread) {
            return;
        }
        let waiting = block.barriers.get(name.0).waiting(warp);
        // Lines of PTX are equal, and have addresses of their own.
        if waiting != 0 && !ptr::eq(block.site_of_lane(warp, waiting), site) {
            let arrival = Arrival {
                id: name.0,
                ..Arrival::of_all(site)
            };
            block.fail_at_barrier(thread, &arrival, &Problem::LinesOfWarp);
        }
    });
}

/// One thread's arrival at a barrier.
struct Arrival {
    id: u32,
    threads: Option<u32>,
    operation: BarrierOperation,
    predicate: bool,
    site: CallSite,
}

impl Arrival {
    /// At barrier 0, for all threads of the block.
    const fn of_all(site: CallSite) -> Self {
        Self {
            id: 0,
            threads: None,
            operation: BarrierOperation::Synchronize,
            predicate: false,
            site,
        }
    }
}

/// Why an arrival ends the launch.
enum Problem {
    /// There is no barrier of this number.
    Number,
    /// The count of threads is not allowed.
    Count(u32),
    /// Threads that the barrier requires have exited.
    Exited,
    /// The arrival, which requires this count, differs from earlier ones.
    Mismatch(u32, Mismatch),
    /// Lanes of one warp arrive at different lines.
    LinesOfWarp,
    /// Warps arrive at different lines of a barrier for the whole block.
    LinesOfBlock,
    /// Only a part of this warp has arrived at a barrier for some warps.
    PartOfWarp(usize),
}

/// A line usually has one address; comparing paths is the slow path.
fn is_same_line(one: CallSite, other: CallSite) -> bool {
    ptr::eq(one, other) || one == other
}

impl Block {
    /// The common case: arrives at a barrier for the whole block where others wait at the same line, and waits until
    /// it is complete. False, if the case differs or more than a wait is needed.
    #[inline(always)]
    fn wait_like_all(&self, thread: &Thread, name: BarrierId, site: CallSite) -> bool {
        if self.recorder.is_some() || name.0 >= GRID_BARRIER || self.is_unwinding(thread) {
            return false;
        }
        let lane = (
            thread.position.warp as usize,
            thread.lane_bit(),
            self.weight(thread),
        );
        let barrier = self.barriers.get(name.0);
        let waits = barrier.arrive_like_all(lane, self.padded_threads(), site);
        if waits {
            thread.wait_for(Wait::Barrier(name.0), site);
        }
        waits
    }

    /// Arrives at a barrier and waits until it is complete; returns how many
    /// predicates were true.
    fn meet(&self, thread: &Thread, arrival: &Arrival) -> u32 {
        if self.is_unwinding(thread) {
            return 0;
        }
        let barrier = self.open_barrier(thread, arrival);
        let warp = thread.position.warp as usize;
        let weight = self.weight(thread);
        let lane = (warp, thread.lane_bit(), weight);
        let is_complete = barrier.arrive(lane, arrival.predicate, arrival.site);
        self.note_operation(thread, Operation::BlockBarrier, arrival.site);
        self.note_gathered(warp, barrier.waiting(warp));
        if let (BarrierOperation::SynchronizeGrid, Some(grid)) = (arrival.operation, &self.grid) {
            grid.note_arrival(is_complete);
        } else if is_complete {
            self.complete_barrier(thread, arrival, barrier);
            return barrier.result();
        }
        thread.wait_for(Wait::Barrier(arrival.id), arrival.site);
        barrier.result()
    }

    /// Arrives at a barrier without waiting.
    fn arrive_only(&self, thread: &Thread, arrival: &Arrival) {
        if self.is_unwinding(thread) {
            return;
        }
        let barrier = self.open_barrier(thread, arrival);
        let warp = thread.position.warp as usize;
        if let Some(check) = &self.check {
            check.pass_barrier(&thread.position, arrival.id);
        }
        if barrier.pass(warp, thread.lane_bit(), self.weight(thread)) {
            self.complete_barrier(thread, arrival, barrier);
        }
        self.note_operation(thread, Operation::BlockBarrier, arrival.site);
    }

    /// The number of arrivals of the thread. Barriers count whole warps, so lane 0 of a partial
    /// warp also counts for the missing lanes.
    fn weight(&self, thread: &Thread) -> u32 {
        if thread.position.lane == 0 {
            1 + thread.position.warp_width - self.warp_of(thread).existing.count_ones()
        } else {
            1
        }
    }

    /// The barrier, after a check that `arrival` agrees with the earlier ones.
    fn open_barrier(&self, thread: &Thread, arrival: &Arrival) -> &Barrier {
        let is_of_block = arrival.operation != BarrierOperation::SynchronizeGrid;
        if arrival.id >= GRID_BARRIER && is_of_block {
            self.fail_at_barrier(thread, arrival, &Problem::Number);
        }
        let barrier = self.barriers.get(arrival.id);
        let required = self.required_arrivals(thread, arrival);
        if barrier.is_free() {
            barrier.open(required, arrival.operation, arrival.site);
            if required == self.padded_threads() {
                if self.exited_threads.get() != 0 {
                    self.fail_at_barrier(thread, arrival, &Problem::Exited);
                }
                self.barriers.note_waiting_for_all(arrival.id);
            }
        } else {
            if let Some(mismatch) = barrier.mismatch(required, arrival.operation) {
                self.fail_at_barrier(thread, arrival, &Problem::Mismatch(required, mismatch));
            }
            self.check_same_site(thread, arrival, barrier);
        }
        barrier
    }

    fn required_arrivals(&self, thread: &Thread, arrival: &Arrival) -> u32 {
        let all = self.padded_threads();
        let Some(threads) = arrival.threads else {
            return all;
        };
        let width = thread.position.warp_width;
        if threads == 0 || !threads.is_multiple_of(width) || threads > all {
            self.fail_at_barrier(thread, arrival, &Problem::Count(threads));
        }
        threads
    }

    /// The line at which the first of some lanes of a warp waits.
    fn site_of_lane(&self, warp: usize, lanes: u64) -> CallSite {
        let first = self.first_thread_of_warp(warp) + lanes.trailing_zeros() as usize;
        self.threads[first].site.get()
    }

    /// All threads of a block come to the same `__syncthreads()` (CUDA C++ Programming Guide, "Synchronization
    /// Functions": in conditional code "only if the conditional evaluates identically across the entire thread
    /// block"). A GPU pairs barriers at different lines, which is rarely intended. At a barrier for some warps, each
    /// warp may arrive at a line of its own, as producers and consumers do.
    fn check_same_site(&self, thread: &Thread, arrival: &Arrival, barrier: &Barrier) {
        let warp = thread.position.warp as usize;
        let waiting = barrier.waiting(warp);
        if waiting != 0 {
            if !is_same_line(self.site_of_lane(warp, waiting), arrival.site) {
                self.fail_at_barrier(thread, arrival, &Problem::LinesOfWarp);
            }
        } else if arrival.threads.is_none() && !is_same_line(barrier.site(), arrival.site) {
            self.fail_at_barrier(thread, arrival, &Problem::LinesOfBlock);
        }
    }

    /// Ends the launch. Not inlined: the message needs stack, which would lie between the frames of
    /// a waiting thread.
    #[cold]
    #[inline(never)]
    fn fail_at_barrier(&self, thread: &Thread, arrival: &Arrival, problem: &Problem) -> ! {
        let (id, site) = (arrival.id, arrival.site);
        let message = match problem {
            Problem::Number => format!("barrier {id} of a block that has 0 to 15"),
            Problem::Count(threads) => format!(
                "barrier {id} for {threads} threads: the count must be a multiple of the warp \
                 width {}, and at most {}",
                thread.position.warp_width,
                self.padded_threads()
            ),
            Problem::Exited => format!(
                "the thread waits at {} for all threads of the block, but {} of them have exited",
                barrier_name(id),
                self.exited_threads.get()
            ),
            Problem::Mismatch(_, Mismatch::Operation) => {
                format!("one thread synchronizes at barrier {id}, another one reduces over it")
            }
            Problem::Mismatch(required, Mismatch::Required(others)) => {
                format!("barrier {id} for {required} threads, while others wait there for {others}")
            }
            Problem::LinesOfWarp => format!(
                "lanes of one warp are at different lines of {}",
                barrier_name(id)
            ),
            Problem::LinesOfBlock => format!(
                "warps of the block are at different lines of {}, which is for all threads",
                barrier_name(id)
            ),
            Problem::PartOfWarp(warp) => {
                format!("barrier {id} is complete, but only a part of warp {warp} has arrived")
            }
        };
        match problem {
            Problem::Number | Problem::Count(_) => {
                self.fail(thread, DefectKind::InvalidArgument, message, site)
            }
            _ => self.fail_among_others(thread, divergence_at(id), message, site),
        }
    }

    /// Releases the waiting threads. The last thread to arrive just continues.
    fn complete_barrier(&self, thread: &Thread, arrival: &Arrival, barrier: &Barrier) {
        if barrier.required() < self.padded_threads() {
            self.check_whole_warps(thread, arrival, barrier);
        }
        self.order_memory(arrival.id, barrier);
        barrier.complete(thread.position.warp as usize, thread.lane_bit());
        self.release_barrier(arrival.id);
        // Any warp may be the first one past the barrier, not only this one.
        self.turn_is_over.set(true);
        count(&self.counters.barriers);
    }

    /// Orders the earlier accesses of the threads at the barrier before their later ones.
    fn order_memory(&self, id: u32, barrier: &Barrier) {
        let Some(check) = &self.check else { return };
        let is_passed = barrier.is_passed(self.warps.len());
        if barrier.required() == self.padded_threads() && !is_passed {
            return check.after_block_barrier();
        }
        let waiting = || (0..).zip(barrier.waiting_by_warp(self.warps.len()));
        check.after_partial_barrier(waiting());
        if is_passed {
            let lanes = |(warp, mask): (u32, u64)| {
                let first = self.first_thread_of_warp(warp as usize) as u32;
                (0..u64::BITS)
                    .filter(move |lane| mask >> lane & 1 == 1)
                    .map(move |lane| first + lane)
            };
            check.acquire_passed(id, waiting().flat_map(lanes));
        }
    }

    /// A barrier for some warps must not be completed by parts of warps.
    fn check_whole_warps(&self, thread: &Thread, arrival: &Arrival, barrier: &Barrier) {
        let waiting = barrier.arrived_by_warp(self.warps.len());
        let partial = self
            .warps
            .iter()
            .zip(waiting)
            .position(|(warp, waiting)| waiting != 0 && waiting != warp.existing);
        if let Some(warp) = partial {
            self.fail_at_barrier(thread, arrival, &Problem::PartOfWarp(warp));
        }
    }
}
