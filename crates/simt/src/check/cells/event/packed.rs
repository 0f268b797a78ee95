//! An event in 12 bytes, because the shadow of global memory has one for every few bytes of data: a word, which is
//! enough for most accesses, and a source line.
//!
//! | bits of the word | content |
//! |---|---|
//! | 0 to 20 | the time |
//! | 21 to 41 | the number of the block |
//! | 42 to 53 | the number of the thread or of the agent |
//! | 54 to 57 | the width of the access and, if it is atomic, its scope |
//! | 58 and 59 | the other events that it represents |
//! | 60 to 63 | the kind of access |

use super::{Event, EventKind, OTHERS, Others, THREAD_BITS, Time};
use crate::check::asynchronous::agents::{NOT_OF_THREADS, asynchronous};
use crate::check::cells::site::Site;
use std::num::NonZeroU64;

const BLOCK_AT: u32 = 21;
const THREAD_AT: u32 = 42;
const WIDTH_AT: u32 = THREAD_AT + THREAD_BITS;
const OTHERS_AT: u32 = 58;
const KIND_AT: u32 = 60;

const BLOCKS: u64 = 1 << (THREAD_AT - BLOCK_AT);

/// Stands in place of a kind: the cell is kept elsewhere, under the number in the lower bits.
const ELSEWHERE: u64 = 0xf << KIND_AT;

/// The bits of the time.
pub(in crate::check) const TIME: u64 = (1 << BLOCK_AT) - 1;

/// The bits of the block.
pub(in crate::check) const BLOCK: u64 = (BLOCKS - 1) << BLOCK_AT;

/// The bits of the thread or the agent.
pub(in crate::check) const THREAD: u64 = ((1 << THREAD_BITS) - 1) << THREAD_AT;

/// The bits among these that only agents set: each has at least one of them.
pub(in crate::check) const AGENT: u64 = THREAD & (NOT_OF_THREADS as u64) << THREAD_AT;

/// The bits of the width and the scope.
const WIDTH: u64 = ((1 << (OTHERS_AT - WIDTH_AT)) - 1) << WIDTH_AT;

/// The highest bits: the events that it represents, and its kind.
#[inline(always)]
pub(in crate::check) const fn nature(word: u64) -> u64 {
    word >> OTHERS_AT
}

/// The [`nature`] of an event.
pub(in crate::check) const fn nature_of(kind: EventKind, others: Others) -> u64 {
    nature((kind as u64) << KIND_AT | (others as u64) << OTHERS_AT)
}

/// The highest bit of a kind: the only difference between a write and an asynchronous one.
const ASYNCHRONOUS: u64 = 1 << (u64::BITS - 1);

const _: () = assert!(
    (EventKind::Write as u64) << KIND_AT | ASYNCHRONOUS
        == (EventKind::AsyncWrite as u64) << KIND_AT
);

/// The plain writes of a block's threads, and the asynchronous ones that they have waited for.
#[derive(Clone, Copy)]
pub(in crate::check) struct WritesOf(u64);

impl WritesOf {
    /// No write of any block.
    pub const NO_BLOCK: Self = Self(ASYNCHRONOUS);

    pub fn block(block: u32) -> Self {
        let write = nature_of(EventKind::Write, Others::None) << OTHERS_AT;
        let of_block = |stamp: Stamp| Self(write | stamp.0.get() & BLOCK);
        Stamp::of(block, 1).map_or(Self::NO_BLOCK, of_block)
    }

    /// Whether this is the word of such a write at `time` or before.
    #[inline(always)]
    pub fn has(self, word: u64, time: Time) -> bool {
        let of_write = word & !(ASYNCHRONOUS | (THREAD & !AGENT) | WIDTH);
        // For any other event, the difference is larger than any time.
        of_write.wrapping_sub(self.0) <= u64::from(time)
    }
}

/// An event that fits, no event, or the number of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) struct Packed {
    /// Zero if there is no event.
    pub word: u64,
    /// The line, if it is an event.
    pub site: Site,
}

impl Packed {
    pub const NOTHING: Self = Self {
        word: 0,
        site: Site::UNKNOWN,
    };

    /// The cell that represents entry number `number`.
    pub fn elsewhere(number: usize) -> Self {
        Self {
            word: ELSEWHERE | number as u64,
            site: Site::UNKNOWN,
        }
    }

    /// The event, or the number of an entry.
    #[inline]
    pub fn event(self) -> Result<Event, usize> {
        let Self { word, site } = self;
        if word == 0 {
            return Ok(Event::NOTHING);
        }
        if word >= ELSEWHERE {
            return Err((word - ELSEWHERE) as usize);
        }
        let block = ((word & BLOCK) >> BLOCK_AT) as u32;
        Ok(Event {
            time: (word & TIME) as Time,
            thread_and_width: (word >> THREAD_AT) as u16,
            kind: EventKind::ALL[(word >> KIND_AT) as usize % EventKind::ALL.len()],
            others: OTHERS[(word >> OTHERS_AT) as usize % OTHERS.len()],
            block: match word & AGENT {
                0 => block,
                _ => asynchronous(block),
            },
            site,
        })
    }

    /// Whether it is the event of a thread of `block`.
    #[inline]
    pub fn is_of_block(self, block: u32) -> bool {
        self.word & (AGENT | BLOCK) == u64::from(block) << BLOCK_AT
    }

    /// Its time.
    #[inline]
    pub fn time(self) -> Time {
        (self.word & TIME) as Time
    }

    /// Whether it represents reads of several blocks.
    #[inline]
    pub fn is_read_by_blocks(self) -> bool {
        nature(self.word) == nature_of(EventKind::Read, Others::OfOtherBlocks)
    }
}

impl Event {
    /// The event in 12 bytes. None if its time or its block's number is too large.
    #[inline]
    pub fn pack(&self) -> Option<Packed> {
        if self.is_nothing() {
            return Some(Packed::NOTHING);
        }
        let stamp = Stamp::of(self.of_block(), self.time)?;
        let nature = nature_of(self.kind, self.others) << OTHERS_AT;
        let word = stamp.0.get() | u64::from(self.thread_and_width) << THREAD_AT | nature;
        // An agent's number implies its block's asynchronous side.
        let fits = self.is_asynchronous() == (word & AGENT != 0);
        let site = self.site;
        fits.then_some(Packed { word, site })
    }
}

/// A block, and a moment of it, that fit in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) struct Stamp(NonZeroU64);

impl Stamp {
    /// `None` if they do not fit, or if the moment is before everything.
    #[inline]
    pub fn of(block: u32, time: Time) -> Option<Self> {
        let (block, time) = (u64::from(block), u64::from(time));
        let fits = block < BLOCKS && time <= TIME;
        let stamp = NonZeroU64::new(block << BLOCK_AT | time)?;
        fits.then_some(Self(stamp))
    }

    /// A load or a store of two to the power of `shift` bytes by a thread of the block at this moment.
    #[inline(always)]
    pub fn event(self, kind: EventKind, thread: u16, shift: u32, site: Site) -> Packed {
        let of_thread = u64::from(thread) << THREAD_AT | u64::from(shift) << WIDTH_AT;
        Packed {
            word: self.0.get() | of_thread | nature_of(kind, Others::None) << OTHERS_AT,
            site,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::MemoryScope;
    use crate::check::asynchronous::agents::Agent;
    use std::panic::Location;

    /// Every event that fits.
    fn events() -> impl Iterator<Item = Event> {
        let site = Site::of(Location::caller());
        let agent = Agent::Products(31).number();
        let places = [
            (0, 0),
            (77, 1023),
            (BLOCKS as u32 - 1, 5),
            (asynchronous(9), agent),
        ];
        let times = [1, 2, TIME as Time];
        let kinds = EventKind::ALL.iter().copied();
        let kinds = kinds.filter(|kind| *kind != EventKind::Nothing);
        kinds.flat_map(move |kind| {
            OTHERS.into_iter().flat_map(move |others| {
                places.into_iter().flat_map(move |place| {
                    times.map(|time| {
                        let event = Event::new(kind, place, time, 8, site);
                        event.of_scope(MemoryScope::Block).standing_for(others)
                    })
                })
            })
        })
    }

    #[test]
    fn events_that_fit_survive() {
        for event in events() {
            let packed = event.pack().unwrap();
            assert_eq!(packed.event(), Ok(event));
            assert_eq!(packed.time(), event.time);
            assert_eq!(packed.is_of_block(77), event.block == 77);
            let is_read_by_blocks =
                (event.kind, event.others) == (EventKind::Read, Others::OfOtherBlocks);
            assert_eq!(packed.is_read_by_blocks(), is_read_by_blocks, "{event:?}");
        }
        assert_eq!(Event::NOTHING.pack().map(|it| it.word), Some(0));
        assert_eq!(Packed::elsewhere(9).event(), Err(9));
        assert!(!Packed::elsewhere(9).is_read_by_blocks());
    }

    #[test]
    fn other_events_do_not_fit() {
        let site = Site::of(Location::caller());
        let of = |place, time| Event::new(EventKind::Write, place, time, 4, site).pack();
        assert_eq!(of((BLOCKS as u32, 0), 1), None);
        assert_eq!(of((0, 0), TIME as Time + 1), None);
        // A thread's number on the asynchronous side, and an agent's number on the other.
        assert_eq!(of((asynchronous(0), 0), 1), None);
        assert_eq!(of((0, Agent::Barrier(0).number()), 1), None);
    }
}
