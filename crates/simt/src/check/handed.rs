//! The order that a barrier passes from arriving threads to waiting ones.

use super::clock::{SharedClock, add};

/// The accesses ordered before the threads that have arrived.
#[derive(Clone, Default)]
pub(crate) struct Handed {
    pub(super) ordered: SharedClock,
    /// The same by the order of sequentially consistent fences.
    pub(super) fenced: SharedClock,
    /// The part that the asynchronous proxy sees, too.
    pub(super) proxied: SharedClock,
}

impl Handed {
    /// Adds what another thread hands on.
    pub fn add(&mut self, other: &Self) {
        add(&mut self.ordered, &other.ordered);
        add(&mut self.fenced, &other.fenced);
        add(&mut self.proxied, &other.proxied);
    }
}

/// The order that the phases of one mbarrier pass on.
#[derive(Clone, Default)]
pub(super) struct Phases {
    /// By the arrivals so far.
    pub gathering: Handed,
    /// By those of the phases that are complete.
    pub complete: Handed,
}
