//! Modifiers of asynchronous copies.

use super::words;

words! {
    /// Which caches an asynchronous copy of a thread uses.
    CopyCache { All = "ca", Global = "cg", }

    /// The shared memory that a copy fills or reads.
    ToShared { Shared = "shared", SharedCta = "shared::cta", SharedCluster = "shared::cluster", }

    /// Global memory.
    GlobalTarget { Global = "global", }

    /// Counts bytes on an mbarrier.
    BulkCompletion { MbarrierBytes = "mbarrier::complete_tx::bytes", }

    /// Belongs to a group of bulk copies.
    BulkGroup { BulkGroup = "bulk_group", }

    /// Copies to several blocks of the cluster.
    Multicast { Cluster = "multicast::cluster", }

    /// With a policy for the second-level cache.
    CacheHint { Hint = "L2::cache_hint", }

    /// The extents of a tensor.
    Dimensions { One = "1d", Two = "2d", Three = "3d", Four = "4d", Five = "5d", }

    /// Which elements of a tensor a box has.
    LoadMode { Tile = "tile", Im2col = "im2col", }

    /// The arrival is one that the phase expects.
    NoIncrement { Noinc = "noinc", }

    /// Waits for the reads alone.
    ReadOnlyWait { Read = "read", }

    /// A priority in the second-level cache.
    PolicyPriority {
        First = "L2::evict_first", Last = "L2::evict_last", Normal = "L2::evict_normal",
        Unchanged = "L2::evict_unchanged",
    }

    /// The description of a tensor.
    TensorMapPrefetch { TensorMap = "tensormap", }
}
