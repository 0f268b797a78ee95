//! Chooses when a running thread is switched in the middle of its turn.
//!
//! The schedule follows PCT (Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic
//! guarantees of finding bugs", ASPLOS 2010): at a few points drawn at random, the running thread gets the lowest
//! priority and is held back while others can run. The probability to find a mistake that needs a few switches at
//! certain points then does not depend on the order of the other threads.
//!
//! PCT draws its points among all steps of the program, and must know their number. Here each block draws the
//! distance of its points, from every atomic operation to one in hundreds; at first they are closer, so that short
//! blocks have some, too. Now and then, a held-back thread returns early, so that it may also run between two steps
//! of another.

use crate::basics::SplitMix64;
use std::cell::{Cell, RefCell};

/// The weight of an atomic operation or a fence, relative to a plain access. Plain accesses are frequent, and the
/// memory checks find their mistakes under any order.
pub(crate) const ATOMIC_WEIGHT: u64 = 16;

/// The number of scales: on average, a block is switched at one in 1, 2, 4, ... atomic operations.
const SCALES: u64 = 9;

/// At the beginning of a block, the distance to the next switch is at most one atomic operation plus the steps so far
/// divided by this.
const SHARE: u64 = 4;

/// One switch in `WITHIN_WARP` lets the other lanes of the warp continue. All others end its turn.
const WITHIN_WARP: u64 = 4;

/// Separates these streams of the seed's generator from those for the order of warps.
const SEED_OF_SWITCHES: u64 = 0x7077_6974_6368_6573;

/// The schedule of switches of a running block.
pub(crate) struct Preemption {
    /// The weight of the steps until the next switch; `u64::MAX` if there is none.
    left: Cell<u64>,
    /// The average weight of the steps between two switches, once the block has passed that weight.
    mean: Cell<u64>,
    /// The weight of the steps up to the next switch.
    passed: Cell<u64>,
    random: RefCell<SplitMix64>,
}

impl Default for Preemption {
    /// Threads are not switched.
    fn default() -> Self {
        Self {
            left: Cell::new(u64::MAX),
            mean: Cell::new(0),
            passed: Cell::new(0),
            random: RefCell::new(SplitMix64::new(0, 0)),
        }
    }
}

impl Preemption {
    /// Begins with block number `block`, whose threads are switched if there is a `seed`.
    pub fn begin(&mut self, seed: Option<u64>, block: u64) {
        let Some(seed) = seed else {
            return self.left.set(u64::MAX);
        };
        let mut random = SplitMix64::new(seed ^ SEED_OF_SWITCHES, block);
        self.mean.set(ATOMIC_WEIGHT << random.below(SCALES));
        self.passed.set(0);
        self.random = RefCell::new(random);
        self.draw_next();
    }

    /// Whether threads are switched at all.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.left.get() != u64::MAX
    }

    /// Whether the running thread is switched before its next step, which has this weight and is
    /// visible to others.
    #[inline]
    pub fn is_due(&self, weight: u64) -> bool {
        weight >= self.left.get()
    }

    /// Counts a step of this weight, before which the running thread was not switched.
    #[inline]
    pub fn pass(&self, weight: u64) {
        if self.is_on() {
            self.left.set(self.left.get() - weight);
        }
    }

    /// Draws the next switch; returns whether the present one ends the turn of the warp.
    pub fn draw_switch(&self) -> bool {
        self.draw_next();
        self.random.borrow_mut().below(WITHIN_WARP) != 0
    }

    fn draw_next(&self) {
        let mean = self
            .mean
            .get()
            .min(ATOMIC_WEIGHT + self.passed.get() / SHARE);
        let drawn = 1 + self.random.borrow_mut().below(2 * mean);
        self.passed.set(self.passed.get() + drawn);
        self.left.set(drawn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of switches at `steps` atomic operations of a block.
    fn switches(seed: Option<u64>, block: u64, steps: u64) -> u64 {
        let mut preemption = Preemption::default();
        preemption.begin(seed, block);
        let due = (0..steps).filter(|_| {
            let is_due = preemption.is_due(ATOMIC_WEIGHT);
            match is_due {
                true => _ = preemption.draw_switch(),
                false => preemption.pass(ATOMIC_WEIGHT),
            }
            is_due
        });
        due.count() as u64
    }

    #[test]
    fn no_seed_never_switches() {
        assert_eq!(switches(None, 0, 100_000), 0);
    }

    /// The bulk-copy engine and the tensor cores use this, too.
    #[test]
    fn without_a_seed_preemption_stays_off() {
        let mut preemption = Preemption::default();
        for _ in 0..3 {
            preemption.begin(None, 0);
            (0..100).for_each(|_| preemption.pass(ATOMIC_WEIGHT));
            assert!(!preemption.is_on());
        }
        preemption.begin(Some(1), 0);
        assert!(preemption.is_on());
    }

    #[test]
    fn blocks_are_switched_often_and_rarely() {
        let counts: Vec<u64> = (0..64)
            .map(|block| switches(Some(1), block, 4096))
            .collect();
        assert!(counts.iter().any(|count| *count > 1500), "{counts:?}");
        assert!(
            counts.iter().any(|count| (1..40).contains(count)),
            "{counts:?}"
        );
        assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    }

    #[test]
    fn a_seed_repeats_itself() {
        for block in 0..8 {
            assert_eq!(switches(Some(7), block, 999), switches(Some(7), block, 999));
        }
    }
}
