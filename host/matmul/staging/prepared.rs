//! Right operands that are split, or made into residues, once for several products.

use super::line_kernels::LineKernels;
use super::lines::{LinesResidues, OperandLines};
use super::split::{SplitOperand, Whole, split_rows};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::plan::{PreparedAs, ResiduesPlan, SplitPasses, Staging};
use crate::matrix::{Matrix, MatrixView};
use half::f16;
use tilewright_kernels::exact::Line;
use tilewright_kernels::tensor::{GROUP, PANEL, RangeWords};

/// A matrix of f32 or f64, prepared to be the right operand of several products: see [`Device::prepare`] and
/// [`Device::prepare_exact`].
#[derive(Debug)]
pub struct PreparedMatrix<'a, T: Element = f32> {
    matrix: MatrixView<'a, T>,
    arithmetic: Arithmetic,
    prepared: Prepared<'a, T>,
}

/// The data that products read in place of the matrix.
#[derive(Debug)]
enum Prepared<'a, T: Element> {
    Split {
        halves: Matrix<f16>,
        words: Buffer<u32>,
    },
    Residues(PreparedResidues<'a, T>),
    /// They read the matrix.
    Nothing,
}

/// The columns of a matrix, and their residues.
#[derive(Debug)]
pub struct PreparedResidues<'a, T: Element> {
    pub lines: OperandLines<'a, T>,
    pub residues: LinesResidues,
}

impl<'a, T: LineKernels> PreparedResidues<'a, T> {
    /// Makes the residues of the columns of B for products of this plan, in which B reaches the kernels as `staging` says.
    pub fn new(
        device: &Device,
        b: MatrixView<'a, T>,
        plan: &ResiduesPlan,
        staging: Staging,
        is_exact: bool,
    ) -> Outcome<Self> {
        let (k, n) = b.shape();
        let bits = (plan.bits[1], is_exact);
        let lines = OperandLines::new(device, b.t(), staging, (n, k), bits)?;
        let residues = lines.part(0..n).residues(device, plan, 1)?;
        Ok(Self { lines, residues })
    }
}

impl<'a> PreparedMatrix<'a> {
    /// Splits B by these passes.
    pub(in crate::matmul) fn split(
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
            arithmetic: Arithmetic::Auto,
            prepared: Prepared::Split { halves, words },
        })
    }

    /// The split values, if there are any.
    pub fn operand(&self) -> Option<SplitOperand<'_>> {
        let (k, n) = self.matrix.shape();
        match &self.prepared {
            Prepared::Split { halves, words } => {
                Some(SplitOperand::new(halves, words.view(), 1, (n, k)))
            }
            _ => None,
        }
    }
}

impl<'a, T: Element> PreparedMatrix<'a, T> {
    /// A matrix for products of this arithmetic, with its residues if they need them.
    pub(in crate::matmul) fn with_residues(
        matrix: MatrixView<'a, T>,
        arithmetic: Arithmetic,
        residues: Option<PreparedResidues<'a, T>>,
    ) -> Self {
        Self {
            matrix,
            arithmetic,
            prepared: residues.map_or(Prepared::Nothing, Prepared::Residues),
        }
    }

    /// The original matrix.
    #[must_use]
    pub fn matrix(&self) -> MatrixView<'a, T> {
        self.matrix
    }

    /// For each column of B, whether products leave its outputs to slower kernels because of its elements.
    ///
    /// Of split f32 matrices, these are columns with infinities, NaN, or elements too far apart for two f16 values. CUDA
    /// cores compute their outputs in order of k, and those of the other columns of the panel of 128; panels start
    /// at multiples of 128. Of f64 matrices, they are columns whose residues are not accurate enough; the tensor
    /// cores for f64 compute their outputs. Exact products have none. Rows of A can also be outside the range, which
    /// this call does not show.
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
    /// The errors of [any call](crate#errors).
    pub fn out_of_range_columns(&self) -> Result<Vec<bool>> {
        self.out_of_range().during("out_of_range_columns")
    }

    fn out_of_range(&self) -> Outcome<Vec<bool>> {
        let lines = self.matrix.cols();
        let words = match &self.prepared {
            Prepared::Split { words, .. } => words,
            Prepared::Residues(of) => {
                let known = of.lines.known().elements()?;
                return Ok(known.iter().map(Line::is_out_of_range).collect());
            }
            Prepared::Nothing => return Ok(vec![false; lines]),
        };
        // The last words: one for each group of columns.
        let groups = RangeWords { lines }.len() - lines.div_ceil(GROUP)..;
        let groups = words.view().part(groups)?.elements()?;
        let is_out_of_range = |panel: &[u32]| panel.iter().any(|&word| word != 0);
        let panels = groups.chunks(PANEL / GROUP).map(is_out_of_range);
        let columns = panels.flat_map(|is_out_of_range| [is_out_of_range; PANEL]);
        Ok(columns.take(lines).collect())
    }

    /// The arithmetic of products for which nothing else is set.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// The prepared form of the matrix; `None` if products read the matrix itself.
    pub fn form(&self) -> Option<PreparedAs> {
        match &self.prepared {
            Prepared::Split { .. } => Some(PreparedAs::Split),
            Prepared::Residues(of) if of.lines.is_exact() => Some(PreparedAs::Exact),
            Prepared::Residues(_) => Some(PreparedAs::Residues),
            Prepared::Nothing => None,
        }
    }

    /// Orders later work of `device` that reads the prepared data.
    pub fn order_reads(&self, device: &Device) -> Outcome<()> {
        match &self.prepared {
            Prepared::Split { halves, words } => {
                halves.as_buffer().holder().order_reads(device)?;
                words.holder().order_reads(device)
            }
            Prepared::Residues(of) => {
                of.lines.order_reads(device)?;
                of.residues.order_reads(device)
            }
            Prepared::Nothing => Ok(()),
        }
    }

    /// The residues, if there are any.
    pub fn residues(&self) -> Option<&PreparedResidues<'a, T>> {
        match &self.prepared {
            Prepared::Residues(residues) => Some(residues),
            _ => None,
        }
    }
}
