//! The order that a barrier passes from arriving threads to waiting ones.

use crate::check::clocks::clock::{SharedClock, add};

/// The accesses ordered before the threads that have arrived.
#[derive(Clone, Default)]
pub(crate) struct BarrierOrder {
    pub(in crate::check) ordered: SharedClock,
    /// Those that sequentially consistent fences order.
    pub(in crate::check) fenced: SharedClock,
    /// The part that the asynchronous proxy also sees.
    pub(in crate::check) proxied: SharedClock,
}

impl BarrierOrder {
    /// Adds what another thread passes on.
    pub fn add(&mut self, other: &Self) {
        add(&mut self.ordered, &other.ordered);
        add(&mut self.fenced, &other.fenced);
        add(&mut self.proxied, &other.proxied);
    }
}

/// The order that the phases of one mbarrier pass on.
#[derive(Clone, Default)]
pub(in crate::check) struct Phases {
    /// From the arrivals so far.
    pub gathering: BarrierOrder,
    /// From the arrivals of complete phases.
    pub complete: BarrierOrder,
}
