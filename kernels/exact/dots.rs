//! Exact dot products of single outputs.
//!
//! ```text
//! for each window of 192 bits, from that of the lowest bit of any product:
//!     each lane: for its products: add the bits that lie in the window, or subtract them
//!     the warp: add the lanes' sums and the carry; keep 192 bits, carry the rest
//! round all windows, once
//! ```
//!
//! Products of lines of ordinary numbers lie in one window.

use super::combine::QUAD;
use super::element::ExactElement;
use super::lines::Line;
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::finish::{Output, store_output};
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{BlockTile, OperandLayout, ProductDescriptor, ProductKernel};
use bytemuck::{Pod, Zeroable};
use cuda_std::prelude::*;

/// Threads per block.
pub const DOTS_THREADS: u32 = 128;

const WARPS: usize = DOTS_THREADS as usize / 32;

/// The flags of four outputs to compute.
const ALL: u8 = (1 << QUAD) - 1;

/// Limbs of a window, of 64 bits.
const LIMBS: usize = 3;
const WINDOW: i32 = 64 * LIMBS as i32;

/// The most windows: for 4196 bits of products of f64, and 64 of their sum.
const MOST_WINDOWS: usize = 23;

/// Limbs of all windows of a warp, and one above them.
const ALL_LIMBS: usize = LIMBS * MOST_WINDOWS + 1;

/// Rows of A and columns of B, each contiguous, and the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DotsShape {
    /// Rows of C.
    pub m: usize,
    /// Columns of C.
    pub n: usize,
    /// Elements of a line.
    pub k: usize,
    /// Elements from one row of A to the next, and from one column of B to the next.
    pub apart: [usize; 2],
    /// Elements from one row of C to the next.
    pub ldc: usize,
    /// The number of the first row and column, for the epilogue.
    pub first: [usize; 2],
}

/// What is known of a sum with infinite or undefined products.
#[derive(Clone, Copy, Default)]
struct Specials {
    is_nan: bool,
    has_infinity: [bool; 2],
}

impl Specials {
    /// Notes the product of two elements, one of which is infinite or NaN.
    #[inline(always)]
    fn note<T: ExactElement>(&mut self, a: T, b: T) {
        let product = a.times(b);
        self.is_nan |= product.is_nan();
        self.has_infinity[0] |= product == T::INFINITY;
        self.has_infinity[1] |= product == T::INFINITY.with_sign(true);
    }

    /// The sum of all lanes' products; `None` if all are finite.
    #[inline(always)]
    fn sum<T: ExactElement>(self) -> Option<T> {
        let is_any = |condition| warp::any(LaneMask::all(), condition);
        let (is_nan, plus, minus) = (
            is_any(self.is_nan),
            is_any(self.has_infinity[0]),
            is_any(self.has_infinity[1]),
        );
        match (is_nan, plus, minus) {
            (false, false, false) => None,
            (false, true, false) => Some(T::INFINITY),
            (false, false, true) => Some(T::INFINITY.with_sign(true)),
            _ => Some(T::NAN),
        }
    }
}

/// Bits `64 limb` to `64 limb + 63` of `x * 2^position`.
#[inline(always)]
fn limb_of(x: u128, position: i32, limb: usize) -> u64 {
    let right = 64 * limb as i32 - position;
    match right {
        128.. => 0,
        0.. => (x >> right) as u64,
        -63..0 => (x << -right) as u64,
        _ => 0,
    }
}

/// The sum of the lanes' numbers. Each lane gets it.
#[inline(always)]
fn added(sum: i128) -> i128 {
    let halves = [sum as u64, (sum >> 64) as u64];
    let add = |[a, b]: [u64; 2], [c, d]: [u64; 2]| {
        let sum =
            (u128::from(b) << 64 | u128::from(a)).wrapping_add(u128::from(d) << 64 | u128::from(c));
        [sum as u64, (sum >> 64) as u64]
    };
    let [low, high] = warp::reduce(halves, add);
    (u128::from(high) << 64 | u128::from(low)) as i128
}

/// The limbs of an integer in two's complement, times a power of two.
struct Integer<'a> {
    limbs: SharedArray<'a, u64, { WARPS * ALL_LIMBS }>,
    first: usize,
    count: usize,
    exponent: i32,
}

impl Integer<'_> {
    /// The integer, rounded to the nearest, ties to even. Zero is positive.
    ///
    /// # Safety
    /// 1. The limbs have been written, and nothing writes them meanwhile.
    #[inline(always)]
    unsafe fn rounded<T: ExactElement>(&self) -> T {
        // SAFETY: a warp has `ALL_LIMBS` limbs, and `count` of them are written: the caller's contract.
        let limb = |i: usize| unsafe { self.limbs.load(self.first + i) };
        let is_negative = (limb(self.count - 1) as i64) < 0;
        let mut lowest = 0;
        while lowest < self.count && limb(lowest) == 0 {
            lowest += 1;
        }
        if lowest == self.count {
            return T::ZERO;
        }
        // The magnitude. Negation is the complement plus 1, which carries up to the lowest limb that is not 0.
        let magnitude = |i: usize| match is_negative {
            _ if i < lowest => 0,
            false => limb(i),
            true if i == lowest => limb(i).wrapping_neg(),
            true => !limb(i),
        };
        let mut top = self.count - 1;
        while magnitude(top) == 0 {
            top -= 1;
        }
        let left = magnitude(top).leading_zeros();
        let next = if top == 0 { 0 } else { magnitude(top - 1) };
        // At most 63 bits are shifted at a time.
        let significand = magnitude(top) << left | (next >> (63 - left)) >> 1;
        let is_inexact = next << left != 0 || lowest + 1 < top;
        let exponent = self.exponent + 64 * top as i32 - left as i32;
        T::rounded(significand, exponent, is_inexact).with_sign(is_negative)
    }
}

/// The exact dot product of two lines, rounded to the nearest, ties to even.
///
/// # Safety
/// 1. All lanes of the warp make the call. `limbs` has the warp's, which nothing else accesses.
/// 2. `a` and `b` have `k` elements, of which `of_a` and `of_b` know.
#[inline(always)]
unsafe fn dot<T: ExactElement>(
    (a, b): (Global<'_, T>, Global<'_, T>),
    k: usize,
    [of_a, of_b]: [Line; 2],
    limbs: SharedArray<'_, u64, { WARPS * ALL_LIMBS }>,
) -> T {
    let lane = warp::lane() as usize;
    // SAFETY: the lines have the elements: the caller's contract.
    let elements = |at: usize| unsafe { (a.load(at), b.load(at)) };
    if of_a.has_specials() || of_b.has_specials() {
        let (mut specials, mut at) = (Specials::default(), lane);
        while at < k {
            let (x, y) = elements(at);
            if x.parts().is_none() || y.parts().is_none() {
                specials.note(x, y);
            }
            at += 32;
        }
        if let Some(sum) = specials.sum() {
            return sum;
        }
    }
    let lowest = of_a.lowest + of_b.lowest;
    let carries = usize::BITS - k.leading_zeros();
    let bits = of_a.highest + of_b.highest - lowest + carries as i32 + 1;
    let windows = (bits.max(1) as usize)
        .div_ceil(WINDOW as usize)
        .min(MOST_WINDOWS);
    let first = ALL_LIMBS * warp::warp_in_block() as usize;
    let (mut carry, mut window) = (0_i128, 0);
    while window < windows {
        let base = lowest + WINDOW * window as i32;
        let (mut sums, mut at) = ([0_i128; LIMBS], lane);
        while at < k {
            let (x, y) = elements(at);
            if let (Some(x), Some(y)) = (x.parts(), y.parts()) {
                let product = u128::from(x.significand.unsigned_abs())
                    * u128::from(y.significand.unsigned_abs());
                let position = x.exponent + y.exponent - base;
                let is_negative = (x.significand ^ y.significand) < 0;
                let mut limb = 0;
                while limb < LIMBS {
                    let bits = i128::from(limb_of(product, position, limb));
                    sums[limb] += if is_negative { -bits } else { bits };
                    limb += 1;
                }
            }
            at += 32;
        }
        let mut limb = 0;
        while limb < LIMBS {
            carry += added(sums[limb]);
            // SAFETY: the warp has the limb. One lane writes it.
            unsafe {
                if lane == 0 {
                    limbs.store(first + LIMBS * window + limb, carry as u64);
                }
            }
            carry >>= 64;
            limb += 1;
        }
        window += 1;
    }
    // SAFETY: as above. The barriers order the writes before all lanes' reads, and these before the next writes.
    unsafe {
        if lane == 0 {
            limbs.store(first + LIMBS * windows, carry as u64);
        }
        warp::sync(LaneMask::all());
        let integer = Integer {
            limbs,
            first,
            count: LIMBS * windows + 1,
            exponent: lowest,
        };
        let sum = integer.rounded();
        warp::sync(LaneMask::all());
        sum
    }
}

/// The outputs that are left, or all.
///
/// # Safety
/// As for the kernels.
#[inline(always)]
unsafe fn dots<T: ExactElement + Output<Sum = T>>(
    [a, b]: [Global<'_, T>; 2],
    [of_a, of_b]: [Global<'_, Line>; 2],
    c: GlobalMut<'_, T>,
    left: Global<'_, u8>,
    shape: &DotsShape,
    epilogue: Epilogue<'_, T>,
) {
    let limbs = shared_array![u64; WARPS * ALL_LIMBS];
    let quads = shape.n.div_ceil(QUAD);
    let count = shape.m * quads;
    let step = 32 * WARPS * thread::grid_dim_x() as usize;
    let warp = WARPS * thread::block_idx_x() as usize + warp::warp_in_block() as usize;
    let mut first = 32 * warp;
    while first < count {
        // Each lane reads the flags of four outputs.
        let own = first + warp::lane() as usize;
        let flags = match own < count {
            true => left.get(own).unwrap_or(ALL),
            false => 0,
        };
        let mut members = warp::ballot(LaneMask::all(), flags != 0).bits();
        while members != 0 {
            let member = members.trailing_zeros();
            let flags = warp::shuffle(LaneMask::all(), flags, member);
            let quad = first + member as usize;
            let row = quad / quads;
            let mut j = 0;
            while j < QUAD {
                let column = QUAD * (quad % quads) + j;
                if flags >> j & 1 == 1 && column < shape.n {
                    let lines = (
                        a.skip(row * shape.apart[0]),
                        b.skip(column * shape.apart[1]),
                    );
                    // SAFETY: the operands have the lines, of whose elements `of_a` and `of_b` know, and C has the
                    // output, which only this warp writes: the caller's contract. All lanes are here: conditions are
                    // the same for all. Each warp has its own limbs.
                    unsafe {
                        let known = [of_a.load(row), of_b.load(column)];
                        let sum = dot(lines, shape.k, known, limbs);
                        if warp::lane() == 0 {
                            let place = (shape.first[0] + row, shape.first[1] + column);
                            store_output(c, row * shape.ldc + column, place, sum, epilogue);
                        }
                    }
                }
                j += 1;
            }
            members &= members - 1;
        }
        first += step;
    }
}

/// The host's description: a warp computes one output at a time.
#[cfg(not(target_arch = "nvptx64"))]
const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
    tile: BlockTile {
        rows: 1,
        columns: WARPS,
        threads: DOTS_THREADS,
    },
    a: OperandLayout::Either,
    b: OperandLayout::Either,
    b_row_alignment: 1,
    dynamic_shared_bytes: 0,
};

macro_rules! dot_kernels {
    ($($family:ident $name:ident {$method:ident}
        {$element:ident in $added:ident to $output:ident in $sum:ident $written:ident} {$layouts:ident};)*) => {$(
        #[doc = concat!("Exact dot products of ", stringify!($element), ", each rounded once.")]
        ///
        /// # Safety
        /// 1. `a` and `b` have the lines of `shape`, of which `a_lines` and `b_lines` know. The launch reads no other
        ///    elements.
        /// 2. `left` has a byte for each four neighbouring outputs of a row, with a flag for each output to compute,
        ///    or is empty, if all are computed.
        /// 3. `c` has the m x n matrix, and the launch accesses no other elements of it. Each vector of the epilogue
        ///    is empty or has an element for each row or column from `first` on.
        /// 4. Blocks have [`DOTS_THREADS`] threads along x, of 32 in a warp, and the grid any number of blocks.
        #[allow(clippy::too_many_arguments)]
        #[kernel(max_threads = DOTS_THREADS)]
        pub unsafe fn $name(
            a: Global<$element>,
            b: Global<$element>,
            a_lines: Global<Line>,
            b_lines: Global<Line>,
            c: GlobalMut<$element>,
            left: Global<u8>,
            shape: GridConstant<DotsShape>,
            numbers: GridConstant<EpilogueNumbers<$element>>,
            row_scale: Global<$element>,
            column_scale: Global<$element>,
            row_bias: Global<$element>,
            column_bias: Global<$element>,
        ) {
            let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            // SAFETY: the caller's contract.
            unsafe { dots([a, b], [a_lines, b_lines], c, left, &shape, epilogue) };
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            const DESCRIPTOR: ProductDescriptor = DESCRIPTOR;
        }
    )*};
}
crate::products!(dot_kernels of exact);
