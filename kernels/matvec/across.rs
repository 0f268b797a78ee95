//! Lines whose neighbours' elements are contiguous: as many lines for each block as 512 bytes, of halves 128
//! bytes, have elements, and one part of them.
//!
//! ```text
//! each thread: add the products of 4 accumulators, of halves 1, of as many lines as 16 bytes have elements,
//!              as many accumulators at once as 8 loads are for
//! each block:  add the threads' sums of each line, in shared memory
//!              lines of several parts: write the part's; take the ticket of the block's lines
//! last block:  add the sums of the lines' parts the same way
//! ```
//!
//! An accumulator of halves is 8 elements of each of a thread's 8 lines: four of them would take 32 registers for
//! sums, and a block 256 lines. Where their elements do not start at multiples of
//! 16 bytes, and at last lines that are not whole vectors, a thread has every 32nd of the lines instead of
//! neighbours, and loads single elements. The accumulators are those of [`VectorPlan`](super::VectorPlan), so the
//! bits are those of `along.rs`.

use super::element::Element;
use super::outputs::Outputs;
use super::plan::{STRAND_BYTES, VECTOR_STRANDS, VECTOR_THREADS};
use super::product::{Product, Workspace};
use crate::reduce::lines::combine_neighbours;
use crate::reduce::takes_last_ticket;
use cuda_std::array;
use cuda_std::float::Float;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Threads of a line, each with an equal part of its accumulators, of products and of parts.
#[must_use]
pub const fn threads_of_line(bytes: usize) -> usize {
    match bytes {
        2 => VECTOR_STRANDS,
        _ => VECTOR_STRANDS / 4,
    }
}

/// Threads side by side, each with 16 bytes of neighbouring lines, where lines have `rows` threads.
const fn lanes(rows: usize) -> usize {
    VECTOR_THREADS as usize / rows
}

/// Elements of a line that a thread loads before it adds.
const IN_FLIGHT: usize = 8;

/// Lines of a block, for elements of `bytes` bytes.
#[must_use]
pub const fn lines_of_block(bytes: usize) -> usize {
    lanes(threads_of_line(bytes)) * STRAND_BYTES / bytes
}

/// The lines of a block, and which of its threads has which of them.
#[derive(Clone, Copy)]
struct Place {
    /// The block's first line.
    start: usize,
    /// From the first line of one lane to that of the next.
    lanes_apart: usize,
    /// From each line of a lane to its next.
    apart: usize,
    lane: usize,
    /// Which of the threads of its lines the thread is.
    row: usize,
}

impl Place {
    /// Line `number` of a lane.
    #[inline(always)]
    fn line_of(&self, lane: usize, number: usize) -> usize {
        self.start + lane * self.lanes_apart + number * self.apart
    }

    /// Line `number` of the thread.
    #[inline(always)]
    fn line(&self, number: usize) -> usize {
        self.line_of(self.lane, number)
    }
}

/// The sums of a thread: of each of its accumulators, for each of its lines.
type Strands<S, const VECTOR: usize, const OWN: usize> = [[S; VECTOR]; OWN];

/// # Safety
/// 1. The launch has blocks of `VECTOR_THREADS` threads along x, one for each part of each
///    [`lines_of_block`] lines: first those of the first part, then those of the second, and so on.
/// 2. `product` has the elements of its shape, and `VECTOR` of them are 16 bytes.
/// 3. Where lines have several parts, `workspace` has a partial result for each part of each line, and a
///    ticket for the lines of each block, which is 0; the launch has it for itself.
/// 4. `outputs` has an element for each line.
/// 5. `ROWS` is [`threads_of_line`] of the elements, with `OWN` accumulators each; `scratch`, which has `VECTOR`
///    elements for each thread, and `flag` are the block's own.
#[inline(always)]
pub unsafe fn multiply_across<
    T: Element,
    O: Element<Sum = T::Sum>,
    const VECTOR: usize,
    const ROWS: usize,
    const OWN: usize,
>(
    product: Product<T>,
    workspace: Workspace<T::Sum>,
    outputs: Outputs<O>,
    scratch: SharedSlice<T::Sum>,
    flag: SharedArray<u32, 1>,
) {
    const {
        assert!(VECTOR * size_of::<T>() == STRAND_BYTES);
        assert!(ROWS == threads_of_line(size_of::<T>()) && OWN * ROWS == VECTOR_STRANDS);
    }
    let lanes = const { lanes(ROWS) };
    let Product { shape, plan, .. } = product;
    let groups = shape.lines.div_ceil(lanes * VECTOR) as u32;
    let (block, thread) = (thread::block_idx_x(), thread::thread_idx_x() as usize);
    let (group, part) = ((block % groups) as usize, (block / groups) as usize);
    let start = group * (lanes * VECTOR);
    let has_whole_vectors =
        start + lanes * VECTOR <= shape.lines || shape.lines.is_multiple_of(VECTOR);
    let has_vectors = product.has_aligned_lines() && has_whole_vectors;
    let (lanes_apart, apart) = if has_vectors { (VECTOR, 1) } else { (1, lanes) };
    let (lane, row) = (thread % lanes, thread / lanes);
    let place = Place {
        start,
        lanes_apart,
        apart,
        lane,
        row,
    };
    // SAFETY: (1) is (2). Of `combine_rows` (1) is (5), and barriers lie between its uses.
    let of_part = unsafe {
        let strands = if has_vectors {
            sum_strands::<T, VECTOR, OWN, true>(product, place, part)
        } else {
            sum_strands::<T, VECTOR, OWN, false>(product, place, part)
        };
        combine_rows::<T, VECTOR, ROWS, OWN>(&strands, scratch, place)
    };
    // The line whose sum the thread has, if there is one.
    let own = place.line_of(lane, row);
    let is_writer = row < VECTOR && own < shape.lines;
    let mut sum = of_part;
    if plan.parts > 1 {
        if is_writer {
            // SAFETY: (1) there is one for each part of each line, by (3). (2) One thread writes it.
            unsafe { workspace.partials.store(part * shape.lines + own, of_part) };
        }
        // What the threads have written lies before the ticket.
        thread::sync_threads();
        let turn = (group, plan.parts as u32);
        // SAFETY: (1) there is a ticket for the group, by (3). (2) is (5).
        if !unsafe { takes_last_ticket(workspace.tickets, turn, flag) } {
            return;
        }
        // SAFETY: (1) the tickets say that all parts are written. Of `combine_rows` (1) barriers of
        // `takes_last_ticket` lie between the uses of the scratch.
        sum = unsafe {
            let strands = sum_partials::<T, VECTOR, OWN>(product, workspace, place);
            combine_rows::<T, VECTOR, ROWS, OWN>(&strands, scratch, place)
        };
        if thread == 0 {
            // SAFETY: (1) as before. (2) All other blocks of the group are done with it.
            unsafe { workspace.tickets.atomic_store(group, 0) };
        }
    }
    if is_writer {
        // SAFETY: (1) is (4). (2) One thread of one block has the line.
        unsafe { outputs.store(own, sum) };
    }
}

/// Accumulators that a thread adds at once: as many as it has loads in flight for.
const fn at_once(vector: usize, own: usize) -> usize {
    let strands = IN_FLIGHT / vector;
    if strands < own { strands } else { own }
}

/// What a thread has of its accumulators of a part of its lines: vectors of neighbouring lines with `VECTORS`.
///
/// # Safety
/// 1. `product` has the elements of its shape; with `VECTORS` a thread has all of its lines or none, and
///    their elements start at multiples of 16 bytes.
#[inline(always)]
unsafe fn sum_strands<T: Element, const VECTOR: usize, const OWN: usize, const VECTORS: bool>(
    product: Product<T>,
    place: Place,
    part: usize,
) -> Strands<T::Sum, VECTOR, OWN> {
    let Product { shape, plan, .. } = product;
    let end = shape.k.min((part + 1) * plan.part);
    each_pass::<T::Sum, VECTOR, OWN>(|first_strand| {
        let mut sums = [[T::Sum::ZERO; VECTOR]; OWN];
        let own = (place.row * OWN + first_strand) * VECTOR;
        let mut first = part * plan.part + own;
        while first < end {
            // SAFETY: (1) is (1); what lies past the end of the lines, or past the last line, is not read.
            let (loaded, v): ([[T; VECTOR]; IN_FLIGHT], [T; IN_FLIGHT]) = unsafe {
                (
                    array::from_fn(|number| {
                        let k = first + number;
                        load::<T, VECTOR, VECTORS>(product, place, k, k < end)
                    }),
                    array::from_fn(|number| {
                        let k = first + number;
                        if k < end {
                            product.load_v_at(k)
                        } else {
                            T::zeroed()
                        }
                    }),
                )
            };
            let mut number = 0;
            while number < IN_FLIGHT {
                let strand = &mut sums[number / VECTOR];
                let mut line = 0;
                while line < VECTOR {
                    let (left, right) = (loaded[number][line], v[number]);
                    strand[line] = left.widen().mul_add(right.widen(), strand[line]);
                    line += 1;
                }
                number += 1;
            }
            first += VECTOR_STRANDS * VECTOR;
        }
        sums
    })
}

/// The sums of all accumulators of a thread, of which `sums_from` has so many as are added at once: those from
/// one on.
#[inline(always)]
fn each_pass<S: Float, const VECTOR: usize, const OWN: usize>(
    sums_from: impl Fn(usize) -> Strands<S, VECTOR, OWN>,
) -> Strands<S, VECTOR, OWN> {
    let at_once = const { at_once(VECTOR, OWN) };
    let mut sums = [[S::ZERO; VECTOR]; OWN];
    // A loop that is not unrolled: all loads at once would take more registers than there are.
    let strands = opaque_size(OWN);
    let mut first = 0;
    while first < strands {
        let of_pass = sums_from(first);
        let mut known = 0;
        while known < OWN {
            // Not by `first`, for which the sums would leave registers.
            if known - known % at_once == first {
                sums[known] = of_pass[known % at_once];
            }
            known += 1;
        }
        first += at_once;
    }
    sums
}

/// Element `k` of each of the thread's lines, or zeros unless `is_there`.
///
/// # Safety
/// 1. As for [`sum_strands`]; if `is_there`, lines have the element.
#[inline(always)]
unsafe fn load<T: Element, const VECTOR: usize, const VECTORS: bool>(
    product: Product<T>,
    place: Place,
    k: usize,
    is_there: bool,
) -> [T; VECTOR] {
    let Product { x, shape, .. } = product;
    let row = k * shape.x_apart;
    let mut elements = [T::zeroed(); VECTOR];
    if !is_there {
        return elements;
    }
    if VECTORS {
        if place.line(0) >= shape.lines {
            return elements;
        }
        // SAFETY: (1), (2) are (1).
        return unsafe { x.load_streaming(row + place.line(0)) };
    }
    let mut number = 0;
    while number < VECTOR {
        let line = place.line(number);
        if line < shape.lines {
            // SAFETY: (1) is (1) and the comparison.
            elements[number] = unsafe { x.load(row + line) };
        }
        number += 1;
    }
    elements
}

/// What a thread has of its accumulators of the parts of its lines.
///
/// # Safety
/// 1. All parts of the lines are written and visible to this thread.
#[inline(always)]
unsafe fn sum_partials<T: Element, const VECTOR: usize, const OWN: usize>(
    product: Product<T>,
    workspace: Workspace<T::Sum>,
    place: Place,
) -> Strands<T::Sum, VECTOR, OWN> {
    let Product { shape, plan, .. } = product;
    each_pass::<T::Sum, VECTOR, OWN>(|first_strand| {
        let mut sums = [[T::Sum::ZERO; VECTOR]; OWN];
        let mut first = place.row * OWN + first_strand;
        while first < plan.parts {
            let mut strand = 0;
            while strand < at_once(VECTOR, OWN) {
                let part = first + strand;
                let loaded: [T::Sum; VECTOR] = array::from_fn(|number| {
                    let line = place.line(number);
                    if part < plan.parts && line < shape.lines {
                        // SAFETY: (1) the line has the part. (2) It is written and visible, by (1).
                        unsafe { workspace.partials.load(part * shape.lines + line) }
                    } else {
                        T::Sum::ZERO
                    }
                });
                let mut number = 0;
                while number < VECTOR {
                    sums[strand][number] = sums[strand][number] + loaded[number];
                    number += 1;
                }
                strand += 1;
            }
            first += VECTOR_STRANDS;
        }
        sums
    })
}

/// The sums of the lines of a lane's threads, added as neighbours: thread `lanes i + l` has that of line `i`
/// of lane `l`, if there is one.
///
/// # Safety
/// 1. `scratch` is as for [`multiply_across`], and a barrier lies between two uses of it.
#[inline(always)]
unsafe fn combine_rows<T: Element, const VECTOR: usize, const ROWS: usize, const OWN: usize>(
    strands: &Strands<T::Sum, VECTOR, OWN>,
    scratch: SharedSlice<T::Sum>,
    place: Place,
) -> T::Sum {
    let lanes = const { lanes(ROWS) };
    let mut number = 0;
    while number < VECTOR {
        let of_line = array::from_fn(|strand| strands[strand][number]);
        let sum = combine_neighbours::<T::Addition, T::Sum, OWN>(of_line);
        let at = (place.row * VECTOR + number) * lanes + place.lane;
        // SAFETY: (1) there are `VECTOR` for each thread, by (1). (2) A thread writes its own.
        unsafe { scratch.store(at, sum) };
        number += 1;
    }
    thread::sync_threads();
    if place.row >= VECTOR {
        return T::Sum::ZERO;
    }
    let own = place.row * lanes + place.lane;
    // SAFETY: (1) as before. (2) The barrier above.
    let rows: [T::Sum; ROWS] =
        array::from_fn(|row| unsafe { scratch.load(row * (VECTOR * lanes) + own) });
    combine_neighbours::<T::Addition, T::Sum, ROWS>(rows)
}
