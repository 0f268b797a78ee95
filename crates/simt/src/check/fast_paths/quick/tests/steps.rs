//! Random steps of the threads of two blocks.

use super::{BYTES_PER_THREAD, KINDS, THREADS};
use crate::basics::{AccessKind, Space, SplitMix64};

#[derive(Clone, Copy)]
pub struct Step {
    pub block: usize,
    pub thread: u32,
    pub action: Action,
}

#[derive(Clone, Copy)]
pub enum Action {
    BlockBarrier,
    WarpBarrier,
    PartialBarrier(u64),
    Access(Space, AccessKind, usize, usize),
    /// Loads of some words of shared memory, from this byte on, each this often.
    Row(usize, usize),
    /// A copy to this byte of shared memory that its thread waits for, and its length in bytes.
    Issue(usize, usize),
    /// The thread waits for its copies.
    Wait,
    /// A bulk copy to this byte of shared memory.
    Load(usize),
    /// All bulk copies to the block land.
    Land,
    /// A bulk store from this byte of shared memory.
    Store(usize),
    /// The thread waits for the agents' operations so far.
    AcquireAgents,
    FenceProxy,
    Release,
    Acquire,
}

impl Step {
    /// A step, which may be an asynchronous operation if `is_asynchronous`.
    pub fn random(random: &mut SplitMix64, is_asynchronous: bool) -> Self {
        let mut below = |bound: usize| random.below(bound as u64) as usize;
        let (block, thread) = (below(2), below(THREADS as usize));
        // Mostly its own bytes, or those that its block has passed on.
        let owner = match below(16) {
            0 => below(2 * THREADS as usize),
            _ => block * THREADS as usize + thread,
        };
        let own = owner * BYTES_PER_THREAD;
        let action = match below(if is_asynchronous { 66 } else { 42 }) {
            0..4 => Action::BlockBarrier,
            4 => Action::WarpBarrier,
            5 => Action::PartialBarrier(0b0110),
            6 | 7 => Action::Row(owner % (2 * THREADS as usize - 1) * BYTES_PER_THREAD, 2),
            42..44 => {
                let bytes = 4 << below(3);
                Action::Issue(own + below(BYTES_PER_THREAD / bytes) * bytes, bytes)
            }
            44..48 => Action::Wait,
            48..50 => Action::Load(own + below(2) * 16),
            50..54 => Action::Land,
            54..58 => Action::Store(own + below(2) * 16),
            58..60 => Action::AcquireAgents,
            60 => Action::FenceProxy,
            61..64 => Action::Release,
            64.. => Action::Acquire,
            _ => {
                let space = [Space::Global, Space::Shared][below(2)];
                let bytes = 1 << [2, 2, 2, 2, 3, 4, 1, 0][below(8)];
                let offset = own + below(BYTES_PER_THREAD / bytes) * bytes;
                Action::Access(space, KINDS[below(KINDS.len())], offset, bytes)
            }
        };
        Self {
            block,
            thread: thread as u32,
            action,
        }
    }

    /// Each thread stores all of its words in its block's shared memory, and all meet.
    pub fn tiles() -> Vec<Self> {
        let mut steps = Vec::new();
        for block in 0..2 {
            let of = |thread, action| Self {
                block,
                thread,
                action,
            };
            for thread in 0..THREADS {
                let own = thread as usize * BYTES_PER_THREAD;
                let store = |word: usize| {
                    Action::Access(Space::Shared, AccessKind::Write, own + word * 4, 4)
                };
                steps.extend((0..BYTES_PER_THREAD / 4).map(|word| of(thread, store(word))));
            }
            steps.push(of(0, Action::BlockBarrier));
        }
        steps
    }

    /// Mostly loads of written words: one in `rows` loads many of them.
    pub fn of_tiles(random: &mut SplitMix64, rows: usize) -> Self {
        let mut below = |bound: usize| random.below(bound as u64) as usize;
        // One of them goes on where it meets others.
        let thread = [0, 0, below(THREADS as usize) as u32][below(3)];
        let block = below(2);
        let start = below(THREADS as usize - 1) * BYTES_PER_THREAD;
        let word = start + below(BYTES_PER_THREAD / 4) * 4;
        let action = match below(64) {
            0..10 => Action::BlockBarrier,
            10..12 => Action::WarpBarrier,
            12 => Action::PartialBarrier(0b0110),
            13..18 => Action::Access(Space::Shared, AccessKind::Write, word, 4),
            18 => Action::Access(Space::Shared, AccessKind::Atomic, word, 4),
            19..21 => Action::Load(start),
            21..24 => Action::Land,
            24 => Action::Issue(word, 4),
            25..27 => Action::Wait,
            27 => Action::AcquireAgents,
            _ if below(rows) != 0 => Action::Access(Space::Shared, AccessKind::Read, word, 4),
            _ => Action::Row(start, 1 + below(2)),
        };
        Self {
            block,
            thread,
            action,
        }
    }

    /// The accesses that make up this step: an asynchronous copy is two, after its issue.
    pub fn parts(self) -> Vec<Self> {
        let Self {
            block,
            thread,
            action,
        } = self;
        let of = |action| Self {
            block,
            thread,
            action,
        };
        match action {
            Action::Issue(offset, bytes) => vec![
                of(Action::Access(
                    Space::Shared,
                    AccessKind::AsyncWrite,
                    offset,
                    bytes,
                )),
                of(Action::Access(
                    Space::Global,
                    AccessKind::AsyncRead,
                    offset,
                    bytes,
                )),
                of(action),
            ],
            Action::Row(start, times) => {
                let load = |word: usize| {
                    Action::Access(Space::Shared, AccessKind::Read, start + word * 4, 4)
                };
                let words = BYTES_PER_THREAD * 2 / 4;
                (0..times * words)
                    .map(|word| of(load(word % words)))
                    .collect()
            }
            _ => vec![of(action)],
        }
    }
}
