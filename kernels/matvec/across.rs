//! Products with a column-major X: a column's elements, one of each row, are contiguous.
//!
//! A block has as many rows as 512 bytes hold elements, 128 bytes for 16-bit ones, and one part of them; up to four
//! times as many rows if they are so short that most of a row's threads would have no element.
//!
//! ```text
//! each thread: for the rows in 16 bytes of a column, add the products of 4 of their accumulators each (16-bit: 1),
//!              as many accumulators at a time as 8 loads serve
//! each block:  add the threads' sums of each row, in shared memory
//!              rows of several parts: write the part's sum; take the ticket of the block's rows
//! last block:  add the sums of the rows' parts the same way
//! ```
//!
//! A thread of 16-bit elements has 8 elements of each of 8 rows in flight for one accumulator: four accumulators would
//! take 32 registers for sums, and give a block 256 rows. If columns are not aligned to 16 bytes, and for last rows
//! that are not whole vectors, a thread has every 32nd row (16-bit: every 8th) instead of neighbours, and loads single
//! elements. The accumulators are those of [`VectorPlan`](super::VectorPlan), so the bits are those of `along.rs`.

use super::element::Element;
use super::outputs::Outputs;
use super::plan::{LOAD_BYTES, VECTOR_ACCUMULATORS};
use super::product::{Product, Workspace};
use super::shares::{lanes, shares, threads_of_row};
use crate::reduce::lines::combine_neighbours;
use crate::reduce::takes_last_ticket;
use cuda_std::array;
use cuda_std::float::Float;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Elements of a row that a thread loads before it adds.
const IN_FLIGHT: usize = 8;

/// A thread's rows among those of its block.
#[derive(Clone, Copy)]
struct Place {
    /// The block's first row.
    start: usize,
    /// From one lane's first row to the next lane's.
    lanes_apart: usize,
    /// From one row of a lane to its next.
    apart: usize,
    lane: usize,
    /// The thread's number among the threads of its rows.
    share: usize,
}

impl Place {
    /// Row `number` of a lane.
    #[inline(always)]
    fn row_of(&self, lane: usize, number: usize) -> usize {
        self.start + lane * self.lanes_apart + number * self.apart
    }

    /// Row `number` of the thread.
    #[inline(always)]
    fn row(&self, number: usize) -> usize {
        self.row_of(self.lane, number)
    }
}

/// A thread's sums: of each of its accumulators, for each of its rows.
type ThreadSums<S, const VECTOR: usize, const OWN: usize> = [[S; VECTOR]; OWN];

/// Writes the outputs of the block's rows, if it has their only or last part.
///
/// # Safety
/// 1. The launch has blocks of `VECTOR_THREADS` threads along x, for each part one for each [`rows_of_block`] rows: the
///    blocks of the first part first.
/// 2. `product` has the elements of its shape, of which `VECTOR` are 16 bytes.
/// 3. If rows have several parts, `workspace` has a partial result for each part of each row, and a ticket, 0 at the
///    start, for each block's rows. Only this launch accesses them.
/// 4. `outputs` has an element for each row, which only this call's threads access.
/// 5. A row has `THREADS` threads ([`threads_of_row`]) with `OWN` accumulators each. `scratch` has `VECTOR` elements
///    for each thread. Only this block accesses `scratch` and `flag`, and only in this call.
#[inline(always)]
pub unsafe fn multiply_across<
    T: Element,
    O: Element<Sum = T::Sum>,
    const VECTOR: usize,
    const THREADS: usize,
    const OWN: usize,
>(
    product: Product<T>,
    workspace: Workspace<T::Sum>,
    outputs: Outputs<O>,
    scratch: SharedSlice<T::Sum>,
    flag: SharedArray<u32, 1>,
) {
    const {
        assert!(VECTOR * size_of::<T>() == LOAD_BYTES);
        assert!(THREADS == threads_of_row(size_of::<T>()) && OWN * THREADS == VECTOR_ACCUMULATORS);
    }
    let lanes = const { lanes(THREADS) };
    let Product { shape, plan, .. } = product;
    let log_shares = shares(shape.k, VECTOR, THREADS).trailing_zeros();
    let rows = (THREADS * lanes * VECTOR) >> log_shares;
    let groups = shape.rows.div_ceil(rows) as u32;
    let (block, thread) = (thread::block_idx_x(), thread::thread_idx_x() as usize);
    let (group, part) = ((block % groups) as usize, (block / groups) as usize);
    let (lane, share) = (thread % lanes, thread / lanes);
    let start = group * rows + (share >> log_shares) * (lanes * VECTOR);
    let has_whole_vectors =
        start + lanes * VECTOR <= shape.rows || shape.rows.is_multiple_of(VECTOR);
    let has_vectors = product.has_aligned_rows() && has_whole_vectors;
    let (lanes_apart, apart) = if has_vectors { (VECTOR, 1) } else { (1, lanes) };
    let share = share & ((1 << log_shares) - 1);
    let place = Place {
        start,
        lanes_apart,
        apart,
        lane,
        share,
    };
    // SAFETY: the product has its elements: the caller's contract. With vectors, a thread has all of its rows or none,
    // and columns are aligned to 16 bytes: `has_vectors`. The scratch is the block's, with its size: the caller's
    // contract. It was not used before, and is used again only after a barrier.
    let of_part = unsafe {
        let sums = if has_vectors {
            sum_part::<T, VECTOR, OWN, true>(product, place, part)
        } else {
            sum_part::<T, VECTOR, OWN, false>(product, place, part)
        };
        combine_shares::<T, VECTOR, THREADS, OWN>(&sums, scratch, (place, log_shares))
    };
    // The row whose sum the thread has, if it has one.
    let own = place.row_of(lane, share);
    let is_writer = share < VECTOR && own < shape.rows;
    let mut sum = of_part;
    if plan.parts > 1 {
        if is_writer {
            // SAFETY: the workspace has a partial result for each part of each row: the caller's contract. One thread
            // of one block writes it, and others read it only after they have taken the last ticket.
            unsafe { workspace.partials.store(part * shape.rows + own, of_part) };
        }
        // Orders the threads' writes before the ticket.
        thread::sync_threads();
        let turn = (group, plan.parts as u32);
        // SAFETY: the block's rows have a ticket, which starts at 0, and only this block uses the flag: the caller's
        // contract. Only the last block, below, accesses the ticket otherwise.
        if !unsafe { takes_last_ticket(workspace.tickets, turn, flag) } {
            return;
        }
        // SAFETY: the last ticket means that all parts are written, and visible. `takes_last_ticket` has a barrier
        // between the uses of the scratch, which has its size: the caller's contract.
        sum = unsafe {
            let sums = sum_partials::<T, VECTOR, OWN>(product, workspace, place);
            combine_shares::<T, VECTOR, THREADS, OWN>(&sums, scratch, (place, log_shares))
        };
        if thread == 0 {
            // SAFETY: the ticket exists, as above. All other blocks with these rows have taken theirs.
            unsafe { workspace.tickets.atomic_store(group, 0) };
        }
    }
    if is_writer {
        // SAFETY: `outputs` has an element for each row: the caller's contract. One thread of one block writes it.
        unsafe { outputs.store(own, sum) };
    }
}

/// Accumulators that a thread adds at a time: those that its loads in flight serve.
const fn at_once(vector: usize, own: usize) -> usize {
    let accumulators = IN_FLIGHT / vector;
    if accumulators < own {
        accumulators
    } else {
        own
    }
}

/// A thread's sums of a part of its rows. With `VECTORS`, it loads vectors of neighbouring rows.
///
/// # Safety
/// 1. `product` has the elements of its shape.
/// 2. With `VECTORS`, a thread has all of its rows or none, its rows are neighbours, and their elements of each column
///    are aligned to 16 bytes.
#[inline(always)]
unsafe fn sum_part<T: Element, const VECTOR: usize, const OWN: usize, const VECTORS: bool>(
    product: Product<T>,
    place: Place,
    part: usize,
) -> ThreadSums<T::Sum, VECTOR, OWN> {
    let Product { shape, plan, .. } = product;
    let end = shape.k.min((part + 1) * plan.part);
    each_pass::<T::Sum, VECTOR, OWN>(|first_accumulator| {
        let mut sums = [[T::Sum::ZERO; VECTOR]; OWN];
        let own = (place.share * OWN + first_accumulator) * VECTOR;
        let mut first = part * plan.part + own;
        while first < end {
            // SAFETY: the product has its elements, and vectors are whole and aligned: the caller's contract. Nothing
            // past the end of the rows is read: compared.
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
                let accumulator = &mut sums[number / VECTOR];
                let mut row = 0;
                while row < VECTOR {
                    let (left, right) = (loaded[number][row], v[number]);
                    accumulator[row] = left.widen().mul_add(right.widen(), accumulator[row]);
                    row += 1;
                }
                number += 1;
            }
            first += VECTOR_ACCUMULATORS * VECTOR;
        }
        sums
    })
}

/// The sums of all of a thread's accumulators. `sums_from` returns those that are added at a time, from the given one
/// on.
#[inline(always)]
fn each_pass<S: Float, const VECTOR: usize, const OWN: usize>(
    sums_from: impl Fn(usize) -> ThreadSums<S, VECTOR, OWN>,
) -> ThreadSums<S, VECTOR, OWN> {
    let at_once = const { at_once(VECTOR, OWN) };
    let mut sums = [[S::ZERO; VECTOR]; OWN];
    // Not unrolled: all loads together would take more registers than a thread has.
    let accumulators = opaque_size(OWN);
    let mut first = 0;
    while first < accumulators {
        let of_pass = sums_from(first);
        let mut known = 0;
        while known < OWN {
            // Compares with constants: indexing by `first` would move the sums out of registers.
            if known - known % at_once == first {
                sums[known] = of_pass[known % at_once];
            }
            known += 1;
        }
        first += at_once;
    }
    sums
}

/// Element `k` of each of the thread's rows, or zeros unless `is_there`.
///
/// # Safety
/// 1. As for [`sum_part`]. If `is_there`, rows have the element.
#[inline(always)]
unsafe fn load<T: Element, const VECTOR: usize, const VECTORS: bool>(
    product: Product<T>,
    place: Place,
    k: usize,
    is_there: bool,
) -> [T; VECTOR] {
    let Product { x, shape, .. } = product;
    let column = k * shape.x_apart;
    let mut elements = [T::zeroed(); VECTOR];
    if !is_there {
        return elements;
    }
    if VECTORS {
        if place.row(0) >= shape.rows {
            return elements;
        }
        // SAFETY: X has the vector: rows have element `k`, and the thread's rows, of which the first exists, all do:
        // the caller's contract, as is the alignment.
        return unsafe { x.load_streaming(column + place.row(0)) };
    }
    let mut number = 0;
    while number < VECTOR {
        let row = place.row(number);
        if row < shape.rows {
            // SAFETY: X has the element: the row exists, compared above, and has element `k`: the caller's contract.
            elements[number] = unsafe { x.load(column + row) };
        }
        number += 1;
    }
    elements
}

/// A thread's sums of the partial results of its rows.
///
/// # Safety
/// 1. The partial results of all parts of the rows are written, and visible to this thread.
#[inline(always)]
unsafe fn sum_partials<T: Element, const VECTOR: usize, const OWN: usize>(
    product: Product<T>,
    workspace: Workspace<T::Sum>,
    place: Place,
) -> ThreadSums<T::Sum, VECTOR, OWN> {
    let Product { shape, plan, .. } = product;
    each_pass::<T::Sum, VECTOR, OWN>(|first_accumulator| {
        let mut sums = [[T::Sum::ZERO; VECTOR]; OWN];
        let mut first = place.share * OWN + first_accumulator;
        while first < plan.parts {
            let mut accumulator = 0;
            while accumulator < at_once(VECTOR, OWN) {
                let part = first + accumulator;
                let loaded: [T::Sum; VECTOR] = array::from_fn(|number| {
                    let row = place.row(number);
                    if part < plan.parts && row < shape.rows {
                        // SAFETY: the row and the part exist: compared above. The partial result is written, and
                        // visible: the caller's contract.
                        unsafe { workspace.partials.load(part * shape.rows + row) }
                    } else {
                        T::Sum::ZERO
                    }
                });
                let mut number = 0;
                while number < VECTOR {
                    sums[accumulator][number] = sums[accumulator][number] + loaded[number];
                    number += 1;
                }
                accumulator += 1;
            }
            first += VECTOR_ACCUMULATORS;
        }
        sums
    })
}

/// Adds the sums of each row that its 2^`log_shares` threads have, as neighbours. Of these threads, number `lanes i + l`
/// returns the sum of row `i` of lane `l`, if there is one.
///
/// # Safety
/// 1. `scratch` is as for [`multiply_across`], and a barrier separates two uses of it.
#[inline(always)]
unsafe fn combine_shares<
    T: Element,
    const VECTOR: usize,
    const THREADS: usize,
    const OWN: usize,
>(
    sums: &ThreadSums<T::Sum, VECTOR, OWN>,
    scratch: SharedSlice<T::Sum>,
    (place, log_shares): (Place, u32),
) -> T::Sum {
    let lanes = const { lanes(THREADS) };
    let log_threads = lanes.trailing_zeros() + log_shares;
    // The place of the first of the elements for these rows' threads.
    let first = ((thread::thread_idx_x() as usize >> log_threads) * VECTOR) << log_threads;
    let mut number = 0;
    while number < VECTOR {
        let of_row = array::from_fn(|accumulator| sums[accumulator][number]);
        let sum = combine_neighbours::<T::Addition, T::Sum, OWN>(of_row);
        let at = first + (place.share * VECTOR + number) * lanes + place.lane;
        // SAFETY: `scratch` has `VECTOR` elements for each thread, and was last read before a barrier: the caller's
        // contract. A thread writes its own elements.
        unsafe { scratch.store(at, sum) };
        number += 1;
    }
    thread::sync_threads();
    if place.share >= VECTOR {
        return T::Sum::ZERO;
    }
    let own = first + place.share * lanes + place.lane;
    let of_row: [T::Sum; THREADS] = array::from_fn(|share| {
        if share < 1 << log_shares {
            // SAFETY: the element exists, as above. Its thread wrote it before the barrier, and writes it again only
            // after another one: the caller's contract.
            unsafe { scratch.load(share * (VECTOR * lanes) + own) }
        } else {
            T::Sum::ZERO
        }
    });
    combine_neighbours::<T::Addition, T::Sum, THREADS>(of_row)
}
