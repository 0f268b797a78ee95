//! The tree of a line on the host, one step after another: what gives the bits.

use tilewright_kernels::reduce::Reduction;
use tilewright_kernels::reduce::lines::{LANES_OF_PART, LinePlan, STRANDS};

/// The value of a line, as a launch combines it.
pub fn value<R: Reduction<T>, T: bytemuck::Pod>(line: &[T]) -> R::Output {
    let plan = LinePlan::new(line.len());
    let of_parts: Vec<_> = (0..plan.parts)
        .map(|part| {
            let (start, end) = (part * plan.part, line.len().min((part + 1) * plan.part));
            let lifted = (start..end).map(|index| R::lift(line[index], index));
            over_strands::<R, T>(lifted.collect(), STRANDS)
        })
        .collect();
    let total = match of_parts[..] {
        [total] => total,
        _ => over_strands::<R, T>(of_parts, LANES_OF_PART as usize),
    };
    R::finish(total, line.len())
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
    while totals.len() > 1 {
        totals = totals
            .chunks(2)
            .map(|pair| R::combine(pair[0], pair[1]))
            .collect();
    }
    totals[0]
}
