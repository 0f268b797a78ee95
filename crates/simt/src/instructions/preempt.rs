//! The ways in which a running thread yields to others: the schedule switches it, it calls a yield, or it waits in a
//! loop of atomic operations.

use crate::basics::{Access, AccessKind, CallSite, Space};
use crate::block::{Block, Thread, Wait};
use crate::state::ATOMIC_WEIGHT;

/// After this many atomic updates in a row that change nothing, a thread counts as waiting for another one.
const FRUITLESS_UPDATES: u32 = 128;

/// Weight of an atomic update of a word that the thread has loaded a few steps before, relative to others: the
/// value on which the update was based may have changed. Most concurrency mistakes other than races are of this kind
/// (Lu, Tucek, Qin, Zhou, "AVIO: detecting atomicity violations via access
/// interleaving invariants", ASPLOS 2006).
const CHECK_THEN_ACT: u64 = 4;

/// The weight of a plain access of global or shared memory.
pub(super) const PLAIN_WEIGHT: u64 = 1;

/// The weight of an access by `thread` among the steps at which threads are switched.
pub(super) fn weight_of(thread: &Thread, access: &Access) -> u64 {
    if access.space == Space::Constant {
        return 0;
    }
    let loaded = &thread.loaded_words;
    match access.kind {
        AccessKind::AtomicRead => {
            loaded.set([access.address(), loaded.get()[0]]);
            ATOMIC_WEIGHT
        }
        AccessKind::Atomic | AccessKind::AtomicWrite => {
            match loaded.get().contains(&access.address()) {
                true => CHECK_THEN_ACT * ATOMIC_WEIGHT,
                false => ATOMIC_WEIGHT,
            }
        }
        _ => PLAIN_WEIGHT,
    }
}

impl Block {
    /// Lets other threads run, if the schedule says so, before a step of `thread`, the running one, that others can
    /// see.
    #[inline]
    pub(super) fn before_visible_step(&self, thread: &Thread, weight: u64) {
        match self.preemption.is_due(weight) {
            true => self.preempt(thread),
            false => self.preemption.pass(weight),
        }
    }

    #[cold]
    fn preempt(&self, thread: &Thread) {
        let ends_turn = self.preemption.draw_switch();
        // While a thread unwinds, no other may run on its host thread.
        if self.is_abandoned() || std::thread::panicking() {
            return;
        }
        self.hold(thread.position.warp as usize, thread.lane_bit());
        self.turn_notes.preempted.set(true);
        if ends_turn {
            self.turn_is_over.set(true);
        }
        thread.confinement.suspend();
    }

    /// Lets others run in place of `thread`, the running one; counts as `yields` yields in a row.
    pub(super) fn yield_thread(&self, thread: &Thread, yields: u64, site: CallSite) {
        if self.is_unwinding(thread) {
            return;
        }
        if !self.yields.may_yield_again(yields, &self.watched) {
            let message = format!(
                "the threads of the block have only yielded, {} times in a row{}",
                self.yields.limit(),
                self.describe_last_word(thread)
            );
            self.fail_spinning(thread, message, site);
        }
        let warp = self.warp_of(thread);
        warp.yielded.set(warp.yielded.get() | thread.lane_bit());
        thread.wait_for(Wait::Yield, site);
    }

    /// Notes that `thread`, the running one, has updated a word atomically. A loop of updates that
    /// change nothing waits for another thread, like an attempt to take a held lock, so it lets
    /// others run.
    #[inline]
    pub(super) fn after_atomic_update(&self, thread: &Thread, has_changed: bool, site: CallSite) {
        let fruitless = &thread.fruitless_updates;
        if has_changed {
            return fruitless.set(0);
        }
        fruitless.set(fruitless.get() + 1);
        if fruitless.get() >= FRUITLESS_UPDATES {
            fruitless.set(0);
            if !std::thread::panicking() {
                self.yield_thread(thread, u64::from(FRUITLESS_UPDATES), site);
            }
        }
    }
}
