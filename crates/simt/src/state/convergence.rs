//! Lanes of a warp that wait for the others at their source line.

use crate::basics::{CallSite, SplitMix64};
use std::cell::Cell;

/// One time in `APART`, lanes that could converge do not: hardware may run the lanes of one branch separately.
const APART: u64 = 4;

/// The lanes of one warp that converge.
#[derive(Default)]
pub(crate) struct Convergence {
    waiting: Cell<u64>,
    /// The lanes that last converged.
    together: Cell<u64>,
}

impl Convergence {
    /// Forgets all waiting lanes.
    pub fn clear(&mut self) {
        self.waiting.set(0);
    }

    /// Adds a lane that waits for those at its line.
    pub fn wait(&self, lane_bit: u64) {
        self.waiting.set(self.waiting.get() | lane_bit);
    }

    /// The lanes that last converged.
    pub fn together(&self) -> u64 {
        self.together.get()
    }

    /// Takes out the converged lanes, once no other lane of the warp can run; 0 if none waits.
    /// `site_of` gives the line of a waiting lane.
    #[inline]
    pub fn release(&self, site_of: impl Fn(u32) -> CallSite, random: &mut SplitMix64) -> u64 {
        match self.waiting.get() {
            0 => 0,
            waiting => self.draw(waiting, site_of, random),
        }
    }

    fn draw(
        &self,
        waiting: u64,
        site_of: impl Fn(u32) -> CallSite,
        random: &mut SplitMix64,
    ) -> u64 {
        let first = waiting.trailing_zeros();
        let at_line = (0..u64::BITS)
            .filter(|lane| waiting >> lane & 1 == 1 && site_of(*lane) == site_of(first))
            .fold(0, |lanes, lane| lanes | 1 << lane);
        let together = match random.below(APART) {
            0 => at_line & random.next() | 1 << first,
            _ => at_line,
        };
        self.together.set(together);
        self.waiting.set(waiting & !together);
        together
    }
}
