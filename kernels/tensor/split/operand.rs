//! An operand in a launch.

use super::shape::SplitShape;
use super::source::Source;
use cuda_std::prelude::*;

/// An operand in a launch, and the words about its lines.
#[derive(Clone, Copy)]
pub struct Operand<'launch> {
    pub x: Global<'launch, f32>,
    pub shape: SplitShape,
    pub words: GlobalMut<'launch, u32>,
}

impl<'launch> Operand<'launch> {
    /// A, or B. Number by number: which of two structs is read would be decided by an address, and the
    /// struct would lie in local memory.
    #[inline(always)]
    pub fn of_block(
        is_of_a: bool,
        (a, b): (Global<'launch, f32>, Global<'launch, f32>),
        (a_shape, b_shape): (GridConstant<SplitShape>, GridConstant<SplitShape>),
        (a_words, b_words): (GlobalMut<'launch, u32>, GlobalMut<'launch, u32>),
    ) -> Self {
        let either = |a: usize, b: usize| if is_of_a { a } else { b };
        let (of_a, of_b) = (*a_shape, *b_shape);
        Self {
            x: if is_of_a { a } else { b },
            shape: SplitShape {
                lines: either(of_a.lines, of_b.lines),
                k: either(of_a.k, of_b.k),
                leading_dimension: either(of_a.leading_dimension, of_b.leading_dimension),
                pitch: either(of_a.pitch, of_b.pitch),
                lowest: either(of_a.lowest as usize, of_b.lowest as usize) as i32,
                is_along: either(of_a.is_along as usize, of_b.is_along as usize) as u32,
            },
            words: if is_of_a { a_words } else { b_words },
        }
    }

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
