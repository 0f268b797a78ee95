//! The turns of one block's warps.

use super::coroutine::{Resumed, ThreadCoroutine};
use super::run::Run;
use super::stacks::StackPool;
use crate::basics::{DefectKind, Finding, SplitMix64};
use crate::block::{Block, Thread, Wait};
use crate::current::Entered;
use crate::host::check_locks;
use crate::launch::Body;
use crate::state::Left;
use std::io;

/// If threads were switched, one turn in `RETURN` begins with the return of one of them.
const RETURN: u64 = 16;

/// After a turn in which threads yield, a switched thread returns one time in `RETURN_AFTER_YIELD`: they may wait for
/// it.
const RETURN_AFTER_YIELD: u64 = 2;

/// The turns of one block's warps.
pub(crate) struct Turns<'a> {
    pub run: &'a Run<'a>,
    pub index: u64,
    pub body: &'a Body,
    pub block: &'a Block,
    pub stacks: &'a mut StackPool,
    /// One per thread that has started and not exited.
    pub coroutines: &'a mut [Option<ThreadCoroutine>],
    pub random: &'a mut SplitMix64,
}

impl Turns<'_> {
    /// Lets warps run, one drawn after the other, until the block has ended.
    pub fn take_all(&mut self) {
        while self.take_one() || self.block.step_machine(self.random) {
            if self.block.is_abandoned() {
                return;
            }
        }
        if !self.block.has_ended() {
            self.block.record(self.block.stuck());
        }
    }

    /// Lets one runnable warp run, if there is one.
    pub fn take_one(&mut self) -> bool {
        self.block.before_turn(self.random);
        let Some(warp) = self.draw_warp() else {
            return false;
        };
        self.take_turn(warp);
        if self.run.is_pointless(self.index) {
            self.block.abandon();
        }
        true
    }

    /// Draws one of the runnable warps, all with equal probability.
    fn draw_warp(&mut self) -> Option<usize> {
        if self.block.held_warps.get() != 0
            && (self.block.ready_warps.get() == 0 || self.random.below(RETURN) == 0)
        {
            self.return_held();
        }
        let ready = self.block.ready_warps.get();
        (ready != 0).then(|| self.draw_bit(ready) as usize)
    }

    /// Draws the number of a set bit, all with equal probability.
    fn draw_bit(&mut self, mut bits: u64) -> u32 {
        for _ in 0..self.random.below(u64::from(bits.count_ones())) {
            bits &= bits - 1;
        }
        bits.trailing_zeros()
    }

    /// Makes one of the switched threads runnable.
    fn return_held(&mut self) {
        let warp = self.draw_bit(self.block.held_warps.get()) as usize;
        let lane = self.draw_bit(self.block.warps[warp].held.get());
        self.block.release_held(warp, lane);
    }

    /// Runs the lanes of a warp until none can run, or until the turn is over.
    ///
    /// They run in the order of their numbers, starting from a drawn one, so that lanes cannot rely
    /// on lane 0 being first.
    fn take_turn(&mut self, warp_index: usize) {
        let block = self.block;
        let warp = &block.warps[warp_index];
        let first_thread = block.first_thread_of_warp(warp_index);
        let mut next_lane = self.random.next() as u32 % 64;
        block.turn_is_over.set(false);
        let entered = Entered::new(block);
        while warp.ready.get() != 0 {
            let ready = warp.ready.get();
            // The lowest ready lane from `next_lane` on, around the end.
            let lane = (ready.rotate_right(next_lane).trailing_zeros() + next_lane) % 64;
            let others = ready & !(1 << lane);
            warp.ready.set(others);
            if others != 0 {
                // Prefetches the next thread's stack while this one runs.
                let next = (others.rotate_right(lane).trailing_zeros() + lane) % 64;
                block.threads[first_thread + next as usize]
                    .confinement
                    .prepare();
            }
            self.run_thread(&entered, first_thread + lane as usize);
            next_lane = lane;
            if block.turn_is_over.get() || block.is_abandoned() {
                break;
            }
        }
        drop(entered);
        self.end_turn(warp_index);
    }

    fn end_turn(&mut self, warp_index: usize) {
        let warp = &self.block.warps[warp_index];
        if warp.ready.get() | warp.held.get() == 0 {
            self.release_converged(warp_index);
        }
        let yielded = warp.yielded.replace(0);
        if yielded != 0 {
            self.note_yields();
        }
        warp.ready.set(warp.ready.get() | yielded);
        if warp.ready.get() == 0 {
            let ready = &self.block.ready_warps;
            ready.set(ready.get() & !(1 << warp_index));
        }
    }

    /// Handles a yield: threads wait for others.
    fn note_yields(&mut self) {
        self.block.turn_notes.yielded.set(true);
        // They may wait for a stopped block.
        if self.run.has_defect() {
            self.block.abandon();
        }
        if self.block.held_warps.get() != 0 && self.random.below(RETURN_AFTER_YIELD) == 0 {
            self.return_held();
        }
    }

    /// Releases converged lanes of a warp in which nothing can run.
    fn release_converged(&mut self, warp_index: usize) {
        let block = self.block;
        let first_thread = block.first_thread_of_warp(warp_index);
        let site_of = |lane: u32| block.threads[first_thread + lane as usize].site.get();
        let convergence = &block.warps[warp_index].convergence;
        let together = convergence.release(site_of, self.random);
        if together != 0 {
            block.make_ready(warp_index, together);
            block.note_progress();
        }
    }

    /// Runs a thread until it waits or exits.
    fn run_thread(&mut self, entered: &Entered<'_>, index: usize) {
        let thread = &entered.block().threads[index];
        if self.coroutines[index].is_none() {
            match self.start(thread) {
                Ok(coroutine) => self.coroutines[index] = Some(coroutine),
                Err(error) => return self.block.record(no_stack(&error)),
            }
        }
        let Some(coroutine) = &mut self.coroutines[index] else {
            return;
        };
        match coroutine.resume(entered, thread) {
            Resumed::Waits => {}
            Resumed::Exited => self.end_thread(index),
            Resumed::Left(why) => self.leave_thread(index, why),
        }
    }

    /// Abandons a thread that will not run again.
    #[cold]
    fn leave_thread(&mut self, index: usize, why: Left) {
        if let Some(coroutine) = self.coroutines[index].take() {
            coroutine.leave(self.body);
        }
        let thread = &self.block.threads[index];
        check_locks(thread, self.block);
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
        if block.uses_machine.get() {
            block.note_cluster_exit(thread);
        }
        block.watched.note_progress();
        if let Some(grid) = &block.grid {
            grid.note_exit();
        }
        block.note_progress();
        if block.is_abandoned() {
            return;
        }
        match block.missed_by_exit(thread) {
            Some(finding) => block.record(finding),
            None => block.check_left(thread),
        }
    }
}

impl Drop for Turns<'_> {
    /// Ends the remaining threads if the block was ended by a finding.
    fn drop(&mut self) {
        if !self.block.is_abandoned() && !std::thread::panicking() {
            return;
        }
        self.block.abandon();
        let asked = self.block.ask_for_calls();
        for (thread, slot) in self.block.threads.iter().zip(self.coroutines.iter_mut()) {
            if let Some(coroutine) = slot.take() {
                self.block.watched.note_progress();
                coroutine.abandon(self.stacks, self.block, thread, self.body);
            }
        }
        self.block.add_calls(asked);
    }
}

#[cold]
fn no_stack(error: &io::Error) -> Finding {
    let message = format!("cannot map the stack of a simulated thread: {error}");
    Finding::without_place(DefectKind::HostResources, message)
}
