//! A block's part in loads that return later stores.

use crate::basics::Position;
use crate::check::block::BlockCheck;
use crate::check::cells::event::Event;
use crate::check::weak_memory::history::History;
use crate::check::weak_memory::prediction::{Actor, Made, Operation, Word};
use crate::check::weak_memory::published::Release;

impl BlockCheck {
    /// The operation by which the thread at `position` accesses the word at `address` atomically.
    pub(in crate::check) fn count_operation(
        &self,
        position: &Position,
        address: usize,
    ) -> Operation {
        let thread = position.thread();
        let made = &self.operations[thread as usize];
        let number = made.replace(made.get() + 1);
        let later_stores = &self.launch.later_stores;
        if later_stores.are_on() {
            later_stores.count_operation();
            self.with_sight(position, |sees| later_stores.note_access(address, sees));
        }
        Operation {
            block: self.block,
            thread: thread as u16,
            number,
        }
    }

    /// The value that the relaxed load `operation` returns instead of the word's, if that is predicted.
    pub(in crate::check) fn predicted(
        &self,
        operation: Operation,
        target: (usize, u64),
        load: Event,
    ) -> Option<u64> {
        let later_stores = &self.launch.later_stores;
        if !later_stores.are_on() {
            return None;
        }
        let value = later_stores.predicted(operation, target, load)?;
        self.ahead.set(Some(operation.thread));
        Some(value)
    }

    /// A word is read: its value, and whether that value's store may depend on a predicted load.
    pub(in crate::check) fn note_read(
        &self,
        word: Word,
        load: &Event,
        (value, is_dependent): (u64, bool),
    ) {
        let later_stores = &self.launch.later_stores;
        if later_stores.are_on() {
            let read = Made {
                actor: Actor::of(load),
                word,
                value,
                is_store: false,
            };
            later_stores.note_read(read, is_dependent);
        }
    }

    /// The thread at `position` has made the newest store of a word, which passes `release` on from now on.
    pub(in crate::check) fn note_store(
        &self,
        position: &Position,
        (address, word): (usize, Word),
        store: &Event,
        release: Option<&Release>,
        history: &mut History<Release>,
    ) {
        let later_stores = &self.launch.later_stores;
        if later_stores.are_on() {
            let made = Made {
                actor: Actor::of(store),
                word,
                value: history.value(history.newest()).0,
                is_store: true,
            };
            let release = (release, &self.launch.conditions.clusters);
            self.with_sight(position, |sees| {
                later_stores.note_store((address, made), release, history, sees);
            });
        }
    }

    /// This thread of the block, or all if none is given, will order what they have read before their next accesses.
    #[inline]
    pub(in crate::check) fn before_acquire(&self, thread: Option<u32>) {
        if let Some(ahead) = self.ahead.get()
            && thread.is_none_or(|thread| thread == u32::from(ahead))
        {
            self.acquire_later_store(ahead);
        }
    }

    /// The thread whose load has returned a later store has read what the store passes on, if that has been made.
    #[cold]
    fn acquire_later_store(&self, thread: u16) {
        let (handed, is_all) = self.launch.later_stores.acquire();
        if is_all {
            self.ahead.set(None);
        }
        let mut clocks = self.clocks.change(usize::from(thread));
        for (observed, handed) in clocks.observed.iter_mut().zip(&handed) {
            if let Some(handed) = handed {
                observed.add(handed);
                self.note_clocks();
            }
        }
    }
}
