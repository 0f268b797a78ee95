//! Random programs of accesses, fences and partial barriers, and the simulator's findings in them.

use crate::causality::any_order;
use crate::turns::{BLOCKS, Turns, WORDS};
use cuda_std::prelude::*;
use proptest::prelude::*;
use simt::{AccessKind, DefectKind, MemoryOrder, MemoryScope, Options, Space};
use std::ptr::with_exposed_provenance_mut;

/// Three warps.
pub const THREADS: usize = 96;
const WORD_BYTES: usize = 4;

/// The threads that access memory: block and thread.
pub const ACTORS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 33), (0, 70), (1, 0), (1, 40)];

#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// By this actor, of this many words from a word on.
    Access {
        actor: usize,
        kind: AccessKind,
        word: usize,
        words: usize,
        /// For an atomic access.
        order: MemoryOrder,
        scope: MemoryScope,
    },
    /// Races do not depend on the kind of fence.
    Fence {
        actor: usize,
        is_sequential: bool,
        scope: MemoryScope,
    },
    /// These warps of a block meet: all of them by the barrier of the block.
    Warps { block: usize, warps: u32 },
    /// These lanes of the first warp of a block meet.
    Lanes { block: usize, lanes: u32 },
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let plain = prop_oneof![
        (
            Just(AccessKind::Read),
            prop_oneof![Just(1_usize), Just(2), Just(4)]
        ),
        (
            Just(AccessKind::Write),
            prop_oneof![Just(1_usize), Just(2), Just(4)]
        ),
    ];
    let atomic = (
        prop_oneof![
            2 => Just(AccessKind::Atomic),
            2 => Just(AccessKind::AtomicRead),
            1 => Just(AccessKind::AtomicWrite),
        ],
        prop_oneof![4 => Just(1_usize), 1 => Just(2)],
    );
    // Mostly the device: with a narrower scope, blocks race.
    let scope = prop_oneof![1 => Just(MemoryScope::Block), 15 => Just(MemoryScope::Device)];
    let access = (
        0..ACTORS.len(),
        prop_oneof![1 => plain, 2 => atomic],
        // Mostly one word, so that the accesses meet.
        prop_oneof![3 => Just(0_usize), 1 => 0..WORDS],
        (any_order(), scope),
    );
    let access = access.prop_map(
        |(actor, (kind, words), word, (order, scope))| Step::Access {
            actor,
            kind,
            word: word / words * words,
            words,
            order: of_kind(order, kind),
            scope,
        },
    );
    let scope = prop_oneof![Just(MemoryScope::Block), Just(MemoryScope::Device)];
    let fence = (0..ACTORS.len(), any::<bool>(), scope);
    let step = prop_oneof![
        8 => access,
        4 => fence.prop_map(|(actor, is_sequential, scope)| Step::Fence { actor, is_sequential, scope }),
        1 => (0..BLOCKS, prop_oneof![Just(0b011_u32), Just(0b101), Just(0b110), Just(0b111)])
            .prop_map(|(block, warps)| Step::Warps { block, warps }),
        1 => (0..BLOCKS, prop_oneof![Just(0b11_u32), Just(1 << 9 | 1), Just(u32::MAX)])
            .prop_map(|(block, lanes)| Step::Lanes { block, lanes }),
    ];
    prop::collection::vec(step, 1..24)
}

/// The order, weakened to one that an access of this kind can have.
fn of_kind(order: MemoryOrder, kind: AccessKind) -> MemoryOrder {
    match (kind, order) {
        (_, MemoryOrder::Relaxed) | (AccessKind::Atomic, _) => order,
        (AccessKind::AtomicRead, _) => MemoryOrder::Acquire,
        _ => MemoryOrder::Release,
    }
}

pub fn is_atomic(kind: AccessKind) -> bool {
    matches!(
        kind,
        AccessKind::Atomic | AccessKind::AtomicRead | AccessKind::AtomicWrite
    )
}

/// The same step in the first block.
pub fn in_first_block(step: &Step) -> Step {
    let mut step = *step;
    match &mut step {
        Step::Access { actor, .. } | Step::Fence { actor, .. } => *actor %= 4,
        Step::Warps { block, .. } | Step::Lanes { block, .. } => *block = 0,
    }
    step
}

/// The same step in a cluster of both blocks, with some device scopes replaced by cluster scopes.
pub fn in_cluster(step: &Step) -> Step {
    let mut step = *step;
    if let Step::Access { actor, scope, .. } | Step::Fence { actor, scope, .. } = &mut step
        && *actor % 2 == 0
        && *scope == MemoryScope::Device
    {
        *scope = MemoryScope::Cluster;
    }
    step
}

/// Takes a step, as one of its threads.
fn take(step: Step, (space, base): (Space, usize)) {
    match step {
        Step::Access {
            kind,
            word,
            words,
            order,
            scope,
            ..
        } => {
            let (offset, bytes) = (word * WORD_BYTES, words * WORD_BYTES);
            let view_bytes = WORDS * WORD_BYTES;
            if !is_atomic(kind) {
                // SAFETY: the launch alone accesses the words, which outlive it.
                unsafe { simt::access(space, kind, base, view_bytes, offset, bytes, bytes) };
                return;
            }
            // SAFETY: the launch alone accesses the words, which outlive it.
            unsafe {
                simt::atomic_access(space, kind, (order, scope), base, view_bytes, offset, bytes)
            };
            let address = base + offset;
            // SAFETY: the words exist, and are aligned for the access. Nothing else accesses them.
            unsafe {
                match words {
                    1 => {
                        _ = simt::atomic_update_u32(with_exposed_provenance_mut(address), |old| old)
                    }
                    _ => {
                        _ = simt::atomic_update_u64(with_exposed_provenance_mut(address), |old| old)
                    }
                }
            }
        }
        Step::Fence {
            is_sequential: true,
            scope,
            ..
        } => simt::fence(scope),
        Step::Fence { scope, .. } => simt::fence_acq_rel(scope),
        Step::Warps { warps: 0b111, .. } => thread::sync_threads(),
        Step::Warps { warps, .. } => {
            thread::named_barrier_sync(warps, 32 * warps.count_ones());
        }
        Step::Lanes { lanes, .. } => warp::sync(LaneMask::from_bits(lanes.into())),
    }
}

/// Whether a thread takes part in the step, and whether it ends the step.
fn part(step: Step, (block, thread): (usize, usize)) -> (bool, bool) {
    match step {
        Step::Access { actor, .. } | Step::Fence { actor, .. } => {
            let is_actor = ACTORS[actor] == (block, thread);
            (is_actor, is_actor)
        }
        Step::Warps { block: of, warps } => {
            let first = 32 * warps.trailing_zeros() as usize;
            let is_there = of == block && warps >> (thread / 32) & 1 == 1;
            (is_there, is_there && thread == first)
        }
        Step::Lanes { block: of, lanes } => {
            let is_there = of == block && thread < 32 && lanes >> thread & 1 == 1;
            (is_there, is_there && thread == 0)
        }
    }
}

/// The simulator's findings in the steps under a seed.
pub fn found(steps: &[Step], seed: u64, space: Space) -> Option<DefectKind> {
    let turns = Turns {
        threads: THREADS,
        cluster: 1,
        begin: |_| (),
        end: |_, _| (),
        part,
        take: |_, step, place| {
            take(step, place);
            0
        },
    };
    find(&turns, steps, seed, space)
}

/// The same for a cluster of the blocks, with the words in the first one's shared memory.
pub fn found_in_cluster(steps: &[Step], seed: u64) -> Option<DefectKind> {
    let turns = Turns {
        threads: THREADS,
        cluster: BLOCKS as u32,
        begin: |_| simt::cluster_barrier(),
        // The first block must not end while the other one accesses its memory.
        end: |_, _| simt::cluster_barrier(),
        part,
        take: |_, step, (space, base)| {
            take(step, (space, simt::map_shared(base, 0)));
            0
        },
    };
    find(&turns, steps, seed, Space::Shared)
}

fn find(turns: &Turns<Step>, steps: &[Step], seed: u64, space: Space) -> Option<DefectKind> {
    let options = Options {
        seed,
        parallel_blocks: false,
        // The model's loads read the newest store.
        weak_memory: false,
        finding_limit: 1,
        ..Options::default()
    };
    let result = turns.run(steps, &options, space);
    result.err().map(|defect| defect.kind)
}
