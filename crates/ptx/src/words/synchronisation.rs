//! Modifiers of barriers, fences, branches, and operations of a whole warp.

use super::words;

words! {
    /// The same for all lanes of a warp.
    Uniform { Uni = "uni", }

    /// Waits for the lanes of a mask.
    Sync { Sync = "sync", }

    /// All threads that take part execute the same instruction.
    Aligned { Aligned = "aligned", }

    /// The threads of a barrier.
    BarrierScope { Block = "cta", Warp = "warp", }

    /// A barrier's step.
    BarrierStep { Sync = "sync", Arrive = "arrive", Reduce = "red", }

    /// A step at the barrier of the cluster.
    ClusterStep { Arrive = "arrive", Wait = "wait", }

    /// How values are combined.
    Reduce {
        PopulationCount = "popc", And = "and", Or = "or", Xor = "xor", Add = "add", Min = "min", Max = "max",
        Increment = "inc", Decrement = "dec",
    }

    /// The threads for which a `membar` orders.
    FenceLevel { Block = "cta", Device = "gl", System = "sys", }

    /// A fence's order.
    FenceOrder {
        AcquireRelease = "acq_rel", SequentiallyConsistent = "sc", Acquire = "acquire", Release = "release",
    }

    /// The proxies between which a fence orders.
    ProxyKind {
        Alias = "alias", Async = "async",
        TensorMap = "tensormap::generic",
    }

    /// A step of a launch that depends on the one before it.
    DependentStep { Wait = "wait", LaunchDependents = "launch_dependents", }

    /// How a shuffle finds its source lane.
    ShuffleMode { Up = "up", Down = "down", Butterfly = "bfly", Index = "idx", }

    /// The result of a vote.
    VoteMode { All = "all", Any = "any", Uniform = "uni", Ballot = "ballot", }

    /// Which lanes match.
    MatchMode { Any = "any", All = "all", }

    /// An arrival that also expects bytes.
    Expect { ExpectTx = "expect_tx", }

    /// An arrival that must not complete the phase.
    NoComplete { NoComplete = "noComplete", }

    /// A test by the parity of a phase.
    Parity { Parity = "parity", }

    /// Whether a warpgroup gives registers back or gets some.
    RegisterStep { Increase = "inc", Decrease = "dec", }

    /// The number of matrices that an instruction moves.
    MatrixCount { One = "x1", Two = "x2", Four = "x4", }

    /// Transposes each matrix.
    Transposed { Trans = "trans", }

    /// The order of a matrix's elements.
    MatrixLayout { Row = "row", Column = "col", }

    /// The shared memory that `ldmatrix` and `stmatrix` access.
    MatrixTarget { Shared = "shared", SharedCta = "shared::cta", }
}
