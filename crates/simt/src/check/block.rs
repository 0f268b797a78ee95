//! The checks of one running block.

use crate::basics::Position;
use crate::check::accessor::Accessor;
use crate::check::asynchronous::layout::Layout;
use crate::check::cells::event::packed::{Stamp, WritesOf};
use crate::check::cells::event::{Event, Time};
use crate::check::cells::reader_sets::ReaderSets;
use crate::check::cells::shared_shadow::{Page, SharedShadow};
use crate::check::clocks::barrier_order::{BarrierOrder, Phases};
use crate::check::clocks::clock::{Joins, SharedClock};
use crate::check::clocks::known_clock::KnownClock;
use crate::check::clocks::thread_clocks::ThreadClocks;
use crate::check::fast_paths::recent_regions::Nearby;
use crate::check::fast_paths::recent_steps::RecentSteps;
use crate::check::global::{Conditions, LaunchCheck};
use crate::check::reports::findings::Findings;
use crate::check::weak_memory::announced::Announced;
use crate::check::weak_memory::published::Published;
use crate::check::weak_memory::stale_loads::StaleLoads;
use crate::memory::{OutOfMemory, try_collect};
use std::cell::{Cell, RefCell, RefMut};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The checks of one running block.
pub(crate) struct BlockCheck {
    pub(super) launch: Arc<LaunchCheck>,
    pub(super) block: u32,
    pub(super) warp_width: u32,
    pub(super) now: Cell<Time>,
    /// The block and this moment, if events of its accesses are recorded and fit in a word.
    pub(super) stamp: Cell<Option<Stamp>>,
    /// Whether its accesses are no longer checked.
    pub(super) is_abandoned: Cell<bool>,
    /// The writes of its threads.
    pub(super) writes: Cell<WritesOf>,
    /// The last barrier of the whole block.
    pub(super) block_barrier: Cell<Time>,
    /// The last barrier of each whole warp.
    pub(super) warp_barriers: Vec<Cell<Time>>,
    pub(super) clocks: ThreadClocks,
    /// Whether the state of any thread holds a clock.
    pub(super) has_clocks: Cell<bool>,
    pub(super) joins: RefCell<Joins>,
    /// The releases of the words of shared memory.
    pub(super) published: Published,
    pub(super) stale_loads: StaleLoads,
    /// The accesses before the last sequentially consistent fences of the block's threads.
    pub(super) fences: RefCell<SharedClock>,
    /// The last access of its shared memory by each thread of other blocks.
    pub(super) remote: RefCell<BTreeMap<(u32, u16), Event>>,
    /// By barrier of the block: the order that arrivals without a wait pass on.
    pub(super) passed: RefCell<BTreeMap<u32, BarrierOrder>>,
    /// The tiles that bulk copies have written.
    pub(super) layouts: RefCell<Vec<Layout>>,
    /// The order that the mbarriers pass on, by number.
    pub(super) phases: RefCell<Vec<Phases>>,
    /// For each thread, its last announced atomic access.
    pub(super) announced: Vec<Cell<Announced>>,
    /// For each thread, the number of its atomic operations on words with a history.
    pub(super) operations: Vec<Cell<u32>>,
    /// The thread whose load has returned a later store, while that may matter to it.
    pub(super) ahead: Cell<Option<u16>>,
    pub(super) nearby: RefCell<Nearby>,
    pub(super) shared: RefCell<SharedShadow>,
    /// The running thread's steps between sets of reads, while it has no clock.
    pub(super) recent: RecentSteps,
}

impl BlockCheck {
    /// For blocks of `threads` threads.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for the threads' state.
    pub fn new(threads: u32, warp_width: u32) -> Result<Self, OutOfMemory> {
        let warps = threads.div_ceil(warp_width);
        Ok(Self {
            launch: Arc::new(LaunchCheck::new(Findings::default(), Conditions::default())),
            block: 0,
            warp_width,
            now: Cell::new(1),
            stamp: Cell::new(None),
            is_abandoned: Cell::new(false),
            writes: Cell::new(WritesOf::NO_BLOCK),
            block_barrier: Cell::new(0),
            warp_barriers: try_collect((0..warps).map(|_| Cell::new(0)))?,
            clocks: ThreadClocks::new(threads)?,
            has_clocks: Cell::new(false),
            joins: RefCell::default(),
            published: Published::default(),
            stale_loads: StaleLoads::default(),
            fences: RefCell::default(),
            phases: RefCell::default(),
            passed: RefCell::default(),
            remote: RefCell::default(),
            layouts: RefCell::default(),
            announced: try_collect((0..threads).map(|_| Cell::new(Announced::UPDATE)))?,
            operations: try_collect((0..threads).map(|_| Cell::new(0)))?,
            ahead: Cell::new(None),
            nearby: RefCell::default(),
            shared: RefCell::default(),
            recent: RecentSteps::none(),
        })
    }

    /// Makes this the state of block number `index`.
    pub fn begin(&mut self, launch: &Arc<LaunchCheck>, index: u64) {
        if !Arc::ptr_eq(&self.launch, launch) {
            self.launch = Arc::clone(launch);
            self.nearby.get_mut().clear();
        }
        self.block = index as u32;
        self.writes.set(WritesOf::block(self.block));
        self.shared.get_mut().begin_block();
        self.is_abandoned.set(false);
        self.set_now(1);
        self.block_barrier.set(0);
        self.warp_barriers.iter().for_each(|time| time.set(0));
        self.stale_loads = StaleLoads::new(launch.conditions.stale_loads, index);
        if self.stale_loads.are_on() {
            self.operations.iter().for_each(|count| count.set(0));
            self.ahead.set(None);
        }
        self.forget_clocks();
    }

    /// Stops the checks of this block: accesses leave the fastest path, and others are dropped earlier.
    pub fn abandon(&self) {
        self.nearby.borrow_mut().forget_cells();
        self.is_abandoned.set(true);
        self.stamp.set(None);
        self.recent.forget();
    }

    /// Another thread of the block runs.
    #[inline]
    pub fn begin_turn(&self) {
        self.recent.forget();
    }

    /// The recent steps of the running thread. While it runs, and nothing interferes with its accesses, it may repeat
    /// their loads without the full checks.
    pub fn recent(&self) -> &RecentSteps {
        &self.recent
    }

    /// The state of a thread holds a clock from now on.
    pub(super) fn note_clocks(&self) {
        self.has_clocks.set(true);
        self.recent.forget();
    }

    /// Drops the threads' clocks, which other blocks share.
    pub fn forget_clocks(&mut self) {
        self.phases.get_mut().clear();
        self.passed.get_mut().clear();
        self.remote.get_mut().clear();
        self.layouts.get_mut().clear();
        self.published.clear();
        self.fences.take();
        self.joins.take();
        if self.has_clocks.replace(false) {
            self.clocks.clear();
        }
    }

    /// This moment.
    #[inline]
    pub(super) fn now(&self) -> Time {
        self.now.get()
    }

    /// This moment. All later events have a later time.
    pub(super) fn tick(&self) -> Time {
        let now = self.now.get();
        self.set_now(now + 1);
        now
    }

    fn set_now(&self, now: Time) {
        self.now.set(now);
        self.recent.forget();
        if !self.is_abandoned.get() {
            self.stamp.set(Stamp::of(self.block, now));
        }
    }

    /// Calls `action` with the thread at `position` as an accessor.
    #[inline]
    pub(super) fn with_accessor<R>(
        &self,
        position: &Position,
        action: impl FnOnce(&Accessor<'_>) -> R,
    ) -> R {
        let first = position.warp * self.warp_width;
        let number = first + position.lane;
        let has_clocks = self.has_clocks.get();
        let clocks = has_clocks.then(|| self.clocks.of(number as usize));
        let clock = clocks.as_ref().and_then(|clocks| clocks.ordered.as_deref());
        action(&Accessor {
            block: self.block,
            thread: number as u16,
            warp: first as u16..(first + self.warp_width) as u16,
            block_barrier: self.block_barrier.get(),
            warp_barrier: self.warp_barriers[position.warp as usize].get(),
            clock: KnownClock::new(clock),
            clusters: &self.launch.conditions.clusters,
        })
    }

    /// Calls `action` with a page of the shadow of shared memory, and the reads of its cells.
    #[inline]
    pub(super) fn with_shared_page<R>(
        &self,
        number: usize,
        action: impl FnOnce(Page<'_>, &mut ReaderSets) -> R,
    ) -> Result<R, OutOfMemory> {
        let mut shared = self.shared_with_room()?;
        let (page, sets) = shared.page(number)?;
        Ok(action(page, sets))
    }

    /// The shadow of shared memory, after unused sets of reads are forgotten if there are too many.
    #[inline]
    pub(super) fn shared_with_room(&self) -> Result<RefMut<'_, SharedShadow>, OutOfMemory> {
        let mut shared = self.shared.borrow_mut();
        shared.note_found(self.recent.take_found());
        if shared.is_full() {
            self.recent.forget();
            shared.collect_sets()?;
        }
        Ok(shared)
    }
}
