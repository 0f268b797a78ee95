//! A part of a product whose other rows and columns are computed on other devices.

use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::epilogue::Epilogue;
use crate::matmul::execute::Computes;
use crate::matmul::operands::Operands;
use crate::matmul::plan::Request;
use crate::matrix::{MatrixView, MatrixViewMut};

impl Device {
    /// Writes the product A B to the row-major `c`, as a part of a product of `whole` rows and columns.
    ///
    /// Each output has the bits that [`Matmul::run_into`](crate::Matmul::run_into) gives it in the whole product,
    /// with this arithmetic and on a device of this kind. The vectors of `epilogue` are those of the part.
    pub(crate) fn multiply_part<T: Computes<O, S>, O: Element, S: Element>(
        &self,
        whole: (usize, usize),
        (a, b): (MatrixView<'_, T>, MatrixView<'_, T>),
        c: MatrixViewMut<'_, O>,
        arithmetic: Arithmetic,
        epilogue: Epilogue<'_, S>,
    ) -> Outcome<()> {
        let (m, n) = whole;
        let request = Request::PartOf { m, n, arithmetic };
        let operands = Operands::new(a.into(), b.into());
        T::write(self, request, &operands, c.into(), &epilogue)
    }
}
