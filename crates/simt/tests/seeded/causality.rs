//! Causality order for slow, obviously correct models: each thread knows the set of the steps before it, and words pass
//! sets on.

use crate::turns::BLOCKS;
use proptest::prelude::*;
use simt::{MemoryOrder, MemoryScope};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

/// Steps, by their number.
pub type Steps = BTreeSet<usize>;

/// The index of a scope, block first.
fn widest(scope: MemoryScope) -> usize {
    usize::from(scope != MemoryScope::Block)
}

/// The order of a read-modify-write access.
pub fn any_order() -> impl Strategy<Value = MemoryOrder> {
    prop_oneof![
        Just(MemoryOrder::Relaxed),
        Just(MemoryOrder::Acquire),
        Just(MemoryOrder::Release),
        Just(MemoryOrder::AcquireRelease),
    ]
}

/// Whether an atomic access acquires, and whether it releases.
pub fn acquires_and_releases(order: MemoryOrder) -> (bool, bool) {
    match order {
        MemoryOrder::Acquire => (true, false),
        MemoryOrder::Release => (false, true),
        MemoryOrder::AcquireRelease => (true, true),
        _ => (false, false),
    }
}

/// A thread's knowledge.
#[derive(Clone, Default)]
pub struct Thread {
    /// The steps before it.
    pub known: Steps,
    /// By scope, block first: what its atomic accesses have read, which its next fence orders.
    observed: [Steps; 2],
    /// By scope: what its fences have released, which its next atomic writes pass on.
    released: [Steps; 2],
}

impl Thread {
    /// A fence orders what the thread has read before its later steps.
    pub fn acquire(&mut self, scope: MemoryScope) {
        for scope in 0..=widest(scope) {
            let observed = take(&mut self.observed[scope]);
            self.known.extend(observed);
        }
    }

    /// A fence releases what the thread knows: its later writes pass this on.
    pub fn release(&mut self, scope: MemoryScope) {
        self.released[widest(scope)] = self.known.clone();
    }

    /// The thread, one of `block`, reads a word that passes on `handed`, by an access of this order and scope.
    pub fn observe(
        &mut self,
        block: usize,
        handed: &Handed,
        (order, scope): (MemoryOrder, MemoryScope),
    ) {
        let of_block = handed.to_blocks.get(&block).into_iter().flatten();
        self.observed[0].extend(of_block.clone());
        self.observed[1].extend(&handed.to_device);
        if acquires_and_releases(order).0 {
            self.known.extend(of_block);
            if scope != MemoryScope::Block {
                self.known.extend(&handed.to_device);
            }
        }
    }
}

/// What a word passes on.
#[derive(Clone, Default)]
pub struct Handed {
    to_device: Steps,
    to_blocks: BTreeMap<usize, Steps>,
}

impl Handed {
    /// Adds what `thread`, one of `block`, has released.
    pub fn add(&mut self, block: usize, thread: &Thread) {
        let of_block = self.to_blocks.entry(block).or_default();
        of_block.extend(thread.released.iter().flatten());
        self.to_device.extend(&thread.released[1]);
    }

    /// Adds what `thread`, one of `block`, knows, as an access of this order and scope does.
    pub fn add_release(
        &mut self,
        block: usize,
        thread: &Thread,
        (order, scope): (MemoryOrder, MemoryScope),
    ) {
        if acquires_and_releases(order).1 {
            let of_block = self.to_blocks.entry(block).or_default();
            of_block.extend(&thread.known);
            if scope != MemoryScope::Block {
                self.to_device.extend(&thread.known);
            }
        }
    }
}

/// The threads of a launch, by block and thread.
pub struct Threads(BTreeMap<(usize, usize), Thread>);

impl Threads {
    /// The threads of blocks of this many threads.
    pub fn new(threads: usize) -> Self {
        let of_block = |block| (0..threads).map(move |thread| ((block, thread), Thread::default()));
        Self((0..BLOCKS).flat_map(of_block).collect())
    }

    /// A thread's knowledge.
    pub fn at(&mut self, place: (usize, usize)) -> &mut Thread {
        self.0.get_mut(&place).unwrap()
    }

    /// The steps before a thread.
    pub fn known(&self, place: (usize, usize)) -> &Steps {
        &self.0[&place].known
    }

    /// A barrier gives its threads the union of their knowledge.
    pub fn meet(&mut self, is_there: impl Fn(usize, usize) -> bool) {
        let there = |(block, thread): &(usize, usize)| is_there(*block, *thread);
        let mut all = Thread::default();
        for (_, thread) in self.0.iter().filter(|(place, _)| there(place)) {
            all.known.extend(&thread.known);
            for scope in [0, 1] {
                all.observed[scope].extend(&thread.observed[scope]);
                all.released[scope].extend(&thread.released[scope]);
            }
        }
        for (_, thread) in self.0.iter_mut().filter(|(place, _)| there(place)) {
            thread.clone_from(&all);
        }
    }
}
