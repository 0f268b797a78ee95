//! Some rows and columns of a product, of which other devices compute the rest.

use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::epilogue::Epilogue;
use crate::matmul::matrices::Operands;
use crate::matmul::select::Request;
use crate::matmul::types::sealed::Computes;
use crate::matrix::{MatrixView, MatrixViewMut};

impl Device {
    /// The product A B in `c`, which is row-major, as a part of a product of `whole` rows and columns: each
    /// output has the bits that [`Matmul::run_into`](crate::Matmul::run_into) of the whole, in this way, gives it
    /// on such a device. The vectors of `epilogue` are those of the part.
    pub(crate) fn multiply_part<T: Computes<O>, O: Element>(
        &self,
        whole: (usize, usize),
        (a, b): (MatrixView<'_, T>, MatrixView<'_, T>),
        c: MatrixViewMut<'_, O>,
        arithmetic: Arithmetic,
        epilogue: Epilogue<'_, T::Accumulator>,
    ) -> Outcome<()> {
        let (m, n) = whole;
        let arithmetic = epilogue.arithmetic(arithmetic);
        let request = Request::PartOf { m, n, arithmetic };
        let operands = Operands::new(a.into(), b.into());
        self.multiply(request, operands, c.into(), epilogue)
    }
}
