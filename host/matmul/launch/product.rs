//! Takes a product from its operands to its launches: checks, selects, launches.

use super::mirror::mirror;
use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, Outcome};
use crate::matmul::epilogue::Epilogue;
use crate::matmul::matrices::{Matrices, Operands};
use crate::matmul::select::Request;
use crate::matmul::types::Accumulator;
use crate::matmul::types::sealed::Computes;
use crate::matrix::{Matrix, MatrixBatchMut};

impl Device {
    /// The products in a new matrix, one below the other.
    pub(in crate::matmul) fn product<T: Computes<O, S>, O: Element, S: Accumulator>(
        &self,
        request: Request,
        operands: Operands<'_, T>,
        epilogue: Epilogue<'_, S>,
    ) -> Outcome<Matrix<O>> {
        operands.check_inner()?;
        let count = operands.products()?;
        let (rows, columns) = (operands.a.first().rows(), operands.b.first().cols());
        let all_rows = rows.checked_mul(count).ok_or_else(|| ErrorKind::TooLarge {
            what: format!("a batch of {count} results with {rows} rows each"),
            remedy: "multiply the batch in parts",
        })?;
        let mut c = Matrix::uninit(self, (all_rows, columns).into())?;
        let results = c.view_mut().into_equal_rows(count)?;
        self.multiply(request, operands, results, epilogue)?;
        Ok(c)
    }

    /// Writes the products to `c`, by the kernel that `request` selects.
    pub(in crate::matmul) fn multiply<T: Computes<O, S>, O: Element, S: Accumulator>(
        &self,
        request: Request,
        operands: Operands<'_, T>,
        mut c: MatrixBatchMut<'_, O>,
        epilogue: Epilogue<'_, S>,
    ) -> Outcome<()> {
        let Some(matrices) = Matrices::of(self, operands, c.view_mut(), epilogue)? else {
            return Ok(());
        };
        let (element, output) = <T as Computes<O, S>>::TYPES;
        let problem = matrices.problem(element, output);
        let selection = self.select_kernel(request, &problem)?;
        T::multiply(self, selection, matrices)?;
        match operands.is_gram {
            true => mirror(c),
            false => Ok(()),
        }
    }
}
