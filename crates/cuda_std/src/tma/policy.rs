//! L2 policies of bulk copies.

use crate::machine::{self, Eviction};

/// An L2 eviction hint for bulk copies. A thread makes it once, before its loop. (PTX ISA, `createpolicy`)
#[derive(Clone, Copy, Debug)]
pub struct CachePolicy {
    policy: u64,
}

impl CachePolicy {
    /// Evicts the lines before others: for data that is read or written once.
    #[inline(always)]
    #[must_use]
    pub fn evict_first() -> Self {
        Self {
            policy: machine::cache_policy(Eviction::First),
        }
    }

    /// Evicts the lines after others: for data that other blocks read again.
    #[inline(always)]
    #[must_use]
    pub fn evict_last() -> Self {
        Self {
            policy: machine::cache_policy(Eviction::Last),
        }
    }
}

/// A tensor map or view with a cache policy for its copies.
#[derive(Clone, Copy, Debug)]
pub struct Hinted<S> {
    pub(super) side: S,
    pub(super) policy: CachePolicy,
}

/// The operand of the instruction.
#[inline(always)]
pub(super) const fn bits(policy: Option<CachePolicy>) -> Option<u64> {
    match policy {
        None => None,
        Some(CachePolicy { policy }) => Some(policy),
    }
}
