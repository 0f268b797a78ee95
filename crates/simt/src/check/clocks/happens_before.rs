//! The accesses that barriers, fences and atomic updates order before a thread.

use crate::check::clocks::barrier_order::BarrierOrder;
use crate::check::clocks::clock::{Before, Joins, SharedClock, add};

/// The scopes that differ within a launch: block, cluster, device.
pub(in crate::check) const SCOPES: usize = 3;

/// Indices of the scopes in [`HappensBefore`].
pub(in crate::check) const BLOCK: usize = 0;
pub(in crate::check) const CLUSTER: usize = 1;
pub(in crate::check) const DEVICE: usize = 2;

/// The accesses that barriers, fences and atomic updates order before a thread, beyond those before the last barriers
/// of its block and of its whole warp.
#[derive(Clone, Default)]
pub(in crate::check) struct HappensBefore {
    /// The accesses ordered before the thread.
    pub ordered: SharedClock,
    /// Beyond these, the accesses that sequentially consistent fences order before it in this run.
    pub fenced: SharedClock,
    /// The part that the asynchronous proxy also sees.
    pub proxied: SharedClock,
    /// By scope, block first: the accesses that the thread's fences have released. Its next atomic updates publish
    /// them.
    pub released: [Before; SCOPES],
    /// By scope: the releases that its atomic updates have read. Its next fence orders them.
    pub observed: [Before; SCOPES],
}

impl HappensBefore {
    /// Whether nothing is known, as for most threads.
    #[inline]
    fn is_empty(&self) -> bool {
        let by_scope = self.released.iter().chain(&self.observed);
        self.ordered.is_none()
            && self.fenced.is_none()
            && self.proxied.is_none()
            && by_scope.fold(true, |is_empty, before| is_empty & before.is_empty())
    }

    /// Adds what another thread passes on.
    pub fn add(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        add(&mut self.ordered, &other.ordered);
        add(&mut self.fenced, &other.fenced);
        add(&mut self.proxied, &other.proxied);
        for scope in 0..SCOPES {
            self.released[scope].add(&other.released[scope]);
            self.observed[scope].add(&other.observed[scope]);
        }
    }

    /// Adds what atomic reads have observed, as a fence or an acquire does.
    pub fn acquire_observed(&mut self, observed: &Before) {
        add(&mut self.ordered, &observed.ordered);
        add(&mut self.fenced, &observed.fenced);
    }

    /// Adds what a barrier passes on.
    pub fn acquire(&mut self, handed: &BarrierOrder, joins: &mut Joins) {
        joins.add(&mut self.ordered, &handed.ordered);
        joins.add(&mut self.fenced, &handed.fenced);
        joins.add(&mut self.proxied, &handed.proxied);
    }
}
