//! The kinds of instruction that are counted.

use crate::basics::{AccessKind, Space};
use std::fmt;

/// An arithmetic instruction that kernels report.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Arithmetic {
    /// A fused multiply-add of f32: two operations.
    MulAddF32,
    /// A fused multiply-add of f64: two operations.
    MulAddF64,
    /// A conversion between f16 and f32: no operation.
    ConvertF16,
}

impl Arithmetic {
    /// Floating-point operations of one lane's instruction.
    #[must_use]
    pub const fn flops(self) -> u64 {
        match self {
            Self::MulAddF32 | Self::MulAddF64 => 2,
            Self::ConvertF16 => 0,
        }
    }
}

/// The kind of a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Operation {
    /// A load from global memory.
    GlobalLoad,
    /// A store to global memory.
    GlobalStore,
    /// An atomic update in global memory.
    GlobalAtomic,
    /// A load from shared memory.
    SharedLoad,
    /// A store to shared memory.
    SharedStore,
    /// An atomic update in shared memory.
    SharedAtomic,
    /// A load from constant memory.
    ConstantLoad,
    /// The part of an asynchronous copy that reads global memory.
    AsyncCopyRead,
    /// The part of an asynchronous copy that writes shared memory.
    AsyncCopyWrite,
    /// A prefetch of global memory into a cache. It has no result, and its bytes do not count.
    Prefetch,
    /// Arithmetic that the kernel reports.
    Arithmetic(Arithmetic),
    /// A barrier of the block, or of some of its warps.
    BlockBarrier,
    /// A barrier of lanes of a warp.
    WarpBarrier,
    /// A shuffle.
    Shuffle,
    /// A product of matrices on tensor cores.
    TensorProduct {
        /// Operations of one warp's instruction: a multiplication and an addition are two.
        operations: u32,
    },
    /// Another operation over the lanes of a warp: a vote, a match, a reduction.
    WarpOperation,
    /// A bulk copy from global to shared memory.
    BulkLoad,
    /// A bulk copy from shared to global memory.
    BulkStore,
}

impl Operation {
    /// Atomic loads and stores are loads and stores to the hardware, too. None for the halves of
    /// an asynchronous copy, which are counted when it is issued.
    pub(crate) fn of_access(space: Space, kind: AccessKind) -> Option<Self> {
        match (space, kind) {
            (_, AccessKind::AsyncRead | AccessKind::AsyncWrite) => None,
            (Space::Constant, _) => Some(Self::ConstantLoad),
            (
                Space::Global,
                AccessKind::Read
                | AccessKind::ReadOnly
                | AccessKind::CachedRead
                | AccessKind::AtomicRead,
            ) => Some(Self::GlobalLoad),
            (Space::Global, AccessKind::Write | AccessKind::AtomicWrite) => Some(Self::GlobalStore),
            (Space::Global, AccessKind::Atomic) => Some(Self::GlobalAtomic),
            (
                Space::Shared,
                AccessKind::Read
                | AccessKind::ReadOnly
                | AccessKind::CachedRead
                | AccessKind::AtomicRead,
            ) => Some(Self::SharedLoad),
            (Space::Shared, AccessKind::Write | AccessKind::AtomicWrite) => Some(Self::SharedStore),
            (Space::Shared, AccessKind::Atomic) => Some(Self::SharedAtomic),
        }
    }

    /// The operation under which a warp-wide operation of this kind is counted; none if it costs nothing itself, or
    /// is counted with what it issues.
    pub(crate) fn of_collective(kind: &str) -> Option<Self> {
        match kind {
            "warp barrier" => Some(Self::WarpBarrier),
            "setmaxnreg" => None,
            product if product.starts_with("wgmma") => None,
            shuffle if shuffle.starts_with("shuffle") => Some(Self::Shuffle),
            _ => Some(Self::WarpOperation),
        }
    }

    /// Whether it reads or writes global memory.
    #[must_use]
    pub const fn is_global(self) -> bool {
        self.reads_global() || self.writes_global()
    }

    /// Whether it reads global memory.
    #[must_use]
    pub const fn reads_global(self) -> bool {
        matches!(
            self,
            Self::GlobalLoad | Self::GlobalAtomic | Self::AsyncCopyRead
        )
    }

    /// Whether it writes global memory.
    #[must_use]
    pub const fn writes_global(self) -> bool {
        matches!(self, Self::GlobalStore | Self::GlobalAtomic)
    }

    /// Whether it reads or writes shared memory.
    #[must_use]
    pub const fn is_shared(self) -> bool {
        matches!(
            self,
            Self::SharedLoad | Self::SharedStore | Self::SharedAtomic | Self::AsyncCopyWrite
        )
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::GlobalLoad => "global load",
            Self::GlobalStore => "global store",
            Self::GlobalAtomic => "global atomic",
            Self::SharedLoad => "shared load",
            Self::SharedStore => "shared store",
            Self::SharedAtomic => "shared atomic",
            Self::ConstantLoad => "constant load",
            Self::AsyncCopyRead => "async copy, read",
            Self::AsyncCopyWrite => "async copy, write",
            Self::Prefetch => "prefetch",
            Self::Arithmetic(Arithmetic::MulAddF32) => "mul_add f32",
            Self::Arithmetic(Arithmetic::MulAddF64) => "mul_add f64",
            Self::Arithmetic(Arithmetic::ConvertF16) => "convert f16",
            Self::BlockBarrier => "block barrier",
            Self::WarpBarrier => "warp barrier",
            Self::Shuffle => "shuffle",
            Self::TensorProduct { .. } => "tensor product",
            Self::WarpOperation => "warp operation",
            Self::BulkLoad => "bulk load",
            Self::BulkStore => "bulk store",
        })
    }
}
