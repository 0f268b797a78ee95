//! An operand: its lines, and their residues.

use super::kernels::ExactKernels;
use crate::device::Device;
use crate::error::Outcome;
use crate::matmul::plan::{ResiduesPlan, Staging};
use crate::matmul::staging::{LinesResidues, OperandLines, PreparedMatrix, PreparedResidues};
use crate::matrix::{MatrixBatch, MatrixView};
use std::ops::Range;

/// Rows of A or columns of B.
pub enum Side<'a, T: ExactKernels> {
    Staged(Box<OperandLines<'a, T>>),
    Prepared(&'a PreparedResidues<'a, T>),
}

impl<'a, T: ExactKernels> Side<'a, T> {
    /// The rows of `matrix`: those that were prepared, or new ones with integers of `bits` bits.
    pub fn new(
        device: &Device,
        matrix: MatrixView<'a, T>,
        (staging, prepared): (Staging, Option<&'a PreparedMatrix<'a, T>>),
        shape: (usize, usize),
        bits: (u32, bool),
    ) -> Outcome<Self> {
        Ok(match staging {
            Staging::Prepared => Self::Prepared(
                (prepared.and_then(PreparedMatrix::residues)).expect("it was prepared"),
            ),
            _ => Self::Staged(Box::new(OperandLines::new(
                device, matrix, staging, shape, bits,
            )?)),
        })
    }

    pub fn lines(&self) -> &OperandLines<'a, T> {
        match self {
            Self::Staged(lines) => lines,
            Self::Prepared(of) => &of.lines,
        }
    }

    /// The residues of some of the lines, of side `number` of the product.
    pub fn residues(
        &self,
        device: &Device,
        plan: &ResiduesPlan,
        number: usize,
        range: Range<usize>,
    ) -> Outcome<SideResidues<'_>> {
        Ok(match self {
            Self::Staged(lines) => {
                let len = range.len();
                SideResidues::New(lines.part(range).residues(device, plan, number)?, len)
            }
            Self::Prepared(of) => SideResidues::Prepared(of.residues.of_lines(range)?),
        })
    }
}

/// Residues of some lines.
pub enum SideResidues<'a> {
    /// All residues, and the number of their lines.
    New(LinesResidues, usize),
    Prepared(MatrixBatch<'a, i8>),
}

impl SideResidues<'_> {
    /// A matrix for each part of K and each modulus.
    pub fn matrices(&self) -> Outcome<MatrixBatch<'_, i8>> {
        match self {
            Self::New(residues, lines) => residues.of_lines(0..*lines),
            Self::Prepared(matrices) => Ok(*matrices),
        }
    }
}
