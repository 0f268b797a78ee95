//! The reads of a cell since its last write that nothing orders among each other.
//!
//! A later write must come after all of them, so each is kept, the lanes of a warp together. A cell
//! with too many, or one of many cells that several threads read, keeps one read that stands for
//! the others: without clocks of fences and partial barriers that is exact, for barriers of the
//! block, of the warp and of the grid order all threads alike.

use super::accessor::Accessor;
use super::event::{Event, Others};
use crate::memory::{OutOfMemory, release_reserve};

/// More readers than these are kept as one that stands for the others.
const MOST_READERS: usize = 64;

/// Of several blocks, fewer.
const MOST_OF_BLOCKS: usize = 8;

/// How a cell keeps the reads since its last write.
pub(super) trait Reads: Clone {
    /// What the cells have in common.
    type Sets;

    const NONE: Self;

    /// Whether there are none.
    fn is_empty(&self) -> bool;

    /// Forgets all reads.
    fn clear(&mut self, sets: &mut Self::Sets);

    /// A read that is not ordered before whatever the thread does now.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left to tell.
    fn unordered(
        &self,
        accessor: &Accessor<'_>,
        sets: &mut Self::Sets,
    ) -> Result<Option<Event>, OutOfMemory>;

    /// Adds a read. `is_exact`: there is room for a list.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left to remember the read.
    fn add(
        &mut self,
        event: &Event,
        accessor: &Accessor<'_>,
        is_exact: bool,
        sets: &mut Self::Sets,
    ) -> Result<(), OutOfMemory>;
}

/// Lanes of one warp that have read at one time.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    /// The read of one of them.
    pub event: Event,
    pub lanes: u64,
}

impl Reader {
    fn new(event: &Event, warp_width: u16) -> Self {
        Self {
            event: *event,
            lanes: 1 << (event.thread() % warp_width),
        }
    }

    /// Whether `event` is a read of the same warp at the same time.
    #[inline]
    fn is_together(&self, event: &Event, warp_width: u16) -> bool {
        let group = |event: &Event| (event.block, event.time, event.thread() / warp_width);
        group(&self.event) == group(event)
    }

    /// A lane whose read is not ordered before whatever the accessing thread does now.
    fn unordered_lane(&self, accessor: &Accessor<'_>) -> Option<u16> {
        if accessor.is_after_by_barrier(&self.event) {
            return None;
        }
        let first = self.event.thread() - self.event.thread() % accessor.warp_width();
        let mut left = self.lanes;
        while left != 0 {
            let thread = first + left.trailing_zeros() as u16;
            if !accessor.is_after_access_of(&self.event, thread) {
                return Some(thread);
            }
            left &= left - 1;
        }
        None
    }
}

/// The reads since the last write.
#[derive(Clone, Debug)]
pub(super) struct Readers {
    /// The only one, or one that stands for others too; where there is a list, only for others.
    pub one: Event,
    /// Each of several.
    list: Vec<Reader>,
}

impl Reads for Readers {
    type Sets = ();

    const NONE: Self = Self {
        one: Event::NOTHING,
        list: Vec::new(),
    };

    fn is_empty(&self) -> bool {
        self.one.is_nothing()
    }

    fn clear(&mut self, (): &mut ()) {
        self.one = Event::NOTHING;
        self.list.clear();
    }

    #[inline]
    fn unordered(
        &self,
        accessor: &Accessor<'_>,
        (): &mut (),
    ) -> Result<Option<Event>, OutOfMemory> {
        if self.one.is_nothing() {
            return Ok(None);
        }
        if self.list.is_empty() {
            return Ok((!accessor.is_after(&self.one)).then_some(self.one));
        }
        let of_list = self.list.iter().find_map(|reader| {
            let thread = reader.unordered_lane(accessor)?;
            Some(reader.event.of_thread(thread))
        });
        Ok(of_list.or_else(|| (!accessor.is_after_others(&self.one)).then_some(self.one)))
    }

    #[inline]
    fn add(
        &mut self,
        event: &Event,
        accessor: &Accessor<'_>,
        is_exact: bool,
        (): &mut (),
    ) -> Result<(), OutOfMemory> {
        if !self.list.is_empty() {
            self.add_to_list(event, accessor);
        } else if self.one.is_nothing() || accessor.is_after(&self.one) {
            self.one = *event;
        } else if self.one.others == Others::None && is_exact && self.list.try_reserve(2).is_ok() {
            let width = accessor.warp_width();
            self.list.push(Reader::new(&self.one, width));
            self.add_to_list(event, accessor);
        } else {
            self.add_to_one(event, accessor);
        }
        Ok(())
    }
}

impl Readers {
    /// Whether one event says it all.
    pub fn is_one(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether what one more read changes depends on nothing but the read.
    pub fn takes_in(&self, event: &Event, warp_width: u16) -> bool {
        self.one.is_nothing()
            || self
                .list
                .last()
                .is_some_and(|last| last.is_together(event, warp_width))
    }

    /// Adds a read of the warp that has read last, at the same time. Returns whether it is one.
    #[inline]
    pub fn add_lane(&mut self, event: &Event, lane_bit: u64, warp_width: u16) -> bool {
        let last = self.list.last_mut();
        let last = last.filter(|last| last.is_together(event, warp_width));
        last.map(|last| last.lanes |= lane_bit).is_some()
    }

    /// The same reads, with room for one more.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left.
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        let mut list = Vec::new();
        if !self.list.is_empty() {
            list.try_reserve_exact(self.list.len() + 1)
                .map_err(|_| release_reserve())?;
            list.extend_from_slice(&self.list);
        }
        Ok(Self {
            one: self.one,
            list,
        })
    }

    /// One event for all: the latest of a block, because barriers order it last.
    fn add_to_one(&mut self, event: &Event, accessor: &Accessor<'_>) {
        let others = self.one.others.max(accessor.relation(&self.one));
        if others == Others::OfOtherBlocks {
            // Nothing but a barrier of the grid orders reads of several blocks, before which all
            // of them are.
            self.one.others = others;
        } else {
            self.one = event.standing_for(others);
        }
    }

    fn add_to_list(&mut self, event: &Event, accessor: &Accessor<'_>) {
        let width = accessor.warp_width();
        // Lanes of a warp read one after the other.
        if self.add_lane(event, accessor.lane_bit(), width) {
            return;
        }
        // Seldom, so that a cell that many warps read costs each of them a step.
        if self.list.len().is_power_of_two() {
            self.forget_ordered(accessor);
        }
        if self.list.is_empty() && self.one.others == Others::None {
            self.one = *event;
        } else if self.has_room(event) {
            self.list.push(Reader::new(event, width));
        } else {
            self.merge(accessor);
            self.add_to_one(event, accessor);
        }
    }

    /// Forgets the reads that come before whatever the thread does now: what comes after its read
    /// comes after them. Puts lanes together that did not read one after the other.
    fn forget_ordered(&mut self, accessor: &Accessor<'_>) {
        if self.one.others != Others::None && accessor.is_after_others(&self.one) {
            self.one.others = Others::None;
        }
        self.list
            .retain(|reader| reader.unordered_lane(accessor).is_some());
        let width = accessor.warp_width();
        let mut place = 0;
        while let Some(reader) = self.list.get(place).cloned() {
            place += 1;
            let mut lanes = reader.lanes;
            let mut rest = place;
            while let Some(other) = self.list.get(rest) {
                if other.is_together(&reader.event, width) {
                    lanes |= self.list.swap_remove(rest).lanes;
                } else {
                    rest += 1;
                }
            }
            self.list[place - 1].lanes = lanes;
        }
    }

    fn has_room(&mut self, event: &Event) -> bool {
        let is_of_block = |reader: &Reader| reader.event.block == event.block;
        let most = match self.list.iter().all(is_of_block) {
            true => MOST_READERS,
            false => MOST_OF_BLOCKS,
        };
        self.list.len() < most && self.list.try_reserve(1).is_ok()
    }

    /// Makes one event of the list.
    fn merge(&mut self, accessor: &Accessor<'_>) {
        let others = self
            .list
            .iter()
            .map(|reader| accessor.relation(&reader.event));
        let others = others.fold(self.one.others, Others::max);
        let latest = self.list.iter().map(|reader| reader.event);
        if let Some(latest) = latest.max_by_key(|event| event.time) {
            self.one = latest.standing_for(others);
        }
        self.list.clear();
    }
}
