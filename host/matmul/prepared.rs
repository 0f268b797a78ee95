//! Operands that are taken apart once.

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

/// A matrix of f32 that was taken apart for products of which it is the right operand: see
/// [`Device::prepare`].
#[derive(Debug)]
pub struct PreparedMatrix<'a> {
    matrix: MatrixView<'a, f32>,
    halves: Matrix<f16>,
    words: Buffer<u32>,
}

impl Device {
    /// Takes B apart once for all products A B on tensor cores
    /// ([`Arithmetic::Split`](crate::Arithmetic::Split)) of which it is the right operand: they find it
    /// as they need it, and have the same bits as without. The memory is that of B, and 8 bytes for each
    /// column.
    ///
    /// A left operand is prepared as the right one of the transposed product, `b.t()` times `a.t()`,
    /// into a column-major matrix.
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
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) if the rows of B are fewer than 63, or so many that
    /// no product of it is on tensor cores, or if the device has no kernels for such products;
    /// [`ErrorKind::DriverTooOld`](crate::ErrorKind::DriverTooOld) if its driver does not read them; [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice);
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory),
    /// [`ErrorKind::NoModule`](crate::ErrorKind::NoModule),
    /// [`ErrorKind::DeviceLost`](crate::ErrorKind::DeviceLost) or
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
    pub fn prepare<'a>(&self, b: impl Into<MatrixView<'a, f32>>) -> Result<PreparedMatrix<'a>> {
        PreparedMatrix::new(self, b.into()).during("prepare")
    }
}

impl<'a> PreparedMatrix<'a> {
    pub(super) fn new(device: &Device, b: MatrixView<'a, f32>) -> Outcome<Self> {
        device.check_owns(|| "the matrix B".into(), b.device())?;
        let (k, n) = b.shape();
        // The least product that it is the right operand of.
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
                halves.expect("it was taken apart")
            }
        };
        Ok(Self {
            matrix: b,
            halves,
            words,
        })
    }

    /// The matrix itself.
    #[must_use]
    pub fn matrix(&self) -> MatrixView<'a, f32> {
        self.matrix
    }

    /// For each column of B whether its outputs are computed in order of k on the ordinary units, in every
    /// product: that of a column with infinities, NaN or elements too far apart for two halves, and those of
    /// the panel of 128 columns, the first of them a multiple of 128, of which it is one. Rows of A can be so,
    /// too, which no prepared B tells.
    ///
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
    /// [`ErrorKind::DeviceLost`](crate::ErrorKind::DeviceLost) or
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
    pub fn wide_columns(&self) -> Result<Vec<bool>> {
        self.wide_lines().during("wide_columns")
    }

    fn wide_lines(&self) -> Outcome<Vec<bool>> {
        let lines = self.matrix.cols();
        // The last words: one for each group of lines.
        let groups = LineWords { lines }.len() - lines.div_ceil(GROUP)..;
        let groups = self.words.view().part(groups)?.elements()?;
        let is_wide = |panel: &[u32]| panel.iter().any(|&word| word != 0);
        let panels = groups.chunks(PANEL / GROUP).map(is_wide);
        let columns = panels.flat_map(|is_wide| [is_wide; PANEL]);
        Ok(columns.take(lines).collect())
    }

    /// The halves.
    pub fn operand(&self) -> SplitOperand<'_> {
        let (k, n) = self.matrix.shape();
        SplitOperand::new(&self.halves, self.words.view(), 1, (n, k))
    }
}
