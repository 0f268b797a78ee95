//! A slow, obviously correct model: each thread knows the set of the steps before it, and barriers count arrivals and
//! bytes, and pass sets on.

use super::program::{ACTORS, ARRIVALS, LINE_BYTES, LINES, Step};
use crate::causality::Steps;
use simt::{AccessKind, DefectKind};
use std::mem::take;

/// The result of each step, or the error of the first wrong one.
pub type Outcome = Result<Vec<u32>, DefectKind>;

/// An mbarrier.
struct Mbarrier {
    missing: u32,
    /// Expected bytes, less those that have arrived.
    bytes: i64,
    phases: u32,
    /// The knowledge of the arrivals in this phase and before.
    gathered: Steps,
    /// Their knowledge when the last phase was complete.
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
    /// A thread that knows `known` arrives, unless it has arrived and not waited. Returns whether it arrives.
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

    /// A thread waits, if its phase is complete. Returns what it then knows.
    fn wait(&mut self, actor: usize) -> Option<&Steps> {
        take(&mut self.is_open[actor]).then_some(&self.handed)
    }
}

/// The steps, without wrong or final arrivals and waits at the cluster's barrier, and without copies beyond the last
/// line. Copies fill one line after another, and each line is read after its copy.
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
                // A wait orders the copy before it, but not its thread's other accesses.
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

    /// Begins the next phase, if nothing is missing.
    fn end_phase(&mut self, arrivals: u32) {
        if self.missing == 0 && self.bytes == 0 {
            self.missing = arrivals;
            self.phases += 1;
            self.handed = self.gathered.clone();
        }
    }
}

/// The model's results of the steps.
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
        // The block ends while a phase lacks bytes, or has too many.
        true => values.and(Err(DefectKind::BarrierMisuse)),
        false => values,
    }
}
