//! Moves, loads, stores, atomic operations and addresses.

use super::family::family;
use crate::words::{
    AtomicOperation, Cache, Dimensions, FirstLevel, Memory, NoFlush, NonCoherent, Order, Prefetch,
    PrefetchLevel, Scope, SecondLevel, TensorMapPrefetch, To, Type, Vector,
};

family! {
    /// Moves a value, packs a vector into a word, or unpacks it.
    Move: MoveName { Move = "mov", }
    with 2..=2;
    /// The type of the value.
    of: Type,
}

family! {
    /// Loads and stores.
    Transfer: TransferName { Load = "ld", Store = "st", LoadUniform = "ldu", }
    with 2..=3;
    /// The order.
    order: Option<Order>,
    /// The threads to which it applies.
    scope: Option<Scope>,
    /// The space of the address; none for a generic address.
    memory: Option<Memory>,
    /// How the caches are used.
    cache: Option<Cache>,
    /// Whether the read-only cache is.
    nc: Option<NonCoherent>,
    /// The priority in the first-level cache.
    first_level: Option<FirstLevel>,
    /// The priority in the second-level cache.
    second_level: Option<SecondLevel>,
    /// How much the second-level cache fetches.
    prefetch: Option<Prefetch>,
    /// How many elements are moved.
    vector: Option<Vector>,
    /// The type of an element.
    of: Type,
}

family! {
    /// Atomic operations: those that return the old value, and reductions, which do not.
    Atomic: AtomicName { Atomic = "atom", Reduction = "red", }
    with 2..=5;
    /// The order.
    order: Option<Order>,
    /// The threads to which it applies.
    scope: Option<Scope>,
    /// The space of the address; none for a generic address.
    memory: Option<Memory>,
    /// The operation.
    operation: AtomicOperation,
    /// Whether subnormal numbers are kept.
    noftz: Option<NoFlush>,
    /// The priority in the second-level cache.
    second_level: Option<SecondLevel>,
    /// How many elements are changed.
    vector: Option<Vector>,
    /// The type of an element.
    of: Type,
}

family! {
    /// Conversions of addresses, and questions of their spaces.
    Address: AddressName { Convert = "cvta", IsIn = "isspacep", }
    with 2..=2;
    /// Whether the operand is generic, rather than the result.
    to: Option<To>,
    /// The space.
    memory: Memory,
    /// The type of an address.
    of: Option<Type>,
}

family! {
    /// Shared memory of the other blocks of the cluster.
    Map: MapName { Map = "mapa", Rank = "getctarank", }
    with 2..=3;
    /// The space of the address; none for a generic address.
    memory: Option<Memory>,
    /// The type of the result.
    of: Type,
}

family! {
    /// Prefetches.
    Fetch: FetchName { Fetch = "prefetch", FetchUniform = "prefetchu", }
    with 1..=1;
    /// The space of the address; none for a generic address.
    memory: Option<Memory>,
    /// The cache.
    level: Option<PrefetchLevel>,
    /// Whether it is of a tensor's description.
    tensor_map: Option<TensorMapPrefetch>,
}

family! {
    /// Samples of textures.
    Sample: SampleName { Sample = "tex", }
    with 2..=3;
    /// The extents of the texture.
    dimensions: Dimensions,
    /// The number of results.
    vector: Vector,
    /// The type of a result.
    of: Type,
    /// The type of a coordinate.
    by: Type,
}
