//! Rows and columns of an operand, and their residues.

use super::copies::transpose_wide;
use super::line_kernels::LineKernels;
use crate::buffer::{Buffer, BufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{global, global_mut, read_elements};
use crate::matmul::plan::{ResiduesPlan, Staging};
use crate::matrix::{Matrix, MatrixBatch, MatrixView, Order};
use std::ops::Range;
use tilewright_kernels::exact::{LINES_THREADS, Line, LinesShape, RESIDUES_THREADS, ResiduesShape};

/// Blocks that keep a multiprocessor busy, for kernels whose blocks loop.
const BLOCKS_OF_MULTIPROCESSOR: u32 = 8;

/// Ranges of `step` numbers that cover 0 to `len`.
pub fn parts_of(len: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = (0..len).step_by(step.max(1));
    starts.map(move |start| start..len.min(start + step))
}

/// A launch of a kernel whose blocks loop over `blocks` blocks' work.
pub fn looping(device: &Device, blocks: usize, threads: u32) -> LaunchConfig {
    let most = device.properties().multiprocessors * BLOCKS_OF_MULTIPROCESSOR;
    let blocks = (blocks.min(most as usize) as u32).max(1);
    LaunchConfig::new(blocks, threads)
}

/// Rows of A or columns of B, each contiguous, and the facts known about each.
#[derive(Debug)]
pub struct OperandLines<'a, T: Element> {
    lines: Lines<'a, T>,
    known: Buffer<Line>,
    k: usize,
    is_exact: bool,
}

#[derive(Debug)]
enum Lines<'a, T: Element> {
    InPlace(MatrixView<'a, T>),
    Transposed(Matrix<T>),
}

impl<T: Element> Lines<'_, T> {
    /// The lines as rows.
    fn view(&self) -> MatrixView<'_, T> {
        match self {
            Self::InPlace(matrix) => *matrix,
            Self::Transposed(copy) => copy.view(),
        }
    }
}

impl<'a, T: LineKernels> OperandLines<'a, T> {
    /// The lines of the rows of `matrix`, whose integers have `bits` bits, for a product that is exact or not. The work
    /// is submitted to the stream of `device`, which need not be that of the matrix.
    pub fn new(
        device: &Device,
        matrix: MatrixView<'a, T>,
        staging: Staging,
        (lines, k): (usize, usize),
        (bits, is_exact): (u32, bool),
    ) -> Outcome<Self> {
        let lines_of = match staging {
            Staging::Transposed => Lines::Transposed(transpose_wide(device, matrix.t())?),
            Staging::Unread => Lines::InPlace(matrix),
            _ => Lines::InPlace(
                (matrix.in_order(Order::RowMajor)).expect("the plan says that rows are contiguous"),
            ),
        };
        let mut operand = Self {
            lines: lines_of,
            known: Buffer::uninit(device, lines)?,
            k,
            is_exact,
        };
        let shape = LinesShape {
            lines,
            k,
            leading_dimension: operand.lines.view().leading_dimension(),
            bits: bits as usize,
        };
        let blocks = lines.div_ceil(shape.at_a_time());
        let config = looping(device, blocks, LINES_THREADS);
        let known = operand.known.view_mut();
        // SAFETY: the launch reads only elements of the matrix, and writes an element for each line, as the kernels
        // document. The views are live without conflicting work: the operand is borrowed, and what is known belongs
        // to this call.
        unsafe {
            let x = read_elements(operand.lines.view().into());
            T::lines(device, config, (x, global_mut(known)), shape, is_exact)?;
        }
        Ok(operand)
    }
}

impl<T: Element> OperandLines<'_, T> {
    /// The facts known about each line.
    pub fn known(&self) -> BufferView<'_, Line> {
        self.known.view()
    }

    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Orders later work of `device` that reads the lines and the facts about them.
    pub fn order_reads(&self, device: &Device) -> Outcome<()> {
        self.lines.view().holder().order_reads(device)?;
        self.known.holder().order_reads(device)
    }

    /// Some of the lines.
    pub fn part(&self, range: Range<usize>) -> LinesView<'_, T> {
        let known = self.known.view().slice(range.clone());
        LinesView {
            matrix: (self.lines.view().part(range, ..)).expect("the operand has the lines"),
            known: known.expect("there is an element for each line"),
            k: self.k,
            is_exact: self.is_exact,
        }
    }
}

/// Some of an operand's lines.
#[derive(Clone, Copy)]
pub struct LinesView<'a, T: Element> {
    pub matrix: MatrixView<'a, T>,
    pub known: BufferView<'a, Line>,
    k: usize,
    is_exact: bool,
}

impl<T: Element> LinesView<'_, T> {
    /// Elements from one line to the next.
    pub fn leading_dimension(&self) -> usize {
        self.matrix.leading_dimension()
    }

    pub fn len(&self) -> usize {
        self.matrix.rows()
    }
}

impl<T: LineKernels> LinesView<'_, T> {
    /// The residues of the lines, for the product's operand number `side`, made in the stream of `device`.
    pub fn residues(
        &self,
        device: &Device,
        plan: &ResiduesPlan,
        side: usize,
    ) -> Outcome<LinesResidues> {
        let moduli = plan.moduli[side];
        let rows_of_part = plan.count() * self.len();
        let parts: Vec<_> = parts_of(self.k, plan.part).collect();
        let mut residues =
            Matrix::<i8>::uninit(device, (parts.len() * rows_of_part, plan.part).into())?;
        let room = residues.buffer_mut().view_mut();
        let rooms = room.into_runs(parts.iter().map(|_| rows_of_part * plan.part))?;
        let count = parts.len() * plan.count();
        for (part, result) in parts.into_iter().zip(rooms) {
            let shape = ResiduesShape::new(
                (self.len(), part.len()),
                self.matrix.leading_dimension(),
                plan.part / 4,
            );
            let blocks = grid_x(Some(shape.blocks()), || {
                format!("an operand of {}x{} elements", self.len(), self.k)
            })?;
            let config = LaunchConfig::new(blocks, RESIDUES_THREADS);
            let x = (self.matrix.part(.., part)).expect("the lines have the part");
            // SAFETY: the launch reads only elements of the part, and writes the words of each of its lines and each
            // modulus, as the kernels document: `result` has these, and starts at a multiple of 16 bytes, as its rows
            // have. What is known is of all of each line. The views are live without conflicting work: the operand is
            // borrowed, and the residues belong to this call.
            unsafe {
                let views = (
                    read_elements(x.into()),
                    global(self.known),
                    global_mut(result),
                );
                T::residues(device, config, views, (shape, moduli), self.is_exact)?;
            }
        }
        Ok(LinesResidues { residues, count })
    }
}

/// Residues of lines.
#[derive(Debug)]
pub struct LinesResidues {
    /// For each part of K and each modulus, a row for each line.
    residues: Matrix<i8>,
    /// Parts times moduli.
    count: usize,
}

impl LinesResidues {
    /// A matrix for each part of K and each modulus, with the residues of these lines as rows.
    pub fn of_lines(&self, range: Range<usize>) -> Outcome<MatrixBatch<'_, i8>> {
        let all = self.residues.view().parts(self.count, Order::RowMajor)?;
        all.of_each(range, ..)
    }

    /// Orders later work of `device` that reads them.
    pub fn order_reads(&self, device: &Device) -> Outcome<()> {
        self.residues.as_buffer().holder().order_reads(device)
    }
}
