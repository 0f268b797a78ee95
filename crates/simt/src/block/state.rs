//! The state of one running block: its warps, its threads, and their waits.
//!
//! The coroutines of one block share it, and all run on one host thread. So it consists of cells rather than locks.

use super::cluster::Cluster;
use super::thread::Thread;
use super::warp::{Warp, low_bits};
use crate::basics::{DefectKind, Dim3, Finding, Position, ViewName};
use crate::check::BlockCheck;
use crate::count::Recorder;
use crate::device::Profile;
use crate::launch::{Launch, LowestDefect, Output};
use crate::memory::{OutOfMemory, try_collect};
use crate::state::{
    Barriers, Engine, Grid, Mbarriers, Preemption, ProductQueue, Registers, ResolvedStatics,
    SharedMemory, WARPS, Watched, Yields,
};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A block's counters for the [`Report`](crate::Report).
#[derive(Default)]
pub(crate) struct Counters {
    pub barriers: Cell<u64>,
    pub warp_collectives: Cell<u64>,
    pub async_copies: Cell<u64>,
}

/// Events in turns of a block, from which interleaved blocks choose the next one.
#[derive(Default)]
pub(crate) struct TurnNotes {
    /// A thread was switched.
    pub preempted: Cell<bool>,
    /// A thread has yielded.
    pub yielded: Cell<bool>,
}

/// Adds one to a counter.
#[inline]
pub(crate) fn count(counter: &Cell<u64>) {
    counter.set(counter.get() + 1);
}

/// One running block. A worker keeps it for all blocks of a launch.
pub(crate) struct Block {
    pub threads: Vec<Thread>,
    pub warps: Vec<Warp>,
    warp_width: u32,
    /// Bit `w`: warp `w` has a ready lane.
    pub ready_warps: Cell<u64>,
    /// Bit `w`: warp `w` has a switched lane, which is held back.
    pub held_warps: Cell<u64>,
    pub exited_threads: Cell<u32>,
    pub barriers: Barriers,
    pub mbarriers: Mbarriers,
    /// The bulk copies that its threads have issued.
    pub engine: Engine,
    /// Whether the block has used the asynchronous machine: most do not.
    pub uses_machine: Cell<bool>,
    /// Whether copies or products may be in flight.
    pub may_be_in_flight: Cell<bool>,
    /// The products of each warpgroup.
    pub products: Vec<ProductQueue>,
    pub registers: Registers,
    /// The cluster (which may be this block alone) and the block's rank in it.
    pub cluster: Rc<Cluster<Block>>,
    pub rank: Cell<u32>,
    /// Some in a cooperative launch.
    pub grid: Option<Rc<Grid>>,
    pub shared: SharedMemory,
    pub statics: ResolvedStatics,
    pub output: Arc<Output>,
    /// The defect of the launch's lowest block that has one.
    pub lowest_defect: Arc<LowestDefect>,
    /// The kernel's parameters that are views.
    pub views: Arc<[ViewName]>,
    /// Whether the threads must wait for the earlier launches.
    pub is_dependent: bool,
    pub counters: Counters,
    /// The checks; none in an unchecked launch.
    pub check: Option<BlockCheck>,
    /// The counters; none in a launch that does not count.
    pub recorder: Option<Recorder>,
    /// Set by the running thread to end its warp's turn.
    pub turn_is_over: Cell<bool>,
    /// The schedule of switches in the middle of a turn.
    pub preemption: Preemption,
    /// Events that have ended turns since the runner last looked.
    pub turn_notes: TurnNotes,
    /// The watchdog's record of the worker that runs the block.
    pub watched: Arc<Watched>,
    pub(super) finding: RefCell<Option<Finding>>,
    abandoned: Cell<bool>,
    pub yields: Yields,
    /// The device that the launch simulates.
    pub profile: Profile,
    stack_bytes: usize,
    time_limit: Option<Duration>,
}

impl Block {
    /// A block for the launch, with no threads waiting anywhere.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for its threads or its shared memory.
    pub fn new(launch: &Launch<'_>, watched: &Arc<Watched>) -> Result<Self, OutOfMemory> {
        let threads = launch.block.count() as u32;
        let options = launch.options;
        let width = options.warp_width;
        let position =
            |thread: u32| Position::in_first_block(launch.grid, launch.block, width, thread);
        let lanes = |warp: u32| (threads - warp * width).min(width);
        let warps = threads.div_ceil(width);
        Ok(Self {
            threads: try_collect((0..threads).map(|thread| Thread::new(position(thread))))?,
            warps: try_collect((0..warps).map(|warp| Warp::new(lanes(warp))))?,
            warp_width: width,
            ready_warps: Cell::new(0),
            held_warps: Cell::new(0),
            exited_threads: Cell::new(0),
            barriers: Barriers::default(),
            mbarriers: Mbarriers::default(),
            engine: Engine::default(),
            uses_machine: Cell::new(true),
            may_be_in_flight: Cell::new(false),
            products: try_collect(
                (0..warps.div_ceil(WARPS as u32)).map(|_| ProductQueue::default()),
            )?,
            registers: Registers::new(warps, width, launch.thread_registers),
            cluster: Rc::new(Cluster::new(launch.cluster)),
            rank: Cell::new(0),
            grid: None,
            shared: SharedMemory::new(launch.dynamic_shared_bytes, launch.max_shared_bytes())?,
            statics: ResolvedStatics::default(),
            output: Arc::default(),
            lowest_defect: Arc::default(),
            views: Arc::default(),
            is_dependent: false,
            counters: Counters::default(),
            check: match options.checks {
                true => Some(BlockCheck::new(threads, width)?),
                false => None,
            },
            recorder: options.counters.then(|| Recorder::new(width)),
            turn_is_over: Cell::new(false),
            preemption: Preemption::default(),
            turn_notes: TurnNotes::default(),
            watched: Arc::clone(watched),
            finding: RefCell::new(None),
            abandoned: Cell::new(false),
            yields: Yields::new(options.yield_limit, options.parallel_blocks),
            profile: options.profile,
            stack_bytes: options.stack_bytes,
            time_limit: options.time_limit,
        })
    }

    /// Starts the block `block_idx` here; none of its threads has started.
    pub fn begin(&mut self, block_idx: Dim3) {
        for thread in &mut self.threads {
            thread.position.block_idx = block_idx;
            thread.begin();
        }
        self.warps.iter_mut().for_each(Warp::begin);
        self.ready_warps.set(low_bits(self.warps.len() as u32));
        self.held_warps.set(0);
        self.exited_threads.set(0);
        self.turn_notes = TurnNotes::default();
        self.barriers.clear();
        if self.uses_machine.replace(false) {
            self.begin_machine();
        }
        let dim = self.cluster.dim;
        let within = (
            block_idx.x % dim.x,
            block_idx.y % dim.y,
            block_idx.z % dim.z,
        );
        self.rank
            .set(within.0 + dim.x * (within.1 + dim.y * within.2));
        self.shared.begin_block();
        self.counters = Counters::default();
        if let Some(recorder) = &self.recorder {
            recorder.begin(self.warps.iter().map(|warp| warp.existing));
        }
        self.finding.take();
        self.abandoned.set(false);
        self.yields.clear();
    }

    /// Resets the asynchronous machine, which the block has not used yet.
    #[cold]
    fn begin_machine(&mut self) {
        self.mbarriers.clear();
        self.engine.clear();
        self.may_be_in_flight.set(false);
        self.products.iter_mut().for_each(ProductQueue::clear);
        self.registers.begin();
        self.threads.iter_mut().for_each(Thread::begin_machine);
        self.cluster.begin_barrier();
    }

    #[inline]
    pub fn warp_of(&self, thread: &Thread) -> &Warp {
        &self.warps[thread.position.warp as usize]
    }

    /// The index in `threads` of the first lane of warp `warp`.
    pub fn first_thread_of_warp(&self, warp: usize) -> usize {
        warp * self.warp_width as usize
    }

    /// The number of threads if the last warp were full.
    pub fn padded_threads(&self) -> u32 {
        self.warps.len() as u32 * self.warp_width
    }

    /// The checks, if nothing else observes accesses.
    pub fn unhindered_checks(&self) -> Option<&BlockCheck> {
        let is_hindered = self.is_dependent || self.preemption.is_on() || self.is_abandoned();
        self.check.as_ref().filter(|_| !is_hindered)
    }

    /// Whether the block is being torn down after a finding.
    #[inline]
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.get()
    }

    /// Whether `thread`, the running one, unwinds: then a destructor calls this before a wait, must
    /// not wait, and continues with made-up results. In an abandoned block, a thread that does not
    /// unwind, because kernel code has caught its panic or its unwinding, is cut off.
    #[inline]
    pub fn is_unwinding(&self, thread: &Thread) -> bool {
        (self.is_abandoned() || std::thread::panicking()) && self.unwinds_or_is_cut_off(thread)
    }

    #[cold]
    fn unwinds_or_is_cut_off(&self, thread: &Thread) -> bool {
        if !std::thread::panicking() {
            thread.confinement.cut_off();
        }
        // While a thread unwinds, no other may run on its host thread: the standard library would
        // take it for unwinding, too. So no thread can wait for this one any more.
        if !self.is_abandoned() {
            let message =
                "the thread calls an instruction while it panics: where the panic's message is \
                           formatted, or in a destructor after `resume_unwind`"
                    .to_owned();
            self.record(Finding::of(&thread.position, DefectKind::Panic, message));
        }
        true
    }

    /// Ends the block without a finding of its own, because another block has one.
    pub fn abandon(&self) {
        self.abandoned.set(true);
        if let Some(check) = &self.check {
            check.abandon();
        }
    }

    /// Ends the block with a finding; the first one counts.
    #[cold]
    pub fn record(&self, finding: Finding) {
        self.finding.borrow_mut().get_or_insert(finding);
        // The threads get a full time limit to unwind.
        self.watched.note_progress();
        self.abandon();
    }

    pub fn take_finding(&self) -> Option<Finding> {
        self.finding.take()
    }

    /// Makes lanes of a warp runnable again, in the warp's next or current turn.
    #[inline]
    pub fn make_ready(&self, warp: usize, lanes: u64) {
        let ready = &self.warps[warp].ready;
        ready.set(ready.get() | lanes);
        self.ready_warps.set(self.ready_warps.get() | 1 << warp);
    }

    /// Holds back a runnable lane of a warp.
    pub fn hold(&self, warp: usize, lane_bit: u64) {
        let held = &self.warps[warp].held;
        held.set(held.get() | lane_bit);
        self.held_warps.set(self.held_warps.get() | 1 << warp);
    }

    /// Makes the held-back lane `lane` of a warp runnable.
    pub fn release_held(&self, warp: usize, lane: u32) {
        let held = &self.warps[warp].held;
        held.set(held.get() & !(1 << lane));
        if held.get() == 0 {
            self.held_warps.set(self.held_warps.get() & !(1 << warp));
        }
        self.make_ready(warp, 1 << lane);
    }

    /// Whether no thread can run.
    pub fn is_at_rest(&self) -> bool {
        self.ready_warps.get() | self.held_warps.get() == 0
    }

    /// Whether all threads have exited.
    pub fn has_ended(&self) -> bool {
        self.exited_threads.get() as usize == self.threads.len()
    }

    /// Releases the threads at barrier `id`, which can then be used again.
    pub fn release_barrier(&self, id: u32) {
        let warps = self.warps.len();
        self.barriers
            .release(id, warps, |warp, lanes| self.make_ready(warp, lanes));
        self.note_progress();
    }

    /// Notes progress of a thread: spinning threads may now see a change.
    #[inline]
    pub fn note_progress(&self) {
        self.yields.note_progress(&self.watched);
    }

    /// The stack of each thread, in bytes.
    pub fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }

    /// The block's time limit.
    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }
}
