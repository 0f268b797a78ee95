//! The residues of an operand's integers.

use super::element::{ExactElement, digits};
use super::lines::Line;
use super::moduli::Moduli;
use bytemuck::{Pod, Zeroable};
use cuda_std::prelude::*;

/// Threads per block.
pub const RESIDUES_THREADS: u32 = 256;

/// Neighbouring elements of a line whose residues are a word.
const QUAD: usize = 4;

/// Part of the rows or columns of an operand, each contiguous, and where their residues go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ResiduesShape {
    /// How many there are.
    pub lines: usize,
    /// Elements of a line.
    pub k: usize,
    /// Elements from one line to the next.
    pub leading_dimension: usize,
    /// Words of a line's residues, which end with zeros.
    pub words: usize,
    /// Blocks that share a line.
    pub blocks_of_line: u32,
    /// The power of two of the threads that share a line in a block, of which there are 256 at most.
    pub threads_log: u32,
}

impl ResiduesShape {
    /// The shape of `lines` lines of `k` elements, whose residues have `words` words.
    #[must_use]
    pub const fn new((lines, k): (usize, usize), leading_dimension: usize, words: usize) -> Self {
        let threads = match words < RESIDUES_THREADS as usize {
            true => words.next_power_of_two(),
            false => RESIDUES_THREADS as usize,
        };
        Self {
            lines,
            k,
            leading_dimension,
            words,
            blocks_of_line: words.div_ceil(threads) as u32,
            threads_log: threads.ilog2(),
        }
    }

    /// The blocks of a launch.
    #[must_use]
    pub const fn blocks(&self) -> usize {
        let lines_of_block = RESIDUES_THREADS as usize >> self.threads_log;
        (self.lines.div_ceil(lines_of_block)).saturating_mul(self.blocks_of_line as usize)
    }
}

/// Four elements of a line, from element `at` on, with zeros past its end.
///
/// # Safety
/// 1. `line` has `k` elements.
#[inline(always)]
unsafe fn quad<T: ExactElement>(line: Global<'_, T>, at: usize, k: usize) -> [T; QUAD] {
    let mut elements = [T::ZERO; QUAD];
    let is_aligned = line.as_ptr().addr().is_multiple_of(16);
    // SAFETY: the line has the elements, which were compared with `k`; `at` is a multiple of four.
    unsafe {
        if is_aligned && at + QUAD <= k {
            let [x, y] = [line.load_vector::<2>(at), line.load_vector::<2>(at + 2)];
            return [x[0], x[1], y[0], y[1]];
        }
        let mut i = 0;
        while i < QUAD {
            if at + i < k {
                elements[i] = line.load(at + i);
            }
            i += 1;
        }
    }
    elements
}

/// The residues of the calling thread's four elements.
///
/// # Safety
/// As for the kernels.
#[inline(always)]
unsafe fn residues<T: ExactElement, const WORDS: usize>(
    x: Global<'_, T>,
    lines: Global<'_, Line>,
    result: GlobalMut<'_, i8>,
    shape: &ResiduesShape,
    moduli: &Moduli,
) {
    let (block, thread) = (thread::block_idx_x(), thread::thread_idx_x());
    let (group, part) = (block / shape.blocks_of_line, block % shape.blocks_of_line);
    let of_block = RESIDUES_THREADS >> shape.threads_log;
    let number = (group * of_block + (thread >> shape.threads_log)) as usize;
    let within = thread & ((1 << shape.threads_log) - 1);
    let word = ((part << shape.threads_log) + within) as usize;
    if number >= shape.lines || word >= shape.words {
        return;
    }
    // SAFETY: the line was compared with the shape, and the operand has its elements: the caller's contract.
    let (line, elements) = unsafe {
        let of_line = x.skip(number * shape.leading_dimension);
        (lines.load(number), quad(of_line, QUAD * word, shape.k))
    };
    // Those of lines with infinities or NaN have no meaning.
    let digits: [[i32; WORDS]; QUAD] = elements.map(|it| digits(it.to_f64(), line.shift));
    let mut at = number * shape.words + word;
    let mut i = 0;
    while i < moduli.count as usize {
        let bytes = digits.map(|digits| moduli.each[i].of(digits) as i8);
        // SAFETY: there is a word for each part of the line and modulus, aligned to four bytes: the caller's contract.
        // Each thread writes its own.
        unsafe { result.store_vector(QUAD * at, bytes) };
        at += shape.lines * shape.words;
        i += 1;
    }
}

macro_rules! kernels {
    ($($name:ident: $element:ident in $words:literal words;)*) => {$(
        #[doc = concat!("The residues of an operand of ", stringify!($element), ": for each modulus, those of each line.")]
        #[doc = ""]
        #[doc = concat!("The operand's integers have ", stringify!($words), " words of 32 bits.")]
        ///
        /// # Safety
        /// 1. `x` has the elements of `shape`; only these are read.
        /// 2. `lines` has what [`exact_lines_f32`](super::exact_lines_f32) or its twin computed of all of each line.
        /// 3. `result` is aligned to four bytes and has the words of `shape` for each modulus; nothing else accesses these.
        /// 4. The launch has [`ResiduesShape::blocks`] blocks of [`RESIDUES_THREADS`] threads, both along x.
        #[kernel(max_threads = RESIDUES_THREADS)]
        pub unsafe fn $name(
            x: Global<$element>,
            lines: Global<Line>,
            result: GlobalMut<i8>,
            shape: GridConstant<ResiduesShape>,
            moduli: GridConstant<Moduli>,
        ) {
            // SAFETY: the caller's contract.
            unsafe { residues::<$element, $words>(x, lines, result, &shape, &moduli) };
        }
    )*};
}
kernels! {
    exact_residues_f32: f32 in 2 words;
    exact_residues_f64: f64 in 3 words;
    residues_of_f64: f64 in 2 words;
}
