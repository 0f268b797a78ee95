//! The matrix of an operand that a block splits.

use super::halves::Halves;
use super::lines::RangeWords;
use super::shape::SplitShape;
use super::source::Source;
use cuda_std::prelude::*;
use half::f16;

/// The matrix of an operand that the calling block splits.
#[derive(Clone, Copy)]
pub struct SplitMatrix<'launch> {
    /// Its elements.
    pub x: Global<'launch, f32>,
    pub shape: SplitShape,
    /// The words of its lines.
    pub words: GlobalMut<'launch, u32>,
    is_of_a: bool,
    /// The number of the matrix.
    matrix: usize,
    /// The number of the calling block among the matrix's blocks.
    pub block: u32,
}

/// A value for A and one for B.
type Both<T> = (T, T);

impl<'launch> SplitMatrix<'launch> {
    /// The matrix of block number `block` of the launch. Matrices of A come first; each has `blocks` of its shape.
    #[inline(always)]
    pub fn of_block(
        block: u32,
        blocks: impl Fn(&SplitShape) -> usize,
        (a, b): Both<Global<'launch, f32>>,
        (a_shape, b_shape): Both<GridConstant<SplitShape>>,
        (a_words, b_words): Both<GlobalMut<'launch, u32>>,
    ) -> Self {
        let (of_a, of_b) = (*a_shape, *b_shape);
        let (a_blocks, b_blocks) = (blocks(&of_a), blocks(&of_b));
        let first_of_b = (of_a.matrices * a_blocks) as u32;
        let is_of_a = block < first_of_b;
        // Field by field: a choice between two structs would be a choice between addresses, and put them in local
        // memory.
        let either = |a: usize, b: usize| if is_of_a { a } else { b };
        let block = if is_of_a { block } else { block - first_of_b };
        let shape = SplitShape {
            matrices: either(of_a.matrices, of_b.matrices),
            stride: either(of_a.stride, of_b.stride),
            lines: either(of_a.lines, of_b.lines),
            k: either(of_a.k, of_b.k),
            leading_dimension: either(of_a.leading_dimension, of_b.leading_dimension),
            pitch: either(of_a.pitch, of_b.pitch),
            lowest: either(of_a.lowest as usize, of_b.lowest as usize) as i32,
            is_along: either(of_a.is_along as usize, of_b.is_along as usize) as u32,
        };
        let of_matrix = either(a_blocks, b_blocks) as u32;
        let matrix = (block / of_matrix) as usize;
        let words = if is_of_a { a_words } else { b_words };
        let x = if is_of_a { a } else { b };
        // SAFETY: the kernels own no elements by unique index.
        let words = unsafe { words.skip(matrix * RangeWords { lines: shape.lines }.len()) };
        Self {
            x: x.skip(matrix * shape.stride),
            words,
            shape,
            is_of_a,
            matrix,
            block: block % of_matrix,
        }
    }

    /// The block's part: its number along the lines, of `line_blocks`, and its number along k.
    #[inline(always)]
    pub fn place(&self, line_blocks: usize) -> (usize, usize) {
        let line_blocks = line_blocks as u32;
        (
            (self.block % line_blocks) as usize,
            (self.block / line_blocks) as usize,
        )
    }

    /// Where the matrix's halves go. `a` is the memory for A, `b` that for B.
    #[inline(always)]
    pub fn halves(&self, (a, b): Both<GlobalMut<'launch, f16>>) -> Halves<'launch> {
        Halves::new(if self.is_of_a { a } else { b }, &self.shape, self.matrix)
    }

    /// The matrix, for reading.
    #[inline(always)]
    pub fn source<const ALONG: bool>(&self) -> Source<'launch, ALONG> {
        let SplitShape {
            lines,
            k,
            leading_dimension,
            ..
        } = self.shape;
        Source {
            elements: self.x,
            lines,
            k,
            leading_dimension,
        }
    }
}
