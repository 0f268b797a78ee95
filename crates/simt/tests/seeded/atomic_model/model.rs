//! A slow, obviously correct model: each thread knows the set of the accesses before it, and each word passes sets on.

use super::program::{ACTORS, Step, THREADS, is_atomic};
use crate::causality::{Handed, Threads};
use crate::turns::WORDS;
use simt::{AccessKind, DefectKind, MemoryOrder, MemoryScope};
use std::collections::BTreeSet;
use std::ops::Range;

/// A past access.
struct Made {
    thread: (usize, usize),
    kind: AccessKind,
    order: MemoryOrder,
    scope: MemoryScope,
    words: Range<usize>,
    /// Its words without a plain write since. What comes after such a write comes after everything before the write.
    left: BTreeSet<usize>,
    /// For a load: whether an update of its width comes after it, and so represents it.
    is_replaced: bool,
    /// For an atomic access: whether a later one that comes after it represents it.
    is_represented: bool,
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

    /// Whether two atomic accesses need no order between them.
    fn is_strong_with(&self, other: &Self) -> bool {
        let are_together = self.thread.0 == other.thread.0;
        let are_wide = [self, other]
            .iter()
            .all(|it| it.scope != MemoryScope::Block);
        self.words.len() == other.words.len() && (are_together || are_wide)
    }

    /// Whether `later`, which comes after it, represents it: whatever need not come after `later` need not come after
    /// it. The checks do not consider accesses with narrower scopes than both.
    fn is_like(&self, later: &Self) -> bool {
        let is_kept = self.updates() && !later.updates();
        let is_as_wide = self.scope == MemoryScope::Device
            || later.scope <= self.scope && later.thread.0 == self.thread.0;
        self.is_atomic() && later.is_atomic() && self.words == later.words && is_as_wide && !is_kept
    }

    /// The words that it shares with a later access.
    fn common(&self, later: &Self) -> impl Iterator<Item = usize> {
        self.left
            .iter()
            .copied()
            .filter(|word| later.words.contains(word))
    }
}

struct Model {
    threads: Threads,
    /// By the first word of the atomic accesses.
    handed: [Handed; WORDS],
    accesses: Vec<Made>,
}

impl Model {
    fn new() -> Self {
        Self {
            threads: Threads::new(THREADS),
            handed: Default::default(),
            accesses: Vec::new(),
        }
    }

    /// Takes a step, and returns the kinds of its races.
    fn step(&mut self, step: Step) -> Vec<DefectKind> {
        match step {
            Step::Access {
                actor,
                kind,
                word,
                words,
                order,
                scope,
            } => {
                let access = Made {
                    thread: ACTORS[actor],
                    kind,
                    order,
                    scope,
                    words: word..word + words,
                    left: (word..word + words).collect(),
                    is_replaced: false,
                    is_represented: false,
                };
                let races = self.races(&access);
                self.note(access);
                return races;
            }
            Step::Fence { actor, scope, .. } => self.fence(ACTORS[actor], scope),
            Step::Warps { block, warps } => {
                self.threads
                    .meet(|of, thread| of == block && warps >> (thread / 32) & 1 == 1);
            }
            Step::Lanes { block, lanes } => {
                self.threads
                    .meet(|of, thread| of == block && thread < 32 && lanes >> thread & 1 == 1);
            }
        }
        Vec::new()
    }

    fn fence(&mut self, place: (usize, usize), scope: MemoryScope) {
        let thread = self.threads.at(place);
        thread.acquire(scope);
        thread.release(scope);
    }

    /// The kinds of the races of the access with earlier ones.
    fn races(&self, access: &Made) -> Vec<DefectKind> {
        let known = self.threads.known(access.thread);
        let is_race = |(number, earlier): &(usize, &Made)| {
            let is_ordered = earlier.thread == access.thread || known.contains(number);
            let are_atomic = earlier.is_atomic() && access.is_atomic();
            let has_conflict = earlier.common(access).next().is_some()
                && (earlier.writes() || access.writes())
                && !(are_atomic && earlier.is_strong_with(access))
                && !earlier.is_represented;
            has_conflict && !is_ordered && !self.is_behind_own_update(earlier, access)
        };
        let races = self.accesses.iter().enumerate().filter(is_race);
        let kind = |(_, earlier): (usize, &Made)| match earlier.is_atomic() || access.is_atomic() {
            true => DefectKind::AtomicRace,
            false => DefectKind::DataRace,
        };
        races.map(kind).collect()
    }

    /// Whether a thread makes a plain access of a word that it was the last to update, after an update or a load that
    /// an update represents.
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
        let thread = self.threads.at(access.thread);
        for (number, earlier) in self.accesses.iter_mut().enumerate() {
            earlier.is_represented |= thread.known.contains(&number) && earlier.is_like(&access);
        }
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
        let ordering = (access.order, access.scope);
        if let AccessKind::Atomic | AccessKind::AtomicRead = access.kind {
            thread.observe(block, handed, ordering);
        }
        if access.updates() {
            handed.add(block, thread);
            handed.add_release(block, thread, ordering);
        }
        if access.kind == AccessKind::Write {
            self.handed[access.words.clone()].fill(Handed::default());
            for earlier in &mut self.accesses {
                earlier.left.retain(|word| !access.words.contains(word));
            }
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
