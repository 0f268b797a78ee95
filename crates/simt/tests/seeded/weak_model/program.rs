//! Programs of atomic accesses, fences and barriers: how they are drawn, and what their loads return.
//!
//! The steps are taken one after another, whichever threads and blocks take them: a counter of the host, which
//! the checks do not see, says whose turn it is. So the coherence order is the order of the steps.

use cuda_std::prelude::*;
use proptest::prelude::*;
use simt::{AccessKind, Contents, Dim3, FenceScope, Launch, Options, Space};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

pub const BLOCKS: usize = 2;
/// Two warps.
pub const THREADS: usize = 64;
pub const WORDS: usize = 4;
const BYTES: usize = 4 * WORDS;

/// The threads that access memory: block and thread.
pub const ACTORS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 33), (0, 40), (1, 0), (1, 40)];

/// Step number n stores n + 1. The words hold 0 before.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Load {
        actor: usize,
        word: usize,
    },
    Store {
        actor: usize,
        word: usize,
    },
    /// An exchange.
    Update {
        actor: usize,
        word: usize,
    },
    Fence {
        actor: usize,
        scope: FenceScope,
    },
    /// The threads of a block meet.
    Block(usize),
    /// These lanes of the first warp of a block meet.
    Lanes {
        block: usize,
        lanes: u32,
    },
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let actor = || 0..ACTORS.len();
    // Mostly two words, so that the accesses meet.
    let word = || prop_oneof![3 => 0..2_usize, 1 => 0..WORDS];
    let scope = prop_oneof![Just(FenceScope::Block), Just(FenceScope::Device)];
    let step = prop_oneof![
        8 => (actor(), word()).prop_map(|(actor, word)| Step::Load { actor, word }),
        5 => (actor(), word()).prop_map(|(actor, word)| Step::Store { actor, word }),
        1 => (actor(), word()).prop_map(|(actor, word)| Step::Update { actor, word }),
        6 => (actor(), scope).prop_map(|(actor, scope)| Step::Fence { actor, scope }),
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

/// Takes step number `number`; returns what a load or an update reads.
fn take(number: usize, step: Step, (space, base): (Space, usize)) -> u32 {
    let access = |kind, word: usize, change: fn(u32, u32) -> u32| {
        simt::access(space, kind, base, BYTES, 4 * word, 4, 4);
        let word = std::ptr::with_exposed_provenance_mut(base + 4 * word);
        let value = number as u32 + 1;
        // SAFETY: (1) the word is there and aligned, as the access says. (2) Nothing else accesses it.
        unsafe { simt::atomic_update_u32(word, |old| change(old, value)) }
    };
    match step {
        Step::Load { word, .. } => return access(AccessKind::AtomicRead, word, |old, _| old),
        Step::Store { word, .. } => _ = access(AccessKind::AtomicWrite, word, |_, new| new),
        Step::Update { word, .. } => return access(AccessKind::Atomic, word, |_, new| new),
        Step::Fence { scope, .. } => simt::fence(scope),
        Step::Block(_) => thread::sync_threads(),
        Step::Lanes { lanes, .. } => warp::sync(LaneMask::from_bits(lanes.into())),
    }
    0
}

/// Whether a thread takes part in the step, and whether it is the one that ends it.
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

/// What each step reads under a seed; 0 for those that read nothing.
pub fn run(steps: &[Step], seed: u64, space: Space) -> Vec<u32> {
    let options = Options {
        seed,
        parallel_blocks: false,
        ..Options::default()
    };
    let launch = Launch {
        kernel: "steps",
        grid: Dim3::from(BLOCKS as u32),
        block: Dim3::from(THREADS as u32),
        cluster: Dim3::from(1),
        thread_registers: None,
        dynamic_shared_bytes: 0,
        options: &options,
    };
    let words = Box::new([0_u32; WORDS]);
    let address = words.as_ptr().expose_provenance();
    simt::register_allocation(address, BYTES, Contents::Initialised).unwrap();
    let turn = AtomicUsize::new(0);
    let values: Vec<AtomicU32> = steps.iter().map(|_| AtomicU32::new(0)).collect();
    let result = simt::run(&launch, &|| {
        let me = (
            thread::block_idx_x() as usize,
            thread::thread_idx_x() as usize,
        );
        let base = match space {
            Space::Shared => zeroed_words(me.1 == 0),
            _ => address,
        };
        for (number, step) in steps.iter().enumerate() {
            let (takes_part, ends) = part(*step, me);
            if !takes_part {
                continue;
            }
            while turn.load(Ordering::Relaxed) < number {
                thread::yield_now();
            }
            let value = take(number, *step, (space, base));
            if ends {
                values[number].store(value, Ordering::Relaxed);
                turn.store(number + 1, Ordering::Relaxed);
            }
        }
    });
    simt::forget_allocation(address, BYTES);
    result.unwrap_or_else(|defect| panic!("{defect}"));
    values.into_iter().map(AtomicU32::into_inner).collect()
}

/// Where the block has its words, which are 0 for all of its threads; one of them writes them.
fn zeroed_words(writes: bool) -> usize {
    let base = simt::static_shared(1, BYTES, 16);
    let address = base.expose_provenance();
    if writes {
        simt::access(
            Space::Shared,
            AccessKind::Write,
            address,
            BYTES,
            0,
            BYTES,
            16,
        );
        // SAFETY: the block has so many bytes here, and its other threads wait at the barrier.
        unsafe { base.write_bytes(0, BYTES) };
    }
    thread::sync_threads();
    address
}
