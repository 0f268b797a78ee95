//! Warp-wide operations of one warp: the lanes that have arrived, and their values.

use std::any::TypeId;
use std::cell::{Cell, OnceCell, UnsafeCell};

/// The values that the lanes of a warp bring to a warp-wide operation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaneValues {
    /// One value per lane; meaningful only for lanes in `mask`.
    pub values: [u64; 64],
    /// The lanes that take part.
    pub mask: u64,
}

/// The most operations of one warp that can be under way.
const MOST: usize = u64::BITS as usize;

/// One warp-wide operation under way. Lanes find it by its mask while they gather, and it lasts
/// until all have read the values.
pub(crate) struct Rendezvous {
    /// Its number in its warp.
    number: u32,
    kind: Cell<&'static str>,
    /// The type to which the values point; none if they are numbers.
    part: Cell<Option<TypeId>>,
    mask: Cell<u64>,
    /// Lanes that have arrived, while the rendezvous gathers; then 0.
    arrived: Cell<u64>,
    /// Lanes that have not read the values yet, once the rendezvous is complete.
    unread: Cell<u64>,
    values: UnsafeCell<LaneValues>,
}

impl Rendezvous {
    fn new(number: u32) -> Self {
        Self {
            number,
            kind: Cell::new(""),
            part: Cell::new(None),
            mask: Cell::new(0),
            arrived: Cell::new(0),
            unread: Cell::new(0),
            values: UnsafeCell::new(LaneValues {
                values: [0; 64],
                mask: 0,
            }),
        }
    }

    fn open(&self, (kind, part): (&'static str, Option<TypeId>), mask: u64) {
        self.kind.set(kind);
        self.part.set(part);
        self.mask.set(mask);
        // SAFETY: the rendezvous is not in use, so no lane has a reference to its values.
        unsafe { (*self.values.get()).mask = mask };
    }

    /// The kind of operation.
    #[inline]
    pub fn kind(&self) -> &'static str {
        self.kind.get()
    }

    /// The type to which its values point; none if they are numbers.
    #[inline]
    pub fn part(&self) -> Option<TypeId> {
        self.part.get()
    }

    /// The lanes that take part.
    #[inline]
    pub fn mask(&self) -> u64 {
        self.mask.get()
    }

    /// The lanes that have not read the values yet, once it is complete.
    #[inline]
    pub fn unread(&self) -> u64 {
        self.unread.get()
    }

    /// Adds the lane `lane` with `value`; returns whether it is the last to arrive.
    #[inline]
    pub fn arrive(&self, lane: u32, value: u64) -> bool {
        self.deposit(lane, value);
        let arrived = self.arrived.get() | 1 << lane;
        self.arrived.set(arrived);
        arrived == self.mask.get()
    }

    /// The values that the lanes have brought.
    ///
    /// # Safety
    ///
    /// 1. The rendezvous is complete, and only a lane that has not been marked as having read holds
    ///    the reference.
    #[inline]
    pub unsafe fn values(&self) -> &LaneValues {
        // SAFETY: values are written only while lanes gather. Gathering begins again once all lanes
        // are marked as having read, and a marked lane holds no reference: the caller's contract.
        unsafe { &*self.values.get() }
    }

    /// Whether each of two rendezvous waits for a lane that waits at the other.
    pub fn crosses(&self, other: &Self) -> bool {
        let (mask, other_mask) = (self.mask.get(), other.mask.get());
        mask != other_mask
            && mask & other.arrived.get() != 0
            && other_mask & self.arrived.get() != 0
    }

    #[inline]
    fn deposit(&self, lane: u32, value: u64) {
        // SAFETY: references to the values are given out only once the rendezvous
        // is complete; until then, lanes write one after the other.
        unsafe { (*self.values.get()).values[lane as usize] = value };
    }
}

/// The rendezvous of one warp.
///
/// Each one in use has a lane that waits there or has yet to read, and each lane is in one place.
/// So there are at most [`MOST`], unless lanes start another operation while they read.
pub(crate) struct Collectives {
    /// Each is made at its first use and then kept.
    rendezvous: [OnceCell<Box<Rendezvous>>; MOST],
    /// Bit `i`: number `i` gathers lanes.
    gathering: Cell<u64>,
    /// Bit `i`: number `i` is complete and not yet read by all.
    complete: Cell<u64>,
}

impl Default for Collectives {
    fn default() -> Self {
        Self {
            rendezvous: [const { OnceCell::new() }; MOST],
            gathering: Cell::new(0),
            complete: Cell::new(0),
        }
    }
}

impl Collectives {
    /// Forgets all rendezvous.
    pub fn clear(&mut self) {
        if self.gathering.get() | self.complete.get() == 0 {
            return;
        }
        for rendezvous in self.rendezvous.iter().filter_map(OnceCell::get) {
            rendezvous.arrived.set(0);
            rendezvous.unread.set(0);
        }
        self.gathering.set(0);
        self.complete.set(0);
    }

    /// The rendezvous that gather lanes.
    #[inline]
    pub fn gathering(&self) -> impl Iterator<Item = &Rendezvous> {
        let mut left = self.gathering.get();
        std::iter::from_fn(move || {
            let next = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(self.get(next))
        })
    }

    #[inline]
    fn get(&self, number: u32) -> &Rendezvous {
        let new = || Box::new(Rendezvous::new(number));
        self.rendezvous[number as usize].get_or_init(new)
    }

    /// The rendezvous that gathers exactly the lanes of `mask`.
    #[inline]
    pub fn find(&self, mask: u64) -> Option<&Rendezvous> {
        self.gathering().find(|it| it.mask.get() == mask)
    }

    /// Begins a rendezvous. With a type, its values are addresses of that type.
    pub fn open(&self, kind: (&'static str, Option<TypeId>), mask: u64) -> &Rendezvous {
        let number = (!(self.gathering.get() | self.complete.get())).trailing_zeros();
        assert!(
            number < MOST as u32,
            "warp operations are nested in the reading of others"
        );
        let rendezvous = self.get(number);
        rendezvous.open(kind, mask);
        self.gathering.set(self.gathering.get() | 1 << number);
        rendezvous
    }

    /// Completes a rendezvous, at which all lanes have arrived.
    pub fn complete(&self, rendezvous: &Rendezvous) {
        rendezvous.unread.set(rendezvous.arrived.replace(0));
        let bit = 1 << rendezvous.number;
        self.gathering.set(self.gathering.get() & !bit);
        self.complete.set(self.complete.get() | bit);
    }

    /// Notes that a lane has read the values of a rendezvous.
    #[inline]
    pub fn mark_read(&self, rendezvous: &Rendezvous, lane_bit: u64) {
        let unread = rendezvous.unread.get() & !lane_bit;
        rendezvous.unread.set(unread);
        if unread == 0 {
            let bit = 1 << rendezvous.number;
            self.complete.set(self.complete.get() & !bit);
        }
    }

    /// Whether lanes gather at several rendezvous.
    #[inline]
    pub fn has_several(&self) -> bool {
        self.gathering.get().count_ones() > 1
    }

    /// The lanes that wait for a lane in `lanes` to arrive.
    pub fn waiting_for(&self, lanes: u64) -> u64 {
        self.gathering()
            .filter(|rendezvous| rendezvous.mask.get() & lanes != 0)
            .fold(0, |waiting, rendezvous| waiting | rendezvous.arrived.get())
    }
}
