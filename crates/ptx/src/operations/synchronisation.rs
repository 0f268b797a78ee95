//! Barriers and fences.

use super::family::family;
use crate::words::{
    Aligned, BarrierScope, BarrierStep, ClusterStep, Expect, FenceLevel, FenceOrder, Memory,
    NoComplete, Order, Parity, ProxyKind, Reduce, Scope, Type,
};

family! {
    /// Barriers of a block, and of lanes of a warp.
    Barrier: BarrierName { Aligned = "bar", Barrier = "barrier", }
    with 1..=4;
    /// The owner of the barrier; the block if there is none.
    scope: Option<BarrierScope>,
    /// The operation at the barrier.
    step: BarrierStep,
    /// How predicates are combined.
    reduce: Option<Reduce>,
    /// Whether all threads of a warp execute it together.
    aligned: Option<Aligned>,
    /// The type of the combined predicates.
    of: Option<Type>,
}

family! {
    /// The barrier of a cluster.
    ClusterBarrier: ClusterBarrierName { Cluster = "barrier.cluster", }
    with 0..=0;
    /// The step.
    step: ClusterStep,
    /// The order.
    order: Option<Order>,
    /// Whether all threads of a warp execute it together.
    aligned: Option<Aligned>,
}

family! {
    /// The older fences, which are sequentially consistent.
    MemoryBarrier: MemoryBarrierName { Barrier = "membar", }
    with 0..=0;
    /// The threads for which it orders.
    level: FenceLevel,
}

family! {
    /// Fences between proxies.
    ProxyFence: ProxyFenceName { Fence = "fence.proxy", }
    with 0..=2;
    /// The proxies.
    kind: ProxyKind,
    /// The order.
    order: Option<FenceOrder>,
    /// The threads for which it orders.
    scope: Option<Scope>,
    /// The memory that it orders; none for all.
    memory: Option<Memory>,
}

family! {
    /// Fences.
    Fence: FenceName { MbarrierInit = "fence.mbarrier_init", Fence = "fence", }
    with 0..=0;
    /// The order.
    order: Option<FenceOrder>,
    /// The threads for which it orders.
    scope: Scope,
}

family! {
    /// Barriers in shared memory.
    Mbarrier: MbarrierName {
        Init = "mbarrier.init", Invalidate = "mbarrier.inval", ArriveDrop = "mbarrier.arrive_drop",
        Arrive = "mbarrier.arrive", Expect = "mbarrier.expect_tx", Complete = "mbarrier.complete_tx",
        TestWait = "mbarrier.test_wait", TryWait = "mbarrier.try_wait", Pending = "mbarrier.pending_count",
    }
    with 1..=4;
    /// Whether an arrival expects bytes.
    expect: Option<Expect>,
    /// Whether an arrival must not complete the phase.
    no_complete: Option<NoComplete>,
    /// Whether a test is by the phase's parity.
    parity: Option<Parity>,
    /// The order.
    order: Option<Order>,
    /// The threads to which it applies.
    scope: Option<Scope>,
    /// The space of the address; none for a generic address.
    memory: Option<Memory>,
    /// Always `b64`.
    of: Type,
}
