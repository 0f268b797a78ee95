//! The atomic updates of a cell since its last plain write.
//!
//! Updates of one width whose scopes include both threads need no order among each other, but a plain access must come
//! after all of them. So each update is kept unless a later one is ordered after it. The last one is kept separately:
//! its thread knows the word's value.

use crate::check::accessor::Accessor;
use crate::check::cells::event::{Event, EventKind, Others};
use crate::check::cells::readers::Reads;
use crate::memory::OutOfMemory;

/// The atomic updates of a cell since its last plain write.
#[derive(Clone)]
pub(in crate::check) struct Updates<R> {
    /// The last update. It represents others if there are too many for `earlier`.
    pub last: Event,
    /// The updates that are not ordered before a later one of the same width.
    earlier: R,
}

impl<R: Reads> Updates<R> {
    pub const NONE: Self = Self::of(Event::NOTHING);

    pub const fn of(last: Event) -> Self {
        Self {
            last,
            earlier: R::NONE,
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.last.is_nothing()
    }

    /// Whether the last update represents all.
    pub fn is_one(&self) -> bool {
        self.earlier.is_empty()
    }

    /// Forgets all updates.
    #[inline]
    pub fn clear(&mut self, sets: &mut R::Sets) {
        self.last = Event::NOTHING;
        self.earlier.clear(sets);
    }

    /// The earlier updates, as a set.
    pub fn earlier_mut(&mut self) -> &mut R {
        &mut self.earlier
    }

    /// An update that is not ordered before a plain access of the thread. A thread that made the last update comes
    /// after all others, because all threads see the updates of a word in one order.
    #[inline]
    pub fn unordered(
        &self,
        accessor: &Accessor<'_>,
        sets: &mut R::Sets,
    ) -> Result<Option<Event>, OutOfMemory> {
        let last = &self.last;
        let is_own_update = last.kind == EventKind::Atomic && accessor.is_own(last);
        if last.is_nothing() || is_own_update {
            return Ok(None);
        }
        if !accessor.is_after(last) {
            return Ok(Some(*last));
        }
        self.earlier.unordered(accessor, sets)
    }

    /// An update that must be ordered before the atomic access `event`, and is not: one of another width, or one of two
    /// whose scopes do not include both threads.
    #[inline]
    pub fn unordered_weak(
        &self,
        event: &Event,
        accessor: &Accessor<'_>,
        sets: &mut R::Sets,
    ) -> Result<Option<Event>, OutOfMemory> {
        let last = &self.last;
        if !last.is_nothing() && !accessor.are_strong(last, event) && !accessor.is_after(last) {
            return Ok(Some(*last));
        }
        self.earlier
            .unordered_of(accessor, sets, |it| !accessor.are_strong(it, event))
    }

    /// Adds an update, as the last one. `is_exact`: there is memory for the earlier ones.
    pub fn add(
        &mut self,
        event: &Event,
        accessor: &Accessor<'_>,
        is_exact: bool,
        sets: &mut R::Sets,
    ) -> Result<(), OutOfMemory> {
        let last = self.last;
        let mut others = Others::None;
        if !last.is_nothing() && !last.is_replaced_by(event, accessor) {
            others = last.others.max(event.relation(&last, accessor));
            if last.others == Others::None && (is_exact || !self.earlier.is_empty()) {
                self.earlier.add(&last, accessor, is_exact, sets)?;
                others = Others::None;
            }
        } else if self.earlier.is_replaced_by(event, accessor, sets)? {
            self.earlier.clear(sets);
        }
        if let Some(merged) = self.earlier.merged() {
            let relation = event.relation(&last, accessor);
            others = merged.others.max(event.relation(&merged, accessor));
            others = others.max(relation);
            self.earlier.clear(sets);
        }
        self.last = event.standing_for(others);
        Ok(())
    }
}
