//! Cooperative launches: all blocks of the grid are there at once, and can wait
//! for each other.
//!
//! One host thread runs all blocks, a turn of a warp at a time; which block is
//! next is drawn from the seed's generator. So a cooperative launch repeats
//! itself exactly, whatever the host.

use super::coroutine::ThreadCoroutine;
use super::run::Run;
use super::simulate::simulate;
use super::turns::Turns;
use super::worker::Worker;
use crate::basics::{Defect, DefectKind, Finding, Related, SplitMix64};
use crate::block::{Block, Thread, Wait};
use crate::launch::{Launch, MAX_THREADS_PER_BLOCK, Options, Report};
use crate::memory::{OutOfMemory, try_collect};
use crate::state::{GRID_BARRIER, Grid, Watched};
use std::rc::Rc;
use std::sync::Arc;

/// The most threads of a cooperative launch. Each has a stack of its own, of two
/// memory mappings, and Linux gives a process 65,530.
pub const MAX_RESIDENT_THREADS: u32 = 16 * 1024;

/// More blocks than these are not described in a report.
const MAX_BLOCKS_DESCRIBED: usize = 8;

/// Simulates a cooperative launch, whose threads may call [`grid_barrier`](crate::grid_barrier):
/// calls `body` once per thread, all blocks at the same time.
///
/// [`Options::parallel_blocks`] does not matter: one host thread runs them all,
/// in turns that the seed decides.
///
/// # Errors
///
/// Those of [`run`](crate::run); a launch of more than [`MAX_RESIDENT_THREADS`]
/// threads is above the limits.
pub fn run_cooperative(
    launch: &Launch<'_>,
    body: &(dyn Fn() + Sync),
) -> Result<Report, Box<Defect>> {
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
    simulate(launch, |run| {
        Worker::with(|worker| worker.run_grid(run, body));
    })
}

/// A block that is there from the launch's start to its end.
struct Resident {
    /// Before the block, which they borrow: they are dropped first.
    coroutines: Vec<Option<ThreadCoroutine>>,
    block: Box<Block>,
    random: SplitMix64,
}

impl Resident {
    fn new(
        run: &Run<'_>,
        index: u64,
        grid: &Rc<Grid>,
        watched: &Arc<Watched>,
    ) -> Result<Self, OutOfMemory> {
        let launch = run.launch;
        let mut block = Box::new(Block::new(launch, watched)?);
        block.grid = Some(Rc::clone(grid));
        run.begin_block(&mut block, index);
        Ok(Self {
            coroutines: try_collect(block.threads.iter().map(|_| None))?,
            block,
            random: SplitMix64::new(launch.options.seed, index),
        })
    }

    /// The first thread that waits at the barrier of the grid.
    fn at_barrier(&self) -> Option<&Thread> {
        let mut threads = self.block.threads.iter();
        threads.find(|thread| thread.wait.get().is_for_grid())
    }

    /// How many threads wait at the barrier of the grid, have exited, and do neither.
    fn count(&self) -> [usize; 3] {
        let threads = &self.block.threads;
        let waits = threads.iter().filter(|it| it.wait.get().is_for_grid());
        let (waiting, exited) = (waits.count(), self.block.exited_threads.get() as usize);
        [waiting, exited, threads.len() - waiting - exited]
    }

    /// What the threads of the block are doing.
    fn describe(&self) -> Related {
        let index = self.block.threads[0].position.block_idx;
        let [waiting, exited, others] = self.count();
        Related {
            note: format!(
                "block {index}: {waiting} threads wait at the grid barrier, {exited} have \
                 exited, {others} are elsewhere"
            ),
            location: None,
        }
    }
}

/// The blocks of a cooperative launch.
struct Residents<'a> {
    run: &'a Run<'a>,
    body: &'a (dyn Fn() + Sync),
    worker: &'a mut Worker,
    grid: Rc<Grid>,
    residents: Vec<Resident>,
    /// The numbers of those in which a thread can run.
    ready: Vec<usize>,
}

impl Worker {
    /// Runs all blocks of the launch to their end, in turns.
    fn run_grid(&mut self, run: &Run<'_>, body: &(dyn Fn() + Sync)) {
        self.stacks.set_stack_bytes(run.launch.options.stack_bytes);
        let grid = Rc::new(Grid::default());
        let mut residents = Vec::new();
        for index in 0..run.blocks {
            match Resident::new(run, index, &grid, &self.watched) {
                Ok(resident) => residents.push(resident),
                Err(error) => return run.add_out_of_memory(index, error),
            }
        }
        let options = run.launch.options;
        self.watched
            .begin(options.time_limit, run.number, run.launch.kernel, 0);
        let mut residents = Residents {
            run,
            body,
            grid,
            ready: (0..residents.len()).collect(),
            residents,
            worker: self,
        };
        residents.take_all_turns();
        residents.end();
        self.stacks.keep_idle(MAX_THREADS_PER_BLOCK as usize);
    }
}

impl Residents<'_> {
    /// Lets blocks take turns, one drawn after the other, until all have ended
    /// or one has a defect.
    fn take_all_turns(&mut self) {
        let mut random = SplitMix64::new(self.run.launch.options.seed, u64::MAX);
        while !self.ready.is_empty() {
            let drawn = random.below(self.ready.len() as u64) as usize;
            let number = self.ready[drawn];
            self.turns(number).take_one();
            let block = &self.residents[number].block;
            if block.is_abandoned() {
                return;
            }
            if block.ready_warps.get() == 0 {
                self.ready.swap_remove(drawn);
            }
            if self.grid.waiting_blocks() == self.residents.len() as u64 {
                self.release();
            } else if self.grid.is_missed() {
                return self.report_missed();
            }
        }
        self.report_stuck();
    }

    fn turns(&mut self, number: usize) -> Turns<'_> {
        let resident = &mut self.residents[number];
        Turns {
            run: self.run,
            index: number as u64,
            body: self.body,
            block: &resident.block,
            stacks: &mut self.worker.stacks,
            coroutines: &mut resident.coroutines,
            random: &mut resident.random,
        }
    }

    /// All threads of the grid have met: they go on, and what each of them did
    /// before is ordered before what they do next.
    fn release(&mut self) {
        self.grid.leave();
        let checks = || {
            self.residents
                .iter()
                .filter_map(|it| it.block.check.as_ref())
        };
        let times = checks().map(|check| check.meet_grid()).collect();
        for check in checks() {
            check.after_grid_barrier(&times);
        }
        for resident in &self.residents {
            resident.block.release_barrier(GRID_BARRIER);
        }
        self.ready = (0..self.residents.len()).collect();
    }

    /// Some thread waits for one that has exited, in another block: in its own,
    /// the block has seen it.
    #[cold]
    fn report_missed(&self) {
        let waiting = self.residents.iter().find(|it| it.at_barrier().is_some());
        let mut threads = self.residents.iter().flat_map(|it| &it.block.threads);
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
            .finding_at_waiting(waiting.at_barrier(), kind, message);
        waiting.block.record(self.with_blocks(finding));
    }

    /// No thread can run any more: all have exited, or some never will.
    #[cold]
    fn report_stuck(&self) {
        let is_stuck_itself = |resident: &&Resident| resident.count()[2] != 0;
        if let Some(stuck) = self.residents.iter().find(is_stuck_itself) {
            let finding = stuck.block.stuck();
            stuck.block.record(self.with_blocks(finding));
        }
    }

    /// The finding, with what the blocks are doing where some wait for others.
    fn with_blocks(&self, mut finding: Finding) -> Finding {
        if self.grid.is_waited_at() {
            finding.kind = DefectKind::GridBarrierDivergence;
            let unfinished = self.residents.iter().take(MAX_BLOCKS_DESCRIBED);
            finding.related.extend(unfinished.map(Resident::describe));
        }
        finding
    }

    /// Adds how each block has ended. After a defect, no thread is left to wait.
    fn end(&mut self) {
        let has_defect = self.residents.iter().any(|it| it.block.is_abandoned());
        for number in 0..self.residents.len() {
            if has_defect {
                self.residents[number].block.abandon();
                drop(self.turns(number));
            }
            let block = &mut self.residents[number].block;
            self.run.end_block(block, number as u64);
        }
    }
}
