//! Draws from the seed whether an atomic load returns an older store, and orders sequentially consistent fences.

use crate::basics::SplitMix64;
use crate::check::clocks::clock::{SharedClock, add};
use crate::check::clocks::happens_before::HappensBefore;
use std::cell::RefCell;

/// One in this many loads that may return an older store does.
const RARITY: u64 = 4;

/// Streams of the seed's generator that the order of warps does not use.
const SEED_OF_LOADS: u64 = 0x7374_616c_655f_6c64;

/// Chooses the stores that the loads of a running block return.
#[derive(Default)]
pub(in crate::check) struct StaleLoads {
    /// `None` if each load returns the newest.
    random: Option<RefCell<SplitMix64>>,
}

impl StaleLoads {
    /// The choice for block number `block`: with a `seed`, it may be older stores.
    pub fn new(seed: Option<u64>, block: u64) -> Self {
        let random = seed.map(|seed| SplitMix64::new(seed ^ SEED_OF_LOADS, block));
        Self {
            random: random.map(RefCell::new),
        }
    }

    /// Whether loads may return older stores.
    #[inline]
    pub fn are_on(&self) -> bool {
        self.random.is_some()
    }

    /// A number from `first` to `newest`, mostly the latter.
    pub fn draw(&self, first: usize, newest: usize) -> usize {
        let Some(random) = self.random.as_ref().filter(|_| first < newest) else {
            return newest;
        };
        let mut random = random.borrow_mut();
        match random.below(RARITY) {
            0 => first + random.below((newest - first) as u64) as usize,
            _ => newest,
        }
    }
}

/// Orders a thread's sequentially consistent fence after those of `fences` ("Fence-SC order"): each one's scope
/// includes the other's thread. Later fences come after it. `released` is what is before the fence otherwise.
pub(in crate::check) fn follow_fences(
    clocks: &mut HappensBefore,
    released: &SharedClock,
    fences: &mut [&mut SharedClock],
) {
    for earlier in &*fences {
        add(&mut clocks.fenced, earlier);
    }
    for later in fences {
        add(later, released);
        add(later, &clocks.fenced);
    }
}
