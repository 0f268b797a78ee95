//! Products with a column-major X: a column's elements, one of each row, are contiguous.
//!
//! A block has as many rows as 512 bytes hold elements of f64, 256 bytes of f32 and 128 of 16-bit ones, and one part of
//! them; up to four times as many rows if they are so short that most of a row's threads would have no element.
//!
//! ```text
//! each thread: for the rows in 16 bytes of a column, add the products of some of their accumulators each, as many
//!              as take their products from 8 columns in a turn: 4 of f64, 2 of f32, 1 of 16-bit elements
//! each block:  add the threads' sums of each row, in shared memory
//!              rows of several parts: write the part's sum; take the ticket of the block's rows
//! last block:  add the sums of the rows' parts the same way
//! ```
//!
//! In one kernel, a thread loads vectors of neighbouring rows, of half a turn before it adds: so few registers hold them
//! that a multiprocessor has four blocks. In the other, for columns that are not whole aligned vectors, a thread has
//! every 32nd row (f32: every 16th, 16-bit: every 8th) instead of neighbours, and loads the single elements of a turn.
//! The accumulators are those of [`VectorPlan`](super::VectorPlan), so the bits are those of `along.rs`.

use super::columns::{Place, TURN, ThreadSums, sum_elements, sum_vectors};
use super::element::Element;
use super::outputs::Outputs;
use super::plan::{LOAD_BYTES, VECTOR_ACCUMULATORS};
use super::product::{Product, Workspace};
use super::shares::{lanes, shares, threads_of_row};
use crate::reduce::lines::combine_neighbours;
use crate::reduce::takes_last_ticket;
use cuda_std::array;
use cuda_std::float::Float;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

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
/// 6. With `VECTORS`, columns and `workspace`'s partial results start at multiples of 16 bytes, and the number of rows is
///    a multiple of `VECTOR`.
#[inline(always)]
pub unsafe fn multiply_across<
    T: Element,
    O: Element<Sum = T::Sum>,
    const VECTOR: usize,
    const THREADS: usize,
    const OWN: usize,
    const VECTORS: bool,
>(
    product: Product<T>,
    workspace: Workspace<T::Sum>,
    outputs: Outputs<O>,
    scratch: SharedSlice<T::Sum>,
    flag: SharedArray<u32, 1>,
) {
    const {
        assert!(VECTOR * size_of::<T>() == LOAD_BYTES);
        assert!(OWN * VECTOR == TURN);
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
    let (lanes_apart, apart) = if VECTORS { (VECTOR, 1) } else { (1, lanes) };
    let share = share & ((1 << log_shares) - 1);
    let place = Place {
        start,
        lanes_apart,
        apart,
        lane,
        share,
    };
    // SAFETY: the product has its elements: the caller's contract. With vectors, columns are aligned to 16 bytes, and a
    // thread has all of its rows or none, because their number is a multiple of `VECTOR`: the caller's contract. The
    // scratch is the block's, with its size: the caller's contract. It was not used before, and is used again only
    // after a barrier.
    let of_part = unsafe {
        let sums = if VECTORS {
            sum_vectors::<T, VECTOR, OWN>(product, place, part)
        } else {
            sum_elements::<T, VECTOR, OWN>(product, place, part)
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
            let sums = if VECTORS {
                sum_vectors_of_partials::<T, VECTOR, OWN>(product, workspace, place)
            } else {
                sum_partials::<T, VECTOR, OWN>(product, workspace, place)
            };
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

/// A thread's sums of the partial results of its rows, by vectors of neighbouring rows, several turns of its
/// accumulators at a time.
///
/// # Safety
/// 1. The partial results of all parts of the rows are written, and visible to this thread.
/// 2. A thread has all of its rows or none, its rows are neighbours, and their partial results are aligned to 16 bytes.
#[inline(always)]
unsafe fn sum_vectors_of_partials<T: Element, const VECTOR: usize, const OWN: usize>(
    product: Product<T>,
    workspace: Workspace<T::Sum>,
    place: Place,
) -> ThreadSums<T::Sum, VECTOR, OWN> {
    /// Turns whose loads are in flight together.
    const TURNS: usize = 2;
    let Product { shape, plan, .. } = product;
    let row = place.row(0);
    let mut sums = [[T::Sum::ZERO; VECTOR]; OWN];
    if row >= shape.rows {
        return sums;
    }
    let mut first = place.share * OWN;
    while first < plan.parts {
        let part = |turn: usize, own: usize| first + turn * VECTOR_ACCUMULATORS + own;
        let loaded: [[[T::Sum; VECTOR]; OWN]; TURNS] = array::from_fn(|turn| {
            array::from_fn(|own| {
                let part = part(turn, own).min(plan.parts - 1);
                let mut of_part = [T::Sum::ZERO; VECTOR];
                let mut number = 0;
                while number < VECTOR {
                    let at = part * shape.rows + row + number;
                    // SAFETY: the rows and the part exist. Their partial results are written, visible, and aligned:
                    // the caller's contract.
                    [of_part[number], of_part[number + 1]] =
                        unsafe { workspace.partials.load_vector(at) };
                    number += 2;
                }
                of_part
            })
        });
        let mut turn = 0;
        while turn < TURNS {
            let mut own = 0;
            while own < OWN {
                let is_there = part(turn, own) < plan.parts;
                let mut number = 0;
                while number < VECTOR {
                    let of_part = match is_there {
                        true => loaded[turn][own][number],
                        false => T::Sum::ZERO,
                    };
                    sums[own][number] = sums[own][number] + of_part;
                    number += 1;
                }
                own += 1;
            }
            turn += 1;
        }
        first += TURNS * VECTOR_ACCUMULATORS;
    }
    sums
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
    let mut sums = [[T::Sum::ZERO; VECTOR]; OWN];
    let mut first = place.share * OWN;
    while first < plan.parts {
        let loaded: ThreadSums<T::Sum, VECTOR, OWN> = array::from_fn(|own| {
            array::from_fn(|number| {
                let (part, row) = (first + own, place.row(number));
                if part < plan.parts && row < shape.rows {
                    // SAFETY: the row and the part exist: compared above. The partial result is written, and visible:
                    // the caller's contract.
                    unsafe { workspace.partials.load(part * shape.rows + row) }
                } else {
                    T::Sum::ZERO
                }
            })
        });
        let mut own = 0;
        while own < OWN {
            let mut number = 0;
            while number < VECTOR {
                sums[own][number] = sums[own][number] + loaded[own][number];
                number += 1;
            }
            own += 1;
        }
        first += VECTOR_ACCUMULATORS;
    }
    sums
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
