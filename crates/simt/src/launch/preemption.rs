//! Whether a schedule is preemptive.

/// Whether threads are switched in the middle of what they do, and blocks interleave.
///
/// Without preemption, a thread runs until it waits or yields, and a host thread runs a block to its
/// end before it starts another one: that is the fastest, and finds no mistake that needs another
/// thread between two atomic operations.
///
/// With preemption, the schedule may switch a thread before each atomic operation, fence, and
/// access of global or shared memory, and the thread stays behind while others can run. The method is
/// PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic
/// guarantees of finding bugs", ASPLOS 2010.
///
/// How many switches there are: a block draws a distance of 1, 2, 4, ... or 256 atomic operations,
/// and is switched at that distance on average. At its beginning, the distance is at most one
/// operation and a quarter of those so far, so a block of few operations has its switches, too. A
/// plain access counts a sixteenth of an atomic operation; an update of a word that the thread has just
/// loaded counts four times as much as another one.
///
/// As many blocks are resident and take turns as the device holds
/// ([`Options::multiprocessors`](crate::Options::multiprocessors)), and as the host holds threads
/// ([`MAX_RESIDENT_THREADS`](crate::MAX_RESIDENT_THREADS), shared by the host threads).
///
/// A launch that is counted ([`Options::counters`](crate::Options::counters)) is never preemptive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Preemption {
    /// Under every seed but 0.
    #[default]
    BySeed,
    /// Under no seed.
    Never,
    /// Under every seed.
    Always,
}
