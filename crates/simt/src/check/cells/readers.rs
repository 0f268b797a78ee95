//! The mutually unordered reads of a cell since its last write; atomic updates and atomic loads are kept likewise.
//!
//! A later write must come after all of them, so each is kept, with the lanes of a warp together. If a cell has too
//! many, or if several threads read many cells, one read represents the others. That is exact without clocks of fences
//! and partial barriers, because barriers of the block, the warp and the grid order all of their threads alike.

use crate::check::accessor::Accessor;
use crate::check::cells::event::{Event, Others};
use crate::memory::{OutOfMemory, release_reserve};

/// The most readers that are kept separately; one represents any more. This is twice the warps of a block, or the
/// multiprocessors of a small device.
const MOST_READERS: usize = 64;

/// A cell's representation of the reads since its last write.
pub(in crate::check) trait Reads: Clone {
    /// State that the cells share.
    type Sets;

    const NONE: Self;

    /// Whether there are no reads.
    fn is_empty(&self) -> bool;

    /// Forgets all reads.
    fn clear(&mut self, sets: &mut Self::Sets);

    /// A read that is not ordered before the thread's current access.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for the comparison.
    #[inline]
    fn unordered(
        &self,
        accessor: &Accessor<'_>,
        sets: &mut Self::Sets,
    ) -> Result<Option<Event>, OutOfMemory> {
        self.unordered_of(accessor, sets, |_| true)
    }

    /// [`unordered`](Self::unordered) among the reads for which `is_asked` is true.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for the comparison.
    fn unordered_of(
        &self,
        accessor: &Accessor<'_>,
        sets: &mut Self::Sets,
        is_asked: impl Fn(&Event) -> bool,
    ) -> Result<Option<Event>, OutOfMemory>;

    /// Whether `event`, the thread's current access, makes the reads redundant.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for the comparison.
    fn is_replaced_by(
        &self,
        event: &Event,
        accessor: &Accessor<'_>,
        sets: &mut Self::Sets,
    ) -> Result<bool, OutOfMemory>;

    /// Forgets the reads that `event` makes redundant.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for the comparison.
    fn forget_replaced(
        &mut self,
        event: &Event,
        accessor: &Accessor<'_>,
        sets: &mut Self::Sets,
    ) -> Result<(), OutOfMemory>;

    /// The read that represents others, if there is no list.
    fn merged(&self) -> Option<Event>;

    /// Adds a read of the thread, or one that comes before its current access and is forgotten only together with that.
    /// `is_exact`: there is memory for a list.
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

/// Lanes of one warp that read at the same time.
#[derive(Clone, Debug)]
pub(in crate::check) struct Reader {
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
        let (own, warp) = (&self.event, |event: &Event| event.thread() / warp_width);
        // The first comparison mostly decides, and the quotients take as long as everything else.
        own.block == event.block
            && own.time == event.time
            && warp(own) == warp(event)
            && own.is_like(event)
            && event.is_like(own)
    }

    /// Whether `event` makes the reads redundant.
    fn is_replaced_by(&self, event: &Event, accessor: &Accessor<'_>) -> bool {
        self.event.is_like(event) && self.unordered_lane(accessor).is_none()
    }

    /// A lane whose read is not ordered before the accessing thread's current access.
    #[inline]
    fn unordered_lane(&self, accessor: &Accessor<'_>) -> Option<u16> {
        if accessor.is_after_by_barrier(&self.event) {
            return None;
        }
        let mut threads = self.threads(accessor.warp_width());
        threads.find(|thread| !accessor.is_after_access_of(&self.event, *thread))
    }

    /// Forgets the lanes that `event` makes redundant. Returns whether any is left.
    fn forget_replaced(&mut self, event: &Event, accessor: &Accessor<'_>) -> bool {
        if !self.event.is_like(event) {
            return true;
        }
        let width = accessor.warp_width();
        for thread in self.threads(width) {
            if accessor.is_after_access_of(&self.event, thread) {
                self.lanes &= !(1 << (thread % width));
            }
        }
        self.lanes != 0
    }

    /// The lanes, as threads of their block.
    fn threads(&self, warp_width: u16) -> impl Iterator<Item = u16> + use<> {
        let first = self.event.thread() - self.event.thread() % warp_width;
        let mut left = self.lanes;
        std::iter::from_fn(move || {
            let lane = (left != 0).then(|| left.trailing_zeros() as u16)?;
            left &= left - 1;
            Some(first + lane)
        })
    }
}

/// The reads since the last write.
#[derive(Clone, Debug)]
pub(in crate::check) struct Readers {
    /// The only read, or one that represents others too. If there is a list, it represents only others.
    pub one: Event,
    /// Each of several reads.
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
    fn unordered_of(
        &self,
        accessor: &Accessor<'_>,
        (): &mut (),
        is_asked: impl Fn(&Event) -> bool,
    ) -> Result<Option<Event>, OutOfMemory> {
        let one = Some(self.one).filter(|one| !one.is_nothing() && is_asked(one));
        if self.list.is_empty() {
            return Ok(one.filter(|one| !accessor.is_after(one)));
        }
        let mut asked = self.list.iter().filter(|reader| is_asked(&reader.event));
        let of_list = asked.find_map(|reader| {
            let thread = reader.unordered_lane(accessor)?;
            Some(reader.event.of_thread(thread))
        });
        Ok(of_list.or_else(|| one.filter(|one| !accessor.is_after_others(one))))
    }

    #[inline]
    fn is_replaced_by(
        &self,
        event: &Event,
        accessor: &Accessor<'_>,
        (): &mut (),
    ) -> Result<bool, OutOfMemory> {
        let of_list = |reader: &Reader| reader.is_replaced_by(event, accessor);
        Ok(match self.list.is_empty() {
            true => self.one.is_nothing() || self.one.is_replaced_by(event, accessor),
            false => accessor.is_after_others(&self.one) && self.list.iter().all(of_list),
        })
    }

    fn forget_replaced(
        &mut self,
        event: &Event,
        accessor: &Accessor<'_>,
        (): &mut (),
    ) -> Result<(), OutOfMemory> {
        if self.is_replaced_by(event, accessor, &mut ())? {
            self.clear(&mut ());
        } else if !self.list.is_empty() {
            self.list
                .retain_mut(|reader| reader.forget_replaced(event, accessor));
        }
        Ok(())
    }

    #[inline]
    fn merged(&self) -> Option<Event> {
        let is_merged = self.one.others != Others::None && self.list.is_empty();
        is_merged.then_some(self.one)
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
        } else if self.one.is_nothing() || self.one.is_replaced_by(event, accessor) {
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
    /// Whether one event represents all reads.
    pub fn is_one(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether the effect of one more read depends only on that read.
    pub fn takes_in(&self, event: &Event, warp_width: u16) -> bool {
        self.one.is_nothing()
            || self
                .list
                .last()
                .is_some_and(|last| last.is_together(event, warp_width))
    }

    /// Adds a read by the warp that made the last read, at the same time. Returns false for any other read.
    #[inline]
    pub fn add_lane(&mut self, event: &Event, lane_bit: u64, warp_width: u16) -> bool {
        let last = self.list.last_mut();
        let last = last.filter(|last| last.is_together(event, warp_width));
        last.map(|last| last.lanes |= lane_bit).is_some()
    }

    /// A copy of the reads, with capacity for one more.
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

    /// One event for all reads: the latest of a block, because barriers order it last.
    fn add_to_one(&mut self, event: &Event, accessor: &Accessor<'_>) {
        let others = self.one.others.max(event.relation(&self.one, accessor));
        if others == Others::OfOtherBlocks {
            // Only a barrier of the grid orders reads of several blocks, and all of them are before it.
            self.one.others = others;
        } else {
            self.one = event.standing_for(others);
        }
    }

    fn add_to_list(&mut self, event: &Event, accessor: &Accessor<'_>) {
        let width = accessor.warp_width();
        // A warp's lanes read one after the other.
        if self.add_lane(event, 1 << (event.thread() % width), width) {
            return;
        }
        // Rarely, so that a cell that many warps read costs each of them one step.
        if self.list.len().is_power_of_two() {
            self.forget_ordered(event, accessor);
        }
        if self.list.is_empty() && self.one.others == Others::None {
            self.one = *event;
        } else if self.has_room() {
            self.list.push(Reader::new(event, width));
        } else {
            self.merge(accessor);
            self.add_to_one(event, accessor);
        }
    }

    /// Forgets the reads before the thread's current access, because whatever comes after its read comes after them.
    /// Merges lanes that did not read one after the other.
    fn forget_ordered(&mut self, event: &Event, accessor: &Accessor<'_>) {
        if self.one.others != Others::None && accessor.is_after_others(&self.one) {
            self.one.others = Others::None;
        }
        self.list
            .retain(|reader| !reader.is_replaced_by(event, accessor));
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

    fn has_room(&mut self) -> bool {
        self.list.len() < MOST_READERS && self.list.try_reserve(1).is_ok()
    }

    /// Replaces the list by one event.
    fn merge(&mut self, accessor: &Accessor<'_>) {
        let latest = self.list.iter().map(|reader| reader.event);
        if let Some(latest) = latest.max_by_key(|event| event.time) {
            let relation = |reader: &Reader| match reader.lanes.is_power_of_two() {
                true => latest.relation(&reader.event, accessor),
                false => latest.relation(&reader.event, accessor).max(Others::OfWarp),
            };
            let others = self.list.iter().map(relation);
            self.one = latest.standing_for(others.fold(self.one.others, Others::max));
        }
        self.list = Vec::new();
    }
}
