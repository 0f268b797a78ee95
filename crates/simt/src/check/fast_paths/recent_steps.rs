//! The most recent steps of the running thread between sets of reads.
//!
//! While a thread runs and time does not advance, a step depends only on its source line and its first set. Finding it
//! here takes fewer instructions than among the steps of all threads, few enough to be inlined into the kernel, where a
//! load is nothing but such a step: [`RecentSteps::load_again`].

use crate::basics::CallSite;
use crate::check::cells::reader_sets::ReaderSet;
use crate::check::cells::readers::Reads;
use std::cell::Cell;
use std::ptr;

/// The number of steps kept: two to this power.
const BITS: u32 = 4;

/// Bits of a width's exponent.
const SHIFT_BITS: u32 = 3;

/// A line and the width of a load, two to the power of `shift`, in one number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line(u64);

impl Line {
    #[inline(always)]
    pub fn of(site: CallSite, shift: u32) -> Self {
        // A width is at most 16 bytes.
        Self((ptr::from_ref(site).addr() as u64) << SHIFT_BITS | u64::from(shift))
    }
}

/// A step from one set to another by a load of a cell, with the reads of all cells of that cell's width.
#[repr(align(32))]
struct Step {
    line: Cell<Line>,
    /// The word that no cell has, if there were no reads: then only the write shows whether a cell may be loaded.
    from: Cell<ReaderSet>,
    to: Cell<ReaderSet>,
    /// The start of the cells, if there is a line.
    cells: Cell<*const Cell<ReaderSet>>,
}

/// No line.
const NO_LINE: Line = Line(0);

/// The last steps of the running thread at this moment, by [`place_of`].
pub(crate) struct RecentSteps {
    steps: [Step; 1 << BITS],
    /// Where there are steps.
    noted: Cell<u16>,
    /// The number of steps found.
    found: Cell<u32>,
}

/// An empty table, which stays empty.
pub(crate) struct NoSteps(RecentSteps);

// SAFETY: it has no line, and without a line no query changes it. Nothing is added to it, because it belongs to no
// block.
unsafe impl Sync for NoSteps {}

pub(crate) static NO_STEPS: NoSteps = NoSteps(RecentSteps::none());

impl NoSteps {
    pub const fn get(&self) -> &RecentSteps {
        &self.0
    }
}

/// The place of a step. Neighbouring lines, which are 24 bytes apart, have different places. The cells that a thread
/// loads at one line mostly have one set.
#[inline(always)]
fn place_of(line: Line) -> usize {
    (line.0 >> (3 + SHIFT_BITS)) as usize % (1 << BITS)
}

impl RecentSteps {
    /// None.
    pub const fn none() -> Self {
        Self {
            steps: [const {
                Step {
                    line: Cell::new(NO_LINE),
                    from: Cell::new(ReaderSet::NONE),
                    to: Cell::new(ReaderSet::NONE),
                    cells: Cell::new(ptr::null()),
                }
            }; 1 << BITS],
            noted: Cell::new(0),
            found: Cell::new(0),
        }
    }

    /// Whether the running thread has recently loaded, at `line`, a cell with the same reads as cell number `cell`.
    ///
    /// If so, the cell gets the reads that the step leads to. Only cells whose write is before the last barrier of the
    /// block qualify: the others never keep a plain set of reads.
    ///
    /// # Safety
    ///
    /// 1. If all cells of shared memory had the line's width, one would have the number `cell`.
    #[inline(always)]
    pub unsafe fn load_again(&self, line: Line, cell: usize) -> bool {
        let step = &self.steps[place_of(line)];
        if step.line.get() != line {
            return false;
        }
        // SAFETY: the reads of all cells of the line's width were recorded with the line, and stay in place. The cell
        // is one of them: the caller's contract, since the width is a part of the line.
        let reads = unsafe { &*step.cells.get().add(cell) };
        if reads.get() != step.from.get() {
            return false;
        }
        reads.set(step.to.get());
        self.found.set(self.found.get().wrapping_add(1));
        true
    }

    /// Whether the thread has made a step at `line`.
    #[inline(always)]
    pub fn has(&self, line: Line) -> bool {
        self.steps[place_of(line)].line.get() == line
    }

    /// The set to which a load at `line` leads from `from`, if the thread has made that step.
    #[inline(always)]
    pub fn find(&self, line: Line, from: ReaderSet) -> Option<ReaderSet> {
        let step = &self.steps[place_of(line)];
        if step.line.get() != line || step.from.get() != from.unless_empty() {
            return None;
        }
        self.found.set(self.found.get().wrapping_add(1));
        Some(step.to.get())
    }

    /// The number of steps found since the last call.
    #[inline]
    pub fn take_found(&self) -> u32 {
        self.found.take()
    }

    /// Records a step by a load of one of `cells`: the reads of all cells of its width, which stay in place until the
    /// steps are forgotten.
    #[inline]
    pub fn note(&self, line: Line, (from, to): (ReaderSet, ReaderSet), cells: &[Cell<ReaderSet>]) {
        let place = place_of(line);
        let step = &self.steps[place];
        step.line.set(line);
        step.from.set(from.unless_empty());
        step.to.set(to);
        step.cells.set(cells.as_ptr());
        self.noted.set(self.noted.get() | 1 << place);
    }

    /// Forgets all steps: another thread runs, time advances, or sets are renumbered.
    #[inline]
    pub fn forget(&self) {
        let mut noted = self.noted.take();
        while noted != 0 {
            self.steps[noted.trailing_zeros() as usize]
                .line
                .set(NO_LINE);
            noted &= noted - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::SplitMix64;
    use std::collections::HashMap;
    use std::panic::Location;

    /// Compares with a map of all steps since they were last forgotten.
    #[test]
    fn steps_that_are_found_have_been_made() {
        let sites: Vec<_> = SITES.iter().map(|site| site()).collect();
        let (steps, mut known) = (RecentSteps::none(), HashMap::new());
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
                    steps.note(line, (from, to), &[]);
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

    const SITES: [fn() -> CallSite; 4] = [
        || Location::caller(),
        || Location::caller(),
        || Location::caller(),
        || Location::caller(),
    ];
}
