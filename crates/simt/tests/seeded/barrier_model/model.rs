//! A slow model that is obviously right: each thread knows the set of the steps before it, barriers count arrivals
//! and bytes, and hand sets on.

use super::program::{ACTORS, ARRIVALS, LINE_BYTES, LINES, Step};
use crate::causality::Steps;
use simt::{AccessKind, DefectKind};
use std::mem::take;

/// What each step returns, or what is wrong with the first one that is.
pub type Outcome = Result<Vec<u32>, DefectKind>;

/// An mbarrier.
struct Mbarrier {
    missing: u32,
    /// Bytes that are expected, less those that have come.
    bytes: i64,
    phases: u32,
    /// What those know that have arrived, in this phase and before.
    gathered: Steps,
    /// What they knew when the last phase was complete.
    handed: Steps,
}

/// The barrier of the cluster.
#[derive(Default)]
struct Cluster {
    /// Whether each thread has arrived in this phase.
    arrived: [bool; ACTORS.len()],
    /// Whether each thread may wait: the phase in which it has arrived is complete.
    is_open: [bool; ACTORS.len()],
    gathered: Steps,
    handed: Steps,
}

impl Cluster {
    /// A thread that knows `known` arrives, unless it has and did not wait. Returns whether it has arrived.
    fn arrive(&mut self, actor: usize, known: &Steps) -> bool {
        if self.arrived[actor] || self.is_open[actor] {
            return false;
        }
        self.arrived[actor] = true;
        self.gathered.extend(known);
        if self.arrived == [true; ACTORS.len()] {
            self.handed = take(&mut self.gathered);
            self.is_open = take(&mut self.arrived);
        }
        true
    }

    /// A thread waits, if its phase is complete. Returns what it knows then.
    fn wait(&mut self, actor: usize) -> Option<&Steps> {
        take(&mut self.is_open[actor]).then_some(&self.handed)
    }
}

/// The steps without arrivals and waits at the barrier of the cluster that would be wrong or last, and without
/// copies that there is no room for. Copies fill one line after another, and each line is read after its copy.
pub fn possible(steps: &[Step]) -> Vec<Step> {
    let mut cluster = Cluster::default();
    let mut lines = 0;
    let possible = |step: &Step| {
        let mut step = *step;
        let is_possible = match &mut step {
            Step::ClusterArrive { actor } => cluster.arrive(*actor, &Steps::new()),
            Step::ClusterWait { actor } => cluster.wait(*actor).is_some(),
            Step::Copy { line, .. } => {
                *line = lines;
                lines += 1;
                lines <= LINES
            }
            Step::ReadLine { line, .. } => {
                let filled = lines.min(LINES);
                *line = line.checked_rem(filled).unwrap_or(0);
                filled > 0
            }
            _ => true,
        };
        is_possible.then_some(step)
    };
    steps.iter().filter_map(possible).collect()
}

struct Model {
    known: [Steps; ACTORS.len()],
    barriers: [Mbarrier; ARRIVALS.len()],
    cluster: Cluster,
    /// The copy that has filled each line.
    lines: [Option<usize>; LINES],
    /// The accesses so far: step, thread, word and whether it writes.
    accesses: Vec<(usize, usize, usize, bool)>,
}

impl Model {
    /// Takes a step, and returns what it does.
    fn step(&mut self, number: usize, step: Step) -> Result<u32, DefectKind> {
        let known = &mut self.known[step.actor()];
        match step {
            Step::Access { actor, kind, word } => {
                let writes = kind == AccessKind::Write;
                let is_race = self.accesses.iter().any(|(earlier, by, of, wrote)| {
                    *of == word && *by != actor && (writes || *wrote) && !known.contains(earlier)
                });
                if is_race {
                    return Err(DefectKind::DataRace);
                }
                known.insert(number);
                self.accesses.push((number, actor, word, writes));
            }
            Step::Arrive {
                barrier: number, ..
            } => {
                let barrier = &mut self.barriers[number];
                barrier.gathered.extend(&*known);
                let Some(missing) = barrier.missing.checked_sub(1) else {
                    return Err(DefectKind::BarrierMisuse);
                };
                barrier.missing = missing;
                barrier.end_phase(ARRIVALS[number]);
            }
            Step::Expect {
                barrier: number,
                bytes,
                ..
            } => {
                let barrier = &mut self.barriers[number];
                barrier.bytes += i64::from(bytes);
                barrier.end_phase(ARRIVALS[number]);
            }
            Step::Copy {
                barrier: of, line, ..
            } => {
                self.lines[line] = Some(number);
                let barrier = &mut self.barriers[of];
                // What comes after a wait comes after the copy, and not after what its thread has done.
                barrier.gathered.insert(number);
                barrier.bytes -= LINE_BYTES as i64;
                barrier.end_phase(ARRIVALS[of]);
            }
            Step::ReadLine { line, .. } => {
                let is_there = self.lines[line].is_some_and(|copy| known.contains(&copy));
                return is_there.then_some(0).ok_or(DefectKind::AsyncHazard);
            }
            Step::Wait {
                barrier, parity, ..
            } => {
                let barrier = &self.barriers[barrier];
                let is_complete = (barrier.phases % 2 == 1) != parity;
                if is_complete {
                    known.extend(&barrier.handed);
                }
                return Ok(is_complete.into());
            }
            Step::ClusterArrive { actor } => _ = self.cluster.arrive(actor, known),
            Step::ClusterWait { actor } => {
                known.extend(self.cluster.wait(actor).into_iter().flatten());
            }
        }
        Ok(0)
    }
}

impl Mbarrier {
    fn new(arrivals: u32) -> Self {
        Self {
            missing: arrivals,
            bytes: 0,
            phases: 0,
            gathered: Steps::new(),
            handed: Steps::new(),
        }
    }

    /// The next phase begins, if nothing is missing.
    fn end_phase(&mut self, arrivals: u32) {
        if self.missing == 0 && self.bytes == 0 {
            self.missing = arrivals;
            self.phases += 1;
            self.handed = self.gathered.clone();
        }
    }
}

/// What the model says of the steps.
pub fn expected(steps: &[Step]) -> Outcome {
    let mut model = Model {
        known: Default::default(),
        barriers: ARRIVALS.map(Mbarrier::new),
        cluster: Cluster::default(),
        lines: [None; LINES],
        accesses: Vec::new(),
    };
    let numbered = steps.iter().enumerate();
    let values: Outcome = numbered
        .map(|(number, step)| model.step(number, *step))
        .collect();
    let has_other_bytes = model.barriers.iter().any(|barrier| barrier.bytes != 0);
    match has_other_bytes {
        // The block ends, and a phase has other bytes than it expects.
        true => values.and(Err(DefectKind::BarrierMisuse)),
        false => values,
    }
}
