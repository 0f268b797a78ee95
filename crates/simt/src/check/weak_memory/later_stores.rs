//! A run's part in loads that return later stores.

use crate::basics::lock;
use crate::check::asynchronous::clusters::Clusters;
use crate::check::cells::event::Event;
use crate::check::clocks::clock::Before;
use crate::check::clocks::happens_before::SCOPES;
use crate::check::weak_memory::history::History;
use crate::check::weak_memory::prediction::{Made, Operation, Prediction, Suggestions};
use crate::check::weak_memory::published::Release;
use std::collections::HashSet;
use std::mem::take;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Limits of a run that follows a prediction, until the predicted store is made: a multiple of the atomic operations of
/// the run that suggested it, and some more. A thread may wait forever for something that another one does only after
/// the old value.
const MOST_TIMES: u64 = 2;
const SOME_MORE: u64 = 1 << 12;

/// A run with more distinct accesses than these suggests nothing.
const MOST_MADE: usize = 1 << 16;

/// The part of a run in loads that return later stores. One host thread runs all of its blocks.
#[derive(Default)]
pub(crate) struct LaterStores {
    role: Option<Mutex<Role>>,
    /// Whether the run is useless, because its prediction has failed.
    is_given_up: AtomicBool,
}

/// The purpose of a run.
enum Role {
    /// It suggests predictions for another run.
    First {
        suggestions: Suggestions,
        record: Record,
    },
    Second(Pending),
}

/// The record of a run.
#[derive(Default)]
pub(crate) struct Record {
    /// The number of atomic operations.
    operations: u64,
    made: HashSet<Made>,
}

impl Record {
    fn note(&mut self, made: Made) {
        if self.made.len() <= MOST_MADE {
            self.made.insert(made);
        }
    }
}

/// A prediction that a run follows.
struct Pending {
    prediction: Prediction,
    state: State,
    /// The record of the run that suggested it.
    first: Arc<Record>,
    /// Threads that may depend on what the load has returned.
    dependent: HashSet<(u32, u16)>,
    /// The number of atomic operations that may still come before the store.
    left: u64,
}

enum State {
    /// The load has not been made.
    Before,
    /// The load has returned a store that has not been made.
    Returned {
        address: usize,
        load: Event,
        /// Whether the load's thread has met others or executed a fence since.
        has_acquired: bool,
    },
    /// The store has been made. What it passes on to the load's thread, until that has read it.
    Stored(BarrierOrder),
    /// The load cannot return such a store.
    Failed,
}

/// By scope: what a load has read, for its thread's next fence.
pub(in crate::check) type BarrierOrder = [Option<Before>; SCOPES];

impl LaterStores {
    /// For a run whose suggestions later runs may follow.
    pub fn suggesting(suggestions: Suggestions) -> Self {
        Self::of(Role::First {
            suggestions,
            record: Record::default(),
        })
    }

    /// For a run that follows a prediction of the `first` run.
    pub fn following(prediction: Prediction, first: &Arc<Record>) -> Self {
        Self::of(Role::Second(Pending {
            prediction,
            state: State::Before,
            first: Arc::clone(first),
            dependent: HashSet::new(),
            left: MOST_TIMES * first.operations + SOME_MORE,
        }))
    }

    fn of(role: Role) -> Self {
        Self {
            role: Some(Mutex::new(role)),
            is_given_up: AtomicBool::new(false),
        }
    }

    /// Whether the run records loads and stores.
    #[inline]
    pub fn are_on(&self) -> bool {
        self.role.is_some()
    }

    /// Whether the run may stop.
    #[inline]
    pub fn are_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Relaxed)
    }

    /// Whether a load has returned a store that was made later.
    pub fn are_returned(&self) -> bool {
        let role = self.lock();
        matches!(role.as_deref(), Some(Role::Second(pending)) if matches!(pending.state, State::Stored(_)))
    }

    /// The suggestions of the run, and its record.
    pub fn take_suggestions(&self) -> (Vec<Prediction>, Arc<Record>) {
        match self.lock().as_deref_mut() {
            Some(Role::First {
                suggestions,
                record,
            }) if record.made.len() <= MOST_MADE => (suggestions.take(), Arc::new(take(record))),
            _ => Default::default(),
        }
    }

    /// An atomic operation begins.
    pub(in crate::check) fn count_operation(&self) {
        match self.lock().as_deref_mut() {
            Some(Role::First { record, .. }) => record.operations += 1,
            Some(Role::Second(pending)) => {
                pending.left = pending.left.saturating_sub(1);
                if pending.left == 0 {
                    self.fail(pending);
                }
            }
            None => {}
        }
    }

    /// The value that the load `operation` of the word at `address` returns instead of `value`, if it is the predicted
    /// load.
    pub(in crate::check) fn predicted(
        &self,
        operation: Operation,
        (address, value): (usize, u64),
        load: Event,
    ) -> Option<u64> {
        let mut role = self.lock();
        let Some(Role::Second(pending)) = role.as_deref_mut() else {
            return None;
        };
        let is_before = matches!(pending.state, State::Before);
        if !is_before || operation != pending.prediction.load {
            return None;
        }
        if value != pending.prediction.instead_of {
            self.fail(pending);
            return None;
        }
        pending.state = State::Returned {
            address,
            load,
            has_acquired: false,
        };
        Some(pending.prediction.store.value)
    }

    /// A thread accesses the word at `address`. `sees` tells which accesses come before that. An access after the
    /// predicted load must not come before the store: it would have to see the store.
    pub(in crate::check) fn note_access(&self, address: usize, sees: impl Fn(&Event) -> bool) {
        let mut role = self.lock();
        if let Some(Role::Second(pending)) = role.as_deref_mut()
            && let State::Returned {
                address: of_load,
                load,
                ..
            } = &pending.state
            && *of_load == address
            && sees(load)
        {
            self.fail(pending);
        }
    }

    /// A thread reads what the store has written that may depend on the predicted load, or not.
    pub(in crate::check) fn note_read(&self, read: Made, is_dependent: bool) {
        match self.lock().as_deref_mut() {
            Some(Role::First { record, .. }) => record.note(read),
            Some(Role::Second(pending)) if is_dependent && pending.first.made.contains(&read) => {
                pending.dependent.insert(read.actor.thread());
            }
            Some(Role::Second(_)) | None => {}
        }
    }

    /// A thread has made the newest store of `history`, of the word at `address`, which passes `release` on from now
    /// on. `sees` tells which accesses come before the store.
    pub(in crate::check) fn note_store(
        &self,
        (address, store): (usize, Made),
        (release, clusters): (Option<&Release>, &Clusters),
        history: &mut History<Release>,
        sees: impl Fn(&Event) -> bool,
    ) {
        match self.lock().as_deref_mut() {
            Some(Role::First {
                suggestions,
                record,
            }) => {
                record.note(store);
                suggest(suggestions, store, history, sees);
            }
            Some(Role::Second(pending)) => {
                let is_dependent = pending.may_depend(&store);
                if is_dependent {
                    history.mark_newest_dependent();
                }
                if let Some(load) = pending.returned_from(address)
                    && pending.prediction.store == store
                {
                    match !is_dependent && pending.hand_on(release, clusters) {
                        true => history.note_load_of_newest(load),
                        false => self.fail(pending),
                    }
                }
            }
            None => {}
        }
    }

    /// The predicted load's thread will order what it has read: what the store has passed on to it, if that has been
    /// made, and whether that is all.
    pub(in crate::check) fn acquire(&self) -> (BarrierOrder, bool) {
        let mut role = self.lock();
        let Some(Role::Second(pending)) = role.as_deref_mut() else {
            return (BarrierOrder::default(), true);
        };
        match &mut pending.state {
            State::Returned { has_acquired, .. } => {
                *has_acquired = true;
                (BarrierOrder::default(), false)
            }
            State::Stored(handed) => (take(handed), true),
            State::Before | State::Failed => (BarrierOrder::default(), true),
        }
    }

    /// The prediction has failed.
    fn fail(&self, pending: &mut Pending) {
        if !matches!(pending.state, State::Stored(_)) {
            pending.state = State::Failed;
            self.is_given_up.store(true, Ordering::Relaxed);
        }
    }

    fn lock(&self) -> Option<MutexGuard<'_, Role>> {
        self.role.as_ref().map(lock)
    }
}

/// Suggests that one of the loads of a word returns `store`, the newest, which they come neither before nor have
/// returned.
fn suggest(
    suggestions: &mut Suggestions,
    store: Made,
    history: &History<Release>,
    sees: impl Fn(&Event) -> bool,
) {
    let loads = history
        .relaxed_loads()
        .filter(|(_, load)| !sees(&load.last));
    for (instead_of, load) in loads.filter(|(returned, _)| *returned != store.value) {
        let load = Operation {
            block: load.last.block,
            thread: load.last.thread(),
            number: load.number,
        };
        suggestions.offer(Prediction {
            load,
            instead_of,
            store,
        });
    }
}

impl Pending {
    /// Whether a store may depend on the load's value, before that value is stored.
    fn may_depend(&self, store: &Made) -> bool {
        matches!(self.state, State::Returned { .. })
            && (!self.first.made.contains(store) || self.dependent.contains(&store.actor.thread()))
    }

    /// The load, if it has returned a value that is still to be stored to the word at `address`.
    fn returned_from(&self, address: usize) -> Option<Event> {
        match self.state {
            State::Returned {
                address: of_load,
                load,
                ..
            } if of_load == address => Some(load),
            _ => None,
        }
    }

    /// The store that the load has returned is made, and passes `release` on. False if the load's thread may have
    /// acquired it before it was made.
    fn hand_on(&mut self, release: Option<&Release>, clusters: &Clusters) -> bool {
        let State::Returned {
            load, has_acquired, ..
        } = self.state
        else {
            return false;
        };
        let known = release.map(|release| release.to(load.block, clusters));
        let handed = known.unwrap_or_default().map(|known| {
            let known = known.filter(|known| !known.is_empty());
            known.cloned()
        });
        if has_acquired && handed.iter().any(Option::is_some) {
            return false;
        }
        self.state = State::Stored(handed);
        true
    }
}

#[cfg(test)]
mod tests;
