//! A launch under way: the state that its workers share.

use super::capacity::Capacity;
use super::started::Started;
use crate::basics::{Defect, DefectKind, Finding, Related, lock};
use crate::block::{Block, Counters};
use crate::check::{Clusters, Conditions, Findings, LaunchCheck};
use crate::count::{BlockCounts, MergedCounts};
use crate::launch::{Launch, LowestDefect, Output, Report};
use crate::memory::OutOfMemory;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The most unstarted blocks that a report names.
const MAX_NAMED: usize = 4;

/// A launch under way, shared by its workers.
pub(crate) struct Run<'a> {
    pub launch: &'a Launch<'a>,
    /// A number unique to this launch within the process.
    pub number: usize,
    pub check: Option<Arc<LaunchCheck>>,
    /// The lines that its threads print.
    output: Arc<Output>,
    /// The number of blocks.
    pub blocks: u64,
    /// The number of clusters; in a launch without clusters, the number of blocks.
    pub clusters: u64,
    /// The device's capacity for clusters.
    pub capacity: Capacity,
    started: Started,
    lowest_defect: Arc<LowestDefect>,
    barriers: AtomicU64,
    warp_collectives: AtomicU64,
    async_copies: AtomicU64,
    counts: Mutex<MergedCounts>,
}

impl<'a> Run<'a> {
    /// Begins the launch; `prepare` may change its checks.
    pub fn new(launch: &'a Launch<'a>, prepare: impl FnOnce(&mut LaunchCheck)) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let clusters = launch.grid.count() / launch.cluster.count();
        let is_of_one_host_thread = !launch.options.parallel_blocks || clusters == 1;
        Self {
            launch,
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            check: launch.options.checks.then(|| {
                let mut check = checks_of(launch, is_of_one_host_thread);
                prepare(&mut check);
                Arc::new(check)
            }),
            output: Arc::default(),
            blocks: launch.grid.count(),
            clusters,
            capacity: Capacity::new(launch),
            started: Started::default(),
            lowest_defect: Arc::default(),
            barriers: AtomicU64::new(0),
            warp_collectives: AtomicU64::new(0),
            async_copies: AtomicU64::new(0),
            counts: Mutex::default(),
        }
    }

    /// Makes `block` the block number `index` of the launch.
    pub fn begin_block(&self, block: &mut Block, index: u64) {
        let launch = self.launch;
        block.begin(launch.grid.index_of(index));
        let seed = launch.is_preemptive().then_some(launch.options.seed);
        block.preemption.begin(seed, index);
        block.statics.look_into(&launch.options.statics);
        block.output = Arc::clone(&self.output);
        block.lowest_defect = Arc::clone(&self.lowest_defect);
        block.views = Arc::clone(&launch.options.views);
        block.is_dependent = launch.options.is_dependent;
        self.started.add(index);
        if let (Some(check), Some(of_launch)) = (&mut block.check, &self.check) {
            check.begin(of_launch, index);
        }
    }

    /// Adds the result of block number `index`, in which no thread is left: a finding, a stop
    /// because another block has one, or a regular end.
    pub fn end_block(&self, block: &mut Block, index: u64) {
        if let Some(check) = &mut block.check {
            check.forget_clocks();
        }
        if let Some(finding) = block.take_finding() {
            // Function names are looked up here, which must not count as a block's time.
            let watched = Arc::clone(&block.watched);
            watched.between_blocks(|| self.add_defect(index, finding));
        } else if !block.is_abandoned() {
            if let Some(recorder) = &block.recorder {
                self.add_counts(recorder.finish(block.shared.static_bytes()));
            }
            self.add(&block.counters);
        }
    }

    /// Adds that the host has no memory for block number `index`.
    #[cold]
    pub fn add_out_of_memory(&self, index: u64, error: OutOfMemory) {
        let finding = Finding::without_place(DefectKind::HostResources, error.to_string());
        self.add_defect(index, finding);
    }

    /// Frees the records of the blocks' accesses once none runs any more, though workers keep the state of their last
    /// block.
    pub fn forget_shadow(&self) {
        if let Some(check) = &self.check {
            check.forget_regions();
        }
    }

    /// Whether block `index` need not run, because a lower one has a defect or the run no longer counts.
    #[inline]
    pub fn is_pointless(&self, index: u64) -> bool {
        self.lowest_defect.block() < index || self.is_given_up()
    }

    /// Whether a block has a defect or need not run. A block that waits for such a block would wait for ever.
    #[inline]
    pub fn has_defect(&self) -> bool {
        self.lowest_defect.block() != u64::MAX || self.is_given_up()
    }

    /// Whether no block need run, because another run of the launch counts.
    #[inline]
    fn is_given_up(&self) -> bool {
        let check = self.check.as_ref();
        check.is_some_and(|check| check.later_stores.are_given_up())
    }

    fn add(&self, counters: &Counters) {
        let add = |sum: &AtomicU64, count: u64| sum.fetch_add(count, Ordering::Relaxed);
        add(&self.barriers, counters.barriers.get());
        add(&self.warp_collectives, counters.warp_collectives.get());
        add(&self.async_copies, counters.async_copies.get());
    }

    /// Adds the costs of a block.
    fn add_counts(&self, counts: BlockCounts) {
        lock(&self.counts).add(counts);
    }

    fn add_defect(&self, index: u64, mut finding: Finding) {
        if finding.kind == DefectKind::Deadlock {
            finding.related.extend(self.not_started());
        }
        self.lowest_defect.add(index, || {
            (!finding.is_known).then(|| self.launch.defect(finding, Some(index)))
        });
    }

    /// Describes the blocks that have not started, for which a thread may wait.
    fn not_started(&self) -> Option<Related> {
        let absent = self.started.absent(self.blocks);
        (absent > 0).then(|| Related::new(format!(
                "{absent} of the {} blocks of the launch have not started{}: a block can wait for those \
                 alone that are resident beside it, which are all in a cooperative launch",
                self.blocks,
                self.names_of_absent(absent)
            ), None))
    }

    /// ", (1, 0, 0), (2, 0, 0) and 5 others": the blocks known not to have started.
    fn names_of_absent(&self, absent: u64) -> String {
        let first = self.started.first_absent(self.blocks).take(MAX_NAMED);
        let names: Vec<String> = first
            .map(|index| self.launch.grid.index_of(index).to_string())
            .collect();
        match (names.is_empty(), absent - names.len() as u64) {
            (true, _) => String::new(),
            (false, 0) => format!(", {}", names.join(", ")),
            (false, others) => format!(", {} and {others} others", names.join(", ")),
        }
    }

    /// Ends the launch.
    ///
    /// # Errors
    ///
    /// The finding of the lowest block that has one, with all others. If one host thread runs the blocks, the first in
    /// the seed's order.
    pub fn finish(self) -> Result<Report, Box<Defect>> {
        self.launch.options.output.append(&self.output);
        let mut found = self.check.as_ref().map_or_else(Vec::new, |check| {
            let listed = check.findings.take().into_iter();
            let defect = |(block, times, finding)| {
                let defect = self.launch.defect(finding, Some(block));
                (block, Box::new(Defect { times, ..*defect }))
            };
            listed.map(defect).collect()
        });
        if let Some(last) = self.lowest_defect.take() {
            found.push((self.lowest_defect.block(), last));
        }
        if self.launch.options.parallel_blocks {
            found.sort_by_key(|(block, _)| *block);
        }
        let mut found = found.into_iter().map(|(_, defect)| defect);
        if let Some(mut first) = found.next() {
            first.further = found.map(|defect| *defect).collect();
            return Err(first);
        }
        Ok(Report {
            blocks: self.blocks,
            threads: self.blocks * self.launch.block.count(),
            barriers: self.barriers.into_inner(),
            warp_collectives: self.warp_collectives.into_inner(),
            async_copies: self.async_copies.into_inner(),
            counts: self.launch.options.counters.then(|| {
                let counts = self.counts.into_inner();
                Box::new(counts.unwrap_or_else(PoisonError::into_inner).finish())
            }),
        })
    }
}

/// The checks for a new launch. `is_of_one_host_thread`: one host thread runs all of its blocks.
fn checks_of(launch: &Launch<'_>, is_of_one_host_thread: bool) -> LaunchCheck {
    let options = launch.options;
    let findings = Findings::new(launch.kernel, options.finding_limit, &options.suppressions);
    let conditions = Conditions {
        is_exclusive: is_of_one_host_thread,
        registered_only: options.registered_memory_only,
        views: Arc::clone(&options.views),
        stale_loads: launch.has_weak_memory().then_some(options.seed),
        clusters: Clusters::new(launch.grid, launch.cluster),
    };
    LaunchCheck::new(findings, conditions)
}
