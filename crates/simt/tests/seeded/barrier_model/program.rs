//! Random programs of plain accesses, bulk copies, arrivals and waits, and the simulator's results of them.

use super::model::{Outcome, possible};
use crate::turns::{BLOCKS, BYTES, Turns, WORDS};
use proptest::prelude::*;
use simt::{AccessKind, Options, Space};

/// Threads of a block: all of them take steps.
const THREADS: usize = 2;

/// The threads: block and thread.
pub const ACTORS: [(usize, usize); BLOCKS * THREADS] = [(0, 0), (0, 1), (1, 0), (1, 1)];

/// Arrivals of a phase, for each mbarrier. These are in the first block, and only its threads wait.
pub const ARRIVALS: [u32; 2] = [2, 3];

/// Lines of the first block, which copies fill.
pub const LINES: usize = 8;
pub const LINE_BYTES: usize = 16;

/// A line, aligned as bulk copies require.
#[repr(align(16))]
struct Line([u32; LINE_BYTES / 4]);

/// The source of each copy.
static SOURCE: Line = Line([0x5EED_0F11; LINE_BYTES / 4]);

#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A plain access.
    Access {
        actor: usize,
        kind: AccessKind,
        word: usize,
    },
    /// An arrival at an mbarrier.
    Arrive { actor: usize, barrier: usize },
    /// An mbarrier expects bytes.
    Expect {
        actor: usize,
        barrier: usize,
        bytes: u32,
    },
    /// A bulk copy of a line to the first block, which counts on an mbarrier. It has landed when the step ends, so that
    /// the model knows when.
    Copy {
        actor: usize,
        barrier: usize,
        line: usize,
    },
    /// A plain read of a line that a copy has filled.
    ReadLine { actor: usize, line: usize },
    /// A test of the phase of this parity, which is a wait if the phase is complete.
    Wait {
        actor: usize,
        barrier: usize,
        parity: bool,
    },
    /// An arrival at the cluster's barrier, by a thread that has waited for the last one.
    ClusterArrive { actor: usize },
    /// A wait by a thread that has arrived, as soon as all have.
    ClusterWait { actor: usize },
}

impl Step {
    pub fn actor(self) -> usize {
        match self {
            Self::Access { actor, .. }
            | Self::Arrive { actor, .. }
            | Self::Expect { actor, .. }
            | Self::Copy { actor, .. }
            | Self::ReadLine { actor, .. }
            | Self::Wait { actor, .. }
            | Self::ClusterArrive { actor }
            | Self::ClusterWait { actor } => actor,
        }
    }
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let actor = || 0..ACTORS.len();
    let barrier = || 0..ARRIVALS.len();
    let kind = prop_oneof![3 => Just(AccessKind::Read), 1 => Just(AccessKind::Write)];
    // Mostly one word, so that the accesses meet.
    let word = prop_oneof![3 => Just(0_usize), 1 => 0..WORDS];
    let access = (actor(), kind, word);
    let wait = (0..THREADS, barrier(), any::<bool>());
    let expect = (actor(), barrier(), prop_oneof![Just(16_u32), Just(32)]);
    let step = prop_oneof![
        16 => access.prop_map(|(actor, kind, word)| Step::Access { actor, kind, word }),
        16 => (actor(), barrier()).prop_map(|(actor, barrier)| Step::Arrive { actor, barrier }),
        1 => expect.prop_map(|(actor, barrier, bytes)| Step::Expect { actor, barrier, bytes }),
        1 => (actor(), barrier()).prop_map(|(actor, barrier)| Step::Copy { actor, barrier, line: 0 }),
        1 => (actor(), 0..LINES).prop_map(|(actor, line)| Step::ReadLine { actor, line }),
        16 => wait.prop_map(|(actor, barrier, parity)| Step::Wait { actor, barrier, parity }),
        8 => actor().prop_map(|actor| Step::ClusterArrive { actor }),
        8 => actor().prop_map(|actor| Step::ClusterWait { actor }),
    ];
    // Single steps, a phase of an mbarrier with a wait, one with copies, and a meeting of the cluster.
    let copies = (0..4_usize, any::<prop::sample::Index>());
    let phrase = prop_oneof![
        8 => step.prop_map(|step| vec![step]),
        2 => (barrier(), any::<[u8; 4]>()).prop_map(|(barrier, actors)| phase(barrier, actors)),
        1 => (barrier(), any::<[u8; 4]>(), copies)
            .prop_map(|(barrier, actors, (copies, place))| filled_phase((barrier, actors), copies, &place)),
        1 => Just(meeting()),
    ];
    let phrases = prop::collection::vec(phrase, 1..24);
    phrases.prop_map(|phrases| possible(&phrases.concat()))
}

/// A phase of an mbarrier by arrivals of some actors, and a wait for it.
fn phase(barrier: usize, actors: [u8; 4]) -> Vec<Step> {
    let actors = actors.map(usize::from);
    let arrivals = actors.iter().take(ARRIVALS[barrier] as usize);
    let arrivals = arrivals.map(|actor| Step::Arrive {
        actor: actor % ACTORS.len(),
        barrier,
    });
    let waits = [false, true].map(|parity| Step::Wait {
        actor: actors[3] % THREADS,
        barrier,
        parity,
    });
    arrivals.chain(waits).collect()
}

/// A [`phase`] that expects the bytes of `copies` copies. The copies and the expectation are anywhere in it. A waiting
/// thread reads the last line.
fn filled_phase(
    (barrier, actors): (usize, [u8; 4]),
    copies: usize,
    place: &prop::sample::Index,
) -> Vec<Step> {
    let mut steps = phase(barrier, actors);
    let actor = usize::from(actors[0]) % ACTORS.len();
    let copy = Step::Copy {
        actor,
        barrier,
        line: 0,
    };
    // After none, some or all of the arrivals, and before the waits.
    let first = place.index(ARRIVALS[barrier] as usize + 1);
    steps.splice(first..first, vec![copy; copies]);
    let expect = Step::Expect {
        actor,
        barrier,
        bytes: (copies * LINE_BYTES) as u32,
    };
    let expects = usize::from(actors[1]) % (first + copies + 1);
    if copies > 0 {
        steps.insert(expects, expect);
    }
    let actor = usize::from(actors[3]) % THREADS;
    steps.push(Step::ReadLine {
        actor,
        line: usize::from(actors[2]),
    });
    steps
}

/// All threads of the cluster arrive and wait.
fn meeting() -> Vec<Step> {
    let actors = || 0..ACTORS.len();
    let arrivals = actors().map(|actor| Step::ClusterArrive { actor });
    let waits = actors().map(|actor| Step::ClusterWait { actor });
    arrivals.chain(waits).collect()
}

/// The address of an mbarrier of the first block.
fn barrier_at(number: usize) -> usize {
    simt::map_shared(own_barrier_at(number), 0)
}

/// The same place in the running block.
fn own_barrier_at(number: usize) -> usize {
    simt::static_shared(2, 8 * ARRIVALS.len(), 8).expose_provenance() + 8 * number
}

/// The place of a line in the running block.
fn own_line_at(line: usize) -> *mut u8 {
    simt::static_shared(3, LINES * LINE_BYTES, LINE_BYTES).wrapping_add(line * LINE_BYTES)
}

/// The address of a line of the first block.
fn line_at(line: usize) -> usize {
    simt::map_shared(own_line_at(line).expose_provenance(), 0)
}

/// Copies to a line of the first block, and lets the copy land.
fn fill(barrier: usize, line: usize) {
    let source = SOURCE.0.as_ptr().cast();
    let blocks = (simt::cluster_rank() != 0).then_some(0b01);
    // SAFETY: the source is static, and has this many bytes.
    unsafe {
        let barrier = own_barrier_at(barrier);
        simt::bulk_load(own_line_at(line), source, LINE_BYTES, barrier, blocks);
    }
    // The checks do not see this, which is no access of the program.
    let last: *const u32 = std::ptr::with_exposed_provenance(line_at(line) + LINE_BYTES - 4);
    // SAFETY: the line exists and is aligned, and one host thread runs the cluster.
    while unsafe { last.read_volatile() } != SOURCE.0[0] {
        simt::yield_now();
    }
}

/// The first thread of the first block initialises the mbarriers, before all threads of the cluster meet.
fn begin(thread: usize) {
    let first = barrier_at(0);
    if simt::cluster_rank() == 0 && thread == 0 {
        for (number, arrivals) in ARRIVALS.into_iter().enumerate() {
            simt::mbarrier_init(first + 8 * number, arrivals);
        }
        simt::fence_mbarrier_init();
    }
    simt::cluster_barrier();
}

/// All threads complete the phase that some may have arrived in, and meet once more, so that no block ends while others
/// access its memory.
fn end(steps: &[Step], place: (usize, usize)) {
    let of_cluster = steps
        .iter()
        .rev()
        .filter(|step| ACTORS[step.actor()] == place);
    let mut of_cluster = of_cluster
        .filter(|step| matches!(step, Step::ClusterArrive { .. } | Step::ClusterWait { .. }));
    if !matches!(of_cluster.next(), Some(Step::ClusterArrive { .. })) {
        simt::cluster_barrier_arrive();
    }
    simt::cluster_barrier_wait();
    simt::cluster_barrier();
}

/// Takes a step, and returns whether a phase was complete.
fn take(_: usize, step: Step, (space, base): (Space, usize)) -> u32 {
    match step {
        Step::Access { kind, word, .. } => {
            let base = match space {
                Space::Shared => simt::map_shared(base, 0),
                _ => base,
            };
            // SAFETY: the launch alone accesses the words, which outlive it.
            unsafe { simt::access(space, kind, base, BYTES, 4 * word, 4, 4) };
        }
        Step::Arrive { barrier, .. } => simt::mbarrier_arrive(barrier_at(barrier)),
        Step::Expect { barrier, bytes, .. } => simt::mbarrier_expect(barrier_at(barrier), bytes),
        Step::Copy { barrier, line, .. } => fill(barrier, line),
        Step::ReadLine { line, .. } => {
            let (space, kind) = (Space::Shared, AccessKind::Read);
            // SAFETY: the launch alone accesses the words, which outlive it.
            unsafe { simt::access(space, kind, line_at(line), LINE_BYTES, 0, LINE_BYTES, 16) };
        }
        Step::Wait {
            barrier, parity, ..
        } => {
            let barrier = barrier_at(barrier);
            let is_complete = simt::mbarrier_test(barrier, parity);
            if is_complete {
                simt::mbarrier_wait(barrier, parity);
            }
            return is_complete.into();
        }
        Step::ClusterArrive { .. } => simt::cluster_barrier_arrive(),
        Step::ClusterWait { .. } => simt::cluster_barrier_wait(),
    }
    0
}

fn part(step: Step, place: (usize, usize)) -> (bool, bool) {
    let is_actor = ACTORS[step.actor()] == place;
    (is_actor, is_actor)
}

/// The results of the steps under a seed, or the finding.
pub fn run(steps: &[Step], seed: u64, space: Space) -> Outcome {
    let options = Options {
        seed,
        parallel_blocks: false,
        finding_limit: 1,
        ..Options::default()
    };
    let turns = Turns {
        threads: THREADS,
        cluster: BLOCKS as u32,
        begin,
        end,
        part,
        take,
    };
    turns
        .run(steps, &options, space)
        .map_err(|defect| defect.kind)
}
