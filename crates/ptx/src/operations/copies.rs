//! Asynchronous copies.

use super::family::family;
use crate::words::{
    BulkCompletion, BulkGroup, CacheHint, CopyCache, Dimensions, GlobalTarget, LoadMode, Memory,
    Multicast, NoIncrement, Prefetch, ReadOnlyWait, ToShared, Type,
};

family! {
    /// A thread's copy to shared memory.
    ThreadCopy: ThreadCopyName { Copy = "cp.async", }
    with 3..=5;
    /// The caches on the way.
    cache: CopyCache,
    /// Shared memory.
    to: ToShared,
    /// Global memory.
    from: GlobalTarget,
    /// Whether there is a policy.
    hint: Option<CacheHint>,
    /// How much the second-level cache fetches.
    prefetch: Option<Prefetch>,
}

family! {
    /// Groups of copies, and waits for them.
    CopyGroup: CopyGroupName {
        CommitBulk = "cp.async.bulk.commit_group", WaitBulk = "cp.async.bulk.wait_group",
        Commit = "cp.async.commit_group", Wait = "cp.async.wait_group", WaitAll = "cp.async.wait_all",
    }
    with 0..=1;
    /// Whether the wait is for reads alone.
    read: Option<ReadOnlyWait>,
}

family! {
    /// An arrival when a thread's copies have landed.
    CopyArrival: CopyArrivalName { Arrive = "cp.async.mbarrier.arrive", }
    with 1..=1;
    /// Whether the arrival is one of those that the phase expects, rather than a further one.
    no_increment: Option<NoIncrement>,
    /// The space of the address; none for a generic address.
    memory: Option<Memory>,
    /// Always `b64`.
    of: Type,
}

family! {
    /// A copy of many bytes.
    BulkCopy: BulkCopyName { Copy = "cp.async.bulk", }
    with 3..=6;
    /// The space of the destination.
    to: Memory,
    /// The space of the source.
    from: Memory,
    /// How a load ends.
    completion: Option<BulkCompletion>,
    /// How a store ends.
    group: Option<BulkGroup>,
    /// Whether several blocks get the bytes.
    multicast: Option<Multicast>,
    /// Whether there is a policy.
    hint: Option<CacheHint>,
}

family! {
    /// A copy of a box of a tensor.
    BulkTensor: BulkTensorName { Copy = "cp.async.bulk.tensor", }
    with 2..=6;
    /// The extents of the tensor.
    dimensions: Dimensions,
    /// The space of the destination.
    to: Memory,
    /// The space of the source.
    from: Memory,
    /// Which elements the box has.
    mode: Option<LoadMode>,
    /// How a load ends.
    completion: Option<BulkCompletion>,
    /// How a store ends.
    group: Option<BulkGroup>,
    /// Whether several blocks get the box.
    multicast: Option<Multicast>,
    /// Whether there is a policy.
    hint: Option<CacheHint>,
}
