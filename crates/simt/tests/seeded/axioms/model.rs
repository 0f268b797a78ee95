//! The axioms of the PTX ISA, "Memory Consistency Model", as written there: the outcomes of a program that they allow.
//! Tries all executions, and keeps those that break no axiom.
//!
//! Like the simulator and Rust, it omits two patterns of that model: a store after the same thread's release of the
//! word does not release, and a load before an acquire of the word does not acquire.

use super::program::{Outcome, Program, STEPS, Step, THREADS, Value, WORDS, unique_value};
use super::relation::{Relation, orders};
use crate::causality::acquires_and_releases;
use simt::{MemoryOrder, MemoryScope};
use std::collections::BTreeSet;

/// The outcomes of a program.
#[derive(Default)]
pub struct Allowed {
    pub all: BTreeSet<Outcome>,
    /// The outcomes of executions in which no load returns a later store: program order and reads are acyclic.
    pub in_order: BTreeSet<Outcome>,
}

/// A step of a thread, or a word's initial value.
#[derive(Clone, Copy)]
struct Event {
    /// Thread and step.
    place: Option<(usize, usize)>,
    block: usize,
    step: Step,
}

impl Event {
    fn word(&self) -> Option<usize> {
        match self.step {
            Step::Load { word, .. } | Step::Store { word, .. } | Step::Exchange { word, .. } => {
                Some(word)
            }
            Step::Fence { .. } => None,
        }
    }

    fn reads(&self) -> bool {
        matches!(self.step, Step::Load { .. } | Step::Exchange { .. })
    }

    fn writes(&self) -> bool {
        matches!(self.step, Step::Store { .. } | Step::Exchange { .. })
    }

    fn is_fence(&self) -> bool {
        matches!(self.step, Step::Fence { .. })
    }

    fn acquires_and_releases(&self) -> (bool, bool) {
        match self.step {
            Step::Load { order, .. } | Step::Store { order, .. } | Step::Exchange { order, .. } => {
                acquires_and_releases(order)
            }
            Step::Fence { .. } => (true, true),
        }
    }

    /// Whether each one's scope includes the other's thread.
    fn is_strong_with(&self, other: &Self) -> bool {
        let is_wide = |event: &Self| !matches!(event.step, Step::Fence { scope, .. } if scope == MemoryScope::Block);
        self.block == other.block || is_wide(self) && is_wide(other)
    }
}

/// The events of a program, and what all its executions share.
struct Model {
    events: Vec<Event>,
    program_order: Relation,
    /// From a read to the store that writes the value read.
    dependencies: Relation,
}

/// One way to execute a program.
struct Execution {
    /// By read: the write whose value it returns.
    reads_from: Relation,
    coherence: Relation,
    from_reads: Relation,
}

impl Allowed {
    pub fn of(program: &Program) -> Self {
        let model = Model::new(program);
        let mut allowed = Self::default();
        let words: [Vec<usize>; WORDS] = std::array::from_fn(|word| model.writes_of(word));
        for first in orders(&words[0][1..]) {
            for second in orders(&words[1][1..]) {
                let coherence = [[&[words[0][0]], &first[..]], [&[words[1][0]], &second[..]]];
                model.try_sources(&coherence.map(|parts| parts.concat()), &mut allowed);
            }
        }
        allowed
    }
}

impl Model {
    fn new(program: &Program) -> Self {
        let initial = |word| Event {
            place: None,
            block: 0,
            step: Step::Store {
                word,
                value: Value::Constant(0),
                order: MemoryOrder::Relaxed,
            },
        };
        let mut events: Vec<Event> = (0..WORDS).map(initial).collect();
        for (thread, steps) in program.threads.iter().enumerate() {
            events.extend(steps.iter().enumerate().map(|(index, step)| Event {
                place: Some((thread, index)),
                block: program.block_of(thread),
                step: *step,
            }));
        }
        let mut program_order = Relation::new(events.len());
        let mut dependencies = Relation::new(events.len());
        for (later, event) in events.iter().enumerate().skip(WORDS) {
            let is_before = |earlier: &usize| match events[*earlier].place {
                Some((thread, _)) => event.place.is_some_and(|place| place.0 == thread),
                None => true,
            };
            let before = (0..later).filter(is_before);
            before
                .clone()
                .for_each(|earlier| program_order.add(earlier, later));
            if let Step::Store {
                value: Value::Read, ..
            } = event.step
                && let Some(read) = before.rev().find(|earlier| events[*earlier].reads())
            {
                dependencies.add(read, later);
            }
        }
        Self {
            events,
            program_order,
            dependencies,
        }
    }

    /// The writes of a word, the initial one first.
    fn writes_of(&self, word: usize) -> Vec<usize> {
        let is_write = |event: &Event| event.writes() && event.word() == Some(word);
        let numbers = 0..self.events.len();
        numbers
            .filter(|number| is_write(&self.events[*number]))
            .collect()
    }

    /// Tries all executions with this order of the writes of each word.
    fn try_sources(&self, order: &[Vec<usize>; WORDS], allowed: &mut Allowed) {
        let reads: Vec<usize> = (0..self.events.len())
            .filter(|event| self.events[*event].reads())
            .collect();
        let choices: Vec<Vec<usize>> = reads
            .iter()
            .map(|read| {
                let writes = &order[self.events[*read].word().unwrap()];
                // Axiom "Atomicity": an update reads the write before it.
                match writes.iter().position(|write| write == read) {
                    Some(place) => vec![writes[place - 1]],
                    None => writes.clone(),
                }
            })
            .collect();
        let combinations: usize = choices.iter().map(Vec::len).product();
        for mut combination in 0..combinations {
            let mut reads_from = Relation::new(self.events.len());
            for (read, writes) in reads.iter().zip(&choices) {
                reads_from.add(writes[combination % writes.len()], *read);
                combination /= writes.len();
            }
            self.try_execution(&self.execution(order, reads_from), order, allowed);
        }
    }

    fn execution(&self, order: &[Vec<usize>; WORDS], reads_from: Relation) -> Execution {
        let mut coherence = Relation::new(self.events.len());
        for writes in order {
            for (place, earlier) in writes.iter().enumerate() {
                writes[place + 1..]
                    .iter()
                    .for_each(|later| coherence.add(*earlier, *later));
            }
        }
        let mut from_reads = Relation::new(self.events.len());
        for (write, read) in reads_from.pairs() {
            let later = (0..self.events.len()).filter(|later| coherence.has(write, *later));
            later
                .filter(|later| *later != read)
                .for_each(|later| from_reads.add(read, later));
        }
        Execution {
            reads_from,
            coherence,
            from_reads,
        }
    }

    /// Adds the outcome of an execution that breaks no axiom.
    fn try_execution(
        &self,
        execution: &Execution,
        order: &[Vec<usize>; WORDS],
        allowed: &mut Allowed,
    ) {
        // Axiom "No-Thin-Air". The value that an exchange writes depends on no read.
        let mut sources = self.dependencies.clone();
        for (write, read) in execution.reads_from.pairs() {
            if !self.events[write].reads() {
                sources.add(write, read);
            }
        }
        if !sources.is_acyclic() {
            return;
        }
        let outcome = self.outcome(execution, order);
        let is_in_order = execution.reads_from.union(&self.program_order).is_acyclic();
        let is_known = match is_in_order {
            true => allowed.in_order.contains(&outcome),
            false => allowed.all.contains(&outcome),
        };
        if !is_known && self.is_sequential_by_word(execution) && self.is_causal(execution) {
            allowed.all.insert(outcome);
            if is_in_order {
                allowed.in_order.insert(outcome);
            }
        }
    }

    fn outcome(&self, execution: &Execution, order: &[Vec<usize>; WORDS]) -> Outcome {
        let mut reads = [[0; STEPS]; THREADS];
        for (_, read) in execution.reads_from.pairs() {
            let (thread, step) = self.events[read].place.unwrap();
            reads[thread][step] = self.value_read(execution, read);
        }
        let last = |word: usize| *order[word].last().unwrap();
        (
            reads,
            std::array::from_fn(|word| self.value_written(execution, last(word))),
        )
    }

    fn value_read(&self, execution: &Execution, read: usize) -> u32 {
        let mut sources = execution.reads_from.pairs();
        let (write, _) = sources.find(|(_, of)| *of == read).unwrap();
        self.value_written(execution, write)
    }

    fn value_written(&self, execution: &Execution, write: usize) -> u32 {
        let event = &self.events[write];
        match (event.step, event.place) {
            (
                Step::Store {
                    value: Value::Constant(value),
                    ..
                },
                _,
            ) => value,
            (Step::Exchange { .. }, Some((thread, step))) => unique_value(thread, step),
            _ => {
                let mut dependencies = self.dependencies.pairs();
                let read = dependencies.find(|(_, store)| *store == write);
                read.map_or(0, |(read, _)| self.value_read(execution, read))
            }
        }
    }

    /// Axiom "SC-per-location".
    fn is_sequential_by_word(&self, execution: &Execution) -> bool {
        let mut steps = execution
            .reads_from
            .union(&execution.coherence)
            .union(&execution.from_reads);
        for (earlier, later) in self.program_order.pairs() {
            let word = self.events[earlier].word();
            if word.is_some() && word == self.events[later].word() {
                steps.add(earlier, later);
            }
        }
        steps.is_acyclic()
    }

    /// Axioms "Coherence", "Fence-SC" and "Causality", for some order of the sequentially consistent fences.
    fn is_causal(&self, execution: &Execution) -> bool {
        let is_sequential = |event: &Event| {
            matches!(
                event.step,
                Step::Fence {
                    is_sequential: true,
                    ..
                }
            )
        };
        let fences: Vec<usize> = (0..self.events.len())
            .filter(|event| is_sequential(&self.events[*event]))
            .collect();
        let observation = execution.reads_from.closure();
        let synchronized = self.program_order.union(&self.synchronizes(&observation));
        orders(&fences).iter().any(|order| {
            let mut fence_order = Relation::new(self.events.len());
            for (place, earlier) in order.iter().enumerate() {
                for later in &order[place + 1..] {
                    if self.events[*earlier].is_strong_with(&self.events[*later]) {
                        fence_order.add(*earlier, *later);
                    }
                }
            }
            let base = synchronized.union(&fence_order).closure();
            let causality = base.union(&observation.then(&base));
            self.keeps(&causality, execution, &fence_order)
        })
    }

    /// Whether causality order is consistent with the others.
    fn keeps(&self, causality: &Relation, execution: &Execution, fence_order: &Relation) -> bool {
        causality.pairs().all(|(earlier, later)| {
            let (one, other) = (&self.events[earlier], &self.events[later]);
            let are_of_one_word = one.word().is_some() && one.word() == other.word();
            let are_fences = one.is_fence() && other.is_fence();
            let breaks_coherence = are_of_one_word
                && one.writes()
                && other.writes()
                && !execution.coherence.has(earlier, later);
            let breaks_fences = are_fences && fence_order.has(later, earlier);
            !breaks_coherence
                && !breaks_fences
                && !execution.reads_from.has(later, earlier)
                && !execution.from_reads.has(later, earlier)
        })
    }

    /// From the first step of a release pattern to the last one of an acquire pattern that synchronizes with it.
    fn synchronizes(&self, observation: &Relation) -> Relation {
        let mut result = Relation::new(self.events.len());
        for (write, read) in observation.pairs() {
            for first in self.ends_of_pattern(write, true) {
                for last in self.ends_of_pattern(read, false) {
                    if self.events[first].is_strong_with(&self.events[last]) {
                        result.add(first, last);
                    }
                }
            }
        }
        result
    }

    /// The access itself, if it releases, and the fences before it; or, if it acquires, the fences after it.
    fn ends_of_pattern(&self, access: usize, releases: bool) -> impl Iterator<Item = usize> + '_ {
        let (of_acquire, of_release) = self.events[access].acquires_and_releases();
        let itself = if releases { of_release } else { of_acquire };
        let is_fence = move |event: &usize| {
            let (earlier, later) = if releases {
                (*event, access)
            } else {
                (access, *event)
            };
            self.events[*event].is_fence() && self.program_order.has(earlier, later)
        };
        let fences = (0..self.events.len()).filter(is_fence);
        fences.chain(itself.then_some(access))
    }
}
