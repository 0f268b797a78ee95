//! Modifiers of accesses of memory.

use super::words;

words! {
    /// A state space, with the part of it that an instruction names.
    Memory {
        Global = "global", Shared = "shared", SharedCta = "shared::cta", SharedCluster = "shared::cluster",
        Local = "local", Param = "param", ParamEntry = "param::entry", ParamFunc = "param::func",
        Const = "const", Reg = "reg", Tex = "tex",
    }

    /// Memory order.
    Order {
        Weak = "weak", Volatile = "volatile", Relaxed = "relaxed", Acquire = "acquire", Release = "release",
        AcquireRelease = "acq_rel", SequentiallyConsistent = "sc",
    }

    /// The threads to which an order applies.
    Scope { Block = "cta", Cluster = "cluster", Device = "gpu", System = "sys", }

    /// How an access uses the caches.
    Cache {
        All = "ca", Global = "cg", Streaming = "cs", LastUse = "lu", Volatile = "cv", WriteBack = "wb",
        WriteThrough = "wt",
    }

    /// Loads through the read-only cache.
    NonCoherent { Nc = "nc", }

    /// Priority in the first-level cache.
    FirstLevel {
        Normal = "L1::evict_normal", Unchanged = "L1::evict_unchanged", First = "L1::evict_first",
        Last = "L1::evict_last", None = "L1::no_allocate",
    }

    /// Priority in the second-level cache.
    SecondLevel {
        Hint = "L2::cache_hint", First = "L2::evict_first", Last = "L2::evict_last", Normal = "L2::evict_normal",
    }

    /// How much the second-level cache fetches.
    Prefetch { Bytes64 = "L2::64B", Bytes128 = "L2::128B", Bytes256 = "L2::256B", }

    /// The cache to which a prefetch goes.
    PrefetchLevel {
        First = "L1", Second = "L2", SecondLast = "L2::evict_last", SecondNormal = "L2::evict_normal",
    }

    /// Elements of a vector.
    Vector { Two = "v2", Four = "v4", Eight = "v8", }

    /// From generic addresses to those of a space.
    To { To = "to", }

    /// An atomic operation.
    AtomicOperation {
        Add = "add", And = "and", Or = "or", Xor = "xor", CompareSwap = "cas", Swap = "exch", Increment = "inc",
        Decrement = "dec", Min = "min", Max = "max",
    }

    /// Keeps subnormal numbers.
    NoFlush { Noftz = "noftz", }
}

impl Vector {
    /// The number of elements.
    #[must_use]
    pub const fn count(self) -> u32 {
        match self {
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}
