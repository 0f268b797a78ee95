//! The state of one running block: its warps, its threads, what they wait for.
//!
//! Everything here is shared by the coroutines of one block, and all of them
//! run on one host thread: so it is made of cells, not of locks.

use crate::Dim3;
use crate::async_copy::CopyQueue;
use crate::barrier::Barriers;
use crate::check::BlockCheck;
use crate::collective::Collectives;
use crate::confine::Confinement;
use crate::cooperative::Grid;
use crate::count::Recorder;
use crate::current::Position;
use crate::defect::{DefectKind, Finding};
use crate::launch::Launch;
use crate::shared::SharedMemory;
use crate::statics::FoundStatics;
use crate::watchdog::Watched;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a thread does while it is not running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// Nothing: it runs, or it will run at its warp's next turn.
    Nothing,
    /// It waits at the block barrier of this number.
    Barrier(u32),
    /// It waits for the lanes of a warp-wide operation.
    Collective { kind: &'static str, mask: u64 },
    /// It waits for the lanes of its warp that are at the same line.
    Converge,
    /// It lets other warps run.
    Yield,
    /// It has returned from the kernel.
    Exited,
}

/// One simulated thread.
pub(crate) struct Thread {
    pub position: Position,
    pub confinement: Confinement,
    pub wait: Cell<Wait>,
    /// The kernel line of the last instruction that had to wait.
    pub site: Cell<&'static Location<'static>>,
    pub copies: RefCell<CopyQueue>,
}

impl Thread {
    fn new(position: Position) -> Self {
        Self {
            position,
            confinement: Confinement::new(),
            wait: Cell::new(Wait::Nothing),
            site: Cell::new(Location::caller()),
            copies: RefCell::default(),
        }
    }

    /// This thread's bit in the masks of its warp.
    #[inline]
    pub fn lane_bit(&self) -> u64 {
        1 << self.position.lane
    }

    /// Suspends the thread, which must be the running one, for `wait`. Whoever
    /// ends the wait puts it back among the ready lanes of its warp.
    #[inline]
    pub fn wait_for(&self, wait: Wait, site: &'static Location<'static>) {
        self.site.set(site);
        self.wait.set(wait);
        self.confinement.suspend();
        self.wait.set(Wait::Nothing);
    }
}

/// The lanes that are scheduled together.
pub(crate) struct Warp {
    /// The lanes that exist: the last warp of a block may have fewer.
    pub existing: u64,
    /// Lanes that have returned from the kernel.
    pub exited: Cell<u64>,
    /// Lanes that can run.
    pub ready: Cell<u64>,
    /// Lanes that can run at the warp's next turn.
    pub yielded: Cell<u64>,
    /// Lanes that wait for those at the same line.
    pub converging: Cell<u64>,
    /// The lanes that were together last.
    pub converged: Cell<u64>,
    pub collectives: Collectives,
}

impl Warp {
    /// Lanes that exist and have not exited.
    pub fn active(&self) -> u64 {
        self.existing & !self.exited.get()
    }
}

/// What a block counts for the [`Report`](crate::Report).
#[derive(Default)]
pub(crate) struct Counters {
    pub barriers: Cell<u64>,
    pub warp_collectives: Cell<u64>,
    pub async_copies: Cell<u64>,
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
    pub exited_threads: Cell<u32>,
    pub barriers: Barriers,
    /// There in a cooperative launch.
    pub grid: Option<Rc<Grid>>,
    pub shared: SharedMemory,
    pub statics: FoundStatics,
    pub counters: Counters,
    /// None when the launch is not checked.
    pub check: Option<BlockCheck>,
    /// There where the launch counts.
    pub recorder: Option<Recorder>,
    /// Set by the running thread to make its warp's turn end.
    pub turn_is_over: Cell<bool>,
    /// How the watchdog sees the worker that runs the block.
    pub watched: Arc<Watched>,
    finding: RefCell<Option<Finding>>,
    abandoned: Cell<bool>,
    /// Yields since anything else happened in the block.
    idle_yields: Cell<u64>,
    yield_limit: u64,
    stack_bytes: usize,
    time_limit: Option<Duration>,
    sleeps_when_idle: bool,
}

/// After so many idle yields in a row, a spinning block makes room for others.
const YIELDS_BEFORE_SLEEP: u64 = 1 << 14;
/// Every so many further yields it sleeps once more.
const YIELDS_PER_SLEEP: u64 = 256;
/// For so long: short against a block, long against a yield.
const SLEEP: Duration = Duration::from_micros(50);

impl Block {
    /// A block for the launch, with no threads waiting anywhere.
    pub fn new(launch: &Launch<'_>, watched: &Arc<Watched>) -> Self {
        let threads = launch.block.count() as u32;
        let width = launch.options.warp_width;
        Self {
            threads: (0..threads)
                .map(|index| Thread::new(first_position(launch, index)))
                .collect(),
            warps: (0..threads.div_ceil(width))
                .map(|warp| new_warp((threads - warp * width).min(width)))
                .collect(),
            warp_width: width,
            ready_warps: Cell::new(0),
            exited_threads: Cell::new(0),
            barriers: Barriers::default(),
            grid: None,
            shared: SharedMemory::new(launch.dynamic_shared_bytes),
            statics: FoundStatics::default(),
            counters: Counters::default(),
            check: launch
                .options
                .checks
                .then(|| BlockCheck::new(threads, width)),
            recorder: launch.options.counters.then(|| Recorder::new(width)),
            turn_is_over: Cell::new(false),
            watched: Arc::clone(watched),
            finding: RefCell::new(None),
            abandoned: Cell::new(false),
            idle_yields: Cell::new(0),
            yield_limit: launch.options.yield_limit,
            stack_bytes: launch.options.stack_bytes,
            time_limit: launch.options.time_limit,
            sleeps_when_idle: launch.options.parallel_blocks,
        }
    }

    /// Makes this the block of index `block_idx`, with no thread started yet.
    pub fn begin(&mut self, block_idx: Dim3) {
        for thread in &mut self.threads {
            thread.position.block_idx = block_idx;
            thread.wait.set(Wait::Nothing);
            thread.copies.get_mut().clear();
        }
        for warp in &mut self.warps {
            warp.ready.set(warp.existing);
            warp.exited.set(0);
            warp.yielded.set(0);
            warp.converging.set(0);
            warp.collectives.clear();
        }
        self.ready_warps.set(low_bits(self.warps.len() as u32));
        self.exited_threads.set(0);
        self.barriers.clear();
        self.shared.begin_block();
        self.counters = Counters::default();
        if let Some(recorder) = &self.recorder {
            recorder.begin(self.warps.iter().map(|warp| warp.existing));
        }
        self.finding.take();
        self.abandoned.set(false);
        self.idle_yields.set(0);
    }

    #[inline]
    pub fn warp_of(&self, thread: &Thread) -> &Warp {
        &self.warps[thread.position.warp as usize]
    }

    /// The index in `threads` of the first lane of warp `warp`.
    pub fn first_thread_of_warp(&self, warp: usize) -> usize {
        warp * self.warp_width as usize
    }

    /// How many threads the block would have if its last warp were full.
    pub fn padded_threads(&self) -> u32 {
        self.warps.len() as u32 * self.warp_width
    }

    /// Whether the block is being torn down after a finding.
    #[inline]
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.get()
    }

    /// Asked by `thread`, the running one, before it waits. True: the thread unwinds, and a
    /// destructor asks; it must not wait for anybody, and goes on with made-up results. A thread
    /// of an abandoned block that does not unwind, because kernel code has caught its panic or its
    /// unwinding, is cut off.
    #[inline]
    pub fn is_unwinding(&self, thread: &Thread) -> bool {
        (self.is_abandoned() || std::thread::panicking()) && self.unwinds_or_is_cut_off(thread)
    }

    #[cold]
    fn unwinds_or_is_cut_off(&self, thread: &Thread) -> bool {
        if !std::thread::panicking() {
            thread.confinement.cut_off();
        }
        // While a thread unwinds, no other one must run on its host thread: the standard library
        // would take that one for unwinding, too. So nobody can wait for this thread any more.
        if !self.is_abandoned() {
            self.record(Finding {
                kind: DefectKind::Panic,
                message: "the thread unwinds by `resume_unwind`, and its destructors call \
                          instructions"
                    .to_owned(),
                location: None,
                thread: Some(thread.position.thread_idx),
                related: Vec::new(),
            });
        }
        true
    }

    /// Ends the block without a finding, because another block has one.
    pub fn abandon(&self) {
        self.abandoned.set(true);
    }

    /// Ends the block with a finding; the first one counts.
    #[cold]
    pub fn record(&self, finding: Finding) {
        self.finding.borrow_mut().get_or_insert(finding);
        self.abandoned.set(true);
    }

    pub fn take_finding(&self) -> Option<Finding> {
        self.finding.take()
    }

    /// Makes lanes of a warp runnable again, at the warp's next turn or in the
    /// turn that is going on.
    #[inline]
    pub fn make_ready(&self, warp: usize, lanes: u64) {
        let ready = &self.warps[warp].ready;
        ready.set(ready.get() | lanes);
        self.ready_warps.set(self.ready_warps.get() | 1 << warp);
    }

    /// Some thread got further: spinning threads may have something to see.
    #[inline]
    pub fn note_progress(&self) {
        if self.idle_yields.replace(0) >= YIELDS_BEFORE_SLEEP {
            self.watched.set_idle(false);
        }
    }

    pub fn yield_limit(&self) -> u64 {
        self.yield_limit
    }

    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    pub fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }

    /// Counts one yield; false when the block has used up its limit.
    pub fn may_yield_again(&self) -> bool {
        let yields = self.idle_yields.get() + 1;
        self.idle_yields.set(yields);
        if yields == YIELDS_BEFORE_SLEEP {
            self.watched.set_idle(true);
        }
        if self.sleeps_when_idle
            && yields > YIELDS_BEFORE_SLEEP
            && yields.is_multiple_of(YIELDS_PER_SLEEP)
        {
            let begin = Instant::now();
            std::thread::sleep(SLEEP);
            self.watched.note_slept(begin.elapsed());
        }
        yields <= self.yield_limit
    }
}

fn first_position(launch: &Launch<'_>, index: u32) -> Position {
    let width = launch.options.warp_width;
    Position {
        thread_idx: launch.block.index_of(u64::from(index)),
        block_idx: Dim3::new(0, 0, 0),
        block_dim: launch.block,
        grid_dim: launch.grid,
        lane: index % width,
        warp: index / width,
        warp_width: width,
    }
}

fn new_warp(lanes: u32) -> Warp {
    Warp {
        existing: low_bits(lanes),
        exited: Cell::new(0),
        ready: Cell::new(0),
        yielded: Cell::new(0),
        converging: Cell::new(0),
        converged: Cell::new(0),
        collectives: Collectives::default(),
    }
}

/// A mask of the `count` lowest bits; `count` is 1 to 64.
pub(crate) fn low_bits(count: u32) -> u64 {
    u64::MAX >> (64 - count)
}
