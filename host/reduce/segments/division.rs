//! How segments are divided among the blocks of a launch.

use crate::error::{ErrorKind, Outcome, zeroed_vec};
use tilewright_kernels::reduce::lines::{ACCUMULATORS, LinePlan, MOST_PARTS, list_section};
use tilewright_kernels::scan::ScanPlan;

/// Bytes of the largest element of a scan.
const LARGEST_ELEMENT: usize = 16;

/// The kinds of segments by the parts of their sections: one, two, four and eight.
const KINDS: usize = MOST_PARTS.ilog2() as usize + 1;

/// The properties of segments that need no device.
#[derive(Debug)]
pub struct Division {
    /// The number of listed parts of the long segments of each kind.
    listed: [usize; KINDS],
    /// Whether a segment has several sections.
    pub is_shared: bool,
    /// The segments without elements, ascending.
    pub empty: Vec<usize>,
    /// The segments that scans may divide, and their lengths: those with more elements than a warp scans, of the
    /// largest type.
    pub long: Vec<(usize, usize)>,
    /// The first element of the first segment.
    pub start: usize,
    /// The number of elements that a buffer needs at least.
    pub end: usize,
}

impl Division {
    /// Divides the segments `offsets[i]..offsets[i + 1]`.
    pub fn of(offsets: &[usize]) -> Outcome<Self> {
        let Some(end) = offsets.last().copied() else {
            return Err(ErrorKind::InvalidOffsets {
                reason: "there are none; for n segments there are n + 1, and for no segment one"
                    .to_owned(),
            });
        };
        let mut division = Self {
            listed: [0; KINDS],
            is_shared: false,
            empty: Vec::new(),
            long: Vec::new(),
            start: offsets[0],
            end,
        };
        for (segment, bounds) in offsets.windows(2).enumerate() {
            let (start, end) = (bounds[0], bounds[1]);
            if start > end {
                return Err(ErrorKind::InvalidOffsets {
                    reason: format!(
                        "offset {} is {end}, below offset {segment}, which is {start}; they must not descend",
                        segment + 1
                    ),
                });
            }
            division.add(segment, end - start);
        }
        Ok(division)
    }

    /// Adds segment number `segment`, of `len` elements.
    fn add(&mut self, segment: usize, len: usize) {
        if len == 0 {
            self.empty.push(segment);
        }
        if len > ScanPlan::most_of_warp(LARGEST_ELEMENT) {
            self.long.push((segment, len));
        }
        if let Some(plan) = plan_of_long(len) {
            self.is_shared |= plan.sections > 1;
            self.listed[kind(&plan)] += plan.sections * plan.parts;
        }
    }

    /// The number of listed parts.
    pub fn listed(&self) -> usize {
        self.listed.iter().sum()
    }

    /// The list of parts: the sections of the long segments, each listed once for each of its parts.
    ///
    /// The sections with the most parts come first, so that each starts at a multiple of its parts.
    pub fn parts(&self, offsets: &[usize]) -> Outcome<Vec<u64>> {
        let mut parts = zeroed_vec(self.listed())?;
        let mut next = self.starts();
        for (segment, bounds) in offsets.windows(2).enumerate() {
            let Some(plan) = plan_of_long(bounds[1] - bounds[0]) else {
                continue;
            };
            let next = &mut next[kind(&plan)];
            for section in 0..plan.sections {
                parts[*next..*next + plan.parts].fill(list_section(segment, section));
                *next += plan.parts;
            }
        }
        Ok(parts)
    }

    /// Where the parts of each kind start in the list.
    fn starts(&self) -> [usize; KINDS] {
        std::array::from_fn(|kind| self.listed[kind + 1..].iter().sum())
    }
}

/// The split of a segment that has more elements than its lanes reduce without a list.
fn plan_of_long(len: usize) -> Option<LinePlan> {
    (len > ACCUMULATORS).then(|| LinePlan::new(len))
}

fn kind(plan: &LinePlan) -> usize {
    plan.parts.ilog2() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter;

    #[test]
    fn segments_beyond_2_to_the_32_elements_are_divided() {
        const LONG: usize = (1 << 32) + 3;
        let offsets = [5, 5 + LONG, 5 + LONG, 105 + LONG, 105 + 2 * LONG];
        let division = Division::of(&offsets).unwrap();
        // Sections of 2^23 elements, the last one of three.
        let long = |segment| (0..513 * 8).map(move |part| list_section(segment, part / 8));
        assert!(
            division
                .parts(&offsets)
                .unwrap()
                .into_iter()
                .eq(long(0).chain(long(3)))
        );
        assert!(division.is_shared && division.empty == [1]);
        assert_eq!(division.end, 105 + 2 * LONG);
    }

    #[test]
    fn segments_of_more_parts_come_first() {
        let lengths = [200, 1025, 128, 3000, 20_000, 1024, 5000];
        let ends = lengths.iter().scan(0, |end, len| {
            *end += len;
            Some(*end)
        });
        let offsets: Vec<usize> = iter::once(0).chain(ends).collect();
        let division = Division::of(&offsets).unwrap();
        let sections = [
            (4, 0, 8),
            (4, 1, 8),
            (6, 0, 8),
            (3, 0, 4),
            (1, 0, 2),
            (0, 0, 1),
            (5, 0, 1),
        ];
        let expected =
            sections.map(|(segment, section, parts)| vec![list_section(segment, section); parts]);
        assert_eq!(division.parts(&offsets).unwrap(), expected.concat());
    }
}
