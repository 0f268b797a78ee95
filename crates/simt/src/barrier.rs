//! Block barriers: `bar.sync` and `bar.red` of the PTX ISA (section "Parallel
//! Synchronization and Communication Instructions: bar, barrier").

use crate::block::{Block, Thread, Wait, count as add_one};
use crate::cooperative::Grid;
use crate::count;
use crate::current::instruction;
use crate::defect::DefectKind;
use std::cell::Cell;
use std::panic::Location;
use std::ptr;

/// Which of the 16 barriers of a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BarrierId(
    /// 0 to 15.
    pub u32,
);

/// How many barriers a block has (PTX ISA).
const BARRIERS: usize = 16;
/// Behind them is the place where a block gathers for the barrier of the grid.
const GRID_BARRIER: u32 = BARRIERS as u32;
/// The most warps that a block can have: 1024 threads of 32-wide warps.
const MAX_WARPS: usize = 32;

/// What the threads do when they meet. Two instructions never share a meeting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operation {
    Synchronize,
    CountTrue,
    MeetGrid,
}

/// A barrier's name in reports.
pub(crate) fn barrier_name(id: u32) -> String {
    match id {
        GRID_BARRIER => "the grid barrier".to_owned(),
        id => format!("barrier {id}"),
    }
}

/// Which rule is broken where not all reach a barrier.
pub(crate) fn divergence_at(id: u32) -> DefectKind {
    match id {
        GRID_BARRIER => DefectKind::GridBarrierDivergence,
        _ => DefectKind::BarrierDivergence,
    }
}

impl Wait {
    /// Whether it is for all threads of the grid.
    pub fn is_for_grid(self) -> bool {
        self == Self::Barrier(GRID_BARRIER)
    }
}

/// One barrier of a block.
struct Barrier {
    /// Arrivals in the meeting that is going on; 0 when there is none.
    arrived: Cell<u32>,
    /// Arrivals that complete the meeting.
    required: Cell<u32>,
    operation: Cell<Operation>,
    /// Arrivals whose predicate was true.
    trues: Cell<u32>,
    /// `trues` of the last complete meeting.
    result: Cell<u32>,
    /// Waiting lanes, warp by warp.
    waiting: [Cell<u64>; MAX_WARPS],
}

/// All barriers of a block.
pub(crate) struct Barriers {
    barriers: [Barrier; BARRIERS + 1],
    /// Bit `i`: somebody waits at barrier `i` for every thread of the block.
    waiting_for_all: Cell<u32>,
}

impl Default for Barriers {
    fn default() -> Self {
        Self {
            barriers: std::array::from_fn(|_| Barrier {
                arrived: Cell::new(0),
                required: Cell::new(0),
                operation: Cell::new(Operation::Synchronize),
                trues: Cell::new(0),
                result: Cell::new(0),
                waiting: std::array::from_fn(|_| Cell::new(0)),
            }),
            waiting_for_all: Cell::new(0),
        }
    }
}

impl Barriers {
    /// Forgets all arrivals.
    pub fn clear(&mut self) {
        self.waiting_for_all.set(0);
        for barrier in &mut self.barriers {
            if barrier.arrived.replace(0) != 0 {
                barrier.waiting.iter().for_each(|lanes| lanes.set(0));
            }
            barrier.trues.set(0);
        }
    }

    /// The lowest barrier at which somebody waits for every thread of the block.
    pub fn first_waiting_for_all(&self) -> Option<u32> {
        let waiting = self.waiting_for_all.get();
        (waiting != 0).then(|| waiting.trailing_zeros())
    }
}

/// Waits at a barrier until `threads` threads have arrived, or all threads of
/// the block when `threads` is none.
///
/// `threads` must be a multiple of the warp width; whole warps arrive. All
/// lanes of a warp must arrive at the same source line.
///
/// An exited thread does not count as arrived: a barrier for the whole block
/// that some thread has missed ends the launch.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn block_barrier(name: BarrierId, threads: Option<u32>) {
    let site = Location::caller();
    instruction(site, |thread, block| {
        block.meet(
            thread,
            Arrival {
                id: name.0,
                threads,
                operation: Operation::Synchronize,
                predicate: false,
                site,
            },
        )
    });
}

/// Waits for all threads of the block at barrier 0; returns, to each of them,
/// for how many `predicate` was true.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn block_barrier_reduce(predicate: bool) -> u32 {
    let site = Location::caller();
    instruction(site, |thread, block| {
        block.meet(
            thread,
            Arrival {
                id: 0,
                threads: None,
                operation: Operation::CountTrue,
                predicate,
                site,
            },
        )
    })
}

/// One thread's arrival at a barrier.
struct Arrival {
    id: u32,
    threads: Option<u32>,
    operation: Operation,
    predicate: bool,
    site: &'static Location<'static>,
}

impl Block {
    /// Joins the meeting at a barrier and waits for its end; returns how many
    /// predicates were true.
    fn meet(&self, thread: &Thread, arrival: Arrival) -> u32 {
        if self.is_unwinding(thread) {
            return 0;
        }
        let barrier = self.open_meeting(thread, &arrival);
        let arrived = barrier.arrived.get() + self.weight(thread);
        let trues = barrier.trues.get() + u32::from(arrival.predicate);
        barrier.arrived.set(arrived);
        barrier.trues.set(trues);
        let lanes = &barrier.waiting[thread.position.warp as usize];
        lanes.set(lanes.get() | thread.lane_bit());
        self.note_meeting(thread, count::Operation::BlockBarrier, arrival.site);
        self.note_gathered(thread.position.warp as usize, lanes.get());
        if let Some(grid) = self.grid_of(&arrival) {
            grid.note_arrival(arrived == barrier.required.get());
        } else if arrived == barrier.required.get() {
            self.complete_meeting(thread, &arrival, barrier);
            return trues;
        }
        thread.wait_for(Wait::Barrier(arrival.id), arrival.site);
        barrier.result.get()
    }

    /// How many arrivals the thread stands for: barriers count whole warps, so
    /// lane 0 of a partial warp brings the missing lanes along.
    fn weight(&self, thread: &Thread) -> u32 {
        if thread.position.lane == 0 {
            1 + thread.position.warp_width - self.warp_of(thread).existing.count_ones()
        } else {
            1
        }
    }

    /// The barrier, after the checks that `arrival` fits to those before it.
    fn open_meeting(&self, thread: &Thread, arrival: &Arrival) -> &Barrier {
        if arrival.id >= GRID_BARRIER && arrival.operation != Operation::MeetGrid {
            let message = format!("barrier {} of a block that has 0 to 15", arrival.id);
            self.fail(thread, DefectKind::InvalidArgument, message, arrival.site);
        }
        let barrier = &self.barriers.barriers[arrival.id as usize];
        let required = self.required_arrivals(thread, arrival);
        if barrier.arrived.get() == 0 {
            barrier.required.set(required);
            barrier.operation.set(arrival.operation);
            if required == self.padded_threads() {
                self.check_nobody_exited(thread, arrival);
                let waiting = &self.barriers.waiting_for_all;
                waiting.set(waiting.get() | 1 << arrival.id);
            }
        } else {
            self.check_same_meeting(thread, arrival, barrier, required);
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
            let message = format!(
                "barrier {} for {threads} threads: the count must be a multiple of the warp width {width}, and at most {all}",
                arrival.id
            );
            self.fail(thread, DefectKind::InvalidArgument, message, arrival.site);
        }
        threads
    }

    fn check_nobody_exited(&self, thread: &Thread, arrival: &Arrival) {
        if self.exited_threads.get() == 0 {
            return;
        }
        let message = format!(
            "the thread waits at {} for all threads of the block, but {} of them have exited",
            barrier_name(arrival.id),
            self.exited_threads.get()
        );
        self.fail_divergent(thread, arrival, message);
    }

    fn check_same_meeting(
        &self,
        thread: &Thread,
        arrival: &Arrival,
        barrier: &Barrier,
        required: u32,
    ) {
        let same_count = barrier.required.get() == required;
        if same_count && barrier.operation.get() == arrival.operation {
            return;
        }
        let message = if same_count {
            format!(
                "one thread synchronizes at barrier {}, another one reduces over it",
                arrival.id
            )
        } else {
            format!(
                "barrier {} for {required} threads, while others wait there for {}",
                arrival.id,
                barrier.required.get()
            )
        };
        self.fail_divergent(thread, arrival, message);
    }

    /// `bar.sync` is `barrier.sync.aligned`: all threads of a warp must execute
    /// the same instruction.
    fn check_same_site(&self, thread: &Thread, arrival: &Arrival, barrier: &Barrier) {
        let warp = thread.position.warp as usize;
        let waiting = barrier.waiting[warp].get();
        if waiting == 0 {
            return;
        }
        let first = self.first_thread_of_warp(warp) + waiting.trailing_zeros() as usize;
        let site = self.threads[first].site.get();
        // One line usually has one address; comparing paths is the slow way.
        if !ptr::eq(site, arrival.site) && site != arrival.site {
            let message = format!(
                "lanes of one warp are at different lines of {}",
                barrier_name(arrival.id)
            );
            self.fail_divergent(thread, arrival, message);
        }
    }

    #[cold]
    fn fail_divergent(&self, thread: &Thread, arrival: &Arrival, message: String) -> ! {
        let kind = divergence_at(arrival.id);
        self.fail_among_others(thread, kind, message, arrival.site)
    }

    /// Releases everybody who waits; the last thread to arrive just goes on.
    fn complete_meeting(&self, thread: &Thread, arrival: &Arrival, barrier: &Barrier) {
        if barrier.required.get() < self.padded_threads() {
            self.check_whole_warps(thread, arrival, barrier);
        }
        self.order_memory(barrier);
        barrier.result.set(barrier.trues.replace(0));
        let own_lanes = &barrier.waiting[thread.position.warp as usize];
        own_lanes.set(own_lanes.get() & !thread.lane_bit());
        self.release(arrival.id);
        // Any warp may be the first one behind the barrier, not only this one.
        self.turn_is_over.set(true);
        add_one(&self.counters.barriers);
    }

    /// Lets everybody go on who waits at the barrier, and makes it free for the next meeting.
    fn release(&self, id: u32) {
        let barrier = &self.barriers.barriers[id as usize];
        barrier.arrived.set(0);
        let waiting_for_all = &self.barriers.waiting_for_all;
        waiting_for_all.set(waiting_for_all.get() & !(1 << id));
        for (warp, waiting) in barrier.waiting[..self.warps.len()].iter().enumerate() {
            let lanes = waiting.replace(0);
            if lanes != 0 {
                self.make_ready(warp, lanes);
            }
        }
        self.note_progress();
    }

    /// Waits, as one thread of the block, for all threads of the grid.
    pub fn meet_grid(&self, thread: &Thread, site: &'static Location<'static>) {
        let arrival = Arrival {
            id: GRID_BARRIER,
            threads: None,
            operation: Operation::MeetGrid,
            predicate: false,
            site,
        };
        self.meet(thread, arrival);
    }

    /// The grid, if `arrival` is at its barrier.
    fn grid_of(&self, arrival: &Arrival) -> Option<&Grid> {
        match arrival.operation {
            Operation::MeetGrid => self.grid.as_deref(),
            _ => None,
        }
    }

    /// Lets the threads of the block go on, all of which wait at the barrier of the grid.
    pub fn release_from_grid(&self) {
        self.release(GRID_BARRIER);
    }

    /// What those who have met did before is ordered before what they do next.
    fn order_memory(&self, barrier: &Barrier) {
        let Some(check) = &self.check else { return };
        if barrier.required.get() == self.padded_threads() {
            return check.after_block_barrier();
        }
        let masks = barrier.waiting[..self.warps.len()].iter().zip(0..);
        check.after_partial_barrier(masks.map(|(lanes, warp)| (warp, lanes.get())));
    }

    /// A barrier for some warps must not be completed by parts of warps.
    fn check_whole_warps(&self, thread: &Thread, arrival: &Arrival, barrier: &Barrier) {
        let partial = self
            .warps
            .iter()
            .zip(&barrier.waiting)
            .position(|(warp, waiting)| {
                let waiting = waiting.get();
                waiting != 0 && waiting != warp.existing
            });
        if let Some(warp) = partial {
            let message = format!(
                "barrier {} is complete, but only a part of warp {warp} has arrived",
                arrival.id
            );
            self.fail_divergent(thread, arrival, message);
        }
    }
}
