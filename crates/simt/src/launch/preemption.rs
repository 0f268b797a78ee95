//! Whether a schedule is preemptive.

/// Whether threads are switched between instructions, and blocks interleave.
///
/// Without preemption, a thread runs until it waits or yields, and a host thread runs a block to its end before
/// it starts another one. That is fastest, but it misses mistakes that need another thread between two atomic
/// operations.
///
/// With preemption, the schedule may switch a thread before each atomic operation, fence, and
/// access of global or shared memory, and the thread stays behind while others can run. The method is
/// PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic
/// guarantees of finding bugs", ASPLOS 2010.
///
/// A block draws an average distance between switches of 1, 2, 4, ... or 256 atomic operations. At its
/// beginning, the distance is at most one operation and a quarter of those so far, so that short blocks are
/// switched, too. A plain access counts as a sixteenth of an atomic operation, and an update of a word that the
/// thread has just loaded as four.
///
/// Resident blocks take turns. The device ([`Options::multiprocessors`](crate::Options::multiprocessors)) and
/// the host ([`MAX_RESIDENT_THREADS`](crate::MAX_RESIDENT_THREADS), shared by the host threads) limit how many
/// there are.
///
/// A launch that is counted ([`Options::counters`](crate::Options::counters)) is never preemptive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Preemption {
    /// Preemptive under every seed but 0.
    #[default]
    BySeed,
    /// Never preemptive.
    Never,
    /// Preemptive under every seed.
    Always,
}
