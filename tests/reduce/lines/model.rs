//! The tree of a line on the host, one step after another: what gives the bits.

use std::ops::Range;
use tilewright_kernels::reduce::Reduction;
use tilewright_kernels::reduce::lines::{LANES_OF_PART, LinePlan, STRANDS, TURN};

/// The value of a line, as a launch combines it.
pub fn value<R: Reduction<T>, T: bytemuck::Pod>(line: &[T]) -> R::Output {
    let plan = LinePlan::new(line.len());
    let of_sections: Vec<_> = (0..plan.sections)
        .map(|section| {
            let start = section * plan.section;
            let end = line.len().min(start + plan.section);
            section_value::<R, T>(line, start..end, plan.parts)
        })
        .collect();
    let total = match of_sections[..] {
        [total] => total,
        _ => over_strands::<R, T>(of_sections, LANES_OF_PART as usize),
    };
    R::finish(total, line.len())
}

/// The accumulator of a section, which is dealt out to its parts in turns.
fn section_value<R: Reduction<T>, T: bytemuck::Pod>(
    line: &[T],
    section: Range<usize>,
    parts: usize,
) -> R::Accumulator {
    let mut of_parts = vec![Vec::new(); parts];
    for (place, index) in section.enumerate() {
        let part = place / TURN % parts;
        of_parts[part].push(R::lift(line[index], index));
    }
    let of_parts = of_parts
        .into_iter()
        .map(|lifted| over_strands::<R, T>(lifted, STRANDS));
    neighbours::<R, T>(of_parts.collect())
}

/// Deals values out to `strands`, combines those of each in order, and the strands as neighbours.
fn over_strands<R: Reduction<T>, T: bytemuck::Pod>(
    values: Vec<R::Accumulator>,
    strands: usize,
) -> R::Accumulator {
    let mut totals = vec![R::IDENTITY; strands];
    for (index, value) in values.into_iter().enumerate() {
        let total = &mut totals[index % strands];
        *total = R::combine(*total, value);
    }
    neighbours::<R, T>(totals)
}

/// Neighbours, then neighbours of pairs, and so on.
fn neighbours<R: Reduction<T>, T: bytemuck::Pod>(
    mut values: Vec<R::Accumulator>,
) -> R::Accumulator {
    while values.len() > 1 {
        values = values
            .chunks(2)
            .map(|pair| R::combine(pair[0], pair[1]))
            .collect();
    }
    values[0]
}
