//! Random programs of atomic accesses, fences and barriers, and what their loads return. The coherence order is the
//! order of the steps.

use crate::causality::any_order;
use crate::turns::{BLOCKS, BYTES, Turns, WORDS};
use cuda_std::prelude::*;
use proptest::prelude::*;
use simt::{AccessKind, MemoryOrder, MemoryScope, Options, Space};

/// Two warps.
pub const THREADS: usize = 64;

/// The threads that access memory: block and thread.
pub const ACTORS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 33), (0, 40), (1, 0), (1, 40)];

/// Step number n stores n + 1. The words start at 0.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Load {
        actor: usize,
        word: usize,
        order: MemoryOrder,
    },
    Store {
        actor: usize,
        word: usize,
        order: MemoryOrder,
    },
    /// An exchange.
    Update {
        actor: usize,
        word: usize,
        order: MemoryOrder,
    },
    Fence {
        actor: usize,
        /// Whether it is sequentially consistent. Otherwise it acquires and releases.
        is_sequential: bool,
        scope: MemoryScope,
    },
    /// The threads of a block meet.
    Block(usize),
    /// These lanes of the first warp of a block meet.
    Lanes { block: usize, lanes: u32 },
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let actor = || 0..ACTORS.len();
    // Mostly two words, so that the accesses meet.
    let word = || prop_oneof![3 => 0..2_usize, 1 => 0..WORDS];
    let scope = prop_oneof![Just(MemoryScope::Block), Just(MemoryScope::Device)];
    let relaxed_or = |order| prop_oneof![Just(MemoryOrder::Relaxed), Just(order)];
    let load = (actor(), word(), relaxed_or(MemoryOrder::Acquire));
    let store = (actor(), word(), relaxed_or(MemoryOrder::Release));
    let update = (actor(), word(), any_order());
    let fence = (actor(), prop::bool::weighted(0.75), scope);
    let step = prop_oneof![
        8 => load.prop_map(|(actor, word, order)| Step::Load { actor, word, order }),
        5 => store.prop_map(|(actor, word, order)| Step::Store { actor, word, order }),
        1 => update.prop_map(|(actor, word, order)| Step::Update { actor, word, order }),
        8 => fence.prop_map(|(actor, is_sequential, scope)| Step::Fence { actor, is_sequential, scope }),
        1 => (0..BLOCKS).prop_map(Step::Block),
        1 => (0..BLOCKS, prop_oneof![Just(0b11_u32), Just(u32::MAX)])
            .prop_map(|(block, lanes)| Step::Lanes { block, lanes }),
    ];
    prop::collection::vec(step, 1..32)
}

/// The same step in the first block.
pub fn in_first_block(step: &Step) -> Step {
    let mut step = *step;
    match &mut step {
        Step::Load { actor, .. }
        | Step::Store { actor, .. }
        | Step::Update { actor, .. }
        | Step::Fence { actor, .. } => *actor %= 4,
        Step::Block(block) | Step::Lanes { block, .. } => *block = 0,
    }
    step
}

/// Takes step number `number`, and returns the value that a load or an update reads.
fn take(number: usize, step: Step, (space, base): (Space, usize)) -> u32 {
    let access = |kind, (word, order): (usize, _), change: fn(u32, u32) -> u32| {
        let ordering = (order, MemoryScope::Device);
        // SAFETY: the launch alone accesses the words, which outlive it.
        unsafe { simt::atomic_access(space, kind, ordering, base, BYTES, 4 * word, 4) };
        let word = std::ptr::with_exposed_provenance_mut(base + 4 * word);
        let value = number as u32 + 1;
        // SAFETY: the word exists, and is aligned for the access. Nothing else accesses it.
        unsafe { simt::atomic_update_u32(word, |old| change(old, value)) }
    };
    match step {
        Step::Load { word, order, .. } => {
            return access(AccessKind::AtomicRead, (word, order), |old, _| old);
        }
        Step::Store { word, order, .. } => {
            _ = access(AccessKind::AtomicWrite, (word, order), |_, new| new);
        }
        Step::Update { word, order, .. } => {
            return access(AccessKind::Atomic, (word, order), |_, new| new);
        }
        Step::Fence {
            is_sequential: true,
            scope,
            ..
        } => simt::fence(scope),
        Step::Fence { scope, .. } => simt::fence_acq_rel(scope),
        Step::Block(_) => thread::sync_threads(),
        Step::Lanes { lanes, .. } => warp::sync(LaneMask::from_bits(lanes.into())),
    }
    0
}

/// Whether a thread takes part in the step, and whether it ends the step.
fn part(step: Step, (block, thread): (usize, usize)) -> (bool, bool) {
    match step {
        Step::Load { actor, .. }
        | Step::Store { actor, .. }
        | Step::Update { actor, .. }
        | Step::Fence { actor, .. } => {
            let is_actor = ACTORS[actor] == (block, thread);
            (is_actor, is_actor)
        }
        Step::Block(of) => (of == block, of == block && thread == 0),
        Step::Lanes { block: of, lanes } => {
            let is_there = of == block && thread < 32 && lanes >> thread & 1 == 1;
            (is_there, is_there && thread == 0)
        }
    }
}

/// The value that each step reads under a seed; 0 if it reads nothing.
pub fn run(steps: &[Step], seed: u64, space: Space) -> Vec<u32> {
    let options = Options {
        seed,
        parallel_blocks: false,
        ..Options::default()
    };
    let turns = Turns {
        threads: THREADS,
        cluster: 1,
        begin: |_| (),
        end: |_, _| (),
        part,
        take,
    };
    let result = turns.run(steps, &options, space);
    result.unwrap_or_else(|defect| panic!("{defect}"))
}
