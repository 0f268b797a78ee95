//! The beginning of an instruction: the thread has enough stack and time for it.

use super::state::Block;
use super::thread::Thread;
use crate::basics::CallSite;
use crate::state::{Inside, Left, RESERVE_BYTES};

impl Block {
    /// Begins an instruction of `thread`, the running one, after a check of its stack and time. No
    /// signal handler stops the thread until the returned value is dropped.
    #[inline]
    pub fn enter<'a>(&self, thread: &'a Thread, site: Option<CallSite>) -> Inside<'a> {
        // First, while this still counts as kernel code: what follows may overflow the stack, too.
        if let Some(excess) = thread.confinement.excess() {
            self.stack_is_full(thread, excess, site);
        }
        if self.watched.is_over() {
            self.time_is_up(thread, site);
        }
        thread.confinement.inside()
    }

    /// Whether [`enter`](Self::enter) would stop `thread`, the running one.
    #[inline(always)]
    pub fn may_not_enter(&self, thread: &Thread) -> bool {
        thread.confinement.excess().is_some() || self.watched.is_over()
    }

    /// Too little of the stack is left for an instruction.
    #[cold]
    #[inline(never)]
    fn stack_is_full(&self, thread: &Thread, excess: usize, site: Option<CallSite>) {
        // If little of the reserve is left, even the report must be made elsewhere.
        if excess > RESERVE_BYTES / 2 {
            thread.confinement.leave(Left::StackOverflow);
        }
        if !self.is_abandoned() {
            self.report_full_stack(thread, site);
        }
    }

    #[cold]
    #[inline(never)]
    fn report_full_stack(&self, thread: &Thread, site: Option<CallSite>) -> ! {
        let finding = self.left_behind(thread, Left::StackOverflow);
        self.record(finding.at(site));
        thread.confinement.cut_off();
    }

    /// Ends a block that has exceeded its time limit. A thread that unwinds continues.
    #[cold]
    #[inline(never)]
    fn time_is_up(&self, thread: &Thread, site: Option<CallSite>) {
        if std::thread::panicking() {
            return;
        }
        if self.is_abandoned() {
            thread.confinement.cut_off();
        }
        let finding = self.left_behind(thread, Left::TimeLimit);
        self.record(finding.at(site));
        thread.confinement.cut_off();
    }
}
