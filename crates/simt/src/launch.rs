//! A launch: its limits, its blocks, its result.

use crate::Dim3;
use crate::block::Counters;
use crate::check::LaunchCheck;
use crate::count::{BlockCounts, Counting, Counts, MergedCounts};
use crate::defect::{Defect, DefectKind, Finding};
use crate::panic_hook;
use crate::random::{Permutation, SplitMix64};
use crate::scheduler::{BlockEnd, Worker};
use crate::shared::MAX_SHARED_BYTES;
use crate::statics::StaticMemory;
use crate::trap;
use crate::watch::Watch;
use crate::watchdog::Watching;
use crate::workers;
use rayon::prelude::*;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The most threads that a block can have.
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;

/// The most host threads that run blocks at once. Each of them keeps up to 1024
/// stacks of two memory mappings each, and Linux gives a process 65,530.
pub const MAX_WORKERS: usize = 16;

/// Largest extent of a grid and of a block (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
const MAX_GRID: Dim3 = Dim3::new(i32::MAX as u32, 65535, 65535);
const MAX_BLOCK: Dim3 = Dim3::new(1024, 1024, 64);

/// Smallest and largest stack of a simulated thread. A panic needs some KiB to
/// be caught; more than the largest is surely a mistake.
const STACK_BYTES: RangeInclusive<usize> = 16 * 1024..=64 * 1024 * 1024;

/// How a launch is simulated.
#[derive(Clone, Debug)]
pub struct Options {
    /// Lanes of a warp: 32 or 64.
    pub warp_width: u32,
    /// Decides in which order warps run, and blocks when they run one by one.
    pub seed: u64,
    /// True: blocks run on several host threads at once, in no certain order.
    /// False: blocks run one after the other, in the seed's order.
    pub parallel_blocks: bool,
    /// Stack of each simulated thread, in bytes: 16 KiB to 64 MiB; by default
    /// 512 KiB, the most local memory that a GPU gives a thread. Memory is
    /// taken only for pages that the thread touches. A thread that needs more is
    /// reported as [`DefectKind::StackOverflow`].
    pub stack_bytes: usize,
    /// Whether memory is checked: data races, reads of what nobody has written,
    /// asynchronous copies in use. Bounds, alignment, barriers and masks always are.
    pub checks: bool,
    /// How often in a row the threads of a block may yield with nothing else
    /// happening in the block, before that is a deadlock.
    pub yield_limit: u64,
    /// How long a block may run without one of its threads starting or exiting, in processor time
    /// of its host thread; none for no limit. A block that runs for longer ends the launch with
    /// [`DefectKind::TimeLimit`].
    ///
    /// Blocks whose threads only yield may take longer, while another block of the launch is at
    /// work. A thread that blocks its host thread, for example in a lock, takes no time. On systems
    /// other than Linux elapsed time counts, and a loop that calls no checked instruction is not
    /// stopped.
    pub time_limit: Option<Duration>,
    /// Where the launch's kernel has its static arrays.
    pub statics: Arc<StaticMemory>,
    /// Whether the launch is counted, line by line: [`Report::counts`]. It takes several times as
    /// long then.
    pub counters: bool,
}

impl Default for Options {
    /// 32 lanes, seed 0, blocks in parallel, stacks of 512 KiB, all checks, a
    /// time limit of 10 s, no counters, separate static arrays, and yields for
    /// some seconds (blocks one by one) to half a minute (blocks in parallel,
    /// where a spinning block sleeps in between).
    fn default() -> Self {
        Self {
            warp_width: 32,
            seed: 0,
            parallel_blocks: true,
            stack_bytes: 512 * 1024,
            checks: true,
            yield_limit: 1 << 26,
            time_limit: Some(Duration::from_secs(10)),
            statics: Arc::default(),
            counters: false,
        }
    }
}

/// What is launched.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The kernel's name, for reports.
    pub kernel: &'a str,
    /// The extent of the grid, in blocks.
    pub grid: Dim3,
    /// The extent of a block, in threads.
    pub block: Dim3,
    /// Dynamic shared memory of each block, in bytes.
    pub dynamic_shared_bytes: usize,
    /// How to simulate it.
    pub options: &'a Options,
}

/// What a launch has done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Blocks that ran.
    pub blocks: u64,
    /// Threads that ran, over all blocks.
    pub threads: u64,
    /// Block barriers that were completed, over all blocks.
    pub barriers: u64,
    /// Warp-wide operations that were completed, over all warps.
    pub warp_collectives: u64,
    /// Asynchronous copies that were issued, over all threads.
    pub async_copies: u64,
    /// What the launch costs, line by line; none without [`Options::counters`].
    pub counts: Option<Box<Counts>>,
}

/// Simulates a launch: calls `body` once per thread.
///
/// Returns when every thread has exited, or when a defect was found and all
/// threads have been stopped. May be called from several host threads at once.
///
/// # Errors
///
/// The defect of the lowest block that has one. Blocks above it are stopped;
/// blocks below it still run to their end, so that the answer does not depend
/// on how fast the host threads are. When blocks run one by one, the first
/// defect in the seed's order.
pub fn run(launch: &Launch<'_>, body: &(dyn Fn() + Sync)) -> Result<Report, Box<Defect>> {
    simulate(launch, |run| {
        if launch.options.parallel_blocks {
            run.all_in_parallel(body);
        } else {
            run.one_by_one(body);
        }
    })
}

/// Checks the launch, and runs its blocks by `run_blocks` on a host thread of the simulator's.
pub(crate) fn simulate(
    launch: &Launch<'_>,
    run_blocks: impl FnOnce(&Run<'_>) + Send,
) -> Result<Report, Box<Defect>> {
    if crate::is_simulated_thread() {
        crate::fail(
            DefectKind::NestedLaunch,
            format!(
                "kernel `{}` is launched by a thread of a kernel",
                launch.kernel
            ),
        );
    }
    check_limits(launch).map_err(|finding| launch.defect(finding, None))?;
    panic_hook::install();
    trap::install();
    #[cfg(target_os = "linux")]
    crate::fork::install();
    let pool = workers::pool().map_err(|finding| launch.defect(finding, None))?;
    let watching = launch.options.time_limit.map(|_| Watching::begin());
    let _watching = watching.transpose().map_err(|error| {
        let finding = workers::no_threads(&error);
        launch.defect(finding, None)
    })?;
    let _counting = launch.options.counters.then(Counting::begin);
    let _watch = (launch.options.checks || launch.options.counters).then(Watch::begin);
    let run = Run::new(launch);
    waiting_idly(|| pool.install(|| run_blocks(&run)));
    run.finish()
}

/// Calls `action`, which waits for the workers. A thread of another pool of rayon's would do other
/// work of its pool meanwhile, such as a launch that waits for the device of this one: there
/// `action` gets a thread of its own.
fn waiting_idly(action: impl FnOnce() + Send) {
    if rayon::current_thread_index().is_none() {
        return action();
    }
    workers::on_new_thread(action);
}

/// Simulates a launch once under each of `seeds`, blocks one by one, so that
/// each run can be repeated exactly. `body` must not mind running again.
///
/// # Errors
///
/// The first defect; it names its seed.
pub fn check_schedules(
    seeds: impl IntoIterator<Item = u64>,
    launch: &Launch<'_>,
    body: &(dyn Fn() + Sync),
) -> Result<(), Box<Defect>> {
    for seed in seeds {
        let options = Options {
            seed,
            parallel_blocks: false,
            ..launch.options.clone()
        };
        let options = &options;
        run(&Launch { options, ..*launch }, body)?;
    }
    Ok(())
}

impl Launch<'_> {
    pub(crate) fn defect(&self, finding: Finding, block: Option<u64>) -> Box<Defect> {
        let block = block.map(|index| self.grid.index_of(index));
        finding.into_defect(self.kernel, block, self.options.seed)
    }
}

/// A launch that is under way, shared by its workers.
pub(crate) struct Run<'a> {
    pub launch: &'a Launch<'a>,
    /// A number that no other launch under way has.
    pub number: usize,
    pub check: Option<Arc<LaunchCheck>>,
    blocks: u64,
    /// The lowest block with a defect; `u64::MAX` while there is none.
    lowest_defect: AtomicU64,
    defect: Mutex<Option<Box<Defect>>>,
    barriers: AtomicU64,
    warp_collectives: AtomicU64,
    async_copies: AtomicU64,
    counts: Mutex<MergedCounts>,
}

impl<'a> Run<'a> {
    fn new(launch: &'a Launch<'a>) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        Self {
            launch,
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            check: launch.options.checks.then(|| Arc::new(LaunchCheck::new())),
            blocks: launch.grid.count(),
            lowest_defect: AtomicU64::new(u64::MAX),
            defect: Mutex::new(None),
            barriers: AtomicU64::new(0),
            warp_collectives: AtomicU64::new(0),
            async_copies: AtomicU64::new(0),
            counts: Mutex::default(),
        }
    }

    fn all_in_parallel(&self, body: &(dyn Fn() + Sync)) {
        (0..self.blocks).into_par_iter().for_each(|index| {
            if !self.is_pointless(index) {
                self.run_block(index, body);
            }
        });
    }

    fn one_by_one(&self, body: &(dyn Fn() + Sync)) {
        let mut random = SplitMix64::new(self.launch.options.seed, u64::MAX);
        let order = Permutation::new(self.blocks, &mut random);
        for position in 0..self.blocks {
            self.run_block(order.get(position), body);
            if self.has_defect() {
                return;
            }
        }
    }

    fn run_block(&self, index: u64, body: &(dyn Fn() + Sync)) {
        let end = Worker::with(|worker| worker.run_block(self, index, body));
        self.add_end(index, end);
    }

    /// Adds how block number `index` has ended.
    pub fn add_end(&self, index: u64, end: BlockEnd) {
        match end {
            BlockEnd::Finished(counters) => self.add(&counters),
            BlockEnd::Stopped => {}
            BlockEnd::Found(finding) => self.add_defect(index, *finding),
        }
    }

    /// Whether block `index` need not run any more: a lower one has a defect.
    #[inline]
    pub fn is_pointless(&self, index: u64) -> bool {
        self.lowest_defect.load(Ordering::Relaxed) < index
    }

    /// Whether any block has a defect. A block that waits for that one would
    /// wait for ever.
    #[inline]
    pub fn has_defect(&self) -> bool {
        self.lowest_defect.load(Ordering::Relaxed) != u64::MAX
    }

    fn add(&self, counters: &Counters) {
        let add = |sum: &AtomicU64, count: u64| sum.fetch_add(count, Ordering::Relaxed);
        add(&self.barriers, counters.barriers.get());
        add(&self.warp_collectives, counters.warp_collectives.get());
        add(&self.async_copies, counters.async_copies.get());
    }

    /// Adds what a block has cost.
    pub fn add_counts(&self, counts: BlockCounts) {
        let mut sum = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        sum.add(counts);
    }

    fn add_defect(&self, index: u64, finding: Finding) {
        let mut defect = self.defect.lock().unwrap_or_else(PoisonError::into_inner);
        if self.lowest_defect.fetch_min(index, Ordering::Relaxed) > index {
            *defect = Some(self.launch.defect(finding, Some(index)));
        }
    }

    fn finish(self) -> Result<Report, Box<Defect>> {
        let defect = self
            .defect
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        match defect {
            Some(defect) => Err(defect),
            None => Ok(Report {
                blocks: self.blocks,
                threads: self.blocks * self.launch.block.count(),
                barriers: self.barriers.into_inner(),
                warp_collectives: self.warp_collectives.into_inner(),
                async_copies: self.async_copies.into_inner(),
                counts: self.launch.options.counters.then(|| {
                    let counts = self.counts.into_inner();
                    Box::new(counts.unwrap_or_else(PoisonError::into_inner).finish())
                }),
            }),
        }
    }
}

fn check_limits(launch: &Launch<'_>) -> Result<(), Finding> {
    match option_out_of_range(launch.options).or_else(|| extent_out_of_range(launch)) {
        Some(message) => Err(Finding::without_place(DefectKind::LaunchLimit, message)),
        None => Ok(()),
    }
}

fn option_out_of_range(options: &Options) -> Option<String> {
    let (width, bytes) = (options.warp_width, options.stack_bytes);
    if !matches!(width, 32 | 64) {
        return Some(format!("warps of {width} lanes: they can have 32 or 64"));
    }
    let (least, most) = (STACK_BYTES.start(), STACK_BYTES.end());
    (!STACK_BYTES.contains(&bytes))
        .then(|| format!("stacks of {bytes} bytes: they can have {least} to {most}"))
}

fn extent_out_of_range(launch: &Launch<'_>) -> Option<String> {
    let (grid, block, bytes) = (launch.grid, launch.block, launch.dynamic_shared_bytes);
    if !is_within(grid, MAX_GRID) {
        return Some(format!(
            "a grid of {grid} blocks: it can have (1, 1, 1) to {MAX_GRID}"
        ));
    }
    if !is_within(block, MAX_BLOCK) || block.count() > u64::from(MAX_THREADS_PER_BLOCK) {
        return Some(format!(
            "a block of {block} threads: it can have 1 to {MAX_THREADS_PER_BLOCK}, at most {MAX_BLOCK}"
        ));
    }
    (bytes > MAX_SHARED_BYTES).then(|| {
        format!("{bytes} bytes of dynamic shared memory: a block can have {MAX_SHARED_BYTES}")
    })
}

/// Whether each component is from 1 to that of `most`.
fn is_within(extent: Dim3, most: Dim3) -> bool {
    let within = |component: u32, most: u32| (1..=most).contains(&component);
    within(extent.x, most.x) && within(extent.y, most.y) && within(extent.z, most.z)
}
