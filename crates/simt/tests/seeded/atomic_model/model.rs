//! A slow model that is obviously right: each thread knows the set of the accesses before it, and each word hands
//! sets on.

use super::program::{ACTORS, BLOCKS, Step, THREADS, WORDS, is_atomic};
use simt::{AccessKind, DefectKind, FenceScope};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Accesses, by their number.
type Accesses = BTreeSet<usize>;

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
pub fn expected(steps: &[Step]) -> Vec<DefectKind> {
    let mut model = Model::new();
    let mut races = steps.iter().map(|step| model.step(*step));
    races.find(|races| !races.is_empty()).unwrap_or_default()
}
