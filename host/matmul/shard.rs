//! Some rows and columns of a product, of which other devices compute the rest.

use super::epilogue::Epilogue;
use super::fastest::{Accumulate, MatmulElement};
use super::matrices::Factors;
use super::select::Request;
use crate::device::Device;
use crate::error::Outcome;
use crate::matrix::{MatrixView, MatrixViewMut};

impl Device {
    /// The product A B in `c`, which is row-major, as a part of a product of `whole` rows and columns: each
    /// output has the bits that [`Device::matmul`] of the whole gives it on such a device.
    pub(crate) fn multiply_part<T: MatmulElement>(
        &self,
        whole: (usize, usize),
        (a, b): (MatrixView<'_, T>, MatrixView<'_, T>),
        c: MatrixViewMut<'_, <T as Accumulate>::Product>,
    ) -> Outcome<()> {
        let (m, n) = whole;
        let factors = Factors::new(a.into(), b.into());
        let request = Request::PartOf { m, n };
        self.multiply(request, factors, c.into(), Epilogue::identity())
    }
}
