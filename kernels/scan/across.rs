//! Lines across memory: the elements of neighbouring lines lie one after another.
//!
//! ```text
//! for each tile of 64 or 16 lines:
//!     if a line has several tiles: walk the tile for its sums; publish them; wait for those before
//!     walk the tile: write the results
//! a walk, for each chunk of 1 or 4 rows of vectors of every line:
//!     the block:   load the chunk, neighbouring lines together, into shared memory
//!     each warp:   scan the rows of vectors of its lines by shuffles, row after row
//!     the block:   write the results, neighbouring lines together
//! ```
//!
//! A block's shared memory has the 64 rows of vectors of a contiguous tile: 16 of each warp, of 16 lines or of four.
//! A line has the sums of a contiguous one, so the bits are the same. Lane i of a warp keeps the sums before a row of
//! the warp's line i.

use super::place::{apart, in_block};
use super::plan::{ROW_THREADS, ROWS, SCAN_THREADS, ScanPlan, ScanShape, WARPS};
use super::preceding::{sum_before, take_tile};
use super::shuffles::{precede, scan_rows_of_vectors};
use super::state::State;
use super::tile::{Before, prefixes_of, results_of};
use super::value::ScanValue;
use super::views::{Kind, Operands, Shared};
use crate::reduce::Reduction;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::hint;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Elements that a thread loads before it stores the first.
const IN_FLIGHT: usize = 16;

/// The lines of a block, and the chunk of them in shared memory.
#[derive(Clone, Copy)]
struct Chunk<'block, T> {
    staged: SharedSlice<'block, T>,
    /// The first of the block's lines, and their number, 64 or 16: also of those that do not exist.
    first_line: usize,
    lines: usize,
    /// Lines that exist.
    exist: usize,
    /// Elements of a line.
    len: usize,
    /// Rows of vectors of a line in the chunk.
    rows: usize,
}

/// What precedes a row of vectors of the line that the lane keeps.
#[derive(Clone, Copy)]
struct Carry<A> {
    /// The initial value, and all earlier tiles.
    tile: A,
    /// The earlier warps of a contiguous tile.
    warp: A,
    /// The earlier rows of that warp.
    row: A,
}

/// Writes the prefixes of the lines of `shape`, across memory.
///
/// # Safety
/// As for [`scan_lines`](super::scan_lines).
#[inline(always)]
pub unsafe fn scan_across<R, T: Pod, const LANES: usize>(
    operands: Operands<T, R::Output>,
    kind: Kind<R::Accumulator>,
    shape: &ScanShape,
    shared: Shared<T, R::Accumulator>,
) where
    R: Reduction<T, Accumulator: ScanValue>,
{
    let plan = ScanPlan::of::<R, T>(shape.len);
    let lines = plan.lines_across();
    let groups = shape.rows.div_ceil(lines);
    // SAFETY: the words are the plan's for each line, 0 at the start, and only this launch uses them: the caller's
    // contract. With several tiles, the state has a ticket. Only this block uses the shared memory.
    let (state, block) = unsafe {
        let state = State::new(operands.state, plan);
        match plan.tiles {
            1 => (state, thread::block_idx_x() as usize),
            _ => (state, take_tile(state, shared.tile)),
        }
    };
    let (tile, first_line) = (block / groups, block % groups * lines);
    let chunk = Chunk {
        staged: shared.staged,
        first_line,
        lines,
        exist: (shape.rows - first_line).min(lines),
        len: shape.len,
        rows: WARPS * ROWS / lines,
    };
    let mut carry = Carry {
        tile: R::IDENTITY,
        warp: R::IDENTITY,
        row: R::IDENTITY,
    };
    let mut writes = plan.tiles == 1;
    // Once for the tile's sums, unless it is the only one, and once for the results: a loop, to have the code once.
    loop {
        // SAFETY: `x` and `y` have the lines, and each tile of a line is one block's: the caller's contract.
        let end = unsafe {
            chunk.walk::<R, LANES>(operands, shape, (tile, &plan), (kind, carry), writes)
        };
        if writes {
            return;
        }
        let of_tile = R::combine(end.warp, end.row);
        // SAFETY: the lines have words, and tiles are tickets. Only this block uses the shared memory.
        carry.tile = unsafe { chunk.before_tiles::<R>((state, plan), (tile, of_tile), &shared) };
        writes = true;
    }
}

impl<T: Pod> Chunk<'_, T> {
    /// Lines of a warp.
    #[inline(always)]
    fn of_warp(self) -> usize {
        self.lines / WARPS
    }

    /// What precedes the tile of the line that the calling lane keeps, of which it gives the tile's sum.
    ///
    /// # Safety
    /// 1. All threads of the block call it, and tiles are tickets. There are [`PARTS`](super::plan::PARTS) lines, each
    ///    with its words.
    /// 2. Only this block uses `shared`.
    #[inline(always)]
    unsafe fn before_tiles<R: Reduction<T, Accumulator: ScanValue>>(
        self,
        (state, plan): (State, ScanPlan),
        (tile, of_tile): (usize, R::Accumulator),
        shared: &Shared<T, R::Accumulator>,
    ) -> R::Accumulator {
        let (warp, lane) = in_block();
        let own = warp * self.of_warp() + lane;
        if lane < self.of_warp() && own < self.exist {
            // SAFETY: the array has an element for each line. One lane writes it, before the barrier. The state has
            // the line and its tile.
            unsafe {
                let state = state.of_row(self.first_line + own);
                state.publish(state.of_tile::<R::Accumulator>(tile), of_tile);
                shared.of_parts.store(own, of_tile);
            }
        }
        thread::sync_threads();
        let mut before = R::IDENTITY;
        let mut line = 0;
        while line < self.exist {
            // SAFETY: the line's lane wrote the sum before the barrier above, and published it. A barrier separates
            // the uses of the memory.
            let of_line = unsafe {
                let state = state.of_row(self.first_line + line);
                let of_tile = shared.of_parts.load(line);
                sum_before::<R, T>(state, plan, (tile, of_tile), shared)
            };
            if lane < self.of_warp() && line == own {
                before = of_line;
            }
            thread::sync_threads();
            line += 1;
        }
        before
    }

    /// Walks tile `tile` of the lines, from `carry` on, and writes their results, if `writes`. Returns what precedes
    /// the end of the tile in it.
    ///
    /// # Safety
    /// 1. All threads of the block call it. `x` and `y` have the lines of `shape`, which no other block writes.
    /// 2. Only this block uses the staged memory, which holds a tile.
    #[inline(always)]
    unsafe fn walk<R, const LANES: usize>(
        self,
        operands: Operands<T, R::Output>,
        shape: &ScanShape,
        (tile, plan): (usize, &ScanPlan),
        (kind, carry): (Kind<R::Accumulator>, Carry<R::Accumulator>),
        writes: bool,
    ) -> Carry<R::Accumulator>
    where
        R: Reduction<T, Accumulator: ScanValue>,
    {
        let mut carry = carry;
        let mut first = tile * plan.tile;
        let end = (first + plan.tile).min(self.len);
        let mut row = 0;
        while first < end {
            // SAFETY: the caller's contract. A barrier separates the chunk's writes from other threads' reads, and these
            // from the next chunk's writes.
            unsafe {
                self.stage::<LANES>(operands.x, shape.x_apart, first);
                thread::sync_threads();
                carry = self.scan::<R, LANES>(
                    operands.y,
                    shape.y_apart,
                    (first, row),
                    (kind, carry),
                    writes,
                );
                thread::sync_threads();
                if writes && Self::are_staged::<R::Output>() {
                    self.write::<R::Output, LANES>(operands.y, shape.y_apart, first);
                    thread::sync_threads();
                }
            }
            row += self.rows;
            first += self.rows * apart::<LANES>();
        }
        carry
    }

    /// Whether results are written by way of shared memory: those that are as large as elements.
    #[inline(always)]
    const fn are_staged<O>() -> bool {
        size_of::<O>() == size_of::<T>()
    }

    /// Where element `element` of the chunk of a line is: its vectors are exchanged, so that neighbouring lines do not
    /// meet in the same banks.
    #[inline(always)]
    fn staged_at<const LANES: usize>(self, line: usize, element: usize) -> usize {
        let (vector, lane) = (element / LANES, element % LANES);
        let exchanged = vector ^ (line % ROW_THREADS as usize);
        (line * self.rows * ROW_THREADS as usize + exchanged) * LANES + lane
    }

    /// Visits the chunk's elements that the thread moves, of neighbouring lines for neighbouring threads, some at a
    /// time: with the line of the thread, and the number in the chunk of the thread's first and from one to the next.
    #[inline(always)]
    fn each_batch<const LANES: usize>(self, mut batch: impl FnMut(usize, usize, usize)) {
        let thread = thread::thread_idx_x() as usize;
        let (line, first) = (thread % self.lines, thread / self.lines);
        let step = SCAN_THREADS as usize / self.lines;
        let mut number = 0;
        // Hidden, so that the loop is not unrolled.
        while number < hint::opaque_size(ROWS * LANES / IN_FLIGHT) {
            batch(line, first + number * IN_FLIGHT * step, step);
            number += 1;
        }
    }

    /// Whether the line has element `element`, counted in the tile from its element `first` on.
    #[inline(always)]
    fn has(self, line: usize, element: usize) -> bool {
        line < self.exist && element < self.len
    }

    /// Loads the chunk from element `first` of the lines on.
    ///
    /// # Safety
    /// 1. `x` has the lines, `apart` elements from one of a line to the next.
    /// 2. Nothing else uses the staged memory.
    #[inline(always)]
    unsafe fn stage<const LANES: usize>(self, x: Global<T>, step_of_x: usize, first: usize) {
        self.each_batch::<LANES>(|line, start, step| {
            let elements: [T; IN_FLIGHT] = array::from_fn(|number| {
                let element = first + start + number * step;
                if !self.has(line, element) {
                    return T::zeroed();
                }
                // SAFETY: the line has the element: compared above.
                unsafe { x.load(element * step_of_x + self.first_line + line) }
            });
            let mut number = 0;
            while number < IN_FLIGHT {
                let at = self.staged_at::<LANES>(line, start + number * step);
                // SAFETY: the memory holds the chunk, and each element is one thread's.
                unsafe { self.staged.store(at, elements[number]) };
                number += 1;
            }
        });
    }

    /// Writes the chunk, whose elements are results.
    ///
    /// # Safety
    /// 1. `y` has the lines, `step_of_y` elements from one of a line to the next, and no other block writes them.
    /// 2. The staged memory has results of the type's size, written before a barrier.
    #[inline(always)]
    unsafe fn write<O: Pod, const LANES: usize>(
        self,
        y: GlobalMut<O>,
        step_of_y: usize,
        first: usize,
    ) {
        self.each_batch::<LANES>(|line, start, step| {
            let mut number = 0;
            while number < IN_FLIGHT {
                let element = first + start + number * step;
                if self.has(line, element) {
                    let at = self.staged_at::<LANES>(line, start + number * step);
                    // SAFETY: the memory holds the chunk, and the line has the element: compared above. It is one
                    // thread's.
                    unsafe {
                        let result = bytemuck::cast::<T, O>(self.staged.load(at));
                        y.store(element * step_of_y + self.first_line + line, result);
                    }
                }
                number += 1;
            }
        });
    }

    /// Scans the warp's rows of vectors of the chunk from element `first` of the lines on, which is row `row` of the
    /// tile. If it `writes`, they replace the elements, or are written if they are not as large.
    ///
    /// # Safety
    /// 1. The chunk was staged before a barrier.
    /// 2. `y` has the lines, `step_of_y` elements from one of a line to the next, and no other block writes them.
    #[inline(always)]
    unsafe fn scan<R, const LANES: usize>(
        self,
        y: GlobalMut<R::Output>,
        step_of_y: usize,
        (first, row): (usize, usize),
        (kind, carry): (Kind<R::Accumulator>, Carry<R::Accumulator>),
        writes: bool,
    ) -> Carry<R::Accumulator>
    where
        R: Reduction<T, Accumulator: ScanValue>,
    {
        let (warp, lane) = in_block();
        let mut carry = carry;
        let mut number = 0;
        // Hidden, so that the loop is not unrolled.
        while number < hint::opaque_size(ROWS) {
            let (of_warp, part) = (number / self.rows, number % self.rows);
            let line = warp * self.of_warp() + of_warp;
            let in_chunk = part * apart::<LANES>() + lane * LANES;
            let (index, at) = (first + in_chunk, self.staged_at::<LANES>(line, in_chunk));
            // SAFETY: the chunk has the vector, staged before a barrier. It is aligned.
            let elements: [T; LANES] = unsafe { self.staged.load_vector(at) };
            let exists = |lane| self.has(line, index + lane);
            let prefixes = prefixes_of::<R, T, LANES>(elements, exists, index);
            let [up_to] = scan_rows_of_vectors::<R, T, 1>([prefixes[LANES - 1]]);
            let before_row = carry.row.of_lane(of_warp as u32, ROW_THREADS);
            let (vector, of_row) = precede::<R, T>(up_to, before_row);
            if writes {
                let in_line = R::combine(carry.tile, carry.warp);
                let before_warp = kind.after_initial::<R, T>(in_line);
                let before = Before {
                    is_exclusive: kind.is_exclusive,
                    warp: before_warp.of_lane(of_warp as u32, ROW_THREADS),
                    vector,
                };
                let results = results_of::<R, T, LANES>(&prefixes, before, exists, index);
                if Self::are_staged::<R::Output>() {
                    let results: [T; LANES] = array::from_fn(|lane| bytemuck::cast(results[lane]));
                    // SAFETY: the vector is this thread's, and aligned.
                    unsafe { self.staged.store_vector(at, results) };
                } else {
                    let mut lane = 0;
                    while lane < LANES {
                        if exists(lane) {
                            let to = (index + lane) * step_of_y + self.first_line + line;
                            // SAFETY: the line has the element: compared above. It is this thread's.
                            unsafe { y.store(to, results[lane]) };
                        }
                        lane += 1;
                    }
                }
            }
            if lane == of_warp {
                carry.row = R::combine(before_row, of_row);
                if (row + part) % ROWS == ROWS - 1 {
                    carry.warp = R::combine(carry.warp, carry.row);
                    carry.row = R::IDENTITY;
                }
            }
            number += 1;
        }
        carry
    }
}
