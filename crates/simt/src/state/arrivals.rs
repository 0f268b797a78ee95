//! The threads that have arrived at an mbarrier, for the report of a phase that cannot complete.

use crate::basics::{CallSite, Related};
use std::collections::BTreeMap;

/// More runs of threads than these do not help.
const MAX_RUNS: usize = 6;

/// A thread, by the rank of its block in the cluster and its number in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arriver {
    pub rank: u32,
    pub thread: u32,
}

type Sites = Vec<(Arriver, CallSite)>;

/// The arrivals of the present phase and of the previous one.
#[derive(Default)]
pub(super) struct Arrivals {
    now: Sites,
    before: Sites,
}

impl Arrivals {
    /// Adds an arrival.
    pub fn note(&mut self, arriver: Arriver, site: CallSite) {
        self.now.push((arriver, site));
    }

    /// Begins the next phase.
    pub fn begin_phase(&mut self) {
        std::mem::swap(&mut self.now, &mut self.before);
        self.now.clear();
    }

    /// The missing threads: those that arrived in the previous phase but not yet in this one. In the first phase,
    /// once a thread has arrived, all `threads` threads of block `rank`, which owns the mbarrier, are expected.
    pub fn absent(&self, rank: u32, threads: u32) -> Related {
        if self.now.is_empty() && self.before.is_empty() {
            return Related::new("no thread has arrived".to_owned(), None);
        }
        let before: BTreeMap<_, _> = self.before.iter().copied().collect();
        let candidates: Vec<Arriver> = match before.is_empty() {
            true => (0..threads)
                .map(|thread| Arriver { rank, thread })
                .collect(),
            false => before.keys().copied().collect(),
        };
        let is_absent = |it: &Arriver| self.now.iter().all(|(arrived, _)| arrived != it);
        let absent: Vec<Arriver> = candidates.into_iter().filter(is_absent).collect();
        let names = name(&absent, rank);
        let have = if absent.len() == 1 { "has" } else { "have" };
        let earlier = match before.is_empty() {
            true => "",
            false => ", which arrived in the phase before,",
        };
        Related::new(
            format!("{names}{earlier} {have} not arrived"),
            absent
                .first()
                .and_then(|it| before.get(it))
                .map(|it| (*it).into()),
        )
    }
}

/// Names sorted threads, by runs of neighbours. Threads of other blocks than `own` are named with their block.
fn name(threads: &[Arriver], own: u32) -> String {
    let are_neighbours = |a: &Arriver, b: &Arriver| a.rank == b.rank && a.thread + 1 == b.thread;
    let mut runs: Vec<String> = threads
        .chunk_by(are_neighbours)
        .map(|run| {
            let (first, last) = (run[0], run[run.len() - 1]);
            let block = match first.rank == own {
                true => String::new(),
                false => format!(" of the cluster's block {}", first.rank),
            };
            match run.len() {
                1 => format!("{}{block}", first.thread),
                _ => format!("{} to {}{block}", first.thread, last.thread),
            }
        })
        .collect();
    if runs.len() > MAX_RUNS {
        runs.truncate(MAX_RUNS);
        runs.push("others".to_owned());
    }
    let word = if threads.len() == 1 {
        "thread"
    } else {
        "threads"
    };
    match runs.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{word} {} and {last}", rest.join(", ")),
        Some((only, _)) => format!("{word} {only}"),
        None => "no thread that is known".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    fn of(rank: u32, thread: u32) -> Arriver {
        Arriver { rank, thread }
    }

    fn after(phases: &[&[Arriver]]) -> Arrivals {
        let mut arrivals = Arrivals::default();
        for (number, phase) in phases.iter().enumerate() {
            if number > 0 {
                arrivals.begin_phase();
            }
            phase
                .iter()
                .for_each(|it| arrivals.note(*it, Location::caller()));
        }
        arrivals
    }

    #[test]
    fn in_the_first_phase_the_others_of_the_block_are_missing() {
        let note = |phases: &[&[Arriver]]| after(phases).absent(0, 8).note;
        assert_eq!(note(&[&[]]), "no thread has arrived");
        let all_but_one: Vec<Arriver> = (0..8).filter(|it| *it != 3).map(|it| of(0, it)).collect();
        assert_eq!(note(&[&all_but_one]), "thread 3 has not arrived");
        assert_eq!(
            note(&[&[of(0, 2), of(0, 5)]]),
            "threads 0 to 1, 3 to 4 and 6 to 7 have not arrived"
        );
    }

    #[test]
    fn later_those_of_the_phase_before_are_missing() {
        let both: [Arriver; 2] = [of(0, 4), of(1, 4)];
        let absent = after(&[&both, &[of(0, 4)]]).absent(0, 8);
        assert_eq!(
            absent.note,
            "thread 4 of the cluster's block 1, which arrived in the phase before, has not arrived"
        );
        assert!(absent.location.is_some());
    }
}
