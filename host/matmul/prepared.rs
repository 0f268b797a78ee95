//! f32 operands that are split once and used in several products.

use super::arithmetic::Arithmetic;
use super::halves::{SplitOperand, Whole, split_rows};
use super::kernel::ElementType;
use super::problem::{MatrixLayout, Problem};
use super::select::Request;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{During, Outcome, Result};
use crate::matrix::{Matrix, MatrixView, Order};
use half::f16;
use tilewright_kernels::tensor::{GROUP, LineWords, PANEL};

/// An f32 matrix, split once to be the right operand of several products: see [`Device::prepare`].
#[derive(Debug)]
pub struct PreparedMatrix<'a> {
    matrix: MatrixView<'a, f32>,
    halves: Matrix<f16>,
    words: Buffer<u32>,
}

impl Device {
    /// Splits B once for all f32 products A B on tensor cores ([`Arithmetic::Split`](crate::Arithmetic::Split)).
    ///
    /// Products with [`Matmul::with_prepared`](crate::Matmul::with_prepared) then split only A; their bits are the
    /// same as without. The split values take as much memory as B, and 8 bytes for each column.
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
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) if B has fewer than 63 rows or too many for the
    /// tensor-core path, or if the device has no kernels for split operands;
    /// [`ErrorKind::DriverTooOld`](crate::ErrorKind::DriverTooOld) if its driver cannot read their PTX;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice); and those of [any call](crate#errors).
    pub fn prepare<'a>(&self, b: impl Into<MatrixView<'a, f32>>) -> Result<PreparedMatrix<'a>> {
        PreparedMatrix::new(self, b.into()).during("prepare")
    }
}

impl<'a> PreparedMatrix<'a> {
    pub(super) fn new(device: &Device, b: MatrixView<'a, f32>) -> Outcome<Self> {
        device.check_owns(|| "the matrix B".into(), b.device())?;
        let (k, n) = b.shape();
        // The smallest product with this right operand.
        let packed = |rows, columns| {
            MatrixLayout::packed(Order::RowMajor, (rows, columns), align_of::<f32>())
        };
        let problem = Problem {
            element: ElementType::F32,
            output: ElementType::F32,
            m: 1,
            n,
            k,
            a: packed(1, k),
            b: packed(k, n),
            c: packed(1, n),
            batch: 1,
            is_plain: true,
            is_gram: false,
        };
        device.select_kernel(Request::Fastest(Arithmetic::Split, None), &problem)?;
        let mut words = Buffer::uninit(device, LineWords { lines: n }.len())?;
        let halves = match n {
            0 => Matrix::zeroed(device, (0, 0).into())?,
            _ => {
                let (x, words) = (b.t().into(), words.view_mut());
                let [halves, _] = split_rows(device, [Some(Whole { x, words }), None])?;
                halves.expect("it was split")
            }
        };
        Ok(Self {
            matrix: b,
            halves,
            words,
        })
    }

    /// The original matrix.
    #[must_use]
    pub fn matrix(&self) -> MatrixView<'a, f32> {
        self.matrix
    }

    /// For each column of B, whether CUDA cores compute its outputs, in order of k, in every product.
    ///
    /// They do if the column is outside the split's range: it contains infinities, NaN, or elements too far apart
    /// for two f16 values. The columns of its panel of 128 then count as outside, too; panels start at multiples of
    /// 128. Rows of A can also be outside the range, which this call does not show.
    /// Waits for the device.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let mut weights = vec![0.5_f32; 64 * 130];
    /// weights[129] = f32::INFINITY;
    /// let weights = device.matrix((64, 130), &weights)?;
    /// let wide = device.prepare(&weights)?.wide_columns()?;
    /// assert_eq!(wide, [vec![false; 128], vec![true; 2]].concat());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [any call](crate#errors).
    pub fn wide_columns(&self) -> Result<Vec<bool>> {
        self.wide_lines().during("wide_columns")
    }

    fn wide_lines(&self) -> Outcome<Vec<bool>> {
        let lines = self.matrix.cols();
        // The last words: one for each group of columns.
        let groups = LineWords { lines }.len() - lines.div_ceil(GROUP)..;
        let groups = self.words.view().part(groups)?.elements()?;
        let is_wide = |panel: &[u32]| panel.iter().any(|&word| word != 0);
        let panels = groups.chunks(PANEL / GROUP).map(is_wide);
        let columns = panels.flat_map(|is_wide| [is_wide; PANEL]);
        Ok(columns.take(lines).collect())
    }

    /// The split values.
    pub fn operand(&self) -> SplitOperand<'_> {
        let (k, n) = self.matrix.shape();
        SplitOperand::new(&self.halves, self.words.view(), 1, (n, k))
    }
}
