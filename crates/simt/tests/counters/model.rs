//! The costs of a [`Program`], computed in the slow and obvious way that `docs/counters.md` describes.

mod memory;

use crate::program::{Access, COPY, GLOBAL_VIEWS, Here, PLACES, Place, Program, Step};
use simt::{AccessKind, Operation, Space, Tally};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The places of barriers, after those of accesses in the order of the source.
const BLOCK_BARRIER: usize = PLACES;
const WARP_BARRIER: usize = PLACES + 1;

/// The costs of a launch that the model determines.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// In the order of the source.
    pub lines: Vec<(Operation, Tally)>,
    pub sectors_read: u64,
    pub sectors_written: u64,
}

/// The key of a request: lanes whose accesses share it make one request.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Instruction {
    place: usize,
    operation: Operation,
    view: usize,
    /// The enclosing marked loops, and their rounds.
    rounds: Vec<(usize, u32)>,
}

/// For each active lane, the bytes that it requests.
type Lanes = BTreeMap<usize, Range<usize>>;

/// The costs of a launch so far.
#[derive(Default)]
struct Launch {
    lines: BTreeMap<(usize, Operation), Tally>,
    read: BTreeSet<usize>,
    written: BTreeSet<usize>,
}

/// A warp since its lanes last met.
#[derive(Default)]
struct Warp {
    /// The lanes that had not exited by then.
    present: u64,
    /// How often a lane has reached an instruction.
    turns: BTreeMap<(usize, Instruction), u32>,
    /// The requests of lanes that have reached an instruction for the n-th time.
    requests: BTreeMap<(Instruction, u32), Lanes>,
}

/// The costs of `program`.
pub fn cost(program: &Program) -> Cost {
    let mut launch = Launch::default();
    for block in 0..program.blocks as usize {
        for warp in 0..program.warps() {
            run_warp(program, block, warp, &mut launch);
        }
    }
    Cost {
        lines: launch
            .lines
            .into_iter()
            .map(|((_, operation), tally)| (operation, tally))
            .collect(),
        sectors_read: launch.read.len() as u64,
        sectors_written: launch.written.len() as u64,
    }
}

fn run_warp(program: &Program, block: usize, number: usize, launch: &mut Launch) {
    let mut warp = Warp {
        present: program.lanes_of_warp(number),
        ..Warp::default()
    };
    for (index, step) in program.steps.iter().enumerate() {
        let present = program.present(number, index);
        for lane in lanes_of(present) {
            let mut here = Here {
                block,
                warp: number,
                lane,
                rounds: Vec::new(),
            };
            warp.step(program, step, &mut here, &[]);
        }
        let comes_together = match step {
            Step::BlockBarrier => true,
            Step::WarpBarrier(lanes) => lanes & present == present,
            Step::Access(_) | Step::Loop(_) => false,
        };
        if comes_together {
            warp.come_together(present, launch);
        }
    }
    warp.come_together(0, launch);
}

fn lanes_of(mask: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |lane| mask >> lane & 1 == 1)
}

impl Warp {
    /// One lane's part of a step.
    fn step(&mut self, program: &Program, step: &Step, here: &mut Here, loops: &[(usize, u32)]) {
        match step {
            Step::Access(access) if access.is_active(here) => {
                self.access(program, access, here, loops);
            }
            Step::Loop(steps) => {
                for round in 0..steps.rounds_of(here.lane) {
                    let mut loops = loops.to_vec();
                    if steps.is_marked {
                        loops.push((steps.place, round));
                    }
                    here.rounds.push(round);
                    for step in &steps.body {
                        self.step(program, step, here, &loops);
                    }
                    here.rounds.pop();
                }
            }
            Step::BlockBarrier => {
                let barrier = instruction(BLOCK_BARRIER, Operation::BlockBarrier, 0, loops);
                self.request(here.lane, barrier, Some(0..0));
            }
            Step::WarpBarrier(lanes) if lanes >> here.lane & 1 == 1 => {
                let barrier = instruction(WARP_BARRIER, Operation::WarpBarrier, 0, loops);
                self.request(here.lane, barrier, Some(0..0));
            }
            Step::Access(_) | Step::WarpBarrier(_) => {}
        }
    }

    fn access(&mut self, program: &Program, access: &Access, here: &Here, loops: &[(usize, u32)]) {
        let place = program.places[access.place];
        let bytes = access.bytes_of(here, place);
        if access.place == COPY {
            let read = instruction(COPY, Operation::AsyncCopyRead, 0, loops);
            self.request(here.lane, read, access.source_of(here, place));
            let write = instruction(COPY, Operation::AsyncCopyWrite, 0, loops);
            self.request(here.lane, write, Some(bytes));
            return;
        }
        let first = match place.space {
            Space::Global => GLOBAL_VIEWS[access.view].0,
            _ => 0,
        };
        let operation = operation_of(place);
        let instruction = instruction(access.place, operation, access.view, loops);
        let bytes = first + bytes.start..first + bytes.end;
        self.request(here.lane, instruction, Some(bytes));
    }

    /// A lane reaches an instruction. Without bytes, it requests nothing there.
    fn request(&mut self, lane: usize, instruction: Instruction, bytes: Option<Range<usize>>) {
        let turn = self.turns.entry((lane, instruction.clone())).or_default();
        if let Some(bytes) = bytes {
            let request = self.requests.entry((instruction, *turn)).or_default();
            request.insert(lane, bytes);
        }
        *turn += 1;
    }

    /// Completes the requests so far. The lanes in `present` continue.
    fn come_together(&mut self, present: u64, launch: &mut Launch) {
        for ((instruction, _), lanes) in std::mem::take(&mut self.requests) {
            let operation = instruction.operation;
            let tally = launch
                .lines
                .entry((instruction.place, operation))
                .or_default();
            tally.requests += 1;
            tally.lanes += lanes.len() as u64;
            tally.lanes_of_warps += lanes_of(self.present).count() as u64;
            memory::add_global(&mut tally.global, operation, &lanes);
            memory::add_shared(&mut tally.shared, operation, &lanes);
            let sectors = memory::pieces(&lanes, 32);
            if memory::reads_global(operation) {
                launch.read.extend(&sectors);
            }
            if memory::writes_global(operation) {
                launch.written.extend(&sectors);
            }
        }
        self.turns.clear();
        self.present = present;
    }
}

fn instruction(
    place: usize,
    operation: Operation,
    view: usize,
    loops: &[(usize, u32)],
) -> Instruction {
    Instruction {
        place,
        operation,
        view,
        rounds: loops.to_vec(),
    }
}

/// An atomic load is a load, an atomic store a store.
fn operation_of(place: Place) -> Operation {
    match (place.space, place.kind) {
        (Space::Global, AccessKind::Read | AccessKind::AtomicRead) => Operation::GlobalLoad,
        (Space::Global, AccessKind::Write | AccessKind::AtomicWrite) => Operation::GlobalStore,
        (Space::Global, AccessKind::Atomic) => Operation::GlobalAtomic,
        (Space::Shared, AccessKind::Read | AccessKind::AtomicRead) => Operation::SharedLoad,
        (Space::Shared, AccessKind::Write | AccessKind::AtomicWrite) => Operation::SharedStore,
        (Space::Shared, AccessKind::Atomic) => Operation::SharedAtomic,
        other => panic!("no program does this: {other:?}"),
    }
}
