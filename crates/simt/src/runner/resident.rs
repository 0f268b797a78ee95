//! A started block, with everything that its threads need.

use super::coroutine::ThreadCoroutine;
use super::run::Run;
use crate::basics::{Related, SplitMix64};
use crate::block::{Block, Thread};
use crate::memory::{OutOfMemory, try_collect};
use crate::state::{Grid, Watched};
use std::rc::Rc;
use std::sync::Arc;

/// A block that has started.
pub(super) struct Resident {
    /// Declared before the block, which they borrow, so that they are dropped first.
    pub coroutines: Vec<Option<ThreadCoroutine>>,
    pub block: Box<Block>,
    pub random: SplitMix64,
    pub index: u64,
}

impl Resident {
    /// A place for a block of the launch.
    pub fn new(
        run: &Run<'_>,
        grid: Option<&Rc<Grid>>,
        watched: &Arc<Watched>,
    ) -> Result<Self, OutOfMemory> {
        let mut block = Box::new(Block::new(run.launch, watched)?);
        block.grid = grid.map(Rc::clone);
        Ok(Self {
            coroutines: try_collect(block.threads.iter().map(|_| None))?,
            block,
            random: SplitMix64::new(0, 0),
            index: 0,
        })
    }

    /// Starts block number `index` here.
    pub fn begin(&mut self, run: &Run<'_>, index: u64) {
        run.begin_block(&mut self.block, index);
        self.random = SplitMix64::new(run.launch.options.seed, index);
        self.index = index;
    }

    /// The first thread that waits at the barrier of the grid.
    pub fn at_grid_barrier(&self) -> Option<&Thread> {
        let mut threads = self.block.threads.iter();
        threads.find(|thread| thread.wait.get().is_for_grid())
    }

    /// The numbers of threads that wait at the barrier of the grid, that have exited, and that do
    /// neither.
    pub fn count(&self) -> [usize; 3] {
        let threads = &self.block.threads;
        let waits = threads.iter().filter(|it| it.wait.get().is_for_grid());
        let (waiting, exited) = (waits.count(), self.block.exited_threads.get() as usize);
        [waiting, exited, threads.len() - waiting - exited]
    }

    /// Describes the activity of the block's threads.
    pub fn describe(&self) -> Related {
        let index = self.block.threads[0].position.block_idx;
        let [waiting, exited, others] = self.count();
        Related::new(
            format!(
                "block {index}: {waiting} threads wait at the grid barrier, {exited} have \
                 exited, {others} are elsewhere"
            ),
            None,
        )
    }
}
