//! Operands of instructions. Those without another unit are numbers of slots.

use crate::numbers::WarpProduct;
use crate::words::{AtomicOperation, FenceOrder, ShuffleMode, Type, VoteMode};
use simt::{AccessKind, MemoryOrder, MemoryScope, Wgmma};

/// Slots of [`Program::lists`](super::program::Program): the first and how many.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct List {
    pub first: u32,
    pub count: u32,
}

/// A sample of a texture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureSample {
    pub handle: u32,
    pub coordinates: List,
    pub results: List,
}

/// How an address is interpreted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AddressSpace {
    Generic,
    Global,
    Shared,
    /// Of any block of the cluster.
    SharedCluster,
    Param,
    Local,
}

/// The order and the scope of an atomic access.
pub(crate) type Ordering = (MemoryOrder, MemoryScope);

/// The memory of an address, its slot, and a distance from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointer {
    pub space: AddressSpace,
    pub address: u32,
    pub offset: i64,
}

/// A load or a store of a vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub pointer: Pointer,
    pub kind: AccessKind,
    /// The order of an atomic access.
    pub ordering: Option<Ordering>,
    /// The bytes of an element.
    pub element: u32,
    /// The width to which a signed element is widened.
    pub signed_to: Option<u32>,
    /// Slots of the elements.
    pub values: List,
}

/// An atomic operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atomic {
    pub pointer: Pointer,
    /// The alignment of the address: the bytes of the whole vector.
    pub alignment: u32,
    pub ordering: Ordering,
    pub operation: AtomicOperation,
    pub of: Type,
    pub d: u32,
    pub a: u32,
    /// The new value of a comparison and swap.
    pub b: u32,
}

/// How predicates of a block are combined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reduction {
    Count,
    All,
    Any,
}

/// A fence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence {
    pub order: FenceOrder,
    pub scope: MemoryScope,
}

/// A shuffle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shuffle {
    pub mode: ShuffleMode,
    pub d: u32,
    /// Whether the source lane is in range.
    pub predicate: u32,
    pub a: u32,
    pub lane: u32,
    pub bounds: u32,
    pub mask: u32,
}

/// A vote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vote {
    pub mode: VoteMode,
    pub d: u32,
    pub a: u32,
    pub is_negated: bool,
    pub mask: u32,
}

/// A reduction of the lanes of a warp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Combine {
    /// The operation in findings.
    pub name: &'static str,
    pub f: fn(u64, u64) -> u64,
    pub d: u32,
    pub a: u32,
    pub mask: u32,
}

/// The matrix of a product to which a fragment belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FragmentKind {
    A,
    B,
    Sum,
}

/// A move of a fragment of `wmma`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FragmentMove {
    pub is_load: bool,
    pub kind: FragmentKind,
    pub is_by_rows: bool,
    /// The bytes of an element.
    pub bytes: u32,
    pub pointer: Pointer,
    /// Slot of the elements from one row, or column, to the next.
    pub stride: u32,
    pub registers: List,
}

/// The threads for which an arrival at an mbarrier orders the thread's accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ArrivalOrder {
    /// The threads of the cluster that wait.
    Cluster,
    /// Those of the thread's own block.
    Block,
    /// None, except for accesses that fences have released.
    Relaxed,
}

/// An operation on an mbarrier.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MbarrierStep {
    /// Slots of the number of arrivals.
    Init(u32),
    Invalidate,
    /// There has to be one.
    Check,
    Arrive {
        /// Slot of the phase in which it arrives.
        d: Option<u32>,
        /// Slot of the number of arrivals.
        count: u32,
        /// Slot of the bytes that the arrival expects.
        bytes: Option<u32>,
        order: ArrivalOrder,
    },
    /// Slot of the bytes.
    Expect(u32),
    /// Slots of the predicate and the parity.
    Wait {
        d: u32,
        parity: u32,
    },
    Test {
        d: u32,
        parity: u32,
    },
}

/// A copy of a box of a tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxCopy {
    /// Slot of the generic address of the tensor's description.
    pub map: u32,
    pub coordinates: List,
    pub shared: Pointer,
    /// The barrier of a load; none of a store.
    pub barrier: Option<Pointer>,
    /// Slot of the blocks of a multicast.
    pub blocks: Option<u32>,
}

/// A copy of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BytesCopy {
    pub global: Pointer,
    pub shared: Pointer,
    pub bytes: u32,
    pub barrier: Option<Pointer>,
    pub blocks: Option<u32>,
}

/// A product of a warp, with the slots of its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProductOp {
    pub f: WarpProduct,
    pub is_clamped: bool,
    pub d: List,
    pub a: List,
    pub b: List,
    pub c: List,
}

/// A move of matrices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatrixMove {
    pub is_load: bool,
    pub is_transposed: bool,
    pub pointer: Pointer,
    pub registers: List,
}

/// A product of a warpgroup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WarpgroupOp {
    pub instruction: Wgmma,
    pub accumulators: List,
    /// Slot of the descriptor, unless A is in registers.
    pub a: u32,
    pub a_registers: Option<List>,
    pub b: u32,
    pub accumulate: u32,
}
