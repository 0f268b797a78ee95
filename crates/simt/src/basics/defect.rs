//! What ends a launch early, as a report that a person can act on.

use super::dim::Dim3;
use std::borrow::Cow;
use std::fmt;
use std::panic::Location;

/// Which rule a kernel has broken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum DefectKind {
    /// An access outside of its view.
    OutOfBounds,
    /// An access at an address that is not a multiple of its alignment.
    Misaligned,
    /// A block barrier that not all of its threads reach, or not in the same way.
    BarrierDivergence,
    /// A grid barrier that not all threads of the grid reach, or that is in a launch
    /// which is not cooperative.
    GridBarrierDivergence,
    /// A warp-wide operation whose mask and lanes do not agree.
    WarpDivergence,
    /// Two accesses of one place, one of them a write, that nothing orders.
    DataRace,
    /// A plain access and an atomic update of one place that nothing orders.
    AtomicRace,
    /// A read through a cache that does not see what the launch writes.
    StaleRead,
    /// A read of memory that has not been written.
    UninitialisedRead,
    /// An access of global memory that the host has freed.
    UseAfterFree,
    /// An asynchronous copy whose memory is used while it is in flight, or that
    /// its thread never waits for.
    AsyncHazard,
    /// An mbarrier that is not initialised, or in use already, or that has too many arrivals.
    BarrierMisuse,
    /// A read by the asynchronous proxy of what no proxy fence has made visible to it.
    MissingProxyFence,
    /// A block that ends while others may still access its shared memory, or something reads or
    /// writes it.
    BlockEnded,
    /// A tile that is read with another swizzle than it was written with.
    WrongSwizzle,
    /// Threads that wait for each other at different things, or that spin for ever.
    Deadlock,
    /// An operand that the instruction does not allow.
    InvalidArgument,
    /// The kernel panicked.
    Panic,
    /// A thread that needs more stack than it has.
    StackOverflow,
    /// A block that runs for longer than the launch allows.
    TimeLimit,
    /// A launch that asks for more than a block may have.
    LaunchLimit,
    /// A launch from inside a kernel.
    NestedLaunch,
    /// A call from inside a kernel that only the host may make, such as a copy or an allocation.
    HostCall,
    /// The host has no memory or no threads left to simulate the launch.
    HostResources,
}

impl fmt::Display for DefectKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::OutOfBounds => "access out of bounds",
            Self::Misaligned => "misaligned access",
            Self::BarrierDivergence => "divergent block barrier",
            Self::GridBarrierDivergence => "divergent grid barrier",
            Self::WarpDivergence => "divergent warp operation",
            Self::DataRace => "data race",
            Self::AtomicRace => "race with an atomic update",
            Self::StaleRead => "stale read",
            Self::UninitialisedRead => "read of uninitialised memory",
            Self::UseAfterFree => "use after free",
            Self::AsyncHazard => "asynchronous copy in use",
            Self::BarrierMisuse => "misused mbarrier",
            Self::MissingProxyFence => "missing proxy fence",
            Self::BlockEnded => "block ended in use",
            Self::WrongSwizzle => "wrong swizzle",
            Self::Deadlock => "deadlock",
            Self::InvalidArgument => "invalid argument",
            Self::Panic => "panic",
            Self::StackOverflow => "stack overflow",
            Self::TimeLimit => "time limit exceeded",
            Self::LaunchLimit => "launch limit exceeded",
            Self::NestedLaunch => "launch from inside a kernel",
            Self::HostCall => "host call from inside a kernel",
            Self::HostResources => "out of host resources",
        })
    }
}

/// A place in source code.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourceLocation {
    /// The path as the compiler was given it.
    pub file: Cow<'static, str>,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
}

impl From<&'static Location<'static>> for SourceLocation {
    fn from(location: &'static Location<'static>) -> Self {
        Self {
            file: Cow::Borrowed(location.file()),
            line: location.line(),
            column: location.column(),
        }
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A further fact that explains a defect: the other access, what is missing, or
/// what other threads were doing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Related {
    /// For example "thread (3, 0, 0) waits at block barrier 0".
    pub note: String,
    /// The source line the note speaks of, if there is one.
    pub location: Option<SourceLocation>,
}

impl fmt::Display for Related {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Some(location) => write!(formatter, "{}, {location}", self.note),
            None => formatter.write_str(&self.note),
        }
    }
}

/// A call that was under way when something was found.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Call {
    /// The path of the function that makes the call.
    pub function: String,
    /// The line of the call; none where the program has no debug information.
    pub location: Option<SourceLocation>,
}

impl fmt::Display for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.function)?;
        match &self.location {
            Some(location) => write!(formatter, ", {location}"),
            None => Ok(()),
        }
    }
}

/// The report of a launch in which something was found.
///
/// Its `Display` has one sentence in the first line; the place, the thread and
/// what other threads were doing follow in lines of their own. Further findings of the launch come
/// last.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Defect {
    /// The name of the kernel, as given in [`Launch::kernel`](crate::Launch::kernel).
    pub kernel: String,
    /// Which rule was broken.
    pub kind: DefectKind,
    /// What happened, in one sentence with the numbers.
    pub message: String,
    /// The line of kernel code; none for limits that are checked before any thread runs.
    pub location: Option<SourceLocation>,
    /// The block's index; none when no block had been started.
    pub block: Option<Dim3>,
    /// The index, in its block, of the thread that found the defect.
    pub thread: Option<Dim3>,
    /// The other access and what is missing, or what other threads of the block
    /// were doing.
    pub related: Vec<Related>,
    /// The functions of the kernel that had called the one with the line, the innermost first. They
    /// depend on how the program was compiled: functions that were inlined without debug information
    /// are missing.
    pub calls: Vec<Call>,
    /// How often the launch has come to it: equal findings have one kind and one pair of lines.
    pub times: u64,
    /// The seed under which the defect showed up.
    pub seed: u64,
    /// Other findings of the launch, which went on after those that it survives. Theirs is empty.
    pub further: Vec<Self>,
}

impl Defect {
    /// This finding and the further ones of the launch.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.further)
    }

    /// The finding without the seed and the further ones.
    fn write_alone(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "kernel `{}`: {}: {}",
            self.kernel, self.kind, self.message
        )?;
        if let Some(location) = &self.location {
            write!(formatter, "\n  at {location}")?;
        }
        for call in &self.calls {
            write!(formatter, "\n  called by {call}")?;
        }
        if let (Some(block), Some(thread)) = (self.block, self.thread) {
            write!(formatter, "\n  in thread {thread} of block {block}")?;
        }
        if self.times > 1 {
            write!(formatter, "\n  found {} times", self.times)?;
        }
        for related in &self.related {
            write!(formatter, "\n  - {related}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_alone(formatter)?;
        write!(formatter, "\n  simulated with seed {}", self.seed)?;
        match self.further.len() {
            0 => return Ok(()),
            1 => write!(formatter, "\n1 further finding of the launch:")?,
            count => write!(formatter, "\n{count} further findings of the launch:")?,
        }
        for finding in &self.further {
            formatter.write_str("\n")?;
            finding.write_alone(formatter)?;
        }
        Ok(())
    }
}

impl std::error::Error for Defect {}
