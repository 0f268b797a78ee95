//! A host thread that runs blocks, and the state that it keeps between them.

use super::coroutine::ThreadCoroutine;
use super::run::Run;
use super::stacks::StackPool;
use super::turns::Turns;
use crate::basics::{Dim3, SplitMix64};
use crate::block::Block;
use crate::host::{ensure_signal_stack, forget_worker, watch_worker};
use crate::launch::{Body, Launch, MAX_THREADS_PER_BLOCK};
use crate::memory::OutOfMemory;
use crate::state::Watched;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

/// The number of stacks that the workers of a launch together keep for the next one, at least. Each keeps those of
/// the largest block.
const IDLE_STACKS: usize = 4096;

/// A host thread's state between blocks: stacks, and the block's state.
pub(crate) struct Worker {
    pub stacks: StackPool,
    pub watched: Arc<Watched>,
    /// The state of the last block, and the shape of the launch for which it was made.
    block: Option<(Shape, Box<Block>)>,
    coroutines: Vec<Option<ThreadCoroutine>>,
}

/// The properties of a launch that must be equal for a block's state to be reused.
#[derive(Clone, PartialEq)]
struct Shape {
    grid: Dim3,
    block: Dim3,
    dynamic_shared_bytes: usize,
    max_shared_bytes: usize,
    warp_width: u32,
    parallel_blocks: bool,
    yield_limit: u64,
    stack_bytes: usize,
    time_limit: Option<Duration>,
    checks: bool,
    counters: bool,
}

impl Shape {
    fn of(launch: &Launch<'_>) -> Self {
        Self {
            grid: launch.grid,
            block: launch.block,
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            max_shared_bytes: launch.max_shared_bytes(),
            warp_width: launch.options.warp_width,
            parallel_blocks: launch.options.parallel_blocks,
            yield_limit: launch.options.yield_limit,
            stack_bytes: launch.options.stack_bytes,
            time_limit: launch.options.time_limit,
            checks: launch.options.checks,
            counters: launch.options.counters,
        }
    }
}

thread_local! {
    static WORKER: Cell<Option<Box<Worker>>> = const { Cell::new(None) };
}

impl Worker {
    /// The worker of this host thread.
    fn new() -> Self {
        ensure_signal_stack();
        let watched = Arc::new(Watched::new());
        watch_worker(&watched);
        Self {
            stacks: StackPool::default(),
            watched,
            block: None,
            coroutines: Vec::new(),
        }
    }

    /// Calls `action` with the worker of this host thread.
    pub fn with<R>(action: impl FnOnce(&mut Worker) -> R) -> R {
        // The worker is taken out meanwhile: if `action` gets here again, it uses another.
        let mut worker = WORKER.take().unwrap_or_else(|| Box::new(Self::new()));
        let result = action(&mut worker);
        worker.watched.end();
        WORKER.set(Some(worker));
        result
    }

    /// Runs block number `index` of the launch to its end.
    pub fn run_block(&mut self, run: &Run<'_>, index: u64, body: &Body) {
        let launch = run.launch;
        self.stacks.set_stack_bytes(launch.options.stack_bytes);
        let mut block = match self.take_block(launch) {
            Ok(block) => block,
            Err(error) => return run.add_out_of_memory(index, error),
        };
        run.begin_block(&mut block, index);
        self.watched
            .begin(launch.options.time_limit, run.number, launch.kernel, index);
        let mut turns = Turns {
            run,
            index,
            body,
            block: &block,
            stacks: &mut self.stacks,
            coroutines: &mut self.coroutines,
            random: &mut SplitMix64::new(launch.options.seed, index),
        };
        turns.take_all();
        drop(turns);
        run.end_block(&mut block, index);
        self.block = Some((Shape::of(launch), block));
    }

    /// Calls `action`, which runs blocks that are resident together, on each of `workers` host
    /// threads at a time.
    pub fn run_resident(&mut self, run: &Run<'_>, workers: usize, action: impl FnOnce(&mut Self)) {
        let options = run.launch.options;
        self.stacks.set_stack_bytes(options.stack_bytes);
        self.watched
            .begin(options.time_limit, run.number, run.launch.kernel, 0);
        action(self);
        let of_workers = IDLE_STACKS / workers;
        self.stacks
            .shrink(of_workers.max(MAX_THREADS_PER_BLOCK as usize));
    }

    /// The state of the last block, if it fits the launch, or a new one.
    fn take_block(&mut self, launch: &Launch<'_>) -> Result<Box<Block>, OutOfMemory> {
        match self.block.take() {
            Some((shape, block)) if shape == Shape::of(launch) => Ok(block),
            _ => {
                let block = Box::new(Block::new(launch, &self.watched)?);
                self.coroutines.resize_with(block.threads.len(), || None);
                Ok(block)
            }
        }
    }
}

impl Drop for Worker {
    /// Forgets the worker when its host thread ends.
    fn drop(&mut self) {
        forget_worker(&self.watched);
    }
}
