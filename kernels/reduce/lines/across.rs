//! Lines whose neighbours' elements are contiguous: one for each lane of a warp.
//!
//! ```text
//! each thread: combine the elements of 16 accumulators of a part of one line, 16 loads at a time
//! each block:  combine the accumulators of the threads of each line, 8 at most, in shared memory
//!              the same for the second part, if there are two
//!              lines of several units: write the unit's; take the ticket of the 32 lines
//! last block:  combine the accumulators of the lines' units the same way
//! ```
//!
//! A warp loads 32 neighbouring elements at once, in each order of the matrix the ones that are
//! contiguous. A block has 32 lines; of lines of less than 128 elements, which need fewer threads each,
//! it has up to 256. The accumulators of a line are those of [`LinePlan`], so the bits are those of
//! `along.rs`.

use super::combine::combine_neighbours;
use super::plan::{
    ACROSS_LINES, LANES_OF_PART, LINE_THREADS, LinePlan, MOST_UNITS, STRANDS, STRANDS_ACROSS, TURN,
    Turns,
};
use super::source::Source;
use super::views::{LineWorkspace, Lines};
use crate::reduce::operation::Reduction;
use crate::reduce::ticket::takes_last_ticket;
use bytemuck::Zeroable as _;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::hint;
use cuda_std::prelude::*;

/// Threads of a line of [`STRANDS`] elements or more.
const THREADS: usize = (LINE_THREADS / ACROSS_LINES) as usize;

/// Accumulators of a thread.
const OWN_STRANDS: usize = STRANDS_ACROSS;

/// Sequences of sections of a thread.
const OWN_SECTIONS: usize = LANES_OF_PART as usize / THREADS;

/// An accumulator for each thread.
type Scratch<'block, A> = SharedArray<'block, A, { LINE_THREADS as usize }>;

/// A thread's place.
#[derive(Clone, Copy)]
struct Place {
    line: usize,
    /// Which of the line's threads.
    row: usize,
    /// The line's threads.
    rows: usize,
    /// The place of the line's first thread in shared memory.
    scratch: usize,
    /// Whether there is such a line.
    is_line: bool,
}

impl Place {
    /// The calling thread's place in the lines of group `group`, of `len` elements, of which there are `count`.
    #[inline(always)]
    fn of_thread(group: u32, len: usize, count: usize) -> Self {
        let thread = thread::thread_idx_x();
        let (lane, warp) = (thread % ACROSS_LINES, thread / ACROSS_LINES);
        // A power of two: shifts instead of divisions.
        let rows = LinePlan::new(len).threads_across();
        let (row, first) = (warp & (rows - 1), warp >> rows.trailing_zeros());
        let of_group = LINE_THREADS >> rows.trailing_zeros();
        let line = group as usize * of_group as usize + (first * ACROSS_LINES + lane) as usize;
        Self {
            line,
            row: row as usize,
            rows: rows as usize,
            scratch: (thread - row * ACROSS_LINES) as usize,
            is_line: line < count,
        }
    }
}

/// # Safety
/// 1. The launch has blocks of `LINE_THREADS` threads along x.
/// 2. `lines.source` has all elements of the lines.
/// 3. The tickets, one for each 32 lines, are 0, and the launch has the workspace for itself.
///    `workspace.partials` has an element for each unit of each line. Both may be empty where lines
///    have one unit. `workspace.values` has an element for each line.
/// 4. There are `groups` blocks for each unit of a line ([`LinePlan::units_across`] of each section), as
///    many as lines by those of a block ([`LinePlan::lines_of_block_across`]), rounded up; `scratch` and
///    `flag` are the block's own.
#[inline(always)]
pub unsafe fn reduce_across<R: Reduction<X::Element>, X: Source>(
    lines: Lines<X>,
    groups: u32,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
    scratch: Scratch<R::Accumulator>,
    flag: SharedArray<u32, 1>,
) {
    if lines.len <= STRANDS {
        // SAFETY: (1) is (2). (2), (3) are (3) and (4).
        return unsafe { reduce_short::<R, X>(lines, workspace, scratch) };
    }
    let block = thread::block_idx_x();
    let (group, unit) = (block % groups, (block / groups) as usize);
    let place = Place::of_thread(group, lines.len, lines.count);
    // SAFETY: (1) is (2). (2) The scratch is not used before, and again behind a barrier alone.
    let of_unit = unsafe { reduce_unit::<R, X>(lines, place, unit, scratch) };

    // Computed again: the loop needs the registers that would hold it.
    let plan = LinePlan::new(hint::opaque_size(lines.len));
    let units = plan.sections * plan.units_across();
    let is_writer = place.row == 0 && place.is_line;
    if units == 1 {
        if is_writer {
            // SAFETY: (1) there is one for each line, by (3). (2) One thread writes it.
            unsafe {
                workspace
                    .values
                    .store(place.line, R::finish(of_unit, lines.len))
            };
        }
        return;
    }
    if is_writer {
        // SAFETY: (1) there is one for each unit of each line, by (3). (2) One thread writes it.
        unsafe {
            workspace
                .partials
                .store(unit * lines.count + place.line, of_unit)
        };
    }
    // What the threads have written lies before the ticket.
    thread::sync_threads();
    let turn = (group as usize, units as u32);
    // SAFETY: (1) there is a ticket for the group, by (3). (2) is (4).
    if !unsafe { takes_last_ticket(workspace.tickets, turn, flag) } {
        return;
    }
    // SAFETY: (1) the tickets say that all units are written. Of `combine_rows` (1) a barrier of
    // `takes_last_ticket` lies between the uses of the scratch, which is not used again.
    let total = unsafe {
        let of_thread =
            reduce_partials::<R, X::Element>(workspace.partials, lines.count, plan, place);
        combine_rows::<R, X::Element>(of_thread, scratch, place)
    };
    if is_writer {
        // SAFETY: (1) there is one for each line, by (3). (2) One thread of one block writes it.
        unsafe {
            workspace
                .values
                .store(place.line, R::finish(total, lines.len))
        };
    }
    if thread::thread_idx_x() == 0 {
        // SAFETY: (1) as before. (2) All other blocks of the group are done with it.
        unsafe { workspace.tickets.atomic_store(group as usize, 0) };
    }
}

/// Lines of one round, of which a block has many: to find the part of a longer one takes as long as their
/// elements do.
///
/// # Safety
/// 1. `lines.source` has all elements of the lines.
/// 2. `workspace.values` has an element for each line, and each block has lines of its own.
/// 3. `scratch` is the block's own.
#[inline(always)]
unsafe fn reduce_short<R: Reduction<X::Element>, X: Source>(
    lines: Lines<X>,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
    scratch: Scratch<R::Accumulator>,
) {
    let place = Place::of_thread(thread::block_idx_x(), lines.len, lines.count);
    let round = Turns {
        first: 0,
        step: TURN,
        end: lines.len,
    };
    // SAFETY: (1) is (1). Of `combine_rows` (1) the scratch is used here alone. Of the value (1) is (2), and (2) one
    // thread writes it.
    unsafe {
        let of_thread = reduce_strands::<R, X>(lines, place, round);
        let total = combine_rows::<R, X::Element>(of_thread, scratch, place);
        if place.row == 0 && place.is_line {
            workspace
                .values
                .store(place.line, R::finish(total, lines.len));
        }
    }
}

/// The accumulator of a unit of a line, of one part or of two, in the first of the line's threads. All threads
/// of a block call it together.
///
/// # Safety
/// 1. `lines.source` has all elements of the lines.
/// 2. A barrier lies between this and other uses of `scratch`.
#[inline(always)]
unsafe fn reduce_unit<R: Reduction<X::Element>, X: Source>(
    lines: Lines<X>,
    place: Place,
    unit: usize,
    scratch: Scratch<R::Accumulator>,
) -> R::Accumulator {
    let mut total = R::IDENTITY;
    let mut number = 0;
    loop {
        // Computed for each part: the loop over its elements needs the registers that would hold it.
        let plan = LinePlan::new(hint::opaque_size(lines.len));
        let units = plan.units_across();
        // Powers of two: shifts instead of divisions.
        let (section, of_section) = (unit >> units.trailing_zeros(), unit & (units - 1));
        let parts = plan.parts >> units.trailing_zeros();
        if number == parts {
            return total;
        }
        let turns = plan.turns(section, of_section * parts + number);
        // SAFETY: (1) is (1). Of `combine_rows` (1) is (2), and the barrier between two parts.
        let of_part = unsafe {
            let of_thread = reduce_strands::<R, X>(lines, place, turns);
            if number > 0 {
                thread::sync_threads();
            }
            combine_rows::<R, X::Element>(of_thread, scratch, place)
        };
        total = R::combine(total, of_part);
        number += 1;
    }
}

/// What a thread has of its accumulators of a part of its line.
///
/// # Safety
/// 1. `lines.source` has all elements of the lines.
#[inline(always)]
unsafe fn reduce_strands<R: Reduction<X::Element>, X: Source>(
    lines: Lines<X>,
    place: Place,
    turns: Turns,
) -> R::Accumulator {
    let mut strands = [R::IDENTITY; OWN_STRANDS];
    let end = if place.is_line { turns.end } else { 0 };
    let own = place.row * OWN_STRANDS;
    let mut round = turns.first;
    // While the line has all of the thread's elements of the round: where it has a part, one load waits for
    // another.
    while round + own + OWN_STRANDS <= end {
        let first = round + own;
        let source = lines.source.moved_by(first, place.line);
        // SAFETY: (1) the line has them, by (1).
        let elements: [X::Element; OWN_STRANDS] =
            array::from_fn(|strand| unsafe { source.element(strand) });
        let mut strand = 0;
        while strand < OWN_STRANDS {
            let lifted = R::lift(elements[strand], first + strand);
            strands[strand] = R::combine(strands[strand], lifted);
            strand += 1;
        }
        round += STRANDS;
        if round.is_multiple_of(TURN) {
            round += turns.step - TURN;
        }
    }
    let first = round + own;
    // Compared with constants: compared with `end`, each accumulator's index is held in registers.
    let here = end.saturating_sub(first).min(OWN_STRANDS) as u32;
    if here > 0 {
        let source = lines.source.moved_by(first, place.line);
        let elements: [X::Element; OWN_STRANDS] = array::from_fn(|strand| {
            if strand as u32 >= here {
                return X::Element::zeroed();
            }
            // SAFETY: (1) the line has the element, by (1) and the comparison.
            unsafe { source.element(strand) }
        });
        let mut strand = 0;
        while strand < OWN_STRANDS {
            if (strand as u32) < here {
                let lifted = R::lift(elements[strand], first + strand);
                strands[strand] = R::combine(strands[strand], lifted);
            }
            strand += 1;
        }
    }
    combine_neighbours::<R, X::Element, OWN_STRANDS>(strands)
}

/// The accumulators of the threads of a line, combined as neighbours, in the first of them.
///
/// # Safety
/// 1. A barrier lies between two uses of `scratch`.
#[inline(always)]
unsafe fn combine_rows<R: Reduction<T>, T: Pod>(
    value: R::Accumulator,
    scratch: Scratch<R::Accumulator>,
    place: Place,
) -> R::Accumulator {
    let place_of = |row: usize| place.scratch + row * ACROSS_LINES as usize;
    // SAFETY: (1) there is an element for each thread. (2) A thread writes its own.
    unsafe { scratch.store(place_of(place.row), value) };
    thread::sync_threads();
    if place.row > 0 {
        return value;
    }
    let rows: [R::Accumulator; THREADS] = array::from_fn(|row| {
        // SAFETY: (1) as before. (2) The barrier above.
        let value = unsafe { scratch.load(place_of(row.min(place.rows - 1))) };
        if row < place.rows { value } else { R::IDENTITY }
    });
    combine_neighbours::<R, T, THREADS>(rows)
}

/// What a thread has of the sections of its line.
///
/// # Safety
/// 1. All units of the lines are written and visible to this thread.
#[inline(always)]
unsafe fn reduce_partials<R: Reduction<T>, T: Pod>(
    partials: GlobalMut<R::Accumulator>,
    count: usize,
    plan: LinePlan,
    place: Place,
) -> R::Accumulator {
    let mut totals = [R::IDENTITY; OWN_SECTIONS];
    let (end, units) = (
        if place.is_line { plan.sections } else { 0 },
        plan.units_across(),
    );
    let mut first = place.row * OWN_SECTIONS;
    while first < end {
        let mut number = 0;
        while number < OWN_SECTIONS {
            let section = first + number;
            let of_units: [R::Accumulator; MOST_UNITS] = array::from_fn(|unit| {
                if section >= end || unit >= units {
                    return R::IDENTITY;
                }
                let at = section * units + unit;
                // SAFETY: (1) the line has the unit. (2) It is written and visible, by (1).
                unsafe { partials.load(at * count + place.line) }
            });
            let of_section = combine_neighbours::<R, T, MOST_UNITS>(of_units);
            totals[number] = R::combine(totals[number], of_section);
            number += 1;
        }
        first += LANES_OF_PART as usize;
    }
    combine_neighbours::<R, T, OWN_SECTIONS>(totals)
}
