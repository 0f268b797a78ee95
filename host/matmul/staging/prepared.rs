//! f32 operands that are split once and used in several products.

use super::split::{SplitOperand, Whole, split_rows};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{During, Outcome, Result};
use crate::matmul::plan::SplitPasses;
use crate::matrix::{Matrix, MatrixView};
use half::f16;
use tilewright_kernels::tensor::{GROUP, PANEL, RangeWords};

/// An f32 matrix, split once to be the right operand of several products: see [`Device::prepare`].
#[derive(Debug)]
pub struct PreparedMatrix<'a> {
    matrix: MatrixView<'a, f32>,
    halves: Matrix<f16>,
    words: Buffer<u32>,
}

impl<'a> PreparedMatrix<'a> {
    /// Splits B by these passes.
    pub(in crate::matmul) fn new(
        device: &Device,
        b: MatrixView<'a, f32>,
        passes: SplitPasses,
    ) -> Outcome<Self> {
        let (_, n) = b.shape();
        let mut words = Buffer::uninit(device, RangeWords { lines: n }.len())?;
        let halves = match n {
            0 => Matrix::zeroed(device, (0, 0).into())?,
            _ => {
                let (x, words) = (b.t().into(), words.view_mut());
                let [halves, _] = split_rows(device, passes, [Some(Whole { x, words }), None])?;
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
    /// let out_of_range = device.prepare(&weights)?.out_of_range_columns()?;
    /// assert_eq!(out_of_range, [vec![false; 128], vec![true; 2]].concat());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [any call](crate#errors).
    pub fn out_of_range_columns(&self) -> Result<Vec<bool>> {
        self.out_of_range().during("out_of_range_columns")
    }

    fn out_of_range(&self) -> Outcome<Vec<bool>> {
        let lines = self.matrix.cols();
        // The last words: one for each group of columns.
        let groups = RangeWords { lines }.len() - lines.div_ceil(GROUP)..;
        let groups = self.words.view().part(groups)?.elements()?;
        let is_out_of_range = |panel: &[u32]| panel.iter().any(|&word| word != 0);
        let panels = groups.chunks(PANEL / GROUP).map(is_out_of_range);
        let columns = panels.flat_map(|is_out_of_range| [is_out_of_range; PANEL]);
        Ok(columns.take(lines).collect())
    }

    /// Orders later work of `device` that reads the split values.
    pub fn order_reads(&self, device: &Device) -> Outcome<()> {
        self.halves.as_buffer().holder().order_reads(device)?;
        self.words.holder().order_reads(device)
    }

    /// The split values.
    pub fn operand(&self) -> SplitOperand<'_> {
        let (k, n) = self.matrix.shape();
        SplitOperand::new(&self.halves, self.words.view(), 1, (n, k))
    }
}
