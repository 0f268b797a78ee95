//! Warp-wide operations: the lanes of a mask meet and read what each of them
//! has brought (`shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`,
//! `bar.warp.sync` of the PTX ISA).

use crate::block::{Block, Thread, Wait, Warp, count};
use crate::count::Operation;
use crate::current::with_current;
use crate::defect::DefectKind;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::panic::Location;

/// What the lanes of a warp have brought to a meeting.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaneValues {
    /// One value per lane; only those of the lanes in `mask` mean anything.
    pub values: [u64; 64],
    /// The lanes that have met.
    pub mask: u64,
}

/// One meeting. It is found by its mask while lanes gather, and kept until the
/// last of them has read the values.
struct Meeting {
    kind: Cell<&'static str>,
    mask: Cell<u64>,
    /// Lanes that have arrived, while the meeting gathers; then 0.
    arrived: Cell<u64>,
    /// Lanes that have not read the values yet, once the meeting is complete.
    unread: Cell<u64>,
    values: UnsafeCell<LaneValues>,
}

impl Meeting {
    fn new() -> Self {
        Self {
            kind: Cell::new(""),
            mask: Cell::new(0),
            arrived: Cell::new(0),
            unread: Cell::new(0),
            values: UnsafeCell::new(LaneValues {
                values: [0; 64],
                mask: 0,
            }),
        }
    }

    fn open(&self, kind: &'static str, mask: u64) {
        self.kind.set(kind);
        self.mask.set(mask);
        // SAFETY: the meeting is in no use: nobody has a reference to its values.
        unsafe { (*self.values.get()).mask = mask };
    }

    fn deposit(&self, lane: u32, value: u64) {
        // SAFETY: references to the values are given out only once the meeting
        // is complete; until then, lanes write one after the other.
        unsafe { (*self.values.get()).values[lane as usize] = value };
    }
}

/// The meetings of one warp.
///
/// Each meeting in use holds a lane that waits there or has not read yet, and a
/// lane is in one place: so there are never more than 64, unless lanes start
/// the next operation while they read.
#[derive(Default)]
pub(crate) struct Collectives {
    #[expect(clippy::vec_box, reason = "lanes keep references while the list grows")]
    meetings: RefCell<Vec<Box<Meeting>>>,
    /// Bit `i`: meeting `i` gathers lanes.
    gathering: Cell<u64>,
    /// Bit `i`: meeting `i` is complete and not yet read by all.
    complete: Cell<u64>,
}

impl Collectives {
    /// Forgets all meetings.
    pub fn clear(&mut self) {
        for meeting in self.meetings.get_mut() {
            meeting.arrived.set(0);
            meeting.unread.set(0);
        }
        self.gathering.set(0);
        self.complete.set(0);
    }

    /// The numbers of the meetings that gather lanes.
    fn gathering(&self) -> impl Iterator<Item = u32> + use<> {
        let mut left = self.gathering.get();
        std::iter::from_fn(move || {
            let next = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(next)
        })
    }

    #[inline]
    fn meeting(&self, number: u32) -> &Meeting {
        let meeting: *const Meeting = &*self.meetings.borrow()[number as usize];
        // SAFETY: the meeting is boxed and stays where it is as long as `self`:
        // the list only ever grows.
        unsafe { &*meeting }
    }

    /// The meeting that gathers exactly the lanes of `mask`.
    #[inline]
    fn find(&self, mask: u64) -> Option<u32> {
        self.gathering()
            .find(|number| self.meeting(*number).mask.get() == mask)
    }

    fn open(&self, kind: &'static str, mask: u64) -> u32 {
        let number = (!(self.gathering.get() | self.complete.get())).trailing_zeros();
        assert!(
            number < 64,
            "warp operations are nested in the reading of others"
        );
        let mut meetings = self.meetings.borrow_mut();
        if number as usize == meetings.len() {
            meetings.push(Box::new(Meeting::new()));
        }
        meetings[number as usize].open(kind, mask);
        self.gathering.set(self.gathering.get() | 1 << number);
        number
    }

    fn complete(&self, number: u32) {
        let meeting = self.meeting(number);
        meeting.unread.set(meeting.arrived.replace(0));
        self.gathering.set(self.gathering.get() & !(1 << number));
        self.complete.set(self.complete.get() | 1 << number);
    }

    fn mark_read(&self, number: u32, lane_bit: u64) {
        let unread = &self.meeting(number).unread;
        unread.set(unread.get() & !lane_bit);
        if unread.get() == 0 {
            self.complete.set(self.complete.get() & !(1 << number));
        }
    }

    /// The lanes that wait for a lane in `lanes` to arrive.
    pub fn waiting_for(&self, lanes: u64) -> u64 {
        self.gathering()
            .map(|number| self.meeting(number))
            .filter(|meeting| meeting.mask.get() & lanes != 0)
            .fold(0, |waiting, meeting| waiting | meeting.arrived.get())
    }
}

/// All lanes in `mask` meet; each brings `value`, and each then calls `read`
/// with the values of all of them.
///
/// Bit `i` of `mask` is lane `i` of the running thread's warp. Lanes of the
/// same mask must meet in the same `kind` of operation. Meetings of disjoint
/// masks may be under way at once. A lane that is not in its own mask, a mask
/// that names lanes which do not exist or have exited, and lanes that wait for
/// each other at different meetings end the launch. `read` only reads: it calls
/// no other warp-wide operation.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn warp_collective<R>(
    kind: &'static str,
    mask: u64,
    value: u64,
    read: impl FnOnce(&LaneValues) -> R,
) -> R {
    let site = Location::caller();
    with_current(|thread, block| {
        let inside = block.enter(thread, Some(site));
        if block.is_unwinding(thread) {
            drop(inside);
            return read(&LaneValues {
                values: [0; 64],
                mask,
            });
        }
        let collectives = &block.warp_of(thread).collectives;
        let number = block.join(thread, kind, mask, value, site);
        // `read` is the caller's code.
        drop(inside);
        // SAFETY: the meeting is complete: its values are not written before
        // this lane, as the last one, has marked it read.
        let result = read(unsafe { &*collectives.meeting(number).values.get() });
        collectives.mark_read(number, thread.lane_bit());
        result
    })
}

/// The only warp-wide operation that orders memory.
const WARP_BARRIER: &str = "warp barrier";

/// The lanes in `mask` wait for each other, and see what each of them has
/// written before.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn warp_barrier(mask: u64) {
    warp_collective(WARP_BARRIER, mask, 0, |_| ());
}

/// The lanes of the running thread's warp that have not exited.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn active_lanes() -> u64 {
    with_current(|thread, block| block.warp_of(thread).active())
}

impl Block {
    /// Brings `value` to the meeting of `mask` and waits until it is complete;
    /// returns the meeting's number.
    fn join(
        &self,
        thread: &Thread,
        kind: &'static str,
        mask: u64,
        value: u64,
        site: &'static Location<'static>,
    ) -> u32 {
        let warp = self.warp_of(thread);
        let collectives = &warp.collectives;
        if mask & thread.lane_bit() == 0 || mask & !warp.active() != 0 {
            self.fail_mask(thread, warp, kind, mask, site);
        }
        let number = match collectives.find(mask) {
            Some(number) => number,
            None => collectives.open(kind, mask),
        };
        let meeting = collectives.meeting(number);
        if meeting.kind.get() != kind {
            self.fail_kind(thread, kind, meeting.kind.get(), site);
        }
        meeting.deposit(thread.position.lane, value);
        let arrived = meeting.arrived.get() | thread.lane_bit();
        meeting.arrived.set(arrived);
        self.note_meeting(thread, Operation::of_collective(kind), site);
        if arrived == mask {
            self.complete_collective(thread, number);
        } else {
            if collectives.gathering.get().count_ones() > 1 {
                self.check_no_mutual_wait(thread, meeting, site);
            }
            thread.wait_for(Wait::Collective { kind, mask }, site);
        }
        number
    }

    fn complete_collective(&self, thread: &Thread, number: u32) {
        let warp = self.warp_of(thread);
        let meeting = warp.collectives.meeting(number);
        if meeting.kind.get() == WARP_BARRIER {
            self.order_lanes(thread.position.warp, warp, meeting.mask.get());
        }
        warp.collectives.complete(number);
        let met = warp.collectives.meeting(number).unread.get();
        self.note_gathered(thread.position.warp as usize, met);
        let waiting = warp.collectives.meeting(number).unread.get() & !thread.lane_bit();
        if waiting != 0 {
            self.make_ready(thread.position.warp as usize, waiting);
        }
        self.note_progress();
        count(&self.counters.warp_collectives);
    }

    /// What the lanes of `mask` did before is ordered before what they do next.
    fn order_lanes(&self, number: u32, warp: &Warp, mask: u64) {
        let Some(check) = &self.check else { return };
        if mask == warp.existing {
            check.after_warp_barrier(number);
        } else {
            check.after_partial_barrier(std::iter::once((number, mask)));
        }
    }

    /// Finds, at once, the common case of lanes that can never meet: of two
    /// meetings, each waits for a lane that waits at the other.
    fn check_no_mutual_wait(
        &self,
        thread: &Thread,
        meeting: &Meeting,
        site: &'static Location<'static>,
    ) {
        let collectives = &self.warp_of(thread).collectives;
        let crossed = collectives
            .gathering()
            .map(|number| collectives.meeting(number))
            .find(|other| {
                let (mask, other_mask) = (meeting.mask.get(), other.mask.get());
                mask != other_mask
                    && mask & other.arrived.get() != 0
                    && other_mask & meeting.arrived.get() != 0
            });
        if let Some(other) = crossed {
            let message = format!(
                "lanes wait for each other under different masks: {:#x} for {}, {:#x} for {}",
                meeting.mask.get(),
                meeting.kind.get(),
                other.mask.get(),
                other.kind.get()
            );
            self.fail_warp(thread, message, site);
        }
    }

    #[cold]
    fn fail_mask(
        &self,
        thread: &Thread,
        warp: &Warp,
        kind: &'static str,
        mask: u64,
        site: &'static Location<'static>,
    ) -> ! {
        let lane = thread.position.lane;
        let missing = mask & !warp.existing;
        let exited = mask & warp.exited.get();
        let message = if mask & thread.lane_bit() == 0 {
            format!("lane {lane} calls {kind} with mask {mask:#x}, which does not name it")
        } else if missing != 0 {
            format!(
                "mask {mask:#x} of {kind} names lane {}, which does not exist in this warp",
                missing.trailing_zeros()
            )
        } else {
            format!(
                "mask {mask:#x} of {kind} names lane {}, which has exited",
                exited.trailing_zeros()
            )
        };
        self.fail_warp(thread, message, site)
    }

    #[cold]
    fn fail_kind(
        &self,
        thread: &Thread,
        kind: &'static str,
        other: &'static str,
        site: &'static Location<'static>,
    ) -> ! {
        let message = format!(
            "lane {} is at {kind}, while other lanes of its mask wait at {other}",
            thread.position.lane
        );
        self.fail_warp(thread, message, site)
    }

    #[cold]
    fn fail_warp(&self, thread: &Thread, message: String, site: &'static Location<'static>) -> ! {
        self.fail_among_others(thread, DefectKind::WarpDivergence, message, site)
    }
}
