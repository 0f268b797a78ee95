//! Compares sets of reads with lists of reads.

use super::*;
use crate::basics::{CallSite, SplitMix64};
use crate::check::asynchronous::clusters::Clusters;
use crate::check::cells::event::EventKind;
use crate::check::cells::site::Site;
use crate::check::clocks::block_clock::BlockClock;
use crate::check::clocks::clock::VectorClock;
use crate::check::clocks::known_clock::KnownClock;
use std::panic::Location;
use std::sync::Arc;

const WARP_WIDTH: u16 = 4;
const WARPS: usize = 3;
const CELLS: usize = 24;

/// A block whose cells have sets, and the same cells with lists.
struct Model {
    random: SplitMix64,
    now: Time,
    block_barrier: Time,
    warp_barriers: [Time; WARPS],
    sets: ReaderSets,
    cells: Vec<(ReaderSet, Readers)>,
}

impl Model {
    fn new(seed: u64) -> Self {
        Self {
            random: SplitMix64::new(seed, 0),
            now: 1,
            block_barrier: 0,
            warp_barriers: [0; WARPS],
            sets: ReaderSets::default(),
            cells: vec![(ReaderSet::NONE, Readers::NONE); CELLS],
        }
    }

    fn draw(&mut self, choices: usize) -> usize {
        self.random.below(choices as u64) as usize
    }

    /// One of two blocks, mostly the first.
    fn draw_block(&mut self) -> u32 {
        u32::from(self.draw(16) == 0)
    }

    fn draw_clock(&mut self) -> Option<VectorClock> {
        let time = self.draw(self.now as usize) as Time;
        (self.draw(4) == 0).then(|| {
            let mut clock = VectorClock::default();
            clock.add_block(0, Arc::new(BlockClock::new(0, [(1..7, time)])));
            clock
        })
    }

    fn with_accessor<R>(&mut self, action: impl FnOnce(&mut Self, &Accessor<'_>) -> R) -> R {
        let warp = self.draw(WARPS);
        let first = warp as u16 * WARP_WIDTH;
        let thread = first + self.draw(WARP_WIDTH.into()) as u16;
        let clock = self.draw_clock();
        let accessor = Accessor {
            block: self.draw_block(),
            thread,
            warp: first..first + WARP_WIDTH,
            block_barrier: self.block_barrier,
            warp_barrier: self.warp_barriers[warp],
            clock: KnownClock::new(clock.as_ref()),
            clusters: &Clusters::NONE,
        };
        action(self, &accessor)
    }

    /// A thread reads some cells one after the other, every second one atomically. With `replaces`, it makes a later
    /// access instead, which makes some reads redundant.
    fn read(&mut self, replaces: bool) {
        let (start, count) = (self.draw(CELLS), self.draw(CELLS));
        let bytes = 4 << self.draw(2);
        self.with_accessor(|model, accessor| {
            let place = (accessor.block, accessor.thread);
            let site = Site::of(Location::caller());
            let cells = model.cells.iter_mut().enumerate();
            for (number, (set, list)) in cells.skip(start).take(count) {
                let kind = [EventKind::Read, EventKind::AtomicRead][number % 2];
                let event = Event::new(kind, place, model.now, bytes, site);
                if replaces {
                    let sets = &mut model.sets;
                    set.forget_replaced(&event, accessor, sets).unwrap();
                    list.forget_replaced(&event, accessor, &mut ()).unwrap();
                } else {
                    set.add(&event, accessor, true, &mut model.sets).unwrap();
                    list.add(&event, accessor, true, &mut ()).unwrap();
                }
            }
        });
    }

    fn step(&mut self) {
        match self.draw(24) {
            0 => self.block_barrier = self.now,
            1 => {
                let warp = self.draw(WARPS);
                self.warp_barriers[warp] = self.now;
            }
            2 => {
                let (set, list) = &mut self.cells[self.random.below(CELLS as u64) as usize];
                set.clear(&mut self.sets);
                list.clear(&mut ());
                return;
            }
            3 => {
                let cells = self.cells.iter_mut();
                let cells = cells.map(|(set, _)| -> &Cell<ReaderSet> { Cell::from_mut(set) });
                return self.sets.keep(cells).unwrap();
            }
            4 => return self.read(true),
            _ => return self.read(false),
        }
        self.now += 1;
    }
}

#[test]
fn cells_agree_with_lists_of_their_own() {
    for seed in 0..8 {
        let mut model = Model::new(seed);
        model.sets.clear();
        let site = Site::of(Location::caller());
        let wide = Event::new(EventKind::AtomicRead, (0, 0), 1, 8, site);
        for _ in 0..8000 {
            model.step();
            // Rarely, so that sets of many reads get their lists late.
            if model.draw(8) != 0 {
                continue;
            }
            model.with_accessor(|model, accessor| {
                for (set, list) in &model.cells {
                    let expected = list.unordered(accessor, &mut ());
                    let found = set.unordered(accessor, &mut model.sets);
                    assert_eq!(found, expected);
                    let is_wide = |event: &Event| event.is_as_wide_as(&wide);
                    let expected = list.unordered_of(accessor, &mut (), is_wide);
                    let found = set.unordered_of(accessor, &mut model.sets, is_wide);
                    assert_eq!(found, expected);
                }
            });
        }
    }
}

/// Neighbouring cells that many threads read one after the other have one set.
#[test]
fn cells_with_the_same_reads_have_one_set() {
    let mut model = Model::new(0);
    model.sets.clear();
    for thread in 0..WARP_WIDTH {
        let accessor = Accessor {
            block: 0,
            thread,
            warp: 0..WARP_WIDTH,
            block_barrier: 0,
            warp_barrier: 0,
            clock: KnownClock::new(None),
            clusters: &Clusters::NONE,
        };
        let site = Site::of(Location::caller());
        let event = Event::new(EventKind::Read, (0, thread), 1, 4, site);
        for (set, _) in &mut model.cells {
            set.add(&event, &accessor, true, &mut model.sets).unwrap();
        }
    }
    let first = model.cells[0].0;
    assert!(model.cells.iter().all(|(set, _)| *set == first));
    assert_eq!(model.sets.sets.len(), usize::from(WARP_WIDTH));
}

/// So do two rows of cells that each thread reads in turns, at two lines of a loop: the steps of one row never evict
/// those of the other, at any time and with any numbers of sets.
#[test]
fn rows_that_are_read_in_turns_have_a_set_each() {
    for time in 1..400 {
        let mut model = Model::new(0);
        model.sets.clear();
        for thread in 0..WARP_WIDTH {
            let accessor = Accessor {
                block: 0,
                thread,
                warp: 0..WARP_WIDTH,
                block_barrier: 0,
                warp_barrier: 0,
                clock: KnownClock::new(None),
                clusters: &Clusters::NONE,
            };
            let sites = [Location::caller(), another_line()].map(Site::of);
            for (number, (set, _)) in model.cells.iter_mut().enumerate() {
                let site = sites[number % sites.len()];
                let event = Event::new(EventKind::Read, (0, thread), time, 4, site);
                set.add(&event, &accessor, true, &mut model.sets).unwrap();
            }
        }
        let [first, second] = [model.cells[0].0, model.cells[1].0];
        let is_shared = |(number, (set, _)): (usize, &(ReaderSet, Readers))| {
            *set == [first, second][number % 2]
        };
        assert!(
            model.cells.iter().enumerate().all(is_shared),
            "at time {time}"
        );
        assert_eq!(
            model.sets.sets.len(),
            2 * usize::from(WARP_WIDTH),
            "at time {time}"
        );
    }
}

/// Another line.
fn another_line() -> CallSite {
    Location::caller()
}
