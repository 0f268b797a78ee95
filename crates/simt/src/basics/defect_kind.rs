//! The rules that a kernel can break, and the remedy for each.

use super::named::named;

named! {
    /// The rule that a kernel has broken.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    #[non_exhaustive]
    pub enum DefectKind {
        /// An access outside of its view.
        OutOfBounds = "access out of bounds",
        /// An access at an address that is not a multiple of its alignment.
        Misaligned = "misaligned access",
        /// A block barrier that not all of its threads reach, or not in the same way.
        BarrierDivergence = "divergent block barrier",
        /// A grid barrier that not all threads of the grid reach, or that is in a launch
        /// which is not cooperative.
        GridBarrierDivergence = "divergent grid barrier",
        /// A warp-wide operation whose mask and lanes do not agree.
        WarpDivergence = "divergent warp operation",
        /// Two accesses of the same memory, at least one a write, that nothing orders.
        DataRace = "data race",
        /// A plain access and an atomic update of the same memory that nothing orders.
        AtomicRace = "race with an atomic update",
        /// A read through a cache that does not see what the launch writes.
        StaleRead = "stale read",
        /// A read of memory that has not been written.
        UninitialisedRead = "read of uninitialised memory",
        /// An access of global memory that the host has freed.
        UseAfterFree = "use after free",
        /// An asynchronous copy whose memory is used while it is in flight, or that is never waited for.
        AsyncHazard = "asynchronous copy in use",
        /// An mbarrier that is not initialised, or in use already, or that has too many arrivals.
        BarrierMisuse = "misused mbarrier",
        /// A read by the asynchronous proxy of a write that no proxy fence has made visible to it.
        MissingProxyFence = "missing proxy fence",
        /// An access of global memory by a thread that has not waited for the launches before its own.
        MissingLaunchWait = "missing wait for the launches before",
        /// A block that ends while its shared memory is still in use.
        BlockEnded = "block ended in use",
        /// A tile that is read with a different swizzle from the one it was written with.
        WrongSwizzle = "wrong swizzle",
        /// Threads that wait for each other, or that spin for ever.
        Deadlock = "deadlock",
        /// An operand that the instruction does not allow.
        InvalidArgument = "invalid argument",
        /// The kernel panicked.
        Panic = "panic",
        /// A thread that needs more stack than it has.
        StackOverflow = "stack overflow",
        /// A block that runs for longer than the launch allows.
        TimeLimit = "time limit exceeded",
        /// A launch outside the limits of a block, a cluster or a grid.
        LaunchLimit = "launch limit exceeded",
        /// A launch from inside a kernel.
        NestedLaunch = "launch from inside a kernel",
        /// A call from inside a kernel that only the host may make, such as a copy or an allocation.
        HostCall = "host call from inside a kernel",
        /// The host has no memory or no threads left to simulate the launch.
        HostResources = "out of host resources",
    }
}

impl DefectKind {
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
                "smaller blocks, clusters or grids, less shared memory for each block, or options within their limits"
            }
            Self::NestedLaunch => "a launch by the host",
            Self::HostResources => "smaller buffers, or fewer threads at a time",
            // They say what to do.
            Self::Panic | Self::StackOverflow | Self::TimeLimit | Self::HostCall => return None,
        })
    }
}
