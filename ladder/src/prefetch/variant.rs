//! The variants of the prefetch.

use super::workload::DISTANCES;
use crate::StepInfo;
use tilewright_ladder_kernels::prefetch::Slots;

/// The layout of a thread's prefetched values in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// Thread after thread: bank conflicts at every even distance.
    Unpadded,
    /// Thread after thread, with padding that makes the pitch odd.
    Padded,
    /// Slot after slot: neither conflicts nor padding (the article's exercise).
    Transposed,
}

impl Layout {
    /// All layouts.
    pub const ALL: [Self; 3] = [Self::Unpadded, Self::Padded, Self::Transposed];

    pub(super) const fn slots(self, distance: u32, block_threads: u32) -> Slots {
        match self {
            Self::Unpadded => Slots::unpadded(distance, block_threads),
            Self::Padded => Slots::padded(distance, block_threads),
            Self::Transposed => Slots::transposed(distance, block_threads),
        }
    }
}

/// A variant of the loop, named as in the article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Variant {
    /// No prefetch: its distance is 0.
    Baseline,
    /// To L2, by an instruction without a result.
    L2,
    /// Batches into registers.
    ScalarBatch,
    /// Batches into shared memory.
    SharedBatch(Layout),
    /// One element per round, into registers.
    ScalarRolling,
    /// One element per round, into shared memory through a register.
    SharedRolling(Layout),
    /// One element per round, into shared memory by asynchronous copies.
    SharedRollingAsync(Layout),
}

impl Variant {
    /// All variants, in the article's order.
    pub const ALL: [Self; 13] = [
        Self::Baseline,
        Self::L2,
        Self::ScalarBatch,
        Self::SharedBatch(Layout::Unpadded),
        Self::SharedBatch(Layout::Padded),
        Self::SharedBatch(Layout::Transposed),
        Self::ScalarRolling,
        Self::SharedRolling(Layout::Unpadded),
        Self::SharedRolling(Layout::Padded),
        Self::SharedRolling(Layout::Transposed),
        Self::SharedRollingAsync(Layout::Unpadded),
        Self::SharedRollingAsync(Layout::Padded),
        Self::SharedRollingAsync(Layout::Transposed),
    ];

    /// Information on the variant.
    ///
    /// Names of kernels that are compiled for each distance end with the distance, followed by
    /// `_synced` if their threads synchronise.
    #[must_use]
    pub const fn info(self) -> StepInfo {
        const SHARED_BATCH: &str = "prefetch_shared_batch";
        const SHARED_ROLLING: &str = "prefetch_shared_rolling";
        const ASYNC: &str = "prefetch_shared_rolling_async";
        let (term, kernel, change) = match self {
            Self::Baseline => (
                "baseline",
                "prefetch_none",
                "each round loads its element and waits",
            ),
            Self::L2 => (
                "L2 prefetch",
                "prefetch_l2",
                "an instruction without a result brings the line into L2 some rounds ahead",
            ),
            Self::ScalarBatch => (
                "scalar batch",
                "prefetch_scalar_batch",
                "the loads of several rounds at once, into registers",
            ),
            Self::SharedBatch(Layout::Unpadded) => (
                "shared batch",
                SHARED_BATCH,
                "the loads of several rounds at once, into shared memory",
            ),
            Self::SharedBatch(Layout::Padded) => (
                "shared batch, padded",
                SHARED_BATCH,
                "an odd number of slots for each thread: no bank conflicts",
            ),
            Self::SharedBatch(Layout::Transposed) => (
                "shared batch, transposed",
                SHARED_BATCH,
                "slot after slot instead of thread after thread: no bank conflicts, no padding",
            ),
            Self::ScalarRolling => (
                "scalar rolling",
                "prefetch_scalar_rolling",
                "one load in each round, into the register that became free",
            ),
            Self::SharedRolling(Layout::Unpadded) => (
                "shared rolling",
                SHARED_ROLLING,
                "one load in each round, stored to shared memory in the same round",
            ),
            Self::SharedRolling(Layout::Padded) => (
                "shared rolling, padded",
                SHARED_ROLLING,
                "an odd number of slots for each thread: no bank conflicts",
            ),
            Self::SharedRolling(Layout::Transposed) => (
                "shared rolling, transposed",
                SHARED_ROLLING,
                "slot after slot instead of thread after thread: no bank conflicts, no padding",
            ),
            Self::SharedRollingAsync(Layout::Unpadded) => (
                "shared rolling async",
                ASYNC,
                "one asynchronous copy in each round, waited for when it is needed",
            ),
            Self::SharedRollingAsync(Layout::Padded) => (
                "shared rolling async, padded",
                ASYNC,
                "an odd number of slots for each thread: no bank conflicts",
            ),
            Self::SharedRollingAsync(Layout::Transposed) => (
                "shared rolling async, transposed",
                ASYNC,
                "slot after slot instead of thread after thread: no bank conflicts, no padding",
            ),
        };
        StepInfo {
            term,
            kernel,
            change,
        }
    }

    /// The distances that the variant can be launched with.
    #[must_use]
    pub fn distances(self) -> Vec<u32> {
        match self {
            Self::Baseline => vec![0],
            Self::L2
            | Self::ScalarBatch
            | Self::ScalarRolling
            | Self::SharedBatch(_)
            | Self::SharedRolling(_)
            | Self::SharedRollingAsync(_) => DISTANCES.collect(),
        }
    }

    /// The layout of the variant's values in shared memory, if it uses it.
    pub(super) const fn slots(self, distance: u32, block_threads: u32) -> Option<Slots> {
        match self {
            Self::SharedBatch(layout)
            | Self::SharedRolling(layout)
            | Self::SharedRollingAsync(layout) => Some(layout.slots(distance, block_threads)),
            Self::Baseline | Self::L2 | Self::ScalarBatch | Self::ScalarRolling => None,
        }
    }
}
