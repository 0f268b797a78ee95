//! The most recent steps between sets.

use super::number::ReaderSet;
use crate::basics::spread;
use crate::check::cells::event::packed::Packed;
use crate::check::cells::readers::Reads;
use crate::memory::{OutOfMemory, try_collect};

/// The number of remembered pairs of steps: two to this power.
const PAIR_BITS: u32 = 6;

/// A read that leads from one set to another, in any cell.
#[derive(Clone)]
pub(super) struct Step {
    pub event: Packed,
    pub from: ReaderSet,
    pub to: ReaderSet,
    /// Whether the thread had a clock.
    pub has_clock: bool,
}

impl Step {
    /// No read has this event.
    const NONE: Self = Self {
        event: Packed::NOTHING,
        from: ReaderSet::NONE,
        to: ReaderSet::NONE,
        has_clock: false,
    };
}

/// In one line of a host's cache.
#[derive(Clone)]
#[repr(align(64))]
struct StepPair([Step; 2]);

impl StepPair {
    const NONE: Self = Self([Step::NONE; 2]);
}

/// Steps, by [`place_of`]. A place has two, the later one first: so two lines of a loop whose steps share a place do
/// not evict each other, which would give each cell another set.
#[derive(Default)]
pub(super) struct Steps(Vec<StepPair>);

/// The slot of a step.
#[inline(always)]
fn place_of(from: ReaderSet, event: Packed) -> usize {
    // In two rounds: the numbers of sets often differ by as much as lines do, so that one round would put each thread's
    // steps in one place.
    let event = spread(event.word ^ u64::from(event.site.to_bits()).rotate_left(16)) >> 32;
    (spread(event ^ u64::from(from.0)) >> (u64::BITS - PAIR_BITS)) as usize
}

impl Steps {
    /// Forgets all steps.
    pub fn clear(&mut self) {
        self.0.fill(StepPair::NONE);
    }

    /// The set to which a read leads from another set, if the step is remembered. `has_clock`: the thread has a clock.
    #[inline(always)]
    pub fn find(&self, from: ReaderSet, event: Packed, has_clock: bool) -> Option<ReaderSet> {
        let StepPair(steps) = self.0.get(place_of(from, event))?;
        let is_step =
            |step: &&Step| step.event == event && step.from == from && step.has_clock == has_clock;
        steps.iter().find(is_step).map(|step| step.to)
    }

    /// Remembers a step, replacing an earlier one.
    #[inline]
    pub fn remember(&mut self, step: Step) -> Result<(), OutOfMemory> {
        if self.0.is_empty() {
            self.0 = try_collect((0..1 << PAIR_BITS).map(|_: usize| StepPair::NONE))?;
        }
        let StepPair([later, earlier]) = &mut self.0[place_of(step.from, step.event)];
        *earlier = std::mem::replace(later, step);
        Ok(())
    }
}
