//! Assembles requests from the accesses of a warp's lanes, which run one after the other.

use super::cost::cost;
use super::footprint::Footprint;
use super::operation::Operation;
use super::pending::{Pending, Round};
use super::span::Span;
use super::tally::{SECTOR_BYTES, Tally};
use crate::basics::{CallSite, Position};
use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::Location;
use std::ptr;

/// The number of accesses since its warp converged after which a lane waits for the others. Each access takes up to 8
/// bytes per lane.
const ACCESSES_AHEAD: u32 = 4096;

/// The number of accesses after which a lane no longer waits for lanes that lag behind.
const MOST_ACCESSES_AHEAD: u32 = 16 * ACCESSES_AHEAD;

/// The costs of a block.
pub(crate) struct BlockCounts {
    pub lines: Vec<(CallSite, Operation, Tally)>,
    pub read: Footprint,
    pub written: Footprint,
    pub static_shared_bytes: usize,
}

/// The accesses of a running block.
pub(crate) struct Recorder(RefCell<State>);

struct State {
    width: usize,
    sites: Vec<Site>,
    by_key: HashMap<Key, usize>,
    warps: Vec<WarpState>,
    read: Footprint,
    written: Footprint,
}

/// The key of a request: accesses of several lanes belong together if place, operation and view are equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    location: *const Location<'static>,
    operation: Operation,
    view: usize,
}

struct Site {
    key: Key,
    location: CallSite,
    tally: Tally,
    /// The site that was accessed after this one the last time. Lanes behave alike, so it is
    /// probably the next one again.
    next: usize,
}

#[derive(Default)]
struct WarpState {
    /// The incomplete requests of each site, in the block's order.
    pending: Vec<Pending>,
    /// The site that was accessed last.
    last: usize,
    /// Each lane's accesses since the warp converged.
    ahead: Vec<u32>,
    /// Each lane's round of the loops around it.
    rounds: Vec<Round>,
    /// The lanes that had not exited when the warp last converged.
    present: u64,
    /// Lanes that wait for the others to catch up.
    paused: u64,
    /// How often the warp has converged.
    completions: u64,
}

impl Recorder {
    /// A recorder for warps of `width` lanes.
    pub fn new(width: u32) -> Self {
        Self(RefCell::new(State {
            width: width as usize,
            sites: Vec::new(),
            by_key: HashMap::new(),
            warps: Vec::new(),
            read: Footprint::default(),
            written: Footprint::default(),
        }))
    }

    /// Begins a block whose warps have these lanes.
    pub fn begin(&self, existing: impl Iterator<Item = u64>) {
        let mut state = self.0.borrow_mut();
        let width = state.width;
        state.sites.clear();
        state.by_key.clear();
        state.warps.clear();
        state.warps.extend(existing.map(|lanes| WarpState {
            ahead: vec![0; width],
            rounds: vec![0; width],
            present: lanes,
            ..WarpState::default()
        }));
    }

    /// Adds an access of the running thread; returns whether the thread is far ahead of its warp.
    pub fn record(
        &self,
        position: &Position,
        operation: Operation,
        view: usize,
        location: CallSite,
        span: Option<Span>,
    ) -> bool {
        let (warp, lane) = (position.warp as usize, position.lane as usize);
        let mut state = self.0.borrow_mut();
        let state = &mut *state;
        let key = Key {
            location: ptr::from_ref(location),
            operation,
            view,
        };
        let site = state.site(warp, key, location);
        let width = state.width;
        let warp = &mut state.warps[warp];
        while warp.pending.len() <= site {
            warp.pending.push(Pending::new(width));
        }
        let has_memory = operation.is_global() || operation.is_shared();
        warp.pending[site].push(lane, warp.rounds[lane], span, has_memory);
        warp.ahead[lane] += 1;
        warp.ahead[lane].is_multiple_of(ACCESSES_AHEAD)
    }

    /// Adds a complete request: the work that one instruction of a thread, or of a whole warp,
    /// starts beside the threads.
    pub fn add(&self, position: &Position, operation: Operation, location: CallSite, tally: Tally) {
        let mut state = self.0.borrow_mut();
        let key = Key {
            location: ptr::from_ref(location),
            operation,
            view: 0,
        };
        let site = state.site(position.warp as usize, key, location);
        let present = state.warps[position.warp as usize].present;
        state.sites[site].tally += Tally {
            requests: 1,
            lanes_of_warps: u64::from(present.count_ones()),
            ..tally
        };
    }

    /// Adds the parts of global memory that a bulk copy reads or writes, each as a start and a
    /// length.
    pub fn add_footprint(&self, runs: &[(usize, usize)], is_written: bool) {
        let state = &mut *self.0.borrow_mut();
        let footprint = match is_written {
            true => &mut state.written,
            false => &mut state.read,
        };
        let sectors = SECTOR_BYTES as usize;
        for (start, bytes) in runs {
            let places = (*start..start + bytes).step_by(sectors);
            let spans: Vec<Span> = places
                .map(|place| Span::new(place, sectors.min(start + bytes - place)))
                .collect();
            footprint.add(&spans);
        }
    }

    /// Sets the round of the loops that a lane is in.
    pub fn enter_round(&self, position: &Position, round: Round) {
        let (warp, lane) = (position.warp as usize, position.lane as usize);
        self.0.borrow_mut().warps[warp].rounds[lane] = round;
    }

    /// The round of the loops that a lane is in.
    pub fn round(&self, position: &Position) -> Round {
        let (warp, lane) = (position.warp as usize, position.lane as usize);
        self.0.borrow().warps[warp].rounds[lane]
    }

    /// Makes the lane wait for the others; returns how often the warp has converged so far.
    pub fn pause(&self, warp: usize, lane_bit: u64) -> u64 {
        let warp = &mut self.0.borrow_mut().warps[warp];
        warp.paused |= lane_bit;
        warp.completions
    }

    /// The lanes that wait for the others.
    pub fn paused(&self, warp: usize) -> u64 {
        self.0.borrow().warps[warp].paused
    }

    /// How often the warp has converged.
    pub fn completions(&self, warp: usize) -> u64 {
        self.0.borrow().warps[warp].completions
    }

    /// Lets the lane continue without the others. If it is far ahead, its accesses become requests
    /// of their own.
    pub fn go_on(&self, warp: usize, lane_bit: u64) {
        let mut state = self.0.borrow_mut();
        let present = state.warps[warp].present;
        let ahead = state.warps[warp].ahead[lane_bit.trailing_zeros() as usize];
        if ahead >= MOST_ACCESSES_AHEAD {
            state.complete(warp, present);
        }
        state.warps[warp].paused &= !lane_bit;
    }

    /// Completes the requests of a warp that has converged with the lanes in `present`.
    pub fn complete(&self, warp: usize, present: u64) {
        self.0.borrow_mut().complete(warp, present);
    }

    /// Completes all requests and returns the counts of the block.
    pub fn finish(&self, static_shared_bytes: usize) -> BlockCounts {
        let mut state = self.0.borrow_mut();
        for warp in 0..state.warps.len() {
            state.complete(warp, 0);
        }
        let lines = state.sites.drain(..);
        // Copies that only write zeros read nothing.
        let lines = lines
            .filter(|site| site.tally.requests > 0)
            .map(|site| (site.location, site.key.operation, site.tally))
            .collect();
        BlockCounts {
            lines,
            read: std::mem::take(&mut state.read),
            written: std::mem::take(&mut state.written),
            static_shared_bytes,
        }
    }
}

impl State {
    /// The number of the site of `key`, which warp `warp` accesses now.
    fn site(&mut self, warp: usize, key: Key, location: CallSite) -> usize {
        let last = self.warps[warp].last;
        let expected = self.sites.get(last).map_or(0, |site| site.next);
        let found = match self.sites.get(expected) {
            Some(site) if site.key == key => expected,
            _ => {
                let found = self.find_or_add(key, location);
                self.sites[last].next = found;
                found
            }
        };
        self.warps[warp].last = found;
        found
    }

    fn find_or_add(&mut self, key: Key, location: CallSite) -> usize {
        let next = self.sites.len();
        let site = *self.by_key.entry(key).or_insert(next);
        if site == next {
            self.sites.push(Site {
                key,
                location,
                tally: Tally::default(),
                next,
            });
        }
        site
    }

    fn complete(&mut self, warp: usize, present: u64) {
        let warp = &mut self.warps[warp];
        let mut footprints = (&mut self.read, &mut self.written);
        for (site, pending) in self.sites.iter_mut().zip(&mut warp.pending) {
            for (mask, spans) in pending.requests() {
                if mask != 0 {
                    let cost = cost(site.key.operation, mask, spans, &mut footprints);
                    site.tally += Tally {
                        lanes_of_warps: u64::from((warp.present | mask).count_ones()),
                        ..cost
                    };
                }
            }
            pending.clear();
        }
        warp.ahead.fill(0);
        warp.paused = 0;
        warp.completions += 1;
        warp.present = present;
    }
}
