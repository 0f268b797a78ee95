//! A slow, obviously correct model: each thread knows the set of the steps before it in causality order, and each store
//! and fence passes sets on.

use super::program::{ACTORS, Step, THREADS};
use crate::causality::{Handed, Steps, Threads};
use crate::turns::WORDS;
use simt::{MemoryOrder, MemoryScope};

/// A store of a word, or its initial value.
#[derive(Default)]
struct Store {
    /// `None` for the initial value.
    step: Option<usize>,
    handed: Handed,
    /// The loads that have returned it.
    loads: Steps,
}

impl Store {
    fn value(&self) -> u32 {
        self.step.map_or(0, |step| step as u32 + 1)
    }
}

/// An executed sequentially consistent fence.
struct Fence {
    block: usize,
    scope: MemoryScope,
    /// What is before it, and what it is after.
    known: Steps,
}

/// The results of a program's loads.
#[derive(Default)]
pub struct Loads {
    /// The step, the value that it has read, and those that it may read.
    pub forbidden: Vec<(usize, u32, Vec<u32>)>,
    /// Loads that have returned an older store than the newest.
    pub older: usize,
    /// Loads of words with several stores that must return the newest.
    pub ordered: usize,
}

struct Model {
    threads: Threads,
    words: [Vec<Store>; WORDS],
    fences: Vec<Fence>,
    loads: Loads,
}

impl Loads {
    /// The results of the steps, which have read `values`.
    pub fn of(steps: &[Step], values: &[u32]) -> Self {
        let mut model = Model {
            threads: Threads::new(THREADS),
            words: std::array::from_fn(|_| vec![Store::default()]),
            fences: Vec::new(),
            loads: Self::default(),
        };
        for (number, (step, value)) in steps.iter().zip(values).enumerate() {
            model.step(number, *step, *value);
        }
        model.loads
    }
}

impl Model {
    fn step(&mut self, number: usize, step: Step, value: u32) {
        match step {
            Step::Load { actor, word, order } => {
                self.load((number, order), ACTORS[actor], word, value);
            }
            Step::Store { actor, word, order } => {
                self.store((number, order), ACTORS[actor], word, Handed::default());
            }
            Step::Update { actor, word, order } => {
                let newest = self.words[word].last().unwrap();
                assert_eq!(value, newest.value(), "an update reads the newest store");
                let handed = newest.handed.clone();
                let place = ACTORS[actor];
                let thread = self.threads.at(place);
                thread.observe(place.0, &handed, (order, MemoryScope::Device));
                self.store((number, order), place, word, handed);
            }
            Step::Fence {
                actor,
                is_sequential: true,
                scope,
            } => self.fence(ACTORS[actor], scope),
            Step::Fence { actor, scope, .. } => {
                let thread = self.threads.at(ACTORS[actor]);
                thread.acquire(scope);
                thread.release(scope);
            }
            Step::Block(block) => self.threads.meet(|of, _| of == block),
            Step::Lanes { block, lanes } => {
                self.threads
                    .meet(|of, thread| of == block && thread < 32 && lanes >> thread & 1 == 1);
            }
        }
    }

    /// The stores that a load may return: none older than one that is before the load, or than one returned by a load
    /// before it.
    fn allowed(&self, place: (usize, usize), word: usize) -> Vec<u32> {
        let known = self.threads.known(place);
        let is_seen = |store: &Store| {
            let is_before = store.step.is_some_and(|step| known.contains(&step));
            is_before || !store.loads.is_disjoint(known)
        };
        let stores = &self.words[word];
        let first = stores.iter().rposition(is_seen).unwrap_or(0);
        stores[first..].iter().map(Store::value).collect()
    }

    fn load(
        &mut self,
        (number, order): (usize, MemoryOrder),
        place: (usize, usize),
        word: usize,
        value: u32,
    ) {
        let allowed = self.allowed(place, word);
        let newest = self.words[word].last().unwrap().value();
        self.loads.older += usize::from(value != newest);
        self.loads.ordered += usize::from(allowed.len() == 1 && self.words[word].len() > 1);
        if !allowed.contains(&value) {
            self.loads.forbidden.push((number, value, allowed));
        }
        let mut stores = self.words[word].iter_mut();
        let store = stores.find(|store| store.value() == value).unwrap();
        store.loads.insert(number);
        let handed = store.handed.clone();
        let thread = self.threads.at(place);
        thread.observe(place.0, &handed, (order, MemoryScope::Device));
        thread.known.insert(number);
    }

    fn store(
        &mut self,
        (number, order): (usize, MemoryOrder),
        place: (usize, usize),
        word: usize,
        mut handed: Handed,
    ) {
        let thread = self.threads.at(place);
        thread.known.insert(number);
        handed.add(place.0, thread);
        handed.add_release(place.0, thread, (order, MemoryScope::Device));
        self.words[word].push(Store {
            step: Some(number),
            handed,
            loads: Steps::new(),
        });
    }

    /// Orders a sequentially consistent fence after all earlier ones if each one's scope includes the other's thread.
    fn fence(&mut self, place: (usize, usize), scope: MemoryScope) {
        let thread = self.threads.at(place);
        thread.acquire(scope);
        let are_wide = |fence: &Fence| {
            [fence.scope, scope]
                .iter()
                .all(|it| *it != MemoryScope::Block)
        };
        for fence in &self.fences {
            if fence.block == place.0 || are_wide(fence) {
                thread.known.extend(&fence.known);
            }
        }
        thread.release(scope);
        self.fences.push(Fence {
            block: place.0,
            scope,
            known: thread.known.clone(),
        });
    }
}
