//! The counters, as a launch's report has them.

use super::footprint::Footprint;
use super::recorder::BlockCounts;
use crate::defect::SourceLocation;
use crate::memory::{AccessKind, Space};
use std::collections::HashMap;
use std::fmt;
use std::ops::AddAssign;
use std::panic::Location;

/// Bytes that the L2 cache transfers at once.
pub const SECTOR_BYTES: u64 = 32;

/// Bytes of a cache line: four sectors.
pub const LINE_BYTES: u64 = 128;

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

/// What a request does.
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
    /// A prefetch of global memory into a cache: it has no result, and moves nothing that counts.
    Prefetch,
    /// Arithmetic that the kernel reports.
    Arithmetic(Arithmetic),
    /// A barrier of the block, or of some of its warps.
    BlockBarrier,
    /// A barrier of lanes of a warp.
    WarpBarrier,
    /// A shuffle.
    Shuffle,
    /// Another operation over the lanes of a warp: a vote, a match, a reduction.
    WarpOperation,
}

impl Operation {
    /// Atomic loads and stores are loads and stores to the hardware, too. None for the halves of
    /// an asynchronous copy, which are counted when it is issued.
    pub(super) fn of_access(space: Space, kind: AccessKind) -> Option<Self> {
        match (space, kind) {
            (_, AccessKind::AsyncRead | AccessKind::AsyncWrite) => None,
            (Space::Constant, _) => Some(Self::ConstantLoad),
            (Space::Global, AccessKind::Read | AccessKind::AtomicRead) => Some(Self::GlobalLoad),
            (Space::Global, AccessKind::Write | AccessKind::AtomicWrite) => Some(Self::GlobalStore),
            (Space::Global, AccessKind::Atomic) => Some(Self::GlobalAtomic),
            (Space::Shared, AccessKind::Read | AccessKind::AtomicRead) => Some(Self::SharedLoad),
            (Space::Shared, AccessKind::Write | AccessKind::AtomicWrite) => Some(Self::SharedStore),
            (Space::Shared, AccessKind::Atomic) => Some(Self::SharedAtomic),
        }
    }

    /// The operation behind a warp-wide meeting of this kind.
    pub(crate) fn of_collective(kind: &str) -> Self {
        match kind {
            "warp barrier" => Self::WarpBarrier,
            shuffle if shuffle.starts_with("shuffle") => Self::Shuffle,
            _ => Self::WarpOperation,
        }
    }

    /// Whether it reads or writes global memory.
    #[must_use]
    pub const fn is_global(self) -> bool {
        self.reads_global() || self.writes_global()
    }

    /// Whether it reads global memory.
    pub(super) const fn reads_global(self) -> bool {
        matches!(
            self,
            Self::GlobalLoad | Self::GlobalAtomic | Self::AsyncCopyRead
        )
    }

    /// Whether it writes global memory.
    pub(super) const fn writes_global(self) -> bool {
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
            Self::WarpOperation => "warp operation",
        })
    }
}

/// Requests of global memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct GlobalTally {
    /// Requests.
    pub requests: u64,
    /// Sectors of [`SECTOR_BYTES`] that each request touches, over all requests.
    pub sectors: u64,
    /// Lines of [`LINE_BYTES`] that each request touches, over all requests.
    pub lines: u64,
    /// Bytes that lanes asked for; a byte that several lanes ask for counts several times.
    pub bytes_asked: u64,
    /// Bytes that requests asked for; a byte that several lanes ask for counts once.
    pub bytes_distinct: u64,
}

impl GlobalTally {
    /// The part of the touched sectors that was asked for, from 0 to 1; none without a request.
    #[must_use]
    pub fn sector_efficiency(&self) -> Option<f64> {
        ratio(self.bytes_distinct, self.sectors * SECTOR_BYTES)
    }

    /// The part of the touched lines that was asked for, from 0 to 1; none without a request.
    #[must_use]
    pub fn line_efficiency(&self) -> Option<f64> {
        ratio(self.bytes_distinct, self.lines * LINE_BYTES)
    }
}

/// Requests of shared memory, whose 32 banks are 4 bytes wide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct SharedTally {
    /// Requests.
    pub requests: u64,
    /// Passes through shared memory; in each, a bank serves one word.
    pub wavefronts: u64,
    /// Passes that the same requests would take without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Bytes that lanes asked for.
    pub bytes_asked: u64,
}

impl SharedTally {
    /// Passes that are due to bank conflicts.
    #[must_use]
    pub const fn conflicts(&self) -> u64 {
        self.wavefronts - self.ideal_wavefronts
    }

    /// Passes per pass that would do: 1 without conflicts, n for n-way ones; none without a
    /// request.
    #[must_use]
    pub fn conflict_ways(&self) -> Option<f64> {
        ratio(self.wavefronts, self.ideal_wavefronts)
    }
}

/// What some requests cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Tally {
    /// Requests: instructions, counted once for each warp.
    pub requests: u64,
    /// Lanes that took part, over all requests.
    pub lanes: u64,
    /// Lanes that the requests' warps had and that had not exited, over all requests.
    pub lanes_of_warps: u64,
    /// Floating-point operations in f32; a fused multiply-add is two.
    pub flops_f32: u64,
    /// Floating-point operations in f64; a fused multiply-add is two.
    pub flops_f64: u64,
    /// The requests that touch global memory.
    pub global: GlobalTally,
    /// The requests that touch shared memory.
    pub shared: SharedTally,
}

impl Tally {
    /// Lanes that took part, of those that could have, from 0 to 1; none without a request.
    #[must_use]
    pub fn branch_efficiency(&self) -> Option<f64> {
        ratio(self.lanes, self.lanes_of_warps)
    }

    /// Lanes of a request, on average; none without a request.
    #[must_use]
    pub fn lanes_per_request(&self) -> Option<f64> {
        ratio(self.lanes, self.requests)
    }

    /// Floating-point operations for each byte that moved between global memory and the
    /// multiprocessors, in sectors; none where none moved.
    #[must_use]
    pub fn arithmetic_intensity(&self) -> Option<f64> {
        let flops = self.flops_f32 + self.flops_f64;
        ratio(flops, self.global.sectors * SECTOR_BYTES)
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole != 0).then(|| part as f64 / whole as f64)
}

/// Adds field by field.
macro_rules! add_fields {
    ($tally:ty: $($field:ident),*) => {
        impl AddAssign for $tally {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)*
            }
        }
    };
}
add_fields!(GlobalTally: requests, sectors, lines, bytes_asked, bytes_distinct);
add_fields!(SharedTally: requests, wavefronts, ideal_wavefronts, bytes_asked);
add_fields!(Tally: requests, lanes, lanes_of_warps, flops_f32, flops_f64, global, shared);

/// What one kind of operation at one place in the source costs.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LineCounts {
    /// The place in the kernel's source.
    pub location: SourceLocation,
    /// What is done there.
    pub operation: Operation,
    /// What it costs.
    pub tally: Tally,
}

/// What a launch costs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// By place and operation, in the order of the source.
    pub lines: Vec<LineCounts>,
    /// Distinct sectors of [`SECTOR_BYTES`] of global memory that the launch read: what DRAM
    /// delivers at least, if the caches start empty.
    pub sectors_read: u64,
    /// Distinct sectors of global memory that the launch wrote.
    pub sectors_written: u64,
    /// Bytes of static shared memory of a block; of the largest, where blocks differ.
    pub static_shared_bytes: u64,
}

impl Counts {
    /// Adds the cost of another launch. The distinct sectors of the two are added, too, for each
    /// launch reads and writes its own.
    pub fn add(&mut self, other: &Self) {
        for line in &other.lines {
            let key = |line: &LineCounts| (line.location.clone(), line.operation);
            match self.lines.iter_mut().find(|own| key(own) == key(line)) {
                Some(own) => own.tally += line.tally,
                None => self.lines.push(line.clone()),
            }
        }
        self.lines.sort_by(|left, right| {
            let key = |line: &LineCounts| {
                let SourceLocation {
                    file,
                    line: number,
                    column,
                } = line.location.clone();
                (file, number, column, line.operation)
            };
            key(left).cmp(&key(right))
        });
        self.sectors_read += other.sectors_read;
        self.sectors_written += other.sectors_written;
        self.static_shared_bytes = self.static_shared_bytes.max(other.static_shared_bytes);
    }

    /// The cost of the whole launch.
    #[must_use]
    pub fn total(&self) -> Tally {
        self.total_of(|_| true)
    }

    /// The cost of the operations that `belongs` chooses.
    #[must_use]
    pub fn total_of(&self, belongs: impl Fn(Operation) -> bool) -> Tally {
        let chosen = self.lines.iter().filter(|line| belongs(line.operation));
        chosen.fold(Tally::default(), |mut sum, line| {
            sum += line.tally;
            sum
        })
    }

    /// The cost of one operation.
    #[must_use]
    pub fn of(&self, operation: Operation) -> Tally {
        self.total_of(|candidate| candidate == operation)
    }
}

/// The counts of a launch's blocks, as they come in.
#[derive(Default)]
pub(crate) struct MergedCounts {
    lines: HashMap<(&'static Location<'static>, Operation), Tally>,
    read: Footprint,
    written: Footprint,
    static_shared_bytes: usize,
}

impl MergedCounts {
    pub fn add(&mut self, block: BlockCounts) {
        for (location, operation, tally) in block.lines {
            *self.lines.entry((location, operation)).or_default() += tally;
        }
        self.read.merge(&block.read);
        self.written.merge(&block.written);
        self.static_shared_bytes = self.static_shared_bytes.max(block.static_shared_bytes);
    }

    pub fn finish(self) -> Counts {
        let mut lines: Vec<_> = self.lines.into_iter().collect();
        lines.sort_by_key(|(place, _)| *place);
        Counts {
            lines: lines
                .into_iter()
                .map(|((location, operation), tally)| LineCounts {
                    location: location.into(),
                    operation,
                    tally,
                })
                .collect(),
            sectors_read: self.read.sectors(),
            sectors_written: self.written.sectors(),
            static_shared_bytes: self.static_shared_bytes as u64,
        }
    }
}
