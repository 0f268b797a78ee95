//! Policies of bulk copies for the second-level cache.

use crate::machine::{self, Eviction};

/// How the second-level cache treats what copies access: a hint, which a thread makes once, before its
/// loop. Without one, all lines are alike. (PTX ISA, `createpolicy`)
#[derive(Clone, Copy, Debug)]
pub struct CachePolicy {
    policy: u64,
}

impl CachePolicy {
    /// Lines are evicted before others: for what is read or written once.
    #[inline(always)]
    #[must_use]
    pub fn evict_first() -> Self {
        Self {
            policy: machine::cache_policy(Eviction::First),
        }
    }

    /// Lines are evicted after others: for what other blocks read again.
    #[inline(always)]
    #[must_use]
    pub fn evict_last() -> Self {
        Self {
            policy: machine::cache_policy(Eviction::Last),
        }
    }
}

/// What copies access, with their policy.
#[derive(Clone, Copy, Debug)]
pub struct Hinted<S> {
    pub(super) side: S,
    pub(super) policy: CachePolicy,
}

/// What an instruction is given.
#[inline(always)]
pub(super) const fn bits(policy: Option<CachePolicy>) -> Option<u64> {
    match policy {
        None => None,
        Some(CachePolicy { policy }) => Some(policy),
    }
}
