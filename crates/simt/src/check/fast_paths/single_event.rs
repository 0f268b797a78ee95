//! Checks a load or a store against a cell that is a single event: a fast form of the rules of `cell`, for most
//! accesses.

use crate::check::cells::event::packed::{
    AGENT, BLOCK, Packed, Stamp, THREAD, TIME, nature, nature_of,
};
use crate::check::cells::event::{EventKind, Others, Time};
use crate::check::cells::site::Site;

const READ: u64 = nature_of(EventKind::Read, Others::None);
const WRITE: u64 = nature_of(EventKind::Write, Others::None);
const ASYNC_WRITE: u64 = nature_of(EventKind::AsyncWrite, Others::None);

/// A load or a store that is about to be made, for comparison with a cell's event.
pub(in crate::check) struct Plain<const WRITES: bool> {
    /// Its event.
    pub event: Packed,
    /// The last barrier of its block.
    pub barrier: Time,
}

impl<const WRITES: bool> Plain<WRITES> {
    /// An access of two to the power of `shift` bytes by a thread, at this moment of its block.
    #[inline(always)]
    pub fn new(now: Stamp, thread: u16, shift: u32, site: Site, barrier: Time) -> Self {
        let kind = match WRITES {
            true => EventKind::Write,
            false => EventKind::Read,
        };
        Self {
            event: now.event(kind, thread, shift, site),
            barrier,
        }
    }

    /// Whether it makes the event of this word, a cell's only one, redundant: that is of the same thread, or before the
    /// block's last barrier.
    #[inline(always)]
    pub fn replaces(&self, known: u64) -> bool {
        let is_plain = nature(known) == READ || WRITES && nature(known) == WRITE;
        known == 0 || is_plain && (self.is_of_same_thread(known) || self.is_after_barrier(known))
    }

    /// Whether it is a load that adds nothing to the write of this word, a cell's only event: both are of the same
    /// thread, and nothing can come between them.
    #[inline(always)]
    pub fn repeats(&self, known: u64) -> bool {
        let is_now = (known ^ self.event.word) & TIME == 0;
        !WRITES && is_write(known) && is_now && self.is_of_same_thread(known)
    }

    /// Whether it comes after the write of this word, a cell's only event besides reads: that is of the same thread, or
    /// before the block's last barrier.
    #[inline(always)]
    pub fn is_after_write(&self, known: u64) -> bool {
        is_write(known) && (self.is_after_barrier(known) || self.is_of_same_thread(known))
    }

    #[inline(always)]
    fn is_of_same_thread(&self, known: u64) -> bool {
        (known ^ self.event.word) & (BLOCK | THREAD) == 0
    }

    /// Whether the last barrier of its block orders the event of this word before it.
    #[inline(always)]
    pub fn is_after_barrier(&self, known: u64) -> bool {
        // For an event of another block, or of an agent, the difference is larger than any time.
        let time = (known & (AGENT | BLOCK | TIME)).wrapping_sub(self.event.word & BLOCK);
        time <= u64::from(self.barrier)
    }
}

/// Whether the word is that of a plain write, or of an asynchronous one that its thread has waited for.
#[inline(always)]
fn is_write(known: u64) -> bool {
    matches!(nature(known), WRITE | ASYNC_WRITE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::SplitMix64;
    use crate::check::accessor::Accessor;
    use crate::check::asynchronous::agents::{Agent, asynchronous};
    use crate::check::asynchronous::clusters::Clusters;
    use crate::check::cells::cell::{Cell, Rules};
    use crate::check::cells::event::Event;
    use crate::check::cells::event::packed::WritesOf;
    use crate::check::clocks::known_clock::KnownClock;
    use std::panic::Location;

    /// Compares the short form with the rules. Returns how often it said that an access replaces the cell's state,
    /// repeats it, and comes after a write.
    fn compare<const WRITES: bool>(random: &mut SplitMix64) -> [usize; 3] {
        let others = [Others::None, Others::OfWarp, Others::OfBlock];
        let (site, mut counts) = (Site::of(Location::caller()), [0; 3]);
        let agent = Agent::Barrier(0).number();
        for _ in 0..200_000 {
            let mut below = |bound: usize| random.below(bound as u64) as usize;
            let kind = EventKind::ALL[below(EventKind::ALL.len())];
            let place = [(0, 4), (0, 5), (0, 9), (1, 5), (asynchronous(0), agent)][below(5)];
            let known = Event::new(kind, place, 1 + below(6) as Time, 4, site);
            let known = known.standing_for(others[below(others.len())]);
            let barrier = below(6) as Time;
            let accessor = Accessor {
                block: 0,
                thread: 5,
                warp: 4..8,
                block_barrier: barrier,
                warp_barrier: below(6) as Time,
                clock: KnownClock::new(None),
                clusters: &Clusters::NONE,
            };
            let access = Plain::<WRITES>::new(Stamp::of(0, 6).unwrap(), 5, 2, site, barrier);
            let event = access.event.event().unwrap();
            let word = known.pack().unwrap().word;
            let says = [access.replaces(word), access.repeats(word)];
            let rules = Rules {
                starts_unwritten: false,
                is_exact: random.below(2) == 0,
            };
            let afterwards = [event, known];
            let known_by_writes = WritesOf::block(0).has(word, barrier);
            assert!(!known_by_writes || access.is_after_write(word), "{known:?}");
            if access.is_after_write(word) {
                counts[2] += 1;
                let mut cell = Cell::of(known);
                let ends_release = cell.record(&event, &accessor, rules, &mut ());
                assert!(matches!(ends_release, Ok(false)), "{known:?} {event:?}");
                let (write, adds_read) = match WRITES {
                    true => (event, false),
                    false => (known, !access.repeats(word)),
                };
                assert!(cell.is_plain() && cell.write == write, "{known:?}");
                let read = Some(cell.reads.one).filter(|read| !read.is_nothing());
                assert_eq!(read, adds_read.then_some(event), "{known:?}");
            }
            for ((says, after), count) in says.into_iter().zip(afterwards).zip(&mut counts) {
                if says {
                    *count += 1;
                    let mut cell = Cell::of(known);
                    let ends_release = cell.record(&event, &accessor, rules, &mut ());
                    assert!(matches!(ends_release, Ok(false)), "{known:?} {event:?}");
                    assert_eq!(cell.single(), Some(after), "{known:?} {event:?}");
                }
            }
        }
        counts
    }

    #[test]
    fn the_short_form_says_what_the_rules_say() {
        let mut random = SplitMix64::new(13, 0);
        let [replaced, repeated, after] = compare::<false>(&mut random);
        assert!(replaced > 1000 && repeated > 10 && after > 1000);
        let [replaced, repeated, after] = compare::<true>(&mut random);
        assert!(replaced > 1000 && repeated == 0 && after > 1000);
    }
}
