//! Predicts, from one run of a launch, loads that return a later store.
//!
//! A run makes its steps one after another, so a load can return a store that is still to come only if the run knows it
//! from another run, of the same launch under the same seed, in which the load returned something else. Both runs make
//! the store, so it does not depend on what the load returns. This certifies a promise in Kang, Hur, Lahav, Vafeiadis,
//! Dreyer, "A promising semantics for relaxed-memory concurrency", POPL 2017, and implements "Axioms: No-Thin-Air" of
//! the PTX ISA as far as two runs show: a store counts as independent of a load if both runs make it, even if its
//! instruction depends on the load.
//!
//! The runs may make the store for different reasons, and the second run's reason may be the load. So a store of the
//! second run alone counts as dependent on the load. So does a thread that reads such a store where it read the same
//! value in the first run: only a thread that reads something else, and still stores the same, shows that the read does
//! not matter.

use crate::basics::SplitMix64;
use crate::check::cells::event::Event;
use crate::check::cells::site::Site;

/// The number of predictions that are kept of a run.
const MOST_PREDICTIONS: usize = 2;

/// Streams of the seed's generator that the order of warps does not use.
const SEED_OF_PREDICTIONS: u64 = 0x6c61_7465_725f_7374;

/// One in `RARITY` launches under seeds is predicted.
const RARITY: u64 = 2;

/// An atomic operation, by the number of its thread's earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) struct Operation {
    pub block: u32,
    pub thread: u16,
    pub number: u32,
}

/// A thread at a line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::check) struct Actor {
    block: u32,
    thread: u16,
    site: Site,
}

impl Actor {
    /// The actor of an access.
    pub fn of(event: &Event) -> Self {
        Self {
            block: event.block,
            thread: event.thread(),
            site: event.site,
        }
    }

    /// The thread, by its block and its number there.
    pub fn thread(&self) -> (u32, u16) {
        (self.block, self.thread)
    }
}

/// A word: its address in global memory, or a block and an offset in the block's shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::check) enum Word {
    Global(usize),
    Shared(u32, usize),
}

/// An atomic access that two runs may both make.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::check) struct Made {
    pub actor: Actor,
    pub word: Word,
    /// The value read or written.
    pub value: u64,
    pub is_store: bool,
}

/// A prediction: a load returns the value of a later store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Prediction {
    pub(in crate::check) load: Operation,
    /// The value that the load would return otherwise.
    pub(in crate::check) instead_of: u64,
    pub(in crate::check) store: Made,
}

/// The predictions that a run suggests: a uniform sample of all (Vitter, "Random sampling with a reservoir", TOMS 1985,
/// algorithm R).
pub(crate) struct Suggestions {
    kept: Vec<Prediction>,
    /// The number of all predictions.
    offered: u64,
    random: SplitMix64,
}

impl Suggestions {
    /// The suggestions of a run under `seed`, if it makes any.
    pub fn new(seed: u64) -> Option<Self> {
        let mut random = SplitMix64::new(seed ^ SEED_OF_PREDICTIONS, 0);
        let is_drawn = random.below(RARITY) == 0;
        is_drawn.then_some(Self {
            kept: Vec::new(),
            offered: 0,
            random,
        })
    }

    /// Adds a prediction, or drops it.
    pub(in crate::check) fn offer(&mut self, prediction: Prediction) {
        self.offered += 1;
        if self.kept.len() < MOST_PREDICTIONS {
            return self.kept.push(prediction);
        }
        let drawn = self.random.below(self.offered) as usize;
        if let Some(kept) = self.kept.get_mut(drawn) {
            *kept = prediction;
        }
    }

    /// The suggestions that were kept.
    pub fn take(&mut self) -> Vec<Prediction> {
        std::mem::take(&mut self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    fn prediction(number: u32) -> Prediction {
        let load = Operation {
            block: 0,
            thread: 0,
            number,
        };
        let actor = Actor {
            block: 1,
            thread: 0,
            site: Site::of(Location::caller()),
        };
        let store = Made {
            actor,
            word: Word::Global(64),
            value: 1,
            is_store: true,
        };
        Prediction {
            load,
            instead_of: 0,
            store,
        }
    }

    fn of_some_seeds() -> impl Iterator<Item = Suggestions> {
        (1..2000).filter_map(Suggestions::new)
    }

    #[test]
    fn one_launch_in_two_is_predicted() {
        let drawn = of_some_seeds().count();
        assert!((900..1100).contains(&drawn), "{drawn}");
    }

    #[test]
    fn each_prediction_is_as_likely_as_the_others() {
        let mut counts = [0; 10];
        for mut suggestions in of_some_seeds() {
            (0..10).for_each(|number| suggestions.offer(prediction(number)));
            let kept = suggestions.take();
            assert_eq!(kept.len(), MOST_PREDICTIONS);
            kept.iter()
                .for_each(|it| counts[it.load.number as usize] += 1);
        }
        assert!(
            counts.iter().all(|count| (140..260).contains(count)),
            "{counts:?}"
        );
    }
}
