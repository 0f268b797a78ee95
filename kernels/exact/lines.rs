//! What a product has to know of each row of A and each column of B: a line of elements along k.

use super::element::{ExactElement, Parts, scaled};
use super::moduli::power_of_two;
use bytemuck::{Pod, Zeroable};
use cuda_std::float::Float;
use cuda_std::math;
use cuda_std::prelude::*;

/// Threads per block.
pub const LINES_THREADS: u32 = 512;

const WARPS: usize = LINES_THREADS as usize / 32;

/// The least length of a line that a block looks through together, so that what it reads again is still in a cache.
/// Shorter ones take a warp each.
const LONG: usize = 2048;

/// A row of A or a column of B, a *line* here, and the integers that it becomes: its elements times 2^`shift`, rounded to the nearest.
///
/// Their squares add up to 2^(2 T) at most, T being the bits of operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Line {
    /// The exponent of the power of two by which elements are multiplied.
    pub shift: i32,
    flags: u32,
    /// The exponent of a power of two above all elements; 0 if all are 0.
    pub highest: i32,
    /// The exponent of the lowest bit of any element; 0 if all are 0.
    pub lowest: i32,
    /// An upper bound of half the sum of the magnitudes of the integers, each counted as at least 1/2.
    pub bound: f64,
}

/// Whether rounding to integers changes any element.
const IS_ROUNDED: u32 = 1;

/// Whether an element is infinite or NaN.
const HAS_SPECIALS: u32 = 2;

/// Whether products of residues are not accurate enough for the line.
const IS_OUT_OF_RANGE: u32 = 4;

impl Line {
    /// Whether rounding to integers changes any element.
    #[inline(always)]
    #[must_use]
    pub const fn is_rounded(&self) -> bool {
        self.flags & IS_ROUNDED != 0
    }

    /// Whether an element is infinite or NaN.
    #[inline(always)]
    #[must_use]
    pub const fn has_specials(&self) -> bool {
        self.flags & HAS_SPECIALS != 0
    }

    /// Whether an output of the line, rounded from the product of integers alone, could have an error of more than
    /// gamma_k |A||B|. Only [`residues_lines_f64`] finds out.
    #[inline(always)]
    #[must_use]
    pub const fn is_out_of_range(&self) -> bool {
        self.flags & IS_OUT_OF_RANGE != 0
    }

    /// An upper bound of how far the product of two lines' integers lies from that of the lines, scaled.
    ///
    /// With integers a + d and b + e, |d| and |e| at most 1/2, it is a e + b d + d e.
    #[inline(always)]
    #[must_use]
    pub const fn bound_with(&self, other: &Self) -> f64 {
        let mut sum = 0.0;
        if other.is_rounded() {
            sum += self.bound;
        }
        if self.is_rounded() {
            sum += other.bound;
        }
        sum
    }
}

/// Rows or columns of an operand, each contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct LinesShape {
    /// How many there are.
    pub lines: usize,
    /// Elements of a line.
    pub k: usize,
    /// Elements from one line to the next.
    pub leading_dimension: usize,
    /// Bits of the integers.
    pub bits: usize,
}

impl LinesShape {
    /// Lines that a block looks through at a time.
    #[must_use]
    pub const fn at_a_time(&self) -> usize {
        match self.k < LONG {
            true => WARPS,
            false => 1,
        }
    }
}

/// What is known of A's rows and of B's columns.
#[derive(Clone, Copy)]
pub struct Lines<'launch> {
    /// One for each row.
    pub a: Global<'launch, Line>,
    /// One for each column.
    pub b: Global<'launch, Line>,
}

impl Lines<'_> {
    /// Whether products of residues leave out the output at (`row`, `column`), because one of its lines is out of
    /// range.
    ///
    /// # Safety
    /// 1. There is a line for the row and for the column.
    #[inline(always)]
    #[must_use]
    pub unsafe fn leave_out(&self, row: usize, column: usize) -> bool {
        // SAFETY: the caller's contract.
        let [a, b] = unsafe { [self.a.load(row), self.b.load(column)] };
        a.is_out_of_range() | b.is_out_of_range()
    }
}

/// The most elements of a line whose magnitude is below a quarter of the line's root mean square, so that outputs are
/// within gamma_k |A||B|; negative if none is.
///
/// Integers have [`RANGE_BITS`] bits. Scaled, the lines a and b have norms |a| and |b| of at least 2^(T - 1), but for
/// 1 %. Rounding them changes a sum by (|a| + |b|) sqrt(k) / 2 at most. In at least f k places, both elements are at least
/// a quarter of the root mean square, so |A||B| is at least f |a| |b| / 16. The first is less than (k - 1) u times the
/// second, with u = 2^-53, if f is at least 16.4 sqrt(k) / k. That leaves u |A||B| for the rounding of the output.
#[inline(always)]
fn most_small(k: usize) -> f64 {
    0.5 * (k as f64 - 16.5 * math::sqrt(k as f64))
}

/// The bits of integers of which [`Line::is_out_of_range`] speaks.
pub const RANGE_BITS: u32 = 54;

/// The greatest power of two whose square, times a number of elements, is in the range of f64, as its inverse is.
const SAFE: i32 = 450;

/// The threads that look through a line: a warp or the block.
struct Team<'a> {
    /// The first element that the thread reads, and the distance to the next.
    first: usize,
    step: usize,
    /// What the block's warps found; `None` if each warp has a line.
    found: Option<SharedArray<'a, f64, WARPS>>,
}

impl Team<'_> {
    /// The threads' values, combined. Each thread of the team makes the call and gets the result.
    #[inline(always)]
    fn reduce(&self, value: f64, combine: impl Fn(f64, f64) -> f64) -> f64 {
        let of_warp = warp::reduce(value, &combine);
        let Some(found) = self.found else {
            return of_warp;
        };
        // SAFETY: there is an element for each warp, which one of its lanes writes. The barriers order the writes
        // before all reads, and these before the next writes.
        unsafe {
            if warp::lane() == 0 {
                found.store(warp::warp_in_block() as usize, of_warp);
            }
            thread::sync_threads();
            let (mut all, mut i) = (found.load(0), 1);
            while i < WARPS {
                all = combine(all, found.load(i));
                i += 1;
            }
            thread::sync_threads();
            all
        }
    }

    /// Calls `look_at` with each of the thread's elements out of `element(0..k)`.
    #[inline(always)]
    fn each(&self, k: usize, element: impl Fn(usize) -> f64, mut look_at: impl FnMut(f64)) {
        let mut at = self.first;
        while at + 3 * self.step < k {
            // All loads are issued before the first result is used.
            let elements = [0, 1, 2, 3].map(|i| element(at + i * self.step));
            let mut i = 0;
            while i < elements.len() {
                look_at(elements[i]);
                i += 1;
            }
            at += 4 * self.step;
        }
        while at < k {
            look_at(element(at));
            at += self.step;
        }
    }
}

/// The higher word of the magnitude of `x`, of infinity and of NaN from [`INFINITY`] on.
#[inline(always)]
fn high_word(x: f64) -> u32 {
    (x.to_bits() >> 32) as u32 & (u32::MAX >> 1)
}

const INFINITY: u32 = 0x7ff0_0000;

/// The exponent of the lowest bit of a finite number; the greatest for 0.
#[inline(always)]
fn lowest_bit(x: f64) -> i32 {
    const FRACTION: u32 = 20;
    let (high, low) = (high_word(x), x.to_bits() as u32);
    let exponent = (high >> FRACTION) as i32;
    let implicit = u32::from(exponent != 0) << FRACTION;
    let (word, position) = match low {
        0 => (high & ((1 << FRACTION) - 1) | implicit, 32),
        _ => (low, 0),
    };
    match word {
        0 => i32::MAX,
        _ => exponent.max(1) - 1075 + position + word.trailing_zeros() as i32,
    }
}

/// The exponent of a power of two above `x`, which is finite; the least for 0.
#[inline(always)]
fn above(x: f64) -> i32 {
    match x.parts() {
        Some(Parts {
            significand,
            exponent,
        }) if significand != 0 => exponent + 64 - significand.unsigned_abs().leading_zeros() as i32,
        _ => i32::MIN,
    }
}

/// The line of the elements `element(0..k)`. All threads of the team make the call and get the line.
///
/// If `FINDS_RANGE`, it is known whether the line is out of range, otherwise the lowest bit and the bound.
#[inline(always)]
fn line_of<const FINDS_RANGE: bool>(
    element: impl Fn(usize) -> f64,
    &LinesShape { k, bits, .. }: &LinesShape,
    team: &Team<'_>,
) -> Line {
    let bits = bits as i32;
    let (mut top, mut lowest) = (0, i32::MAX);
    // The sum of the squares of the elements, unless it leaves the range.
    let mut squares = 0.0_f64;
    team.each(k, &element, |x| {
        top = top.max(high_word(x));
        squares = Float::mul_add(x, x, squares);
        if !FINDS_RANGE {
            lowest = lowest.min(lowest_bit(x));
        }
    });
    let top = team.reduce(f64::from(top), f64::max) as u32;
    if top >= INFINITY {
        return Line {
            flags: HAS_SPECIALS | IS_ROUNDED | IS_OUT_OF_RANGE,
            ..Line::default()
        };
    }
    if !FINDS_RANGE {
        lowest = team.reduce(f64::from(lowest), f64::min) as i32;
    }
    let mut highest = (top >> 20) as i32 - 1022;
    let is_in_range = (-SAFE..=SAFE).contains(&highest);
    // What is lost below the range is too small to count.
    let in_range = |x: f64, highest: i32| match is_in_range {
        true => x,
        false => scaled(x, -highest),
    };
    if is_in_range {
        squares = squares * power_of_two(-highest) * power_of_two(-highest);
    } else {
        let mut of_thread = i32::MIN;
        team.each(k, &element, |x| of_thread = of_thread.max(above(x)));
        highest = team.reduce(f64::from(of_thread), f64::max) as i32;
        if highest == i32::MIN {
            return Line::default();
        }
        squares = 0.0;
        team.each(k, &element, |x| {
            let x = in_range(x, highest);
            squares = Float::mul_add(x, x, squares);
        });
    }
    // More than the errors of adding up to 2^44 squares, and than squares that are lost.
    let squares = team.reduce(squares, |a, b| a + b) * (1.0 + power_of_two(-8)) + power_of_two(-60);
    // The power of two above the root.
    let above = ((squares.to_bits() >> 52) as i32 - 1022 + 1) >> 1;
    let shift = bits - above - highest;
    let line = Line {
        shift,
        highest,
        ..Line::default()
    };
    if FINDS_RANGE {
        let scale = match is_in_range {
            true => power_of_two(highest) * power_of_two(highest),
            false => 1.0,
        };
        let least = scale * squares / (16.0 * k as f64);
        let mut small = 0_u32;
        team.each(k, &element, |x| {
            let x = in_range(x, highest);
            small += u32::from(x * x < least);
        });
        let small = team.reduce(f64::from(small), |a, b| a + b);
        let flags = if small > most_small(k) {
            IS_OUT_OF_RANGE
        } else {
            0
        };
        return Line { flags, ..line };
    }
    // The sum of magnitudes is at most the root of k times that of the squares; rounding adds up to 1/2 to each, and
    // each counts as half more.
    let root = math::sqrt(squares * k as f64) * power_of_two(bits - above);
    Line {
        flags: if lowest + shift < 0 { IS_ROUNDED } else { 0 },
        lowest,
        bound: (0.5 * root + k as f64) * (1.0 + power_of_two(-20)),
        ..line
    }
}

macro_rules! kernels {
    ($($name:ident: $element:ident, $finds_range:literal;)*) => {$(
        #[doc = concat!("What is known of each row or column of an operand of ", stringify!($element), ".")]
        ///
        /// # Safety
        /// 1. `x` has the elements of `shape`; only these are read.
        /// 2. `lines` has an element for each line, and nothing else accesses these.
        /// 3. Blocks have [`LINES_THREADS`] threads along x, of 32 in a warp, and the grid any number of blocks.
        #[kernel(max_threads = LINES_THREADS)]
        pub unsafe fn $name(x: Global<$element>, lines: GlobalMut<Line>, shape: GridConstant<LinesShape>) {
            let found = shared_array![f64; WARPS];
            let (thread, warp) = (thread::thread_idx_x() as usize, warp::warp_in_block() as usize);
            let at_a_time = shape.at_a_time();
            let is_long = at_a_time == 1;
            let team = match is_long {
                true => Team { first: thread, step: LINES_THREADS as usize, found: Some(found) },
                false => Team { first: warp::lane() as usize, step: 32, found: None },
            };
            let of_team = if is_long { 0 } else { warp };
            let mut number = at_a_time * thread::block_idx_x() as usize + of_team;
            while number < shape.lines {
                // SAFETY: the line has the elements: the caller's contract.
                let element = |at| unsafe { x.load(number * shape.leading_dimension + at).to_f64() };
                let line = line_of::<$finds_range>(element, &shape, &team);
                if team.first == 0 {
                    // SAFETY: there is an element for the line, which only this team computes: the caller's contract.
                    unsafe { lines.store(number, line) };
                }
                number += at_a_time * thread::grid_dim_x() as usize;
            }
        }
    )*};
}
kernels! {
    exact_lines_f32: f32, false;
    exact_lines_f64: f64, false;
    residues_lines_f64: f64, true;
}
