//! A slow model that is obviously right: each thread knows the set of the steps before it in causality order, each
//! store hands sets on, and each fence does.

use super::program::{ACTORS, BLOCKS, Step, THREADS, WORDS};
use simt::FenceScope;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

/// Steps, by their number.
type Steps = BTreeSet<usize>;

/// What a thread knows.
#[derive(Clone, Default)]
struct Thread {
    /// What is before it.
    known: Steps,
    /// By scope, block first: what its atomic accesses have read, and its next fence orders.
    observed: [Steps; 2],
    /// By scope: what its fences have released, and its next stores hand on.
    released: [Steps; 2],
}

/// What a store hands on.
#[derive(Clone, Default)]
struct Handed {
    to_device: Steps,
    to_blocks: BTreeMap<usize, Steps>,
}

/// A store of a word, or what it held before.
#[derive(Default)]
struct Store {
    /// None for what the word held before.
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

/// A fence that was executed.
struct Fence {
    block: usize,
    scope: FenceScope,
    /// What is before it, and what it is after.
    known: Steps,
}

/// What the loads of a program have returned.
#[derive(Default)]
pub struct Loads {
    /// The step, what it has read, and what it may read.
    pub forbidden: Vec<(usize, u32, Vec<u32>)>,
    /// Loads that have returned another store than the newest.
    pub older: usize,
    /// Loads of words with several stores that must return the newest.
    pub ordered: usize,
}

struct Model {
    threads: BTreeMap<(usize, usize), Thread>,
    words: [Vec<Store>; WORDS],
    fences: Vec<Fence>,
    loads: Loads,
}

impl Loads {
    /// Those of the steps, each of which has read one of `values`.
    pub fn of(steps: &[Step], values: &[u32]) -> Self {
        let of_block = |block| (0..THREADS).map(move |thread| ((block, thread), Thread::default()));
        let mut model = Model {
            threads: (0..BLOCKS).flat_map(of_block).collect(),
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
            Step::Load { actor, word } => self.load(number, ACTORS[actor], word, value),
            Step::Store { actor, word } => {
                self.store(number, ACTORS[actor], word, Handed::default())
            }
            Step::Update { actor, word } => {
                let newest = self.words[word].last().unwrap();
                assert_eq!(value, newest.value(), "an update reads the newest store");
                let handed = newest.handed.clone();
                self.observe(ACTORS[actor], &handed);
                self.store(number, ACTORS[actor], word, handed);
            }
            Step::Fence { actor, scope } => self.fence(ACTORS[actor], scope),
            Step::Block(block) => self.meet(|of, _| of == block),
            Step::Lanes { block, lanes } => {
                self.meet(|of, thread| of == block && thread < 32 && lanes >> thread & 1 == 1);
            }
        }
    }

    /// Which stores a load may return: none that is older than one that is before it, or than one that a
    /// load before it has returned.
    fn allowed(&self, place: (usize, usize), word: usize) -> Vec<u32> {
        let known = &self.threads[&place].known;
        let is_seen = |store: &Store| {
            let is_before = store.step.is_some_and(|step| known.contains(&step));
            is_before || !store.loads.is_disjoint(known)
        };
        let stores = &self.words[word];
        let first = stores.iter().rposition(is_seen).unwrap_or(0);
        stores[first..].iter().map(Store::value).collect()
    }

    fn load(&mut self, number: usize, place: (usize, usize), word: usize, value: u32) {
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
        self.observe(place, &handed);
        self.threads.get_mut(&place).unwrap().known.insert(number);
    }

    fn store(&mut self, number: usize, place: (usize, usize), word: usize, mut handed: Handed) {
        let thread = self.threads.get_mut(&place).unwrap();
        thread.known.insert(number);
        let of_block = handed.to_blocks.entry(place.0).or_default();
        of_block.extend(thread.released.iter().flatten());
        handed.to_device.extend(&thread.released[1]);
        self.words[word].push(Store {
            step: Some(number),
            handed,
            loads: Steps::new(),
        });
    }

    fn observe(&mut self, place: (usize, usize), handed: &Handed) {
        let thread = self.threads.get_mut(&place).unwrap();
        let of_block = handed.to_blocks.get(&place.0).into_iter().flatten();
        thread.observed[0].extend(of_block);
        thread.observed[1].extend(&handed.to_device);
    }

    /// A fence comes after all that were executed before and include its thread, as it includes theirs.
    fn fence(&mut self, place: (usize, usize), scope: FenceScope) {
        let thread = self.threads.get_mut(&place).unwrap();
        let widest = usize::from(scope != FenceScope::Block);
        for scope in 0..=widest {
            let observed = take(&mut thread.observed[scope]);
            thread.known.extend(observed);
        }
        let are_wide = |fence: &Fence| {
            [fence.scope, scope]
                .iter()
                .all(|it| *it != FenceScope::Block)
        };
        for fence in &self.fences {
            if fence.block == place.0 || are_wide(fence) {
                thread.known.extend(&fence.known);
            }
        }
        thread.released[widest] = thread.known.clone();
        self.fences.push(Fence {
            block: place.0,
            scope,
            known: thread.known.clone(),
        });
    }

    /// A barrier gives its threads the union of all that they know.
    fn meet(&mut self, is_there: impl Fn(usize, usize) -> bool) {
        let there = |(block, thread): &(usize, usize)| is_there(*block, *thread);
        let mut all = Thread::default();
        for (_, thread) in self.threads.iter().filter(|(place, _)| there(place)) {
            all.known.extend(&thread.known);
            for scope in [0, 1] {
                all.observed[scope].extend(&thread.observed[scope]);
                all.released[scope].extend(&thread.released[scope]);
            }
        }
        for (_, thread) in self.threads.iter_mut().filter(|(place, _)| there(place)) {
            thread.clone_from(&all);
        }
    }
}
