//! The accesses of one warp at one place since the warp converged.
//!
//! Lanes run one after the other, and may skip rounds of a loop. Their accesses form one request if they are in the
//! same round, and have the same number within it.

use super::span::Span;
use crate::basics::SplitMix64;
use std::collections::HashMap;

/// Identifies a round of a loop and of all loops around it. 0 is outside of loops.
pub(crate) type Round = u64;

/// Round number `number` of the loop `loop_key`, within round `outer`.
pub(crate) fn round_within(outer: Round, loop_key: usize, number: u32) -> Round {
    // Two rounds have the same identifier with probability 2^-64.
    SplitMix64::new(outer.wrapping_add(loop_key as u64), u64::from(number)).next()
}

/// The number of earlier accesses in one round.
type Turn = (Round, u32);

/// The position of one lane.
#[derive(Clone, Copy, Default)]
struct LaneState {
    /// Its next access, if it stays in the round.
    turn: Turn,
    /// The request after its last one.
    next: usize,
}

/// One request, with the lanes that have reached it so far.
struct Request {
    turn: Turn,
    /// The lanes that have reached it.
    passed: u64,
    /// The lanes among them that take part.
    mask: u64,
}

/// The accesses of one warp at one place since the warp converged.
pub(super) struct Pending {
    lanes: Vec<LaneState>,
    requests: Vec<Request>,
    by_turn: HashMap<Turn, usize>,
    /// For each request, the span of each lane; empty for what accesses no memory.
    spans: Vec<Span>,
}

impl Pending {
    /// For a warp of `width` lanes.
    pub fn new(width: usize) -> Self {
        Self {
            lanes: vec![LaneState::default(); width],
            requests: Vec::new(),
            by_turn: HashMap::new(),
            spans: Vec::new(),
        }
    }

    pub fn clear(&mut self) {
        self.lanes.fill(LaneState::default());
        self.requests.clear();
        self.by_turn.clear();
        self.spans.clear();
    }

    /// The lanes that take part in each request, and each lane's span where it accesses memory.
    pub fn requests(&self) -> impl Iterator<Item = (u64, &[Span])> {
        let spans = self.spans.chunks(self.lanes.len());
        let spans = spans.chain(std::iter::repeat(&[][..]));
        self.requests
            .iter()
            .zip(spans)
            .map(|(request, spans)| (request.mask, spans))
    }

    /// Adds a lane's access. Without a span only its turn passes.
    pub fn push(&mut self, lane: usize, round: Round, span: Option<Span>, has_memory: bool) {
        let number = self.request_of(lane, round, has_memory);
        let request = &mut self.requests[number];
        request.passed |= 1 << lane;
        self.lanes[lane] = LaneState {
            turn: (round, request.turn.1 + 1),
            next: number + 1,
        };
        if let Some(span) = span {
            request.mask |= 1 << lane;
            if has_memory {
                self.spans[number * self.lanes.len() + lane] = span;
            }
        }
    }

    /// The number of the request that a lane takes part in next.
    fn request_of(&mut self, lane: usize, round: Round, has_memory: bool) -> usize {
        let state = self.lanes[lane];
        let mut turn = match state.turn.0 == round {
            true => state.turn,
            false => (round, 0),
        };
        loop {
            // Most lanes take part in the same requests, one lane after the other.
            let expected = self.requests.get(state.next);
            let number = match expected.is_some_and(|request| request.turn == turn) {
                true => state.next,
                false => self.find_or_add(turn, has_memory),
            };
            if self.requests[number].passed >> lane & 1 == 0 {
                return number;
            }
            // The loop runs again, inside one that is not marked.
            turn.1 += 1;
        }
    }

    fn find_or_add(&mut self, turn: Turn, has_memory: bool) -> usize {
        let next = self.requests.len();
        let number = *self.by_turn.entry(turn).or_insert(next);
        if number == next {
            self.requests.push(Request {
                turn,
                passed: 0,
                mask: 0,
            });
            if has_memory {
                let width = self.lanes.len();
                self.spans.resize(self.spans.len() + width, Span::NONE);
            }
        }
        number
    }
}
