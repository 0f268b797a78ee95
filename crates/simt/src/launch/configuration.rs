//! The configuration of a launch, the options of its simulation, and the limits of both.

use super::output::Output;
use super::preemption::Preemption;
use crate::basics::{Defect, DefectKind, Dim3, Finding, Suppression, ViewName};
use crate::device::Profile;
use crate::device::occupancy::BlockResources;
use crate::memory::StaticMemory;
use crate::state::MAX_SHARED_BYTES;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// The most threads that a block can have.
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;

/// The most blocks of a cluster; more than 8 need a device that allows it (CUDA C++ Programming
/// Guide, "Thread Block Clusters").
const MAX_CLUSTER_BLOCKS: u64 = 16;

/// Largest extent of a grid and of a block (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
const MAX_GRID: Dim3 = Dim3::new(i32::MAX as u32, 65535, 65535);
const MAX_BLOCK: Dim3 = Dim3::new(1024, 1024, 64);

/// Smallest and largest stack of a simulated thread. A panic needs some KiB to
/// be caught; more than the largest is surely a mistake.
const STACK_BYTES: RangeInclusive<usize> = 16 * 1024..=64 * 1024 * 1024;

/// The assumed registers of a thread, few enough to limit the blocks of no device. The simulator does not know the
/// real count.
const FEW_REGISTERS: u32 = 16;

/// Options of the simulation.
#[derive(Clone, Debug)]
pub struct Options {
    /// Lanes of a warp: 32 or 64.
    pub warp_width: u32,
    /// Chooses the order in which warps run and, with [`Preemption`], the accesses at which threads are switched
    /// and how blocks interleave.
    pub seed: u64,
    /// Whether blocks run on several host threads at once, in no certain order. Otherwise one host thread runs
    /// them all, and the seed fixes everything.
    pub parallel_blocks: bool,
    /// Whether threads are switched at accesses that others can see, and blocks interleave.
    pub preemption: Preemption,
    /// Whether an atomic load may return a value other than the newest, as far as the memory model allows.
    ///
    /// This needs a preemptive schedule and [`checks`](Self::checks). The seed chooses the loads. The value may
    /// even be stored later, if one host thread runs the blocks and the launch knows all memory that its kernel
    /// may access ([`registered_memory_only`](Self::registered_memory_only)). The kernel then runs up to three
    /// times, and all but one of the runs are undone. Other side effects, such as a change of a host variable,
    /// happen in each run.
    pub weak_memory: bool,
    /// Whether blocks start in the order of their index, as on devices. A block may then wait for one of a lower
    /// index, which has started before it. Otherwise the seed chooses the order.
    pub blocks_in_order: bool,
    /// Multiprocessors of the simulated device. Together with the capacity of each, they limit the number of
    /// resident blocks, which can wait for each other.
    pub multiprocessors: u32,
    /// The device whose limits apply: the capacity of a multiprocessor and the shared memory of a block.
    pub profile: Profile,
    /// Stack of each simulated thread, in bytes: 16 KiB to 64 MiB.
    ///
    /// The default, 512 KiB, is the most local memory that a GPU gives a thread. Only pages that the thread
    /// touches take memory. A thread that needs more is reported as [`DefectKind::StackOverflow`].
    pub stack_bytes: usize,
    /// Whether memory is checked: data races, reads of unwritten bytes, uses of asynchronous copies in flight.
    /// Bounds, alignment, barriers and masks are always checked.
    pub checks: bool,
    /// Whether all memory that the kernel may access is registered
    /// ([`register_allocation`](crate::register_allocation)).
    ///
    /// An access of global memory outside registered allocations is then [`DefectKind::OutOfBounds`], whichever
    /// view made it. Otherwise unregistered memory is checked for races only.
    pub registered_memory_only: bool,
    /// The number of distinct findings that ends a launch; 100 by default.
    ///
    /// Up to it, a launch goes on after findings that it survives: races, stale reads, reads of unwritten memory,
    /// uses of asynchronous copies in flight. Others, such as an access out of bounds or a deadlock, end it at
    /// once.
    pub finding_limit: usize,
    /// Known findings, which are not reported.
    pub suppressions: Arc<[Suppression]>,
    /// How often in a row the threads of a block may yield, with nothing else happening in the block, before
    /// that is a deadlock.
    pub yield_limit: u64,
    /// How long a block may run without one of its threads starting or exiting; none for no limit.
    ///
    /// Processor time of its host thread counts, and so does time in which a thread blocks the host thread, for
    /// example in a lock. A block that exceeds the limit ends the launch with [`DefectKind::TimeLimit`], or with
    /// [`DefectKind::Deadlock`] if its threads only yield. Blocks whose threads only yield or are blocked may take
    /// longer while another block of the launch makes progress. A block that cannot be stopped, because it is
    /// blocked or in a foreign library, ends the process after two more seconds, with a message. On systems other
    /// than Linux, elapsed time counts, and a loop that calls no checked instruction is not stopped.
    pub time_limit: Option<Duration>,
    /// The static arrays of the kernel's module.
    pub statics: Arc<StaticMemory>,
    /// Receives the lines that threads [`print`](crate::print).
    pub output: Arc<Output>,
    /// The names of the kernel's views, for reports.
    pub views: Arc<[ViewName]>,
    /// Whether a GPU may begin this launch while the one before it still runs. Then each thread must call
    /// [`dependent_launch_wait`](crate::dependent_launch_wait) before it accesses global memory.
    pub is_dependent: bool,
    /// Whether the launch is counted, line by line: [`Report::counts`](crate::Report::counts). It then takes
    /// several times as long.
    pub counters: bool,
}

impl Default for Options {
    /// 32 lanes; seed 0, so no preemption and no weak memory; blocks in parallel, started in order; 8
    /// multiprocessors of an H200; stacks of 512 KiB; all checks, on memory that need not be registered; a time
    /// limit of 10 s; no counters; separate static arrays. Threads may yield for some seconds (blocks one by one)
    /// to half a minute (blocks in parallel, where a spinning block sleeps in between).
    fn default() -> Self {
        Self {
            warp_width: 32,
            seed: 0,
            parallel_blocks: true,
            preemption: Preemption::BySeed,
            weak_memory: true,
            blocks_in_order: true,
            multiprocessors: 8,
            profile: Profile::default(),
            stack_bytes: 512 * 1024,
            checks: true,
            registered_memory_only: false,
            finding_limit: 100,
            suppressions: Arc::default(),
            yield_limit: 1 << 26,
            time_limit: Some(Duration::from_secs(10)),
            statics: Arc::default(),
            output: Arc::default(),
            views: Arc::default(),
            is_dependent: false,
            counters: false,
        }
    }
}

/// A launch: the kernel's name, the extents, and the options.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The kernel's name, for reports.
    pub kernel: &'a str,
    /// The extent of the grid, in blocks.
    pub grid: Dim3,
    /// The extent of a block, in threads.
    pub block: Dim3,
    /// The extent of a cluster, in blocks, which divides the grid; (1, 1, 1) for a kernel without clusters.
    pub cluster: Dim3,
    /// Registers of each thread at its start, which `setmaxnreg` changes. With none, the threads of a block share
    /// all registers of a multiprocessor equally.
    pub thread_registers: Option<u32>,
    /// Dynamic shared memory of each block, in bytes.
    pub dynamic_shared_bytes: usize,
    /// Options of the simulation.
    pub options: &'a Options,
}

impl<'a> Launch<'a> {
    /// A launch without clusters and without dynamic shared memory.
    pub fn new(
        kernel: &'a str,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        options: &'a Options,
    ) -> Self {
        Self {
            kernel,
            grid: grid.into(),
            block: block.into(),
            cluster: Dim3::from(1),
            thread_registers: None,
            dynamic_shared_bytes: 0,
            options,
        }
    }
}

impl Launch<'_> {
    /// Whether the options are in range, and the extents within the limits.
    pub(crate) fn check_limits(&self) -> Result<(), Finding> {
        match option_out_of_range(self.options).or_else(|| extent_out_of_range(self)) {
            Some(message) => Err(Finding::without_place(DefectKind::LaunchLimit, message)),
            None => Ok(()),
        }
    }

    /// Whether threads are switched at accesses and blocks interleave.
    pub(crate) fn is_preemptive(&self) -> bool {
        let by_option = match self.options.preemption {
            Preemption::BySeed => self.options.seed != 0,
            Preemption::Never => false,
            Preemption::Always => true,
        };
        by_option && !self.options.counters
    }

    /// Whether atomic loads may return other values than the newest.
    pub(crate) fn has_weak_memory(&self) -> bool {
        self.options.weak_memory && self.is_preemptive()
    }

    /// The most shared memory that a block can have on the device of these options, static and
    /// dynamic together.
    pub(crate) fn max_shared_bytes(&self) -> usize {
        let limits = self.options.profile.datasheet().limits;
        MAX_SHARED_BYTES.min(limits.shared_bytes_per_block as usize)
    }

    /// The number of blocks that the device holds at once, as limited by threads and shared memory; at least 1. Each
    /// block has `static_bytes` bytes of shared memory beside the dynamic ones.
    pub(crate) fn resident_blocks(&self, static_bytes: usize) -> u32 {
        let options = self.options;
        let occupancy = options
            .profile
            .datasheet()
            .limits
            .occupancy(&BlockResources {
                threads: self.block.count() as u32,
                registers_per_thread: FEW_REGISTERS,
                shared_bytes: (self.dynamic_shared_bytes + static_bytes) as u32,
            });
        let blocks = occupancy.blocks.saturating_mul(options.multiprocessors);
        blocks.max(1)
    }

    /// Turns a finding in block number `block` into a defect of this launch.
    pub(crate) fn defect(&self, finding: Finding, block: Option<u64>) -> Box<Defect> {
        let block = block.map(|index| self.grid.index_of(index));
        finding.into_defect(self.kernel, block, self.options.seed)
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
    // The number of threads must fit 64 bits, and so must their ranks.
    if grid.count().checked_mul(block.count()).is_none() {
        return Some(format!(
            "a grid of {grid} blocks of {block} threads: a launch has fewer than 2^64 threads"
        ));
    }
    if let Some(message) = cluster_out_of_range(launch) {
        return Some(message);
    }
    let most = launch.max_shared_bytes();
    (bytes > most)
        .then(|| format!("{bytes} bytes of dynamic shared memory: a block can have {most}"))
}

fn cluster_out_of_range(launch: &Launch<'_>) -> Option<String> {
    let (grid, cluster) = (launch.grid, launch.cluster);
    let blocks = cluster.count();
    if blocks == 0 || blocks > MAX_CLUSTER_BLOCKS {
        return Some(format!(
            "clusters of {cluster} blocks: they can have 1 to {MAX_CLUSTER_BLOCKS}"
        ));
    }
    let is_multiple = grid.x.is_multiple_of(cluster.x)
        && grid.y.is_multiple_of(cluster.y)
        && grid.z.is_multiple_of(cluster.z);
    (!is_multiple)
        .then(|| format!("a grid of {grid} blocks, which is no multiple of clusters of {cluster}"))
}

/// Whether each component is between 1 and that of `most`.
fn is_within(extent: Dim3, most: Dim3) -> bool {
    let within = |component: u32, most: u32| (1..=most).contains(&component);
    within(extent.x, most.x) && within(extent.y, most.y) && within(extent.z, most.z)
}
