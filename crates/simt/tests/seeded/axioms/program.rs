//! Random small programs of atomic accesses and fences, and the outcome of a launch of one.

use crate::harness::{ELEMENTS, Memory, block, me, run_and_read};
use proptest::prelude::*;
use simt::{AccessKind, MemoryOrder, MemoryScope, Options, Space};

pub const THREADS: usize = 3;
pub const WORDS: usize = 2;
/// The most steps of a thread.
pub const STEPS: usize = 3;

/// The value of a store.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Constant(u32),
    /// The value that its thread read last; 0 if it has read nothing.
    Read,
}

#[derive(Clone, Copy, Debug)]
pub enum Step {
    Load {
        word: usize,
        order: MemoryOrder,
    },
    Store {
        word: usize,
        value: Value,
        order: MemoryOrder,
    },
    /// Writes a value that no other step writes.
    Exchange {
        word: usize,
        order: MemoryOrder,
    },
    Fence {
        /// Whether it is sequentially consistent. Otherwise it acquires and releases.
        is_sequential: bool,
        scope: MemoryScope,
    },
}

/// The steps of each thread, and the threads' blocks.
#[derive(Clone, Debug)]
pub struct Program {
    pub threads: [Vec<Step>; THREADS],
    pub are_apart: bool,
}

/// The value that each step has read, 0 if it reads nothing, and the words' final values.
pub type Outcome = ([[u32; STEPS]; THREADS], [u32; WORDS]);

impl Program {
    /// The block of a thread: each thread has its own, or only the last one has.
    pub fn block_of(&self, thread: usize) -> usize {
        match self.are_apart {
            true => thread,
            false => thread / 2,
        }
    }

    /// The program's thread that a thread of the launch runs, if any.
    fn number(&self) -> Option<usize> {
        match (self.are_apart, block(), me()) {
            (true, block, _) => Some(block),
            (false, 0, thread) => Some(thread),
            (false, _, 0) => Some(2),
            _ => None,
        }
    }

    /// The outcome under a seed.
    pub fn run(&self, seed: u64) -> Outcome {
        let options = Options {
            seed,
            parallel_blocks: false,
            registered_memory_only: true,
            ..Options::default()
        };
        let kernel = |memory: &Memory| {
            if let Some(number) = self.number() {
                self.take(number, memory);
            }
        };
        let size = if self.are_apart { (3, 1) } else { (2, 2) };
        let left = run_and_read(crate::borrowed::run, &options, size, &kernel);
        let left = left.unwrap_or_else(|defect| panic!("{defect}"));
        let read = |thread, step| left[result_of(thread, step)];
        let reads = std::array::from_fn(|thread| std::array::from_fn(|step| read(thread, step)));
        (reads, std::array::from_fn(|word| left[word]))
    }

    /// Takes the steps of one thread.
    fn take(&self, number: usize, memory: &Memory) {
        let base = memory.counters.0.as_mut_ptr().expose_provenance();
        let mut last = 0;
        for (index, step) in self.threads[number].iter().enumerate() {
            let written = match step {
                Step::Store {
                    value: Value::Constant(value),
                    ..
                } => *value,
                Step::Exchange { .. } => unique_value(number, index),
                _ => last,
            };
            if let Some(read) = step.take(base, written) {
                last = read;
                memory.counters.set(result_of(number, index), read);
            }
        }
    }
}

/// The value of an exchange.
pub fn unique_value(thread: usize, step: usize) -> u32 {
    (10 + thread * STEPS + step) as u32
}

/// The word to which the launch writes what a step has read.
fn result_of(thread: usize, step: usize) -> usize {
    16 + thread * STEPS + step
}

impl Step {
    /// Takes the step, which writes `written` if it writes. Returns the value read, if it reads.
    fn take(self, base: usize, written: u32) -> Option<u32> {
        let (word, kind, order) = match self {
            Self::Load { word, order } => (word, AccessKind::AtomicRead, order),
            Self::Store { word, order, .. } => (word, AccessKind::AtomicWrite, order),
            Self::Exchange { word, order } => (word, AccessKind::Atomic, order),
            Self::Fence {
                is_sequential,
                scope,
            } => {
                match is_sequential {
                    true => simt::fence(scope),
                    false => simt::fence_acq_rel(scope),
                }
                return None;
            }
        };
        let ordering = (order, MemoryScope::Device);
        let bytes = 4 * ELEMENTS;
        // SAFETY: the launch alone accesses the words, which outlive it.
        unsafe { simt::atomic_access(Space::Global, kind, ordering, base, bytes, 4 * word, 4) };
        let address = std::ptr::with_exposed_provenance_mut(base + 4 * word);
        let change = |old| match kind {
            AccessKind::AtomicRead => old,
            _ => written,
        };
        // SAFETY: the word exists, and is aligned for the access. Nothing else accesses it.
        let read = unsafe { simt::atomic_update_u32(address, change) };
        (kind != AccessKind::AtomicWrite).then_some(read)
    }
}

/// A step that is mostly relaxed.
fn step() -> impl Strategy<Value = Step> {
    let word = || 0..WORDS;
    let relaxed_or = |order| prop_oneof![3 => Just(MemoryOrder::Relaxed), 1 => Just(order)];
    let value = prop_oneof![
        4 => (1..3_u32).prop_map(Value::Constant),
        1 => Just(Value::Read),
    ];
    let scope = prop_oneof![Just(MemoryScope::Block), Just(MemoryScope::Device)];
    let load = (word(), relaxed_or(MemoryOrder::Acquire));
    let store = (word(), value, relaxed_or(MemoryOrder::Release));
    let exchange = (word(), relaxed_or(MemoryOrder::AcquireRelease));
    prop_oneof![
        4 => load.prop_map(|(word, order)| Step::Load { word, order }),
        4 => store.prop_map(|(word, value, order)| Step::Store { word, value, order }),
        1 => exchange.prop_map(|(word, order)| Step::Exchange { word, order }),
        1 => (any::<bool>(), scope)
            .prop_map(|(is_sequential, scope)| Step::Fence { is_sequential, scope }),
    ]
}

pub fn programs() -> impl Strategy<Value = Program> {
    let thread = || prop::collection::vec(step(), 1..=STEPS);
    let threads = [thread(), thread(), thread()];
    (threads, any::<bool>()).prop_map(|(threads, are_apart)| Program { threads, are_apart })
}
