//! From products of residues to outputs.

use super::element::ExactElement;
use super::lines::Line;
use super::moduli::Modulus;
use super::sum::Sum;
use super::weights::{AT_A_TIME, MOST_LIMBS, Weights};
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::finish::{Output, store_output};
use bytemuck::{Pod, Zeroable};
use cuda_std::float::Float;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;

/// Threads per block.
pub const COMBINE_THREADS: u32 = 256;

/// Neighbouring outputs of a row that a thread computes. The flags of those that are left make a byte.
pub const QUAD: usize = 4;

/// The products of residues, and the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct CombineShape {
    /// Rows of C.
    pub m: usize,
    /// Columns of C.
    pub n: usize,
    /// Elements from one row of C to the next.
    pub ldc: usize,
    /// Elements from one row of a product of residues to the next, a multiple of 4.
    pub pitch: usize,
    /// Parts of k. Each has a product for each modulus.
    pub parts: usize,
    /// The number of the first row and column, for the epilogue.
    pub first: [usize; 2],
}

impl CombineShape {
    /// Parts of four outputs in a row; the last may have fewer.
    #[must_use]
    pub const fn quads(&self) -> usize {
        self.n.div_ceil(QUAD)
    }
}

/// A type in which products of residues are written.
trait Product: bytemuck::Pod {
    /// The product modulo the modulus.
    fn reduced(self, modulus: &Modulus) -> i32;
}

/// Reduced by the kernel that multiplied.
impl Product for i8 {
    #[inline(always)]
    fn reduced(self, _modulus: &Modulus) -> i32 {
        self.into()
    }
}

/// Sums of at most 2^30.
impl Product for i32 {
    #[inline(always)]
    fn reduced(self, modulus: &Modulus) -> i32 {
        modulus.reduce(self)
    }
}

/// The products of residues of four outputs, those past the end of a row excepted.
///
/// # Safety
/// 1. `products` has `count` elements, up to four, from element `at` on, a multiple of 4.
#[inline(always)]
unsafe fn load<R: Product>(products: Global<'_, R>, at: usize, count: usize) -> [R; QUAD] {
    // SAFETY: the products have the elements, and a vector is aligned: the caller's contract.
    unsafe {
        if count >= QUAD {
            return products.load_vector(at);
        }
        let mut i = 0;
        let mut quad = [R::zeroed(); QUAD];
        while i < QUAD {
            if i < count {
                quad[i] = products.load(at + i);
            }
            i += 1;
        }
        quad
    }
}

/// A residue of 8 bits. (The conversion instruction to f64 takes several times as long.)
#[inline(always)]
fn in_f64(residue: i32) -> f64 {
    /// 2^52, in whose last place is 1.
    const BIG: f64 = 4_503_599_627_370_496.0;
    let from_least = u64::from(residue as u8 ^ 0x80);
    f64::from_bits(BIG.to_bits() | from_least) - (BIG + 128.0)
}

/// The integer products of the four outputs whose products of residues begin at element `at`. Those past the first
/// `count` are meaningless.
///
/// # Safety
/// 1. `products` has the elements of `shape`, and `at` is a multiple of 4 and the place of `count` in a matrix.
#[inline(always)]
unsafe fn integers<R: Product, const LIMBS: usize>(
    products: Global<'_, R>,
    (at, count): (usize, usize),
    shape: &CombineShape,
    weights: &Weights,
) -> [Sum; QUAD] {
    let matrix = shape.m * shape.pitch;
    let mut sums = [[0.0_f64; LIMBS]; QUAD];
    let mut first = 0;
    while first < weights.count {
        // All loads are issued before the first result is used. Past the last modulus, weights are 0.
        let (mut loaded, mut i) = ([[R::zeroed(); QUAD]; AT_A_TIME], 0);
        while i < AT_A_TIME {
            let number = (first + i).min(weights.count - 1);
            // SAFETY: the products have the matrix: the caller's contract.
            loaded[i] = unsafe { load(products, at + number * matrix, count) };
            i += 1;
        }
        let mut i = 0;
        while i < AT_A_TIME {
            let weight = &weights.each[first + i];
            let mut residues = loaded[i].map(|it| it.reduced(&weight.modulus));
            let mut part = 1;
            while part < shape.parts {
                let number = (first + i).min(weights.count - 1) + part * weights.count;
                // SAFETY: as above.
                let more = unsafe { load(products, at + number * matrix, count) };
                let mut j = 0;
                while j < QUAD {
                    let more = more[j].reduced(&weight.modulus);
                    residues[j] = weight.modulus.reduce(residues[j] + more);
                    j += 1;
                }
                part += 1;
            }
            let mut j = 0;
            while j < QUAD {
                let (residue, mut limb) = (in_f64(residues[j]), 0);
                while limb < LIMBS {
                    sums[j][limb] = Float::mul_add(residue, weight.limbs[limb], sums[j][limb]);
                    limb += 1;
                }
                j += 1;
            }
            i += 1;
        }
        first += AT_A_TIME;
    }
    sums.map(|sum| reduced(sum, weights))
}

/// 1.5 * 2^52: a sum with it has no fraction bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// The number that differs from `sum` by a multiple of the product of moduli and is nearest to 0.
#[inline(always)]
fn reduced<const LIMBS: usize>(sum: [f64; LIMBS], weights: &Weights) -> Sum {
    let (mut total, mut limb) = (sum[LIMBS - 1], LIMBS - 1);
    while limb > 0 {
        limb -= 1;
        total += sum[limb];
    }
    // The sum divided by the product of moduli lies within 0.46 of an integer.
    let multiple = Float::mul_add(total, weights.inverse, ROUNDER) - ROUNDER;
    let (mut limbs, mut limb) = (sum, 0);
    while limb < LIMBS {
        limbs[limb] = Float::mul_add(-multiple, weights.product[limb], sum[limb]);
        limb += 1;
    }
    Sum::of(limbs)
}

/// The outputs whose rounding is certain, and a flag for each of the others; if not `IS_EXACT`, outputs that are within
/// gamma_k |A||B|, but for lines out of range.
///
/// # Safety
/// As for the kernels.
#[inline(always)]
unsafe fn combine<T, R, const LIMBS: usize, const IS_EXACT: bool>(
    products: Global<'_, R>,
    [of_a, of_b]: [Global<'_, Line>; 2],
    c: GlobalMut<'_, T>,
    left: GlobalMut<'_, u8>,
    shape: &CombineShape,
    weights: &Weights,
    epilogue: Epilogue<'_, T>,
) where
    T: ExactElement + Output<Sum = T>,
    R: Product,
{
    const { assert!(LIMBS <= T::LIMBS && LIMBS <= MOST_LIMBS) };
    let quads = shape.quads() as u32;
    let number = COMBINE_THREADS * thread::block_idx_x() + thread::thread_idx_x();
    let (row, quad) = ((number / quads) as usize, (number % quads) as usize);
    if row >= shape.m {
        return;
    }
    let column = QUAD * quad;
    let count = QUAD.min(shape.n - column);
    // SAFETY: the matrices have the row, whose pitch is a multiple of 4, and the columns: the caller's contract.
    let integers = unsafe {
        integers::<R, LIMBS>(
            products,
            (row * shape.pitch + column, count),
            shape,
            weights,
        )
    };
    // SAFETY: there is a line for each row: the caller's contract.
    let of_row = unsafe { of_a.load(row) };
    let (mut outputs, mut flags, mut j) = ([T::ZERO; QUAD], 0, 0);
    while j < QUAD {
        if j < count {
            // SAFETY: there is a line for each column: the caller's contract.
            let of_column = unsafe { of_b.load(column + j) };
            let exponent = -(of_row.shift + of_column.shift);
            let (output, is_left) = match IS_EXACT {
                true => (
                    integers[j].rounded_if_certain(of_row.bound_with(&of_column), exponent),
                    of_row.has_specials() | of_column.has_specials(),
                ),
                false => (
                    Some(integers[j].rounded(exponent)),
                    of_row.is_out_of_range() | of_column.is_out_of_range(),
                ),
            };
            match output {
                Some(output) if !is_left => outputs[j] = output,
                _ => flags |= 1 << j,
            }
        }
        j += 1;
    }
    let at = row * shape.ldc + column;
    let is_aligned = shape.ldc.is_multiple_of(QUAD) && c.as_mut_ptr().addr().is_multiple_of(16);
    // SAFETY: C has the outputs, which only this thread writes, in aligned vectors; there is a byte for each part of
    // four: the caller's contract.
    unsafe {
        if epilogue.is_plain() && flags == 0 && count == QUAD && is_aligned {
            c.store_vector(at, [outputs[0].canonical(), outputs[1].canonical()]);
            c.store_vector(at + 2, [outputs[2].canonical(), outputs[3].canonical()]);
        } else {
            // Not unrolled, so that the code of epilogues exists once.
            let end = opaque_size(count);
            let mut j = 0;
            while j < end {
                if flags >> j & 1 == 0 {
                    let place = (shape.first[0] + row, shape.first[1] + column + j);
                    let output = outputs_at(&outputs, j);
                    store_output(c, at + j, place, output, epilogue);
                }
                j += 1;
            }
        }
        if IS_EXACT {
            left.store(number as usize, flags);
        }
    }
}

/// Element `at`, without an address, so that the array stays in registers.
#[inline(always)]
fn outputs_at<T: Copy>(outputs: &[T; QUAD], at: usize) -> T {
    match at {
        0 => outputs[0],
        1 => outputs[1],
        2 => outputs[2],
        _ => outputs[3],
    }
}

macro_rules! kernels {
    ($($name:ident: $element:ident from $product:ident in $limbs:literal limbs, $is_exact:literal;)*) => {$(
        #[doc = concat!("Outputs of ", stringify!($element), " from products of residues in ", stringify!($product), ".")]
        ///
        /// # Safety
        /// 1. `products` has, for each part of k and each modulus, an m x n matrix of `shape`, of products of residues
        ///    of the lines `a_lines` and `b_lines`, one for each row and column.
        /// 2. `c` has the m x n matrix, and the launch accesses no other elements of it. Each vector of the epilogue
        ///    is empty or has an element for each row or column from `first` on.
        /// 3. `left` has a byte for each four outputs of a row, if outputs are exact.
        /// 4. The grid has a thread for each four outputs of a row, in blocks of [`COMBINE_THREADS`], along x; fewer than 2^32.
        #[allow(clippy::too_many_arguments)]
        #[kernel(max_threads = COMBINE_THREADS)]
        pub unsafe fn $name(
            products: Global<$product>,
            a_lines: Global<Line>,
            b_lines: Global<Line>,
            c: GlobalMut<$element>,
            left: GlobalMut<u8>,
            shape: GridConstant<CombineShape>,
            weights: GridConstant<Weights>,
            numbers: GridConstant<EpilogueNumbers<$element>>,
            row_scale: Global<$element>,
            column_scale: Global<$element>,
            row_bias: Global<$element>,
            column_bias: Global<$element>,
        ) {
            let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            // SAFETY: the caller's contract.
            unsafe {
                combine::<$element, $product, $limbs, $is_exact>(products, [a_lines, b_lines], c, left, &shape, &weights, epilogue);
            }
        }
    )*};
}
kernels! {
    exact_combine_f32: f32 from i8 in 3 limbs, true;
    exact_combine_f64: f64 from i8 in 4 limbs, true;
    exact_combine_words_f32: f32 from i32 in 3 limbs, true;
    exact_combine_words_f64: f64 from i32 in 4 limbs, true;
    residues_combine_f64: f64 from i8 in 3 limbs, false;
    residues_combine_words_f64: f64 from i32 in 3 limbs, false;
}
