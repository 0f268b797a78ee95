//! f32 operands that are split once and used in several products.

use crate::device::Device;
use crate::error::{During, Outcome, Result};
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::execute::Computes;
use crate::matmul::plan::{MatrixLayout, Problem, Request, Steps};
use crate::matmul::staging::PreparedMatrix;
use crate::matrix::{IntoMatrixView, MatrixView, Order};

impl Device {
    /// Splits B once for all f32 products A B on tensor cores ([`Arithmetic::Split`](crate::Arithmetic::Split)).
    ///
    /// Products with [`Matmul::with_prepared`](crate::Matmul::with_prepared) then split only A. Their bits do not
    /// change. The split values take as much memory as B, plus 8 bytes for each column.
    ///
    /// To prepare a left operand, compute the transposed product: prepare `a.t()` as the right operand of `b.t()`,
    /// and write into a column-major matrix.
    ///
    /// ```
    /// use tilewright::{Arithmetic, Device, Matmul};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let weights = device.matrix((64, 2), &[0.25_f32; 128])?;
    /// let weights = device.prepare(&weights)?;
    /// let x = device.matrix((1, 64), &[1.0; 64])?;
    /// let product = Matmul::with_prepared(&x, &weights).arithmetic(Arithmetic::Split);
    /// assert_eq!(product.run()?.to_vec()?, [16.0, 16.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) if B has fewer than 63 rows or too many for the tensor-core
    /// path, or if the device has no kernels for split operands;
    /// [`ErrorKind::DriverTooOld`](crate::ErrorKind::DriverTooOld) if its driver cannot read their PTX;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if B is on another device; and those of [any
    /// call](crate#errors).
    pub fn prepare<'a>(&self, b: impl IntoMatrixView<'a, f32>) -> Result<PreparedMatrix<'a>> {
        self.prepared(b.into()).during("prepare")
    }

    fn prepared<'a>(&self, b: MatrixView<'a, f32>) -> Outcome<PreparedMatrix<'a>> {
        self.check_reads(|| "the matrix B".into(), b.holder())?;
        let (k, n) = b.shape();
        // The smallest product with this right operand.
        let packed = |rows, columns| {
            MatrixLayout::packed(Order::RowMajor, (rows, columns), align_of::<f32>())
        };
        let (element, output) = <f32 as Computes<f32, f32>>::TYPES;
        let problem = Problem {
            element,
            output,
            m: 1,
            n,
            k,
            whole_k: k,
            a: packed(1, k),
            b: packed(k, n),
            c: packed(1, n),
            batch: 1,
            is_plain: true,
            is_gram: false,
            is_shared: [true; 2],
            is_prepared: [false; 2],
        };
        let plan = self.plan(Request::Fastest(Arithmetic::Split, None), &problem)?;
        let Steps::Split(split) = &plan.steps else {
            unreachable!("the request is for split operands");
        };
        PreparedMatrix::new(self, b, split.passes)
    }
}
