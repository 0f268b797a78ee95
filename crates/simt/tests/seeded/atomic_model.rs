//! The checks of atomic accesses, fences and partial barriers against a slow model that is obviously
//! right: each thread knows the set of the accesses before it, and each word hands sets on.
//!
//! The steps of a program are taken one after another, whichever threads and blocks take them: a
//! counter of the host, which the checks do not see, says whose turn it is. So the model needs no
//! schedule.

use cuda_std::prelude::*;
use proptest::prelude::*;
use simt::{AccessKind, Contents, DefectKind, Dim3, FenceScope, Launch, Options, Space};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

const BLOCKS: usize = 2;
/// Three warps.
const THREADS: usize = 96;
const WORDS: usize = 4;
const WORD_BYTES: usize = 4;

/// The threads that access memory: block and thread.
const ACTORS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 33), (0, 70), (1, 0), (1, 40)];

/// Accesses, by their number.
type Accesses = BTreeSet<usize>;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// By this actor, of so many words from a word on.
    Access {
        actor: usize,
        kind: AccessKind,
        word: usize,
        words: usize,
    },
    Fence {
        actor: usize,
        scope: FenceScope,
    },
    /// These warps of a block meet: all of them by the barrier of the block.
    Warps {
        block: usize,
        warps: u32,
    },
    /// These lanes of the first warp of a block meet.
    Lanes {
        block: usize,
        lanes: u32,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
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
    let access = (
        0..ACTORS.len(),
        prop_oneof![1 => plain, 2 => atomic],
        // Mostly one word, so that the accesses meet.
        prop_oneof![3 => Just(0_usize), 1 => 0..WORDS],
    );
    let access = access.prop_map(|(actor, (kind, words), word)| Step::Access {
        actor,
        kind,
        word: word / words * words,
        words,
    });
    let scope = prop_oneof![Just(FenceScope::Block), Just(FenceScope::Device)];
    let step = prop_oneof![
        8 => access,
        4 => (0..ACTORS.len(), scope).prop_map(|(actor, scope)| Step::Fence { actor, scope }),
        1 => (0..BLOCKS, prop_oneof![Just(0b011_u32), Just(0b101), Just(0b110), Just(0b111)])
            .prop_map(|(block, warps)| Step::Warps { block, warps }),
        1 => (0..BLOCKS, prop_oneof![Just(0b11_u32), Just(1 << 9 | 1), Just(u32::MAX)])
            .prop_map(|(block, lanes)| Step::Lanes { block, lanes }),
    ];
    prop::collection::vec(step, 1..24)
}

fn is_atomic(kind: AccessKind) -> bool {
    matches!(
        kind,
        AccessKind::Atomic | AccessKind::AtomicRead | AccessKind::AtomicWrite
    )
}

/// What a thread knows.
#[derive(Clone, Default)]
struct Thread {
    /// What is before it.
    known: Accesses,
    /// By scope, block first: what its atomic accesses have read, and its next fence orders.
    observed: [Accesses; 2],
    /// By scope: what its fences have released, and its next atomic accesses hand on.
    released: [Accesses; 2],
}

/// What a word hands on.
#[derive(Clone, Default)]
struct Handed {
    to_device: Accesses,
    to_blocks: BTreeMap<usize, Accesses>,
}

/// An access that has been made.
struct Made {
    thread: (usize, usize),
    kind: AccessKind,
    words: Range<usize>,
    /// Those of its words that nothing has been written to since, plainly: what comes after such a write
    /// comes after all that the write comes after.
    left: BTreeSet<usize>,
    /// Of a load: whether an update of its width comes after it, which stands for it then.
    is_replaced: bool,
}

impl Made {
    fn is_atomic(&self) -> bool {
        is_atomic(self.kind)
    }

    fn writes(&self) -> bool {
        !matches!(self.kind, AccessKind::Read | AccessKind::AtomicRead)
    }

    fn updates(&self) -> bool {
        self.is_atomic() && self.writes()
    }

    /// The words that it has in common with a later access.
    fn common(&self, later: &Self) -> impl Iterator<Item = usize> {
        self.left
            .iter()
            .copied()
            .filter(|word| later.words.contains(word))
    }
}

struct Model {
    threads: BTreeMap<(usize, usize), Thread>,
    /// By the first word of the atomic accesses.
    handed: [Handed; WORDS],
    accesses: Vec<Made>,
}

impl Model {
    fn new() -> Self {
        let of_block = |block| (0..THREADS).map(move |thread| ((block, thread), Thread::default()));
        Self {
            threads: (0..BLOCKS).flat_map(of_block).collect(),
            handed: Default::default(),
            accesses: Vec::new(),
        }
    }

    /// Takes a step: the kinds of the races that it has.
    fn step(&mut self, step: Step) -> Vec<DefectKind> {
        match step {
            Step::Access {
                actor,
                kind,
                word,
                words,
            } => {
                let access = Made {
                    thread: ACTORS[actor],
                    kind,
                    words: word..word + words,
                    left: (word..word + words).collect(),
                    is_replaced: false,
                };
                let races = self.races(&access);
                self.note(access);
                return races;
            }
            Step::Fence { actor, scope } => self.fence(ACTORS[actor], scope),
            Step::Warps { block, warps } => {
                self.meet(|of, thread| of == block && warps >> (thread / 32) & 1 == 1);
            }
            Step::Lanes { block, lanes } => {
                self.meet(|of, thread| of == block && thread < 32 && lanes >> thread & 1 == 1);
            }
        }
        Vec::new()
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

    fn fence(&mut self, place: (usize, usize), scope: FenceScope) {
        let thread = self.threads.get_mut(&place).unwrap();
        let widest = usize::from(scope != FenceScope::Block);
        for scope in 0..=widest {
            let observed = std::mem::take(&mut thread.observed[scope]);
            thread.known.extend(observed);
        }
        thread.released[widest] = thread.known.clone();
    }

    /// The kinds of the races of the access with earlier ones.
    fn races(&self, access: &Made) -> Vec<DefectKind> {
        let known = &self.threads[&access.thread].known;
        let is_race = |(number, earlier): &(usize, &Made)| {
            let is_ordered = earlier.thread == access.thread || known.contains(number);
            let are_atomic = earlier.is_atomic() && access.is_atomic();
            let has_conflict = earlier.common(access).next().is_some()
                && (earlier.writes() || access.writes())
                && !(are_atomic && earlier.words.len() == access.words.len());
            has_conflict && !is_ordered && !self.is_behind_own_update(earlier, access)
        };
        let races = self.accesses.iter().enumerate().filter(is_race);
        let kind = |(_, earlier): (usize, &Made)| match earlier.is_atomic() || access.is_atomic() {
            true => DefectKind::AtomicRace,
            false => DefectKind::DataRace,
        };
        races.map(kind).collect()
    }

    /// Whether a thread accesses plainly what it itself was the last to update, after an update or
    /// after a load that one stands for.
    fn is_behind_own_update(&self, earlier: &Made, access: &Made) -> bool {
        let is_last_own = |word: usize| {
            let mut accesses = self.accesses.iter().rev();
            let last = accesses.find(|it| it.words.contains(&word) && it.writes());
            last.is_some_and(|it| it.kind == AccessKind::Atomic && it.thread == access.thread)
        };
        let mut common = earlier
            .words
            .clone()
            .filter(|word| access.words.contains(word));
        !access.is_atomic() && (earlier.updates() || earlier.is_replaced) && common.all(is_last_own)
    }

    fn note(&mut self, access: Made) {
        let number = self.accesses.len();
        let thread = self.threads.get_mut(&access.thread).unwrap();
        thread.known.insert(number);
        if access.updates() {
            for (number, load) in self.accesses.iter_mut().enumerate() {
                let is_load = load.kind == AccessKind::AtomicRead;
                load.is_replaced |=
                    is_load && load.words == access.words && thread.known.contains(&number);
            }
        }
        let (block, handed) = (access.thread.0, &mut self.handed[access.words.start]);
        if access.kind == AccessKind::AtomicWrite {
            *handed = Handed::default();
        }
        if access.updates() && thread.released.iter().any(|released| !released.is_empty()) {
            let of_block = handed.to_blocks.entry(block).or_default();
            of_block.extend(thread.released.iter().flatten());
            handed.to_device.extend(&thread.released[1]);
        }
        match access.kind {
            AccessKind::Atomic | AccessKind::AtomicRead => {
                let of_block = handed.to_blocks.get(&block).into_iter().flatten();
                thread.observed[0].extend(of_block);
                thread.observed[1].extend(&handed.to_device);
            }
            AccessKind::Write => {
                self.handed[access.words.clone()].fill(Handed::default());
                for earlier in &mut self.accesses {
                    earlier.left.retain(|word| !access.words.contains(word));
                }
            }
            _ => {}
        }
        self.accesses.push(access);
    }
}

/// The races of the first step that has one.
fn expected(steps: &[Step]) -> Vec<DefectKind> {
    let mut model = Model::new();
    let mut races = steps.iter().map(|step| model.step(*step));
    races.find(|races| !races.is_empty()).unwrap_or_default()
}

/// Takes a step, as one of the threads that do.
fn take(step: Step, (space, base): (Space, usize)) {
    match step {
        Step::Access {
            kind, word, words, ..
        } => {
            let (offset, bytes) = (word * WORD_BYTES, words * WORD_BYTES);
            simt::access(space, kind, base, WORDS * WORD_BYTES, offset, bytes, bytes);
            if !is_atomic(kind) {
                return;
            }
            let address = base + offset;
            match words {
                1 => {
                    let word = std::ptr::with_exposed_provenance_mut(address);
                    // SAFETY: (1) the word is there and aligned, as the access says. (2) Nothing else
                    // accesses it.
                    unsafe { simt::atomic_update_u32(word, |old| old) };
                }
                _ => {
                    let word = std::ptr::with_exposed_provenance_mut(address);
                    // SAFETY: (1), (2) as above.
                    unsafe { simt::atomic_update_u64(word, |old| old) };
                }
            }
        }
        Step::Fence { scope, .. } => simt::fence(scope),
        Step::Warps { warps: 0b111, .. } => thread::sync_threads(),
        Step::Warps { warps, .. } => {
            thread::named_barrier_sync(warps, 32 * warps.count_ones());
        }
        Step::Lanes { lanes, .. } => warp::sync(LaneMask::from_bits(lanes.into())),
    }
}

/// Whether a thread takes part in the step, and whether it is the one that ends it.
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

/// What the simulator finds in the steps under a seed.
fn found(steps: &[Step], seed: u64, space: Space) -> Option<DefectKind> {
    let options = Options {
        seed,
        parallel_blocks: false,
        finding_limit: 1,
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
    let words = Box::new([[0_u32; WORDS]; 1]);
    let address = words.as_ptr().expose_provenance();
    simt::register_allocation(address, WORDS * WORD_BYTES, Contents::Initialised).unwrap();
    let turn = AtomicUsize::new(0);
    let result = simt::run(&launch, &|| {
        let me = (
            thread::block_idx_x() as usize,
            thread::thread_idx_x() as usize,
        );
        let base = match space {
            Space::Shared => {
                let base = simt::static_shared(1, WORDS * WORD_BYTES, 16).expose_provenance();
                if me.1 == 0 {
                    simt::access(space, AccessKind::Write, base, 16, 0, 16, 16);
                }
                thread::sync_threads();
                base
            }
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
            take(*step, (space, base));
            if ends {
                turn.store(number + 1, Ordering::Relaxed);
            }
        }
    });
    simt::forget_allocation(address, WORDS * WORD_BYTES);
    result.err().map(|defect| defect.kind)
}

/// The same step in the first block.
fn in_first_block(step: &Step) -> Step {
    match *step {
        Step::Access {
            actor,
            kind,
            word,
            words,
        } => Step::Access {
            actor: actor % 4,
            kind,
            word,
            words,
        },
        Step::Fence { actor, scope } => Step::Fence {
            actor: actor % 4,
            scope,
        },
        Step::Warps { warps, .. } => Step::Warps { block: 0, warps },
        Step::Lanes { lanes, .. } => Step::Lanes { block: 0, lanes },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// A race is found at the step that has one, and nothing where there is none.
    #[test]
    fn races_of_atomics_are_those_of_the_model(steps in steps(), seed in 1_u64..4) {
        let found = found(&steps, seed, Space::Global);
        let expected = expected(&steps);
        prop_assert!(found.map_or(expected.is_empty(), |kind| expected.contains(&kind)), "{found:?} of {expected:?}");
    }

    #[test]
    fn races_of_atomics_in_shared_memory_are_those_of_the_model(steps in steps(), seed in 1_u64..4) {
        let steps: Vec<Step> = steps.iter().map(in_first_block).collect();
        let found = found(&steps, seed, Space::Shared);
        let expected = expected(&steps);
        prop_assert!(found.map_or(expected.is_empty(), |kind| expected.contains(&kind)), "{found:?} of {expected:?}");
    }
}

/// Enough of the programs have a race with atomic accesses, and enough have several steps and none.
#[test]
fn programs_have_races_and_have_none() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut draw = || steps().new_tree(&mut runner).unwrap().current();
    let programs: Vec<Vec<Step>> = (0..500).map(|_| draw()).collect();
    let of_atomics = |steps: &&Vec<Step>| expected(steps).contains(&DefectKind::AtomicRace);
    let races = programs.iter().filter(of_atomics).count();
    let without = |steps: &&Vec<Step>| steps.len() > 5 && expected(steps).is_empty();
    let right = programs.iter().filter(without).count();
    assert!(
        races > 100 && right > 25,
        "{races} with races, {right} without"
    );
}
