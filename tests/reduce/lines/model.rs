//! A model of a line's tree on the host, step by step, for the expected bits.

use crate::tree::{Tree, lifted};
use std::ops::Range;
use tilewright_kernels::reduce::Reduction;
use tilewright_kernels::reduce::lines::{ACCUMULATORS, LANES_OF_PART, LinePlan, TURN};

/// The value of a line, as a launch combines it.
pub fn value<R: Reduction<T>, T: bytemuck::Pod>(line: &[T]) -> R::Output {
    let total = Tree::of::<R, T>().over_line(&lifted::<R, T>(line));
    R::finish(total, line.len())
}

impl<A: Copy> Tree<A> {
    fn over_line(&self, lifted: &[A]) -> A {
        let plan = LinePlan::new(lifted.len());
        let mut of_sections = Vec::new();
        for section in 0..plan.sections {
            let start = section * plan.section;
            let end = lifted.len().min(start + plan.section);
            of_sections.push(self.of_section(lifted, start..end, plan.parts));
        }
        match of_sections[..] {
            [total] => total,
            _ => self.over_accumulators(&of_sections, LANES_OF_PART as usize),
        }
    }

    /// The accumulator of a section, which is dealt out to its parts in turns.
    fn of_section(&self, lifted: &[A], section: Range<usize>, parts: usize) -> A {
        let mut of_parts = vec![Vec::new(); parts];
        for (place, index) in section.enumerate() {
            of_parts[place / TURN % parts].push(lifted[index]);
        }
        let of_parts = of_parts
            .iter()
            .map(|lifted| self.over_accumulators(lifted, ACCUMULATORS));
        self.neighbours(of_parts.collect())
    }

    /// Deals values out to `accumulators`, combines those of each in order, and the accumulators as neighbours.
    fn over_accumulators(&self, values: &[A], accumulators: usize) -> A {
        let mut totals = vec![self.identity; accumulators];
        for (index, value) in values.iter().enumerate() {
            let total = &mut totals[index % accumulators];
            *total = self.combine(*total, *value);
        }
        self.neighbours(totals)
    }
}
