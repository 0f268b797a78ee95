//! Blocks that take the short way, against blocks that do not: whatever happens, both find the same.

use super::super::findings::Findings;
use super::super::global::LaunchCheck;
use super::*;
use crate::basics::{Dim3, SplitMix64};
use std::sync::Arc;

const THREADS: u32 = 8;
const WARP_WIDTH: u32 = 4;
/// No memory of this process is there: it is in no allocation.
const GLOBAL: usize = 1 << 20;
/// What a thread mostly accesses.
const BYTES_PER_THREAD: usize = 32;

const KINDS: [AccessKind; 12] = [
    AccessKind::Read,
    AccessKind::Write,
    AccessKind::Read,
    AccessKind::Write,
    AccessKind::Read,
    AccessKind::Read,
    AccessKind::ReadOnly,
    AccessKind::CachedRead,
    AccessKind::Atomic,
    AccessKind::AtomicRead,
    AccessKind::AtomicWrite,
    AccessKind::AsyncRead,
];

/// The blocks of one launch.
struct Blocks {
    checks: [BlockCheck; 2],
    shared: SharedMemory,
    is_quick: bool,
    /// Accesses that went the short way.
    quick: usize,
}

impl Blocks {
    fn new(is_quick: bool, is_exclusive: bool) -> Self {
        let launch = LaunchCheck::new(is_exclusive, Findings::default(), &Arc::default());
        let launch = Arc::new(launch);
        let check = |index| {
            let mut check = BlockCheck::new(THREADS, WARP_WIDTH).unwrap();
            check.begin(&launch, index);
            check
        };
        Self {
            checks: [0, 1].map(check),
            shared: SharedMemory::new(0, 1024).unwrap(),
            is_quick,
            quick: 0,
        }
    }

    /// Makes a step: the conflict that it is in, in words.
    fn step(&mut self, step: &Step) -> Option<String> {
        let check = &self.checks[step.block];
        let warp = step.thread / WARP_WIDTH;
        match step.action {
            Action::BlockBarrier => check.after_block_barrier(),
            Action::WarpBarrier => check.after_warp_barrier(warp),
            Action::PartialBarrier(mask) => {
                check.after_partial_barrier([(warp, mask)].into_iter());
            }
            Action::Access(space, kind, offset, bytes) => {
                let access = self.access(space, kind, offset, bytes);
                let (grid, block) = (Dim3::from(2), Dim3::from(THREADS));
                let position = Position::in_first_block(grid, block, WARP_WIDTH, step.thread);
                let site = Location::caller();
                if self.is_quick && check.record_quickly(&position, &self.shared, &access, site) {
                    self.quick += 1;
                    return None;
                }
                let result = check.record_access(&position, &self.shared, &access, site);
                return result.err().map(|conflict| format!("{conflict:?}"));
            }
        }
        None
    }

    fn access(&self, space: Space, kind: AccessKind, offset: usize, bytes: usize) -> Access {
        Access {
            space,
            kind,
            view_base: match space {
                Space::Shared => self.shared.start(),
                _ => GLOBAL,
            },
            view_bytes: 1024,
            offset,
            bytes,
            align: bytes,
        }
    }
}

struct Step {
    block: usize,
    thread: u32,
    action: Action,
}

enum Action {
    BlockBarrier,
    WarpBarrier,
    PartialBarrier(u64),
    Access(Space, AccessKind, usize, usize),
}

impl Step {
    fn random(random: &mut SplitMix64) -> Self {
        let mut below = |bound: usize| random.below(bound as u64) as usize;
        let (block, thread) = (below(2), below(THREADS as usize));
        let action = match below(40) {
            0..4 => Action::BlockBarrier,
            4 => Action::WarpBarrier,
            5 => Action::PartialBarrier(0b0110),
            _ => {
                let space = [Space::Global, Space::Shared][below(2)];
                // Mostly its own bytes, or those that its block has handed on.
                let owner = match below(16) {
                    0 => below(2 * THREADS as usize),
                    _ => block * THREADS as usize + thread,
                };
                let bytes = 1 << [2, 2, 2, 2, 3, 4, 1, 0][below(8)];
                let within = below(BYTES_PER_THREAD / bytes) * bytes;
                let offset = owner * BYTES_PER_THREAD + within;
                Action::Access(space, KINDS[below(KINDS.len())], offset, bytes)
            }
        };
        Self {
            block,
            thread: thread as u32,
            action,
        }
    }
}

#[test]
fn the_short_way_finds_what_the_rules_find() {
    let mut random = SplitMix64::new(3, 0);
    let (mut quick, mut conflicts) = (0, 0);
    for round in 0..4000 {
        let [mut short, mut long] =
            [true, false].map(|is_quick| Blocks::new(is_quick, round % 2 == 0));
        for _ in 0..200 {
            let step = Step::random(&mut random);
            let conflict = short.step(&step);
            assert_eq!(conflict, long.step(&step), "round {round}");
            if conflict.is_some_and(|conflict| conflict != "Unwritten") {
                conflicts += 1;
                break;
            }
        }
        quick += short.quick;
    }
    assert!(
        conflicts > 1000 && quick > 5000,
        "{conflicts} conflicts, {quick} quick accesses"
    );
}
