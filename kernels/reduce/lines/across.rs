//! Lines across memory: neighbouring lines are contiguous, one for each lane of a warp.
//!
//! ```text
//! each thread: combine the elements of 16 accumulators of a part of one line, 16 loads at a time
//! each block:  combine the accumulators of the threads of each line, 8 at most, in shared memory
//!              the same for the second part, if there are two
//!              lines of several units: write the unit's; take the ticket of the 32 lines
//! last block:  combine the accumulators of the lines' units the same way
//! ```
//!
//! A warp loads 32 contiguous elements at once, one of each line. A block has 32 lines, or up to 256 if lines have
//! fewer than 128 elements, which need fewer threads each. A line has the accumulators of [`LinePlan`], so the bits
//! are the same as in `along.rs`.

use super::combine::combine_neighbours;
use super::plan::{
    ACCUMULATORS, ACROSS_ACCUMULATORS, ACROSS_LINES, LANES_OF_PART, LINE_THREADS, LinePlan,
    MOST_UNITS, TURN, Turns,
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

/// Threads per line, for lines of at least [`ACCUMULATORS`] elements.
const THREADS: usize = (LINE_THREADS / ACROSS_LINES) as usize;

/// Accumulators per thread.
const OWN_ACCUMULATORS: usize = ACROSS_ACCUMULATORS;

/// Sequences of sections per thread.
const OWN_SECTIONS: usize = LANES_OF_PART as usize / THREADS;

/// An accumulator for each thread.
type Scratch<'block, A> = SharedArray<'block, A, { LINE_THREADS as usize }>;

/// A thread's position.
#[derive(Clone, Copy)]
struct Place {
    line: usize,
    /// The thread's number among the line's threads.
    row: usize,
    /// The number of the line's threads.
    rows: usize,
    /// The index of the line's first thread in shared memory.
    scratch: usize,
    /// Whether the line exists.
    is_line: bool,
}

impl Place {
    /// The calling thread's position in group `group` of `count` lines of `len` elements.
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

/// Fails to compile if an accumulator for each thread of a block does not fit into static shared memory.
#[doc(hidden)]
pub const fn assert_accumulator<A>() {
    assert!(
        // Static shared memory of a block: 48 KiB, with the flag.
        size_of::<A>() * LINE_THREADS as usize + size_of::<u32>() <= 48 << 10,
        "an accumulator of rows and columns is too large: it has at most 184 bytes"
    );
}

/// # Safety
/// 1. The launch has blocks of `LINE_THREADS` threads along x.
/// 2. `lines.source` has all elements of the lines.
/// 3. The tickets, one for each 32 lines, are 0, and only this launch uses the workspace. `workspace.partials` has an
///    element for each unit of each line. Both may be empty if lines have one unit. `workspace.values` has an element
///    for each line.
/// 4. There are `groups` blocks for each unit of a line ([`LinePlan::units_across`] for each section), where `groups`
///    is the number of lines divided by [`LinePlan::lines_of_block_across`], rounded up. Only this block uses
///    `scratch` and `flag`.
#[inline(always)]
pub unsafe fn reduce_across<R: Reduction<X::Element>, X: Source>(
    lines: Lines<X>,
    groups: u32,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
    scratch: Scratch<R::Accumulator>,
    flag: SharedArray<u32, 1>,
) {
    const { assert_accumulator::<R::Accumulator>() };
    if lines.len <= ACCUMULATORS {
        // SAFETY: the source, the values and the scratch: the caller's contract.
        return unsafe { reduce_short::<R, X>(lines, workspace, scratch) };
    }
    let block = thread::block_idx_x();
    let (group, unit) = (block % groups, (block / groups) as usize);
    let place = Place::of_thread(group, lines.len, lines.count);
    // SAFETY: the source has the elements: the caller's contract. The scratch was not used before,
    // and is used again only after a barrier.
    let of_unit = unsafe { reduce_unit::<R, X>(lines, place, unit, scratch) };

    // Recomputed, because the loop needs the registers.
    let plan = LinePlan::new(hint::opaque_size(lines.len));
    let units = plan.sections * plan.units_across();
    let is_writer = place.row == 0 && place.is_line;
    if units == 1 {
        if is_writer {
            // SAFETY: `values` has an element for each line: the caller's contract. One thread
            // writes it.
            unsafe {
                workspace
                    .values
                    .store(place.line, R::finish(of_unit, lines.len))
            };
        }
        return;
    }
    if is_writer {
        // SAFETY: `partials` has an element for each unit of each line: the caller's contract. One
        // thread writes it.
        unsafe {
            workspace
                .partials
                .store(unit * lines.count + place.line, of_unit)
        };
    }
    // Orders the threads' writes before the ticket.
    thread::sync_threads();
    let turn = (group as usize, units as u32);
    // SAFETY: the group has a ticket, and only this block uses the flag: the caller's contract.
    if !unsafe { takes_last_ticket(workspace.tickets, turn, flag) } {
        return;
    }
    // SAFETY: the last ticket means that all units are written. `takes_last_ticket` has a barrier
    // between the uses of the scratch, which is not used again.
    let total = unsafe {
        let of_thread =
            reduce_partials::<R, X::Element>(workspace.partials, lines.count, plan, place);
        combine_rows::<R, X::Element>(of_thread, scratch, place)
    };
    if is_writer {
        // SAFETY: `values` has an element for each line: the caller's contract. One thread of one
        // block writes it.
        unsafe {
            workspace
                .values
                .store(place.line, R::finish(total, lines.len))
        };
    }
    if thread::thread_idx_x() == 0 {
        // SAFETY: the ticket exists, as above. All other blocks of the group have taken theirs.
        unsafe { workspace.tickets.atomic_store(group as usize, 0) };
    }
}

/// Reduces lines of one round, many per block. Finding the parts of longer lines would take as long as these
/// elements.
///
/// # Safety
/// 1. `lines.source` has all elements of the lines.
/// 2. `workspace.values` has an element for each line, and blocks have different lines.
/// 3. Only this block uses `scratch`.
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
    // SAFETY: the source has the elements, and `values` an element for each line: the caller's contract. The scratch
    // is used only here. One thread writes the value.
    unsafe {
        let of_thread = reduce_accumulators::<R, X>(lines, place, round);
        let total = combine_rows::<R, X::Element>(of_thread, scratch, place);
        if place.row == 0 && place.is_line {
            workspace
                .values
                .store(place.line, R::finish(total, lines.len));
        }
    }
}

/// Reduces a unit of a line, one part or two. The line's first thread gets the accumulator. All threads of a block
/// call it together.
///
/// # Safety
/// 1. `lines.source` has all elements of the lines.
/// 2. A barrier separates this call from other uses of `scratch`.
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
        // Computed for each part, because the loop over its elements needs the registers.
        let plan = LinePlan::new(hint::opaque_size(lines.len));
        let units = plan.units_across();
        // Powers of two: shifts instead of divisions.
        let (section, of_section) = (unit >> units.trailing_zeros(), unit & (units - 1));
        let parts = plan.parts >> units.trailing_zeros();
        if number == parts {
            return total;
        }
        let turns = plan.turns(section, of_section * parts + number);
        // SAFETY: the source has the elements: the caller's contract. The barrier above separates
        // two parts' uses of the scratch, and the caller's barriers the rest.
        let of_part = unsafe {
            let of_thread = reduce_accumulators::<R, X>(lines, place, turns);
            if number > 0 {
                thread::sync_threads();
            }
            combine_rows::<R, X::Element>(of_thread, scratch, place)
        };
        total = R::combine(total, of_part);
        number += 1;
    }
}

/// Reduces a thread's accumulators of a part of its line.
///
/// # Safety
/// 1. `lines.source` has all elements of the lines.
#[inline(always)]
unsafe fn reduce_accumulators<R: Reduction<X::Element>, X: Source>(
    lines: Lines<X>,
    place: Place,
    turns: Turns,
) -> R::Accumulator {
    let mut accumulators = [R::IDENTITY; OWN_ACCUMULATORS];
    let end = if place.is_line { turns.end } else { 0 };
    let own = place.row * OWN_ACCUMULATORS;
    let mut round = turns.first;
    // Only rounds that have all of the thread's elements: in partial rounds, loads wait for one another.
    while round + own + OWN_ACCUMULATORS <= end {
        let first = round + own;
        let source = lines.source.moved_by(first, place.line);
        // SAFETY: the line has these elements: the loop's condition, and the caller's contract.
        let elements: [X::Element; OWN_ACCUMULATORS] =
            array::from_fn(|i| unsafe { source.element(i) });
        let mut i = 0;
        while i < OWN_ACCUMULATORS {
            let lifted = R::lift(elements[i], first + i);
            accumulators[i] = R::combine(accumulators[i], lifted);
            i += 1;
        }
        round += ACCUMULATORS;
        if round.is_multiple_of(TURN) {
            round += turns.step - TURN;
        }
    }
    let first = round + own;
    // Compares with constants: comparing with `end` would hold each accumulator's index in a
    // register.
    let here = end.saturating_sub(first).min(OWN_ACCUMULATORS) as u32;
    if here > 0 {
        let source = lines.source.moved_by(first, place.line);
        let elements: [X::Element; OWN_ACCUMULATORS] = array::from_fn(|i| {
            if i as u32 >= here {
                return X::Element::zeroed();
            }
            // SAFETY: the line has the element: compared above, and the caller's contract.
            unsafe { source.element(i) }
        });
        let mut i = 0;
        while i < OWN_ACCUMULATORS {
            if (i as u32) < here {
                let lifted = R::lift(elements[i], first + i);
                accumulators[i] = R::combine(accumulators[i], lifted);
            }
            i += 1;
        }
    }
    combine_neighbours::<R, X::Element, OWN_ACCUMULATORS>(accumulators)
}

/// Combines the accumulators of a line's threads, as neighbours. The first thread gets the result.
///
/// # Safety
/// 1. A barrier separates two uses of `scratch`.
#[inline(always)]
unsafe fn combine_rows<R: Reduction<T>, T: Pod>(
    value: R::Accumulator,
    scratch: Scratch<R::Accumulator>,
    place: Place,
) -> R::Accumulator {
    let place_of = |row: usize| place.scratch + row * ACROSS_LINES as usize;
    // SAFETY: the scratch has an element for each thread, which writes its own.
    unsafe { scratch.store(place_of(place.row), value) };
    thread::sync_threads();
    if place.row > 0 {
        return value;
    }
    let rows: [R::Accumulator; THREADS] = array::from_fn(|row| {
        // SAFETY: the index is that of a thread of the line, which wrote its element before the
        // barrier above.
        let value = unsafe { scratch.load(place_of(row.min(place.rows - 1))) };
        if row < place.rows { value } else { R::IDENTITY }
    });
    combine_neighbours::<R, T, THREADS>(rows)
}

/// Reduces a thread's share of the sections of its line.
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
                // SAFETY: the line has the unit, which is written and visible: the caller's
                // contract.
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
