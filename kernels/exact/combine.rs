//! From products of residues to outputs.

use super::element::ExactElement;
use super::lines::Line;
use super::moduli::{Moduli, SHARE_BITS, WORDS};
use super::wide::{carried, rounded_if_certain};
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::finish::{Output, store_output};
use bytemuck::{Pod, Zeroable};
use cuda_std::prelude::*;

/// Threads per block.
pub const COMBINE_THREADS: u32 = 256;

/// Neighbouring outputs of a row that a thread computes. The flags of those that are left make a byte.
pub const PAIR: usize = 2;

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
    /// Elements from one row of a product of residues to the next, an even number.
    pub pitch: usize,
    /// Parts of k. Each has a product for each modulus.
    pub parts: usize,
    /// The number of the first row and column, for the epilogue.
    pub first: [usize; 2],
    /// 1 if outputs are rounded once, 0 if they only have to be within gamma_k |A||B|.
    pub is_exact: usize,
}

impl CombineShape {
    /// Pairs of outputs in a row.
    #[must_use]
    pub const fn pairs(&self) -> usize {
        self.n.div_ceil(PAIR)
    }
}

/// A type in which products of residues are written.
trait Product: bytemuck::Pod {
    /// The product modulo the modulus.
    fn reduced(self, reduce: impl Fn(i32) -> i32) -> i32;
}

/// Reduced by the kernel that multiplied.
impl Product for i8 {
    #[inline(always)]
    fn reduced(self, _reduce: impl Fn(i32) -> i32) -> i32 {
        self.into()
    }
}

/// Sums of at most 2^30.
impl Product for i32 {
    #[inline(always)]
    fn reduced(self, reduce: impl Fn(i32) -> i32) -> i32 {
        reduce(self)
    }
}

/// The integer products of the pair of outputs whose products of residues begin at element `at`. The second is
/// meaningless unless `is_pair`.
///
/// # Safety
/// 1. `products` has the elements of `shape`, and `at` is even and the place of one in a matrix, or of two if
///    `is_pair`.
#[inline(always)]
unsafe fn integers<R: Product, const LIMBS: usize>(
    products: Global<'_, R>,
    (at, is_pair): (usize, bool),
    shape: &CombineShape,
    moduli: &Moduli,
) -> [[u32; LIMBS]; PAIR] {
    let matrix = shape.m * shape.pitch;
    let mut sums = [[0_u64; LIMBS]; PAIR];
    let mut shares = [0_u32; PAIR];
    let (mut i, mut first) = (0, at);
    while i < moduli.count as usize {
        let modulus = &moduli.each[i];
        // SAFETY: the products have the matrix: the caller's contract.
        let load = |part: usize| unsafe {
            let place = first + part * moduli.count as usize * matrix;
            let pair = match is_pair {
                true => products.load_vector::<PAIR>(place),
                false => [products.load(place); PAIR],
            };
            pair.map(|it| it.reduced(|sum| modulus.reduce(sum)))
        };
        let mut residues = load(0);
        let mut part = 1;
        while part < shape.parts {
            let [x, y] = load(part);
            residues = [residues[0] + x, residues[1] + y].map(|sum| modulus.reduce(sum));
            part += 1;
        }
        let mut j = 0;
        while j < PAIR {
            let residue = (residues[j] + 128) as u32;
            shares[j] += residue * modulus.share as u32;
            let mut limb = 0;
            while limb < LIMBS {
                sums[j][limb] += u64::from(residue) * u64::from(modulus.weight[limb]);
                limb += 1;
            }
            j += 1;
        }
        first += matrix;
        i += 1;
    }
    let mut of_pair = [[0; LIMBS]; PAIR];
    let mut j = 0;
    while j < PAIR {
        // The sum of residues times weights, divided by the product of moduli, lies within 0.46 of an integer.
        let half = 1 << (SHARE_BITS - 1);
        let multiple = (shares[j] as i32 - moduli.share_offset + half) >> SHARE_BITS;
        let (mut sum, mut limb) = ([0; LIMBS], 0);
        while limb < LIMBS {
            sum[limb] = sums[j][limb] as i64
                - i64::from(moduli.offset[limb])
                - i64::from(multiple) * i64::from(moduli.product[limb]);
            limb += 1;
        }
        of_pair[j] = carried(sum);
        j += 1;
    }
    of_pair
}

/// The outputs whose rounding is certain, and a flag for each of the others.
///
/// # Safety
/// As for the kernels.
#[inline(always)]
unsafe fn combine<T, R, const LIMBS: usize>(
    products: Global<'_, R>,
    [of_a, of_b]: [Global<'_, Line>; 2],
    c: GlobalMut<'_, T>,
    left: GlobalMut<'_, u8>,
    shape: &CombineShape,
    moduli: &Moduli,
    epilogue: Epilogue<'_, T>,
) where
    T: ExactElement + Output<Sum = T>,
    R: Product,
{
    const { assert!(LIMBS == T::WORDS && LIMBS <= WORDS) };
    let pairs = shape.pairs() as u32;
    let number = COMBINE_THREADS * thread::block_idx_x() + thread::thread_idx_x();
    let (row, pair) = ((number / pairs) as usize, (number % pairs) as usize);
    if row >= shape.m {
        return;
    }
    let column = PAIR * pair;
    // SAFETY: the matrices have the row, whose pitch is even: the caller's contract. The columns were compared.
    let integers: [[u32; LIMBS]; PAIR] = unsafe {
        let place = (row * shape.pitch + column, column + 1 < shape.n);
        integers(products, place, shape, moduli)
    };
    // SAFETY: there is a line for each row: the caller's contract.
    let of_row = unsafe { of_a.load(row) };
    let is_exact = shape.is_exact != 0;
    let (mut flags, mut j) = (0, 0);
    while j < PAIR && column + j < shape.n {
        // SAFETY: there is a line for each column: the caller's contract.
        let of_column = unsafe { of_b.load(column + j) };
        let bound = match is_exact {
            true => of_row.bound_with(&of_column),
            false => 0,
        };
        let is_left = match is_exact {
            true => of_row.has_specials() | of_column.has_specials(),
            false => of_row.is_out_of_range() | of_column.is_out_of_range(),
        };
        let exponent = -(of_row.shift + of_column.shift);
        let output: Option<T> = rounded_if_certain(integers[j], (bound, T::BOUND_WORD), exponent);
        match output.filter(|_| !is_left) {
            Some(output) => {
                let place = (shape.first[0] + row, shape.first[1] + column + j);
                // SAFETY: C has the output, which only this thread writes: the caller's contract.
                unsafe { store_output(c, row * shape.ldc + column + j, place, output, epilogue) };
            }
            None => flags |= 1 << j,
        }
        j += 1;
    }
    if is_exact {
        // SAFETY: there is a byte for each pair, which only this thread writes: the caller's contract.
        unsafe { left.store(number as usize, flags) };
    }
}

macro_rules! kernels {
    ($($name:ident: $element:ident from $product:ident in $limbs:literal words;)*) => {$(
        #[doc = concat!("Outputs of ", stringify!($element), " from products of residues in ", stringify!($product), ".")]
        ///
        /// # Safety
        /// 1. `products` has, for each part of k and each modulus, an m x n matrix of `shape`, of products of residues
        ///    of the lines `a_lines` and `b_lines`, one for each row and column.
        /// 2. `c` has the m x n matrix, and the launch accesses no other elements of it. Each vector of the epilogue
        ///    is empty or has an element for each row or column from `first` on.
        /// 3. `left` has a byte for each pair of outputs, if they are exact; otherwise the lines say which are out of range.
        /// 4. The grid has a thread for each pair of outputs, in blocks of [`COMBINE_THREADS`], along x; fewer than 2^32.
        #[allow(clippy::too_many_arguments)]
        #[kernel(max_threads = COMBINE_THREADS)]
        pub unsafe fn $name(
            products: Global<$product>,
            a_lines: Global<Line>,
            b_lines: Global<Line>,
            c: GlobalMut<$element>,
            left: GlobalMut<u8>,
            shape: GridConstant<CombineShape>,
            moduli: GridConstant<Moduli>,
            numbers: GridConstant<EpilogueNumbers<$element>>,
            row_scale: Global<$element>,
            column_scale: Global<$element>,
            row_bias: Global<$element>,
            column_bias: Global<$element>,
        ) {
            let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            // SAFETY: the caller's contract.
            unsafe {
                combine::<$element, $product, $limbs>(products, [a_lines, b_lines], c, left, &shape, &moduli, epilogue);
            }
        }
    )*};
}
kernels! {
    exact_combine_f32: f32 from i8 in 4 words;
    exact_combine_f64: f64 from i8 in 6 words;
    exact_combine_words_f32: f32 from i32 in 4 words;
    exact_combine_words_f64: f64 from i32 in 6 words;
}
