//! Instructions of a program.

use super::parts::{
    Access, AddressSpace, Atomic, BoxCopy, BytesCopy, Combine, Fence, FragmentMove, List,
    MatrixMove, MbarrierStep, Pointer, ProductOp, Reduction, Shuffle, TextureSample, Vote,
    WarpgroupOp,
};
use crate::numbers::General;

/// One instruction. Operands are numbers of slots, `d` of the result.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Copy {
        d: u32,
        a: u32,
    },
    Unary {
        f: fn(u64) -> u64,
        d: u32,
        a: u32,
    },
    Binary {
        f: fn(u64, u64) -> u64,
        d: u32,
        a: u32,
        b: u32,
    },
    Ternary {
        f: fn(u64, u64, u64) -> u64,
        d: u32,
        a: u32,
        b: u32,
        c: u32,
    },
    Quaternary {
        f: fn([u64; 4]) -> u64,
        d: u32,
        operands: [u32; 4],
    },
    /// A function that was put together for the instruction, of at most four operands.
    General {
        f: General,
        d: u32,
        operands: List,
    },
    /// A word of elements of `bits` bits each, the lowest first.
    Pack {
        d: u32,
        from: List,
        bits: u32,
    },
    Unpack {
        to: List,
        a: u32,
        bits: u32,
    },
    Jump {
        to: u32,
    },
    JumpIf {
        predicate: u32,
        expected: bool,
        to: u32,
    },
    /// Numbers of instructions in a list.
    Table {
        index: u32,
        to: List,
    },
    Call {
        to: u32,
    },
    Return,
    /// A call of an address that is not a function's.
    NoFunction {
        address: u32,
    },
    Exit,
    Trap,
    Sleep,
    Nothing,
    Load(Access),
    Store(Access),
    Atomic(Atomic),
    Prefetch,
    Sample(TextureSample),
    /// Places in local memory, of addresses and of the result.
    Print {
        format: u64,
        values: u64,
        result: u64,
    },
    /// Places in local memory.
    AssertFail {
        message: u64,
        file: u64,
        line: u64,
    },
    /// Places in local memory.
    CopyLocal {
        to: u64,
        from: u64,
        bytes: u32,
    },
    /// To a generic address, or from one.
    ToGeneric {
        space: AddressSpace,
        d: u32,
        a: u32,
    },
    FromGeneric {
        space: AddressSpace,
        d: u32,
        a: u32,
    },
    /// Whether a generic address is in this space, and in constant memory.
    IsIn {
        space: AddressSpace,
        is_constant: bool,
        d: u32,
        a: u32,
    },
    Barrier {
        id: u32,
        is_aligned: bool,
        threads: Option<u32>,
    },
    BarrierArrive {
        id: u32,
        threads: u32,
    },
    BarrierReduce {
        d: u32,
        id: u32,
        is_aligned: bool,
        threads: Option<u32>,
        predicate: u32,
        is_negated: bool,
        how: Reduction,
    },
    WarpBarrier {
        mask: u32,
    },
    Fence(Fence),
    Shuffle(Shuffle),
    Vote(Vote),
    Match {
        d: u32,
        a: u32,
        mask: u32,
    },
    MatchAll {
        d: u32,
        predicate: u32,
        a: u32,
        mask: u32,
    },
    Elect {
        leader: u32,
        predicate: u32,
        mask: u32,
    },
    /// A count of time that only grows.
    Clock {
        d: u32,
    },
    ActiveMask {
        d: u32,
    },
    Combine(Combine),
    CopyAsync {
        to: Access,
        from: Pointer,
        present: Option<u32>,
    },
    CommitCopies,
    WaitForCopies {
        pending: u32,
    },
    DependentWait,
    Product(ProductOp),
    MoveMatrices(MatrixMove),
    MoveFragment(FragmentMove),
    /// Accumulators that it makes visible, each list of slots after its length.
    WarpgroupFence {
        fragments: List,
    },
    WarpgroupProduct(WarpgroupOp),
    WarpgroupCommit,
    WarpgroupWait {
        pending: u32,
    },
    Mbarrier {
        barrier: Pointer,
        step: MbarrierStep,
    },
    MbarrierFence,
    ProxyFence,
    CopyBox(BoxCopy),
    CopyBytes(BytesCopy),
    BulkCommit,
    BulkWait {
        pending: u32,
        is_of_reads: bool,
    },
    MapShared {
        d: u32,
        a: u32,
        rank: u32,
        is_generic: bool,
    },
    ClusterArrive,
    ClusterArriveRelaxed,
    ClusterWait,
    SetMaxRegisters {
        count: u32,
        is_increase: bool,
    },
}

impl Op {
    /// Whether it changes only slots and the next instruction.
    pub fn is_silent(&self) -> bool {
        matches!(
            self,
            Self::Copy { .. }
                | Self::Unary { .. }
                | Self::Binary { .. }
                | Self::Ternary { .. }
                | Self::Quaternary { .. }
                | Self::General { .. }
                | Self::Pack { .. }
                | Self::Unpack { .. }
                | Self::Jump { .. }
                | Self::JumpIf { .. }
                | Self::Call { .. }
                | Self::Return
                | Self::CopyLocal { .. }
                | Self::Exit
                | Self::Nothing
        )
    }
}
