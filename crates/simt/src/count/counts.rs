//! The costs of a launch, line by line.

use super::footprint::Footprint;
use super::operation::Operation;
use super::recorder::BlockCounts;
use super::tally::Tally;
use crate::basics::SourceLocation;
use std::collections::HashMap;

/// The cost of one kind of operation at one place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LineCounts {
    /// The place in the kernel's source.
    pub location: SourceLocation,
    /// The kind of operation.
    pub operation: Operation,
    /// Its cost.
    pub tally: Tally,
}

/// The costs of a launch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Costs by place and operation, in the order of the source; without operations that made no request.
    pub lines: Vec<LineCounts>,
    /// Distinct sectors of [`SECTOR_BYTES`](crate::SECTOR_BYTES) of global memory that the launch read.
    ///
    /// DRAM delivers at least these if the caches start empty.
    pub sectors_read: u64,
    /// Distinct sectors of global memory that the launch wrote.
    pub sectors_written: u64,
    /// Bytes of static shared memory of a block; of the largest, if blocks differ.
    pub static_shared_bytes: u64,
}

impl Counts {
    /// Adds the cost of another launch.
    ///
    /// Distinct sectors are added, too: each launch counts its own.
    pub fn add(&mut self, other: &Self) {
        for line in &other.lines {
            let key = |line: &LineCounts| (line.location.clone(), line.operation);
            match self.lines.iter_mut().find(|own| key(own) == key(line)) {
                Some(own) => own.tally += line.tally,
                None => self.lines.push(line.clone()),
            }
        }
        sort(&mut self.lines);
        self.sectors_read += other.sectors_read;
        self.sectors_written += other.sectors_written;
        self.static_shared_bytes = self.static_shared_bytes.max(other.static_shared_bytes);
    }

    /// The cost of the whole launch.
    #[must_use]
    pub fn total(&self) -> Tally {
        self.total_of(|_| true)
    }

    /// The cost of the operations for which `belongs` is true.
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

/// Sorts by place and operation.
fn sort(lines: &mut [LineCounts]) {
    fn key(line: &LineCounts) -> (&str, u32, u32, Operation) {
        let place = &line.location;
        (&place.file, place.line, place.column, line.operation)
    }
    lines.sort_by(|left, right| key(left).cmp(&key(right)));
}

/// The counts of a launch's blocks, as they come in.
#[derive(Default)]
pub(crate) struct MergedCounts {
    /// By the place that a line stands for: a generic kernel has several values of one.
    lines: HashMap<(SourceLocation, Operation), Tally>,
    read: Footprint,
    written: Footprint,
    static_shared_bytes: usize,
}

impl MergedCounts {
    pub fn add(&mut self, block: BlockCounts) {
        for (location, operation, tally) in block.lines {
            *self.lines.entry((location.into(), operation)).or_default() += tally;
        }
        self.read.merge(&block.read);
        self.written.merge(&block.written);
        self.static_shared_bytes = self.static_shared_bytes.max(block.static_shared_bytes);
    }

    pub fn finish(self) -> Counts {
        let lines = self.lines.into_iter();
        let lines = lines.map(|((location, operation), tally)| LineCounts {
            location,
            operation,
            tally,
        });
        let mut lines: Vec<LineCounts> = lines.collect();
        sort(&mut lines);
        Counts {
            lines,
            sectors_read: self.read.sectors(),
            sectors_written: self.written.sectors(),
            static_shared_bytes: self.static_shared_bytes as u64,
        }
    }
}
