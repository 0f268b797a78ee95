//! Warp-wide operations of one warp: which lanes have arrived, and the values that they bring.

use std::cell::{Cell, RefCell, UnsafeCell};

/// What the lanes of a warp bring to a warp-wide operation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaneValues {
    /// One value per lane; only those of the lanes in `mask` mean anything.
    pub values: [u64; 64],
    /// The lanes that take part.
    pub mask: u64,
}

/// One warp-wide operation under way. It is found by its mask while lanes gather, and kept until
/// the last of them has read the values.
pub(crate) struct Rendezvous {
    kind: Cell<&'static str>,
    mask: Cell<u64>,
    /// Lanes that have arrived, while the rendezvous gathers; then 0.
    arrived: Cell<u64>,
    /// Lanes that have not read the values yet, once the rendezvous is complete.
    unread: Cell<u64>,
    values: UnsafeCell<LaneValues>,
}

impl Rendezvous {
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
        // SAFETY: the rendezvous is not in use: no lane has a reference to its values.
        unsafe { (*self.values.get()).mask = mask };
    }

    /// Which operation it is.
    #[inline]
    pub fn kind(&self) -> &'static str {
        self.kind.get()
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

    /// The lane numbered `lane` arrives with `value`; returns whether it is the last one.
    #[inline]
    pub fn arrive(&self, lane: u32, value: u64) -> bool {
        self.deposit(lane, value);
        let arrived = self.arrived.get() | 1 << lane;
        self.arrived.set(arrived);
        arrived == self.mask.get()
    }

    /// What the lanes have brought.
    ///
    /// # Safety
    ///
    /// 1. It is complete, and a lane that has not been marked as having read holds the reference.
    #[inline]
    pub unsafe fn values(&self) -> &LaneValues {
        // SAFETY: values are written only while lanes gather, which begins again once all lanes
        // are marked (1).
        unsafe { &*self.values.get() }
    }

    /// Whether each of two rendezvous waits for a lane that waits at the other.
    pub fn crosses(&self, other: &Self) -> bool {
        let (mask, other_mask) = (self.mask.get(), other.mask.get());
        mask != other_mask
            && mask & other.arrived.get() != 0
            && other_mask & self.arrived.get() != 0
    }

    fn deposit(&self, lane: u32, value: u64) {
        // SAFETY: references to the values are given out only once the rendezvous
        // is complete; until then, lanes write one after the other.
        unsafe { (*self.values.get()).values[lane as usize] = value };
    }
}

/// The rendezvous of one warp.
///
/// Each one in use holds a lane that waits there or has not read yet, and a
/// lane is in one place: so there are never more than 64, unless lanes start
/// the next operation while they read.
#[derive(Default)]
pub(crate) struct Collectives {
    #[expect(clippy::vec_box, reason = "lanes keep references while the list grows")]
    rendezvous: RefCell<Vec<Box<Rendezvous>>>,
    /// Bit `i`: number `i` gathers lanes.
    gathering: Cell<u64>,
    /// Bit `i`: number `i` is complete and not yet read by all.
    complete: Cell<u64>,
}

impl Collectives {
    /// Forgets all of them.
    pub fn clear(&mut self) {
        for rendezvous in self.rendezvous.get_mut() {
            rendezvous.arrived.set(0);
            rendezvous.unread.set(0);
        }
        self.gathering.set(0);
        self.complete.set(0);
    }

    /// The numbers of those that gather lanes.
    pub fn gathering(&self) -> impl Iterator<Item = u32> + use<> {
        let mut left = self.gathering.get();
        std::iter::from_fn(move || {
            let next = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(next)
        })
    }

    /// Number `number`.
    #[inline]
    pub fn get(&self, number: u32) -> &Rendezvous {
        let rendezvous: *const Rendezvous = &*self.rendezvous.borrow()[number as usize];
        // SAFETY: the rendezvous is boxed and stays where it is as long as `self`:
        // the list only ever grows.
        unsafe { &*rendezvous }
    }

    /// The number of the one that gathers exactly the lanes of `mask`.
    #[inline]
    pub fn find(&self, mask: u64) -> Option<u32> {
        self.gathering()
            .find(|number| self.get(*number).mask.get() == mask)
    }

    /// Begins one; returns its number.
    pub fn open(&self, kind: &'static str, mask: u64) -> u32 {
        let number = (!(self.gathering.get() | self.complete.get())).trailing_zeros();
        assert!(
            number < 64,
            "warp operations are nested in the reading of others"
        );
        let mut list = self.rendezvous.borrow_mut();
        if number as usize == list.len() {
            list.push(Box::new(Rendezvous::new()));
        }
        list[number as usize].open(kind, mask);
        self.gathering.set(self.gathering.get() | 1 << number);
        number
    }

    /// All lanes of number `number` have arrived.
    pub fn complete(&self, number: u32) {
        let rendezvous = self.get(number);
        rendezvous.unread.set(rendezvous.arrived.replace(0));
        self.gathering.set(self.gathering.get() & !(1 << number));
        self.complete.set(self.complete.get() | 1 << number);
    }

    /// A lane has read the values of number `number`.
    pub fn mark_read(&self, number: u32, lane_bit: u64) {
        let unread = &self.get(number).unread;
        unread.set(unread.get() & !lane_bit);
        if unread.get() == 0 {
            self.complete.set(self.complete.get() & !(1 << number));
        }
    }

    /// Whether lanes gather in several groups.
    #[inline]
    pub fn has_several(&self) -> bool {
        self.gathering.get().count_ones() > 1
    }

    /// The lanes that wait for a lane in `lanes` to arrive.
    pub fn waiting_for(&self, lanes: u64) -> u64 {
        self.gathering()
            .map(|number| self.get(number))
            .filter(|rendezvous| rendezvous.mask.get() & lanes != 0)
            .fold(0, |waiting, rendezvous| waiting | rendezvous.arrived.get())
    }
}
