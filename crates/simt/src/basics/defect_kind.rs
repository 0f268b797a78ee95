//! The rules that a kernel can break, and the remedy for each.

use std::fmt;

/// The rule that a kernel has broken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum DefectKind {
    /// An access outside of its view.
    OutOfBounds,
    /// An access at an address that is not a multiple of its alignment.
    Misaligned,
    /// A block barrier that not all of its threads reach, or not in the same way.
    BarrierDivergence,
    /// A grid barrier that not all threads of the grid reach, or that is in a launch
    /// which is not cooperative.
    GridBarrierDivergence,
    /// A warp-wide operation whose mask and lanes do not agree.
    WarpDivergence,
    /// Two accesses of the same memory, at least one a write, that nothing orders.
    DataRace,
    /// A plain access and an atomic update of the same memory that nothing orders.
    AtomicRace,
    /// A read through a cache that does not see what the launch writes.
    StaleRead,
    /// A read of memory that has not been written.
    UninitialisedRead,
    /// An access of global memory that the host has freed.
    UseAfterFree,
    /// An asynchronous copy whose memory is used while it is in flight, or that is never waited for.
    AsyncHazard,
    /// An mbarrier that is not initialised, or in use already, or that has too many arrivals.
    BarrierMisuse,
    /// A read by the asynchronous proxy of a write that no proxy fence has made visible to it.
    MissingProxyFence,
    /// An access of global memory by a thread that has not waited for the launches before its own.
    MissingLaunchWait,
    /// A block that ends while its shared memory is still in use.
    BlockEnded,
    /// A tile that is read with a different swizzle from the one it was written with.
    WrongSwizzle,
    /// Threads that wait for each other, or that spin for ever.
    Deadlock,
    /// An operand that the instruction does not allow.
    InvalidArgument,
    /// The kernel panicked.
    Panic,
    /// A thread that needs more stack than it has.
    StackOverflow,
    /// A block that runs for longer than the launch allows.
    TimeLimit,
    /// A launch outside the limits of a block, a cluster or a grid.
    LaunchLimit,
    /// A launch from inside a kernel.
    NestedLaunch,
    /// A call from inside a kernel that only the host may make, such as a copy or an allocation.
    HostCall,
    /// The host has no memory or no threads left to simulate the launch.
    HostResources,
}

impl fmt::Display for DefectKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::OutOfBounds => "access out of bounds",
            Self::Misaligned => "misaligned access",
            Self::BarrierDivergence => "divergent block barrier",
            Self::GridBarrierDivergence => "divergent grid barrier",
            Self::WarpDivergence => "divergent warp operation",
            Self::DataRace => "data race",
            Self::AtomicRace => "race with an atomic update",
            Self::StaleRead => "stale read",
            Self::UninitialisedRead => "read of uninitialised memory",
            Self::UseAfterFree => "use after free",
            Self::AsyncHazard => "asynchronous copy in use",
            Self::BarrierMisuse => "misused mbarrier",
            Self::MissingProxyFence => "missing proxy fence",
            Self::MissingLaunchWait => "missing wait for the launches before",
            Self::BlockEnded => "block ended in use",
            Self::WrongSwizzle => "wrong swizzle",
            Self::Deadlock => "deadlock",
            Self::InvalidArgument => "invalid argument",
            Self::Panic => "panic",
            Self::StackOverflow => "stack overflow",
            Self::TimeLimit => "time limit exceeded",
            Self::LaunchLimit => "launch limit exceeded",
            Self::NestedLaunch => "launch from inside a kernel",
            Self::HostCall => "host call from inside a kernel",
            Self::HostResources => "out of host resources",
        })
    }
}

impl DefectKind {
    /// All of them.
    pub const ALL: [Self; 25] = [
        Self::OutOfBounds,
        Self::Misaligned,
        Self::BarrierDivergence,
        Self::GridBarrierDivergence,
        Self::WarpDivergence,
        Self::DataRace,
        Self::AtomicRace,
        Self::StaleRead,
        Self::UninitialisedRead,
        Self::UseAfterFree,
        Self::AsyncHazard,
        Self::BarrierMisuse,
        Self::MissingProxyFence,
        Self::MissingLaunchWait,
        Self::BlockEnded,
        Self::WrongSwizzle,
        Self::Deadlock,
        Self::InvalidArgument,
        Self::Panic,
        Self::StackOverflow,
        Self::TimeLimit,
        Self::LaunchLimit,
        Self::NestedLaunch,
        Self::HostCall,
        Self::HostResources,
    ];

    /// The remedy for a broken rule; none for kinds whose messages name it.
    pub(super) fn remedy(self) -> Option<&'static str> {
        Some(match self {
            Self::OutOfBounds => "a check of the index against the view's length before the access",
            Self::Misaligned => {
                "an address that is a multiple of the access's width: vectors start at multiples of their length"
            }
            Self::BarrierDivergence => {
                "every thread of the block at the same barrier call, including threads without work"
            }
            Self::GridBarrierDivergence => {
                "every thread of the grid at the barrier, including threads without work"
            }
            Self::WarpDivergence => {
                "a mask of exactly the lanes that reach the operation, all at the same call"
            }
            Self::DataRace | Self::AtomicRace => "a barrier between the two accesses",
            Self::StaleRead => "a read that bypasses the cache, or a second launch",
            Self::UninitialisedRead => "a write before the read",
            Self::UseAfterFree => "a buffer that outlives every use of its address",
            Self::AsyncHazard => {
                "a wait for the operation in flight, before its memory is used and before the thread exits"
            }
            Self::BarrierMisuse => {
                "an mbarrier in memory of its own, initialised once, before its first use, with the number of arrivals \
                 that it gets"
            }
            Self::MissingProxyFence => "a proxy fence between the write and the operation",
            Self::MissingLaunchWait => {
                "a call of `dependent_launch::wait` by each thread before it accesses global memory or ends"
            }
            Self::BlockEnded => "a barrier of the cluster before the end of the kernel",
            Self::WrongSwizzle => {
                "the same swizzle in the copy that writes a tile and in its readers"
            }
            Self::Deadlock => {
                "a running thread that does what the others wait for, in a block that has started"
            }
            Self::InvalidArgument => "an operand that the instruction allows",
            Self::LaunchLimit => {
                "smaller blocks, clusters or grids, or less shared memory for each block"
            }
            Self::NestedLaunch => "a launch by the host",
            Self::HostResources => "smaller buffers, or fewer threads at a time",
            // They say what to do.
            Self::Panic | Self::StackOverflow | Self::TimeLimit | Self::HostCall => return None,
        })
    }
}
