//! Runs the threads of a block in turns.

use crate::block::{Block, Counters, Thread, Wait};
use crate::confine::Left;
use crate::coroutine::{Resumed, StackPool, ThreadCoroutine};
use crate::defect::{DefectKind, Finding};
use crate::launch::{Launch, Run};
use crate::random::SplitMix64;
use crate::trap;
use crate::watchdog::{self, Watched};
use crate::workers;
use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::thread::panicking;
use std::time::Duration;

/// How a block has ended.
pub(crate) enum BlockEnd {
    /// Every thread has exited.
    Finished(Counters),
    /// It was stopped, because another block has a defect.
    Stopped,
    /// It has a defect.
    Found(Box<Finding>),
}

/// What a host thread keeps between blocks: stacks, and the block's state.
pub(crate) struct Worker {
    pub stacks: StackPool,
    pub watched: Arc<Watched>,
    /// The state of the last block, and for which shape of launch it was made.
    block: Option<(Shape, Box<Block>)>,
    coroutines: Vec<Option<ThreadCoroutine>>,
}

/// What must be equal for a block's state to serve another launch.
#[derive(Clone, PartialEq)]
struct Shape {
    grid: crate::Dim3,
    block: crate::Dim3,
    dynamic_shared_bytes: usize,
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
        trap::ensure_signal_stack();
        let watched = Arc::new(Watched::new());
        watchdog::add(&watched);
        Self {
            stacks: StackPool::default(),
            watched,
            block: None,
            coroutines: Vec::new(),
        }
    }

    /// Calls `action` with the worker of this host thread.
    ///
    /// A thread that was left while it unwound has marked its host thread as panicking for ever,
    /// and kernels would see that: from then on, others do its work.
    pub fn with<R: Send>(action: impl FnOnce(&mut Worker) -> R + Send) -> R {
        if panicking() {
            return workers::on_new_thread(|| Self::with(action));
        }
        // Taken out meanwhile: should `action` come here again, it gets another one.
        let mut worker = WORKER.take().unwrap_or_else(|| Box::new(Self::new()));
        let result = action(&mut worker);
        worker.watched.end();
        WORKER.set(Some(worker));
        if panicking() {
            workers::replace_pool();
        }
        result
    }

    /// Runs block number `index` of the launch to its end.
    pub fn run_block(&mut self, run: &Run<'_>, index: u64, body: &(dyn Fn() + Sync)) -> BlockEnd {
        let launch = run.launch;
        self.prepare(launch);
        let Some((_, block)) = &mut self.block else {
            unreachable!("`prepare` has made the block");
        };
        begin(block, run, index);
        block
            .watched
            .begin(launch.options.time_limit, run.number, launch.kernel, index);
        let mut turns = Turns {
            run,
            index,
            body,
            block,
            stacks: &mut self.stacks,
            coroutines: &mut self.coroutines,
            random: &mut SplitMix64::new(launch.options.seed, index),
        };
        turns.take_all();
        drop(turns);
        end_of(block, run)
    }

    /// Makes the state fit to the launch.
    fn prepare(&mut self, launch: &Launch<'_>) {
        self.stacks.set_stack_bytes(launch.options.stack_bytes);
        let shape = Shape::of(launch);
        if self
            .block
            .as_ref()
            .is_none_or(|(made_for, _)| *made_for != shape)
        {
            let block = Box::new(Block::new(launch, &self.watched));
            self.coroutines.resize_with(block.threads.len(), || None);
            self.block = Some((shape, block));
        }
    }
}

impl Drop for Worker {
    /// The host thread ends.
    fn drop(&mut self) {
        watchdog::remove(&self.watched);
    }
}

/// Makes `block` the block number `index` of the launch.
pub(crate) fn begin(block: &mut Block, run: &Run<'_>, index: u64) {
    let launch = run.launch;
    block.begin(launch.grid.index_of(index));
    block.statics.look_into(&launch.options.statics);
    if let (Some(check), Some(of_launch)) = (&mut block.check, &run.check) {
        check.begin(of_launch, index);
    }
}

/// How a block has ended in which no thread is left.
pub(crate) fn end_of(block: &mut Block, run: &Run<'_>) -> BlockEnd {
    if let Some(check) = &mut block.check {
        check.forget_learned();
    }
    match block.take_finding() {
        Some(finding) => BlockEnd::Found(Box::new(finding)),
        None if block.is_abandoned() => BlockEnd::Stopped,
        None => {
            if let Some(recorder) = &block.recorder {
                run.add_counts(recorder.finish(block.shared.static_bytes()));
            }
            BlockEnd::Finished(std::mem::take(&mut block.counters))
        }
    }
}

/// The turns of one block's warps.
pub(crate) struct Turns<'a> {
    pub run: &'a Run<'a>,
    pub index: u64,
    pub body: &'a (dyn Fn() + Sync),
    pub block: &'a Block,
    pub stacks: &'a mut StackPool,
    /// One per thread that has started and not exited.
    pub coroutines: &'a mut [Option<ThreadCoroutine>],
    pub random: &'a mut SplitMix64,
}

impl Turns<'_> {
    /// Lets warps run, one drawn after the other, until the block has ended.
    fn take_all(&mut self) {
        while self.take_one() {
            if self.block.is_abandoned() {
                return;
            }
        }
        if (self.block.exited_threads.get() as usize) < self.block.threads.len() {
            self.block.record(self.block.stuck());
        }
    }

    /// Lets one warp run that can, if there is one.
    pub fn take_one(&mut self) -> bool {
        let Some(warp) = self.draw_warp() else {
            return false;
        };
        self.take_turn(warp);
        if self.run.is_pointless(self.index) {
            self.block.abandon();
        }
        true
    }

    /// One of the warps that can run, each as likely as the others.
    fn draw_warp(&mut self) -> Option<usize> {
        let mut ready = self.block.ready_warps.get();
        if ready == 0 {
            return None;
        }
        for _ in 0..self.random.below(u64::from(ready.count_ones())) {
            ready &= ready - 1;
        }
        Some(ready.trailing_zeros() as usize)
    }

    /// Runs the lanes of a warp until none can run, or until the turn is over.
    ///
    /// They run in the order of their numbers, from one that is drawn: lanes
    /// must not rely on lane 0 being first.
    fn take_turn(&mut self, warp_index: usize) {
        let block = self.block;
        let warp = &block.warps[warp_index];
        let first_thread = block.first_thread_of_warp(warp_index);
        let mut next_lane = self.random.next() as u32 % 64;
        block.turn_is_over.set(false);
        while warp.ready.get() != 0 {
            let ready = warp.ready.get();
            // The lowest ready lane from `next_lane` on, around the end.
            let lane = (ready.rotate_right(next_lane).trailing_zeros() + next_lane) % 64;
            warp.ready.set(ready & !(1 << lane));
            self.run_thread(first_thread + lane as usize);
            next_lane = lane;
            if block.turn_is_over.get() || block.is_abandoned() {
                break;
            }
        }
        self.end_turn(warp_index);
    }

    fn end_turn(&mut self, warp_index: usize) {
        let warp = &self.block.warps[warp_index];
        if warp.ready.get() == 0 {
            self.block.release_converged(warp_index, self.random);
        }
        let yielded = warp.yielded.replace(0);
        // A thread that spins may wait for a block that has been stopped.
        if yielded != 0 && self.run.has_defect() {
            self.block.abandon();
        }
        warp.ready.set(warp.ready.get() | yielded);
        if warp.ready.get() == 0 {
            let ready = &self.block.ready_warps;
            ready.set(ready.get() & !(1 << warp_index));
        }
    }

    /// Runs a thread until it waits or exits.
    fn run_thread(&mut self, index: usize) {
        let thread = &self.block.threads[index];
        if self.coroutines[index].is_none() {
            match self.start(thread) {
                Ok(coroutine) => self.coroutines[index] = Some(coroutine),
                Err(error) => return self.block.record(no_stack(&error)),
            }
        }
        let Some(coroutine) = &mut self.coroutines[index] else {
            return;
        };
        match coroutine.resume(self.block, thread) {
            Resumed::Waits => {}
            Resumed::Exited => self.end_thread(index),
            Resumed::Left(why) => self.leave_thread(index, why),
        }
    }

    /// Gives up a thread that will not run again.
    #[cold]
    fn leave_thread(&mut self, index: usize, why: Left) {
        if let Some(coroutine) = self.coroutines[index].take() {
            coroutine.leave();
        }
        let thread = &self.block.threads[index];
        self.block.record(self.block.left_behind(thread, why));
    }

    fn start(&mut self, thread: &Thread) -> io::Result<ThreadCoroutine> {
        self.block.watched.note_progress();
        // SAFETY: block, thread and body are borrowed for longer than this
        // `Turns` lives, and its `drop` ends every coroutine.
        unsafe { ThreadCoroutine::new(self.stacks, self.block, thread, self.body) }
    }

    fn end_thread(&mut self, index: usize) {
        if let Some(coroutine) = self.coroutines[index].take() {
            coroutine.recycle(self.stacks);
        }
        let block = self.block;
        let thread = &block.threads[index];
        let exited = &block.warp_of(thread).exited;
        exited.set(exited.get() | thread.lane_bit());
        thread.wait.set(Wait::Exited);
        block.exited_threads.set(block.exited_threads.get() + 1);
        block.watched.note_progress();
        if let Some(grid) = &block.grid {
            grid.note_exit();
        }
        block.note_progress();
        if !block.is_abandoned()
            && let Some(finding) = block
                .missed_by_exit(thread)
                .or_else(|| block.unfinished_copy(thread))
        {
            block.record(finding);
        }
    }
}

impl Drop for Turns<'_> {
    /// Ends the threads that a finding has cut off.
    fn drop(&mut self) {
        if !self.block.is_abandoned() && !std::thread::panicking() {
            return;
        }
        self.block.abandon();
        for (thread, slot) in self.block.threads.iter().zip(self.coroutines.iter_mut()) {
            if let Some(coroutine) = slot.take() {
                coroutine.abandon(self.stacks, self.block, thread);
            }
        }
    }
}

#[cold]
fn no_stack(error: &io::Error) -> Finding {
    let message = format!("cannot map the stack of a simulated thread: {error}");
    Finding::without_place(DefectKind::HostResources, message)
}
