//! Operands of graphs: the buffers and matrices that a graph owns and its launches use.

use crate::buffer::{Buffer, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::matrix::{Matrix, MatrixViewMut};
use sealed::GraphOperand;

/// Operands that a [`Graph`](crate::Graph) owns: a [`Buffer`], a [`Matrix`], [`Segments`](crate::Segments), and tuples,
/// arrays and vectors of operands.
#[diagnostic::on_unimplemented(
    message = "a graph cannot own `{Self}`",
    label = "not a buffer, a matrix, segments, or a tuple, an array or a `Vec` of them"
)]
pub trait GraphOperands: sealed::Operands {
    /// A view of each operand, in the same tuple, array or vector; of segments, a reference.
    type Views<'a>;

    /// The operands, borrowed for the work of `stream`, or for that of their own streams.
    #[doc(hidden)]
    fn views<'a>(&'a mut self, stream: Option<&'a Device>) -> Self::Views<'a>;
}

pub(crate) mod sealed {
    use crate::holder::Written;

    /// Memory of an operand.
    pub struct GraphOperand<'a>(pub(crate) Written<'a>);

    pub trait Operands: 'static {
        /// Calls `each` with all memory.
        fn each<E>(
            &mut self,
            each: &mut impl FnMut(GraphOperand<'_>) -> Result<(), E>,
        ) -> Result<(), E>;
    }
}

macro_rules! operand {
    ($($operand:ident: $view:ident;)*) => {$(
        impl<T: Element> sealed::Operands for $operand<T> {
            fn each<E>(
                &mut self,
                each: &mut impl FnMut(GraphOperand<'_>) -> Result<(), E>,
            ) -> Result<(), E> {
                each(GraphOperand(self.view_mut().written()))
            }
        }

        impl<T: Element> GraphOperands for $operand<T> {
            type Views<'a> = $view<'a, T>;

            fn views<'a>(&'a mut self, stream: Option<&'a Device>) -> $view<'a, T> {
                let view = self.view_mut();
                match stream {
                    Some(stream) => view.in_stream_of(stream),
                    None => view,
                }
            }
        }
    )*};
}

operand! {
    Buffer: BufferViewMut;
    Matrix: MatrixViewMut;
}

macro_rules! tuples {
    ($($($operand:ident $index:tt),*;)*) => {$(
        impl<$($operand: GraphOperands),*> sealed::Operands for ($($operand,)*) {
            fn each<E>(
                &mut self,
                each: &mut impl FnMut(GraphOperand<'_>) -> Result<(), E>,
            ) -> Result<(), E> {
                $(self.$index.each(each)?;)*
                Ok(())
            }
        }

        impl<$($operand: GraphOperands),*> GraphOperands for ($($operand,)*) {
            type Views<'a> = ($($operand::Views<'a>,)*);

            fn views<'a>(&'a mut self, stream: Option<&'a Device>) -> Self::Views<'a> {
                ($(self.$index.views(stream),)*)
            }
        }
    )*};
}

tuples! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, F 4;
    A 0, B 1, C 2, D 3, F 4, G 5;
    A 0, B 1, C 2, D 3, F 4, G 5, H 6;
    A 0, B 1, C 2, D 3, F 4, G 5, H 6, I 7;
}

impl<O: GraphOperands, const N: usize> sealed::Operands for [O; N] {
    fn each<E>(
        &mut self,
        each: &mut impl FnMut(GraphOperand<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.iter_mut().try_for_each(|operand| operand.each(each))
    }
}

impl<O: GraphOperands, const N: usize> GraphOperands for [O; N] {
    type Views<'a> = [O::Views<'a>; N];

    fn views<'a>(&'a mut self, stream: Option<&'a Device>) -> Self::Views<'a> {
        self.each_mut().map(|operand| operand.views(stream))
    }
}

impl<O: GraphOperands> sealed::Operands for Vec<O> {
    fn each<E>(
        &mut self,
        each: &mut impl FnMut(GraphOperand<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.iter_mut().try_for_each(|operand| operand.each(each))
    }
}

impl<O: GraphOperands> GraphOperands for Vec<O> {
    type Views<'a> = Vec<O::Views<'a>>;

    fn views<'a>(&'a mut self, stream: Option<&'a Device>) -> Self::Views<'a> {
        self.iter_mut()
            .map(|operand| operand.views(stream))
            .collect()
    }
}
