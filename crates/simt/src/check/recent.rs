//! The steps between sets of reads that the running thread has made last.
//!
//! While a thread runs and time stands still, a step depends on nothing but its line and the set from which it leads:
//! it is found here by fewer instructions than among those of all threads.

use super::reader_sets::ReaderSet;
use super::readers::Reads;
use std::cell::Cell;
use std::panic::Location;
use std::ptr;

/// How many steps are kept: two to this power.
const BITS: u32 = 4;

/// Bits of the power of two that is a width.
const SHIFT_BITS: u32 = 3;

/// A line and the width of a load, two to the power of `shift`, in one number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Line(u64);

impl Line {
    #[inline(always)]
    pub fn of(site: &'static Location<'static>, shift: u32) -> Self {
        // A width is at most 16 bytes.
        Self((ptr::from_ref(site).addr() as u64) << SHIFT_BITS | u64::from(shift))
    }
}

#[derive(Clone, Copy)]
struct Step {
    line: Line,
    from: ReaderSet,
    to: ReaderSet,
}

/// No line is there.
const NONE: Step = Step {
    line: Line(0),
    from: ReaderSet::NONE,
    to: ReaderSet::NONE,
};

/// The last steps of the running thread at this moment, by [`place_of`].
pub(super) struct RecentSteps {
    steps: [Cell<Step>; 1 << BITS],
    is_empty: Cell<bool>,
    /// How many steps have been found.
    found: Cell<u32>,
}

impl Default for RecentSteps {
    fn default() -> Self {
        Self {
            steps: [const { Cell::new(NONE) }; 1 << BITS],
            is_empty: Cell::new(true),
            found: Cell::new(0),
        }
    }
}

/// Where a step is kept: neighbouring lines, which are 24 bytes apart, have places of their own. The cells that a thread
/// loads at one line mostly have one set.
#[inline(always)]
fn place_of(line: Line) -> usize {
    (line.0 >> (3 + SHIFT_BITS)) as usize % (1 << BITS)
}

impl RecentSteps {
    /// The set to which a load at `line` leads from `from`, if the thread has made that step.
    #[inline(always)]
    pub fn find(&self, line: Line, from: ReaderSet) -> Option<ReaderSet> {
        let step = self.steps[place_of(line)].get();
        if step.line != line || step.from != from {
            return None;
        }
        self.found.set(self.found.get().wrapping_add(1));
        Some(step.to)
    }

    /// How many steps have been found since this was asked.
    #[inline]
    pub fn take_found(&self) -> u32 {
        self.found.take()
    }

    /// Notes a step.
    #[inline]
    pub fn note(&self, line: Line, from: ReaderSet, to: ReaderSet) {
        self.steps[place_of(line)].set(Step { line, from, to });
        self.is_empty.set(false);
    }

    /// Forgets all steps: another thread goes on, or time does, or sets have other numbers.
    #[inline]
    pub fn forget(&self) {
        if !self.is_empty.replace(true) {
            self.steps.iter().for_each(|step| step.set(NONE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::SplitMix64;
    use std::collections::HashMap;

    /// Against a map of all steps since they were last forgotten.
    #[test]
    fn steps_that_are_found_have_been_made() {
        let sites: Vec<_> = SITES.iter().map(|site| site()).collect();
        let (steps, mut known) = (RecentSteps::default(), HashMap::new());
        let mut random = SplitMix64::new(1, 0);
        let mut found = 0;
        for number in 0..100_000 {
            let mut below = |bound: usize| random.below(bound as u64) as usize;
            let line = Line::of(sites[below(sites.len())], 2 + below(2) as u32);
            let [from, to] = [below(3), number + 1].map(ReaderSet::of_number);
            match below(32) {
                0 => {
                    steps.forget();
                    known.clear();
                }
                1..8 => {
                    steps.note(line, from, to);
                    known.insert((line.0, from.number()), to);
                }
                _ => {
                    if let Some(to) = steps.find(line, from) {
                        assert_eq!(known.get(&(line.0, from.number())), Some(&to));
                        found += 1;
                    }
                }
            }
        }
        assert_eq!(steps.take_found(), found);
        assert!(found > 1000, "{found}");
    }

    const SITES: [fn() -> &'static Location<'static>; 4] = [
        || Location::caller(),
        || Location::caller(),
        || Location::caller(),
        || Location::caller(),
    ];
}
