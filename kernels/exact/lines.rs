//! What a product has to know of each row of A and each column of B: a line of elements along k.

use super::element::{ExactElement, Parts};
use bytemuck::{Pod, Zeroable};
use cuda_std::math;
use cuda_std::prelude::*;

/// Threads per block. Each warp reads one line at a time.
pub const LINES_THREADS: u32 = 256;

/// A row of A or a column of B, a *line* here, and the integers that it becomes: its elements times 2^`shift`, rounded to the nearest.
///
/// Their squares add up to 2^(2 T) at most, T being the bits of operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Line {
    /// The exponent of the power of two by which elements are multiplied.
    pub shift: i32,
    flags: u32,
    /// The exponent of a power of two above all elements; 0 if all are 0.
    pub highest: i32,
    /// The exponent of the lowest bit of any element; 0 if all are 0.
    pub lowest: i32,
    /// An upper bound of half the sum of the magnitudes of the integers, each counted as at least 1/2, in units of the
    /// type's [bounds](ExactElement::BOUND_WORD).
    pub bound: u64,
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
    /// gamma_k |A||B|. Only known if [`LinesShape::finds_range`] was 1.
    #[inline(always)]
    #[must_use]
    pub const fn is_out_of_range(&self) -> bool {
        self.flags & IS_OUT_OF_RANGE != 0
    }

    /// An upper bound of how far the product of two lines' integers lies from that of the lines, scaled, in units of
    /// the type's [bounds](ExactElement::BOUND_WORD).
    ///
    /// With integers a + d and b + e, |d| and |e| at most 1/2, it is a e + b d + d e.
    #[inline(always)]
    #[must_use]
    pub const fn bound_with(&self, other: &Self) -> u64 {
        let mut sum = 0;
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
    pub bits: i32,
    /// 1 to find the lines that are [out of range](Line::is_out_of_range).
    pub finds_range: u32,
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

/// 2^exponent in f64, for normal numbers; 0 for lower ones, infinity for higher ones.
#[inline(always)]
fn power(exponent: i32) -> f64 {
    let biased = (exponent + 1023).clamp(0, 2047);
    f64::from_bits((biased as u64) << 52)
}

/// The line of the elements `element(0..k)`, of which each lane of the warp reads every 32nd.
///
/// All lanes of the warp make the call. Each gets the line.
#[inline(always)]
fn line_of<T: ExactElement>(
    element: impl Fn(usize) -> T,
    &LinesShape {
        k,
        bits,
        finds_range,
        ..
    }: &LinesShape,
) -> Line {
    let (mut highest, mut lowest, mut has_specials) = (i32::MIN, i32::MAX, false);
    // The sum of the squares of the elements, unless it leaves the range.
    let mut squares = 0.0_f64;
    let first = warp::lane() as usize;
    let mut look_at = |element: T| match element.parts() {
        None => has_specials = true,
        Some(Parts {
            significand,
            exponent,
        }) if significand != 0 => {
            let top = exponent + 64 - significand.unsigned_abs().leading_zeros() as i32;
            highest = highest.max(top);
            lowest = lowest.min(exponent + significand.trailing_zeros() as i32);
            let value = element.to_f64();
            squares += value * value;
        }
        Some(_) => {}
    };
    let mut at = first;
    while at + 3 * 32 < k {
        // All loads are issued before the first result is used.
        let elements = [0, 32, 64, 96].map(|step| element(at + step));
        let mut i = 0;
        while i < elements.len() {
            look_at(elements[i]);
            i += 1;
        }
        at += 4 * 32;
    }
    while at < k {
        look_at(element(at));
        at += 32;
    }
    let highest = warp::reduce(highest, i32::max);
    let lowest = warp::reduce(lowest, i32::min);
    if warp::any(LaneMask::all(), has_specials) {
        return Line {
            flags: HAS_SPECIALS | IS_ROUNDED | IS_OUT_OF_RANGE,
            ..Line::default()
        };
    }
    if highest == i32::MIN {
        return Line::default();
    }
    // The sum of the squares of the elements, divided by the square of the power of two above them. What is lost
    // below the range is too small to count.
    let is_in_range = (-SAFE..=SAFE).contains(&highest);
    squares = match is_in_range {
        true => squares * power(-highest) * power(-highest),
        false => 0.0,
    };
    let mut at = first;
    let scaled = |at: usize| match element(at).parts() {
        Some(Parts {
            significand,
            exponent,
        }) => significand as f64 * power(exponent - highest),
        None => 0.0,
    };
    while at < k && !is_in_range {
        squares += scaled(at) * scaled(at);
        at += 32;
    }
    // More than the errors of adding up to 2^44 squares, and than squares that are lost.
    let squares = warp::reduce(squares, |a, b| a + b) * (1.0 + power(-8)) + power(-60);
    // The power of two above the root.
    let above = ((squares.to_bits() >> 52) as i32 - 1022 + 1) >> 1;
    let shift = bits - above - highest;
    // The sum of magnitudes is at most the root of k times that of the squares; rounding adds up to 1/2 to each, and
    // each counts as half more.
    let root = math::sqrt(squares * k as f64) * power(bits - above);
    let bound = (0.5 * root + k as f64) * (1.0 + power(-20)) * power(-32 * T::BOUND_WORD as i32);
    let mut flags = if lowest + shift < 0 { IS_ROUNDED } else { 0 };
    if finds_range != 0 {
        let scale = match is_in_range {
            true => power(highest) * power(highest),
            false => 1.0,
        };
        let least = scale * squares / (16.0 * k as f64);
        let (mut small, mut at) = (0_u32, first);
        while at < k {
            let value = match is_in_range {
                true => element(at).to_f64(),
                false => scaled(at),
            };
            small += u32::from(value * value < least);
            at += 32;
        }
        if f64::from(warp::reduce_sum(small)) > most_small(k) {
            flags |= IS_OUT_OF_RANGE;
        }
    }
    Line {
        shift,
        flags,
        highest,
        lowest,
        bound: bound as u64 + 1,
    }
}

macro_rules! kernels {
    ($($name:ident: $element:ident;)*) => {$(
        #[doc = concat!("What is known of each row or column of an operand of ", stringify!($element), ".")]
        ///
        /// # Safety
        /// 1. `x` has the elements of `shape`; only these are read.
        /// 2. `lines` has an element for each line, and nothing else accesses these.
        /// 3. Blocks have [`LINES_THREADS`] threads along x, of 32 in a warp, and the grid any number of blocks.
        #[kernel(max_threads = LINES_THREADS)]
        pub unsafe fn $name(x: Global<$element>, lines: GlobalMut<Line>, shape: GridConstant<LinesShape>) {
            const WARPS: usize = LINES_THREADS as usize / 32;
            let LinesShape { lines: count, leading_dimension, .. } = *shape;
            let step = WARPS * thread::grid_dim_x() as usize;
            let mut number = WARPS * thread::block_idx_x() as usize + warp::warp_in_block() as usize;
            while number < count {
                // SAFETY: the line has the elements: the caller's contract.
                let element = |at: usize| unsafe { x.load(number * leading_dimension + at) };
                let line = line_of(element, &shape);
                if warp::lane() == 0 {
                    // SAFETY: there is an element for the line, which only this warp computes: the caller's contract.
                    unsafe { lines.store(number, line) };
                }
                number += step;
            }
        }
    )*};
}
kernels! {
    exact_lines_f32: f32;
    exact_lines_f64: f64;
}
