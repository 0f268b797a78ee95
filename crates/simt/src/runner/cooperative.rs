//! Cooperative launches: all blocks of the grid are resident, and can wait for each other.
//!
//! One host thread runs all blocks, a turn of a warp at a time. The seed's generator chooses the next block, so a
//! cooperative launch repeats exactly, on every host.

use super::queue::Queue;
use super::resident::Resident;
use super::residents::Residents;
use super::run::Run;
use super::simulate::simulate;
use super::worker::Worker;
use crate::basics::{Defect, DefectKind, Finding, SplitMix64};
use crate::block::Wait;
use crate::launch::{Body, Launch, Options, Report};
use crate::state::{GRID_BARRIER, Grid};
use std::ops::ControlFlow;
use std::rc::Rc;

/// The most threads of a cooperative launch, and of the resident blocks of a preemptive one.
///
/// Each has a stack of two memory mappings, and Linux gives a process 65,530.
pub const MAX_RESIDENT_THREADS: u32 = 16 * 1024;

/// The most blocks that a report describes.
const MAX_BLOCKS_DESCRIBED: usize = 8;

/// Simulates a cooperative launch: runs `body` once per thread, with all blocks resident.
///
/// Its threads may call [`grid_barrier`](crate::grid_barrier). One host thread runs all blocks, in turns that the seed
/// chooses, whatever [`Options::parallel_blocks`] says.
///
/// # Errors
///
/// As for [`run`](crate::run). A launch of more than [`MAX_RESIDENT_THREADS`] threads is above the limits.
pub fn run_cooperative(launch: &Launch<'_>, body: &Body) -> Result<Report, Box<Defect>> {
    let options = &Options {
        parallel_blocks: false,
        ..launch.options.clone()
    };
    let launch = &Launch { options, ..*launch };
    let threads = launch.grid.count().saturating_mul(launch.block.count());
    if threads > u64::from(MAX_RESIDENT_THREADS) {
        let message = format!(
            "a cooperative launch of {threads} threads: {MAX_RESIDENT_THREADS} can be simulated at once"
        );
        let finding = Finding::without_place(DefectKind::LaunchLimit, message);
        return Err(launch.defect(finding, None));
    }
    simulate(launch, |pool, run| {
        pool.run(1, &|_| {
            Worker::with(|worker| worker.run_grid(run, body));
            ControlFlow::Break(())
        });
    })
}

impl Worker {
    /// Runs all blocks of the launch to their end, in turns.
    fn run_grid(&mut self, run: &Run<'_>, body: &Body) {
        let mut random = SplitMix64::new(run.launch.options.seed, u64::MAX);
        let queue = Queue::new(run, &mut random);
        self.run_resident(run, 1, |worker| {
            let most = run.clusters as usize;
            let mut residents = Residents::new(run, body, worker, &queue, most, random);
            residents.grid = Some(Rc::default());
            while !queue.is_empty() && !run.has_defect() {
                residents.start();
            }
            if !run.has_defect() {
                residents.take_all_turns();
            }
        });
    }
}

impl Residents<'_> {
    /// Releases the threads if all of the grid have met; returns whether the launch is over.
    pub fn meet_at_grid(&mut self) -> bool {
        if self.has_abandoned() {
            return true;
        }
        let Some(grid) = self.grid.clone() else {
            return false;
        };
        if grid.waiting_blocks() == self.residents().count() as u64 {
            self.release(&grid);
        } else if grid.is_missed() {
            self.report_missed(&grid);
            return true;
        }
        false
    }

    /// Releases the threads of the grid, which have met, and orders their earlier actions before
    /// their later ones.
    fn release(&mut self, grid: &Grid) {
        grid.leave();
        let checks = || {
            self.residents()
                .filter_map(|it| Some((it.index, it.block.check.as_ref()?)))
        };
        let mut met: Vec<_> = checks()
            .map(|(index, it)| (index, it.meet_grid()))
            .collect();
        met.sort_unstable();
        let times = met.into_iter().map(|(_, time)| time).collect();
        for (_, check) in checks() {
            check.after_grid_barrier(&times);
        }
        for resident in self.residents() {
            resident.block.release_barrier(GRID_BARRIER);
        }
        self.ready = (0..self.places.len()).collect();
    }

    /// Reports a thread that waits for one that has exited in another block. The block itself
    /// reports an exit in its own.
    #[cold]
    fn report_missed(&self, grid: &Grid) {
        let waiting = self.residents().find(|it| it.at_grid_barrier().is_some());
        let mut threads = self.residents().flat_map(|it| &it.block.threads);
        let exited = threads.find(|thread| thread.wait.get() == Wait::Exited);
        let (Some(waiting), Some(exited)) = (waiting, exited) else {
            return;
        };
        let message = format!(
            "threads wait at the grid barrier for all threads of the grid, but thread {} of block \
             {} has exited",
            exited.position.thread_idx, exited.position.block_idx,
        );
        let kind = DefectKind::GridBarrierDivergence;
        let finding = waiting
            .block
            .finding_at_waiting(waiting.at_grid_barrier(), kind, message);
        waiting.block.record(self.with_blocks(grid, finding));
    }

    /// Reports a cooperative launch in which no thread can run, unless all have exited.
    #[cold]
    pub fn report_stuck(&self) {
        let is_stuck_itself = |resident: &&Resident| resident.count()[2] != 0;
        if let Some(grid) = &self.grid
            && let Some(stuck) = self.residents().find(is_stuck_itself)
        {
            let finding = stuck.block.stuck();
            stuck.block.record(self.with_blocks(grid, finding));
        }
    }

    /// The finding, with a description of the blocks if some wait for others.
    fn with_blocks(&self, grid: &Grid, mut finding: Finding) -> Finding {
        if grid.is_waited_at() {
            finding.kind = DefectKind::GridBarrierDivergence;
            let unfinished = self.residents().take(MAX_BLOCKS_DESCRIBED);
            finding.related.extend(unfinished.map(Resident::describe));
        }
        finding
    }
}
