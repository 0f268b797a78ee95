//! Exact products: by products of residues, and by exact dot products for the outputs that these leave open.

use super::Computes;
use super::exact_kernels::ExactKernels;
use crate::buffer::{Buffer, BufferView};
use crate::device::Device;
use crate::error::Outcome;
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{global, global_mut, read_elements, written_by_product};
use crate::matmul::entry::ExactArguments;
use crate::matmul::epilogue::{Epilogue, vector};
use crate::matmul::launchers::Launcher;
use crate::matmul::operands::{Matrices, Operands};
use crate::matmul::plan::{Plan, ResiduesPlan, Staging, Steps, Store};
use crate::matmul::staging::transpose_wide;
use crate::matrix::{Matrix, MatrixView, MatrixViewMut, Order};
use crate::module::Module;
use cuda_std::global::GlobalMut;
use std::ops::Range;
use tilewright_kernels::exact::{
    COMBINE_THREADS, CombineShape, DOTS_THREADS, DotsShape, LINES_THREADS, Line, LinesShape,
    Moduli, PAIR, RESIDUES_THREADS, ResiduesShape,
};

/// Bytes to which rows of products of residues are aligned.
const PITCH: usize = 16;

/// Blocks that keep a multiprocessor busy, for kernels whose blocks loop.
const BLOCKS_OF_MULTIPROCESSOR: u32 = 8;

/// C = A B, one product after another.
pub fn multiply<T: ExactKernels>(plan: &Plan, mut matrices: Matrices<'_, T, T, T>) -> Outcome<()> {
    (0..matrices.count()).try_for_each(|number| multiply_one(plan, matrices.part(number, 1)))
}

fn multiply_one<T: ExactKernels>(plan: &Plan, matrices: Matrices<'_, T, T, T>) -> Outcome<()> {
    let Steps::Exact(exact) = &plan.steps else {
        unreachable!("the plan is of an exact product");
    };
    let (m, n, k) = matrices.extents();
    let Matrices {
        operands: Operands { a, b, .. },
        c,
        epilogue,
    } = matrices;
    let device = a.first().device();
    let [of_a, of_b] = plan.staging;
    let bits = exact.residues.as_ref().map_or(0, |it| it.bits);
    let a = OperandLines::new(a.first(), of_a, (m, k), bits)?;
    let b = OperandLines::new(b.first().t(), of_b, (n, k), bits)?;
    let c = c.into_first();
    let mut product = ExactProduct {
        plan,
        device,
        k,
        epilogue,
        c,
    };
    let Some(residues) = &exact.residues else {
        let panel = Panel {
            rows: 0..m,
            columns: 0..n,
        };
        return product.dots([a.part(0..m), b.part(0..n)], None, &panel);
    };
    let of_columns = Moduli::of_b(residues.moduli.count as usize);
    let (height, width) = residues.panel;
    for rows in parts_of(m, height) {
        let rows_of_a = a.part(rows.clone());
        let of_a = rows_of_a.residues(residues, &residues.moduli)?;
        for columns in parts_of(n, width) {
            let panel = Panel {
                rows: rows.clone(),
                columns,
            };
            let columns_of_b = b.part(panel.columns.clone());
            let of_b = columns_of_b.residues(residues, &of_columns)?;
            let lines = [rows_of_a, columns_of_b];
            let left = product.combine(residues, [&of_a, &of_b], lines, &panel)?;
            product.dots(lines, Some(left.view()), &panel)?;
        }
    }
    Ok(())
}

/// Ranges of `step` numbers that cover 0 to `len`.
fn parts_of(len: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = (0..len).step_by(step.max(1));
    starts.map(move |start| start..len.min(start + step))
}

/// Rows and columns of C that are computed at once.
struct Panel {
    rows: Range<usize>,
    columns: Range<usize>,
}

impl Panel {
    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.columns.len())
    }

    fn first(&self) -> [usize; 2] {
        [self.rows.start, self.columns.start]
    }
}

/// Rows of A or columns of B, each contiguous, and what is known of each.
struct OperandLines<'a, T: ExactKernels> {
    lines: Lines<'a, T>,
    known: Buffer<Line>,
    k: usize,
}

enum Lines<'a, T: ExactKernels> {
    InPlace(MatrixView<'a, T>),
    Transposed(Matrix<T>),
}

impl<'a, T: ExactKernels> OperandLines<'a, T> {
    /// The lines of the rows of `matrix`, whose integers have `bits` bits.
    fn new(
        matrix: MatrixView<'a, T>,
        staging: Staging,
        (lines, k): (usize, usize),
        bits: u32,
    ) -> Outcome<Self> {
        let lines_of = match staging {
            Staging::Transposed => Lines::Transposed(transpose_wide(matrix.t())?),
            Staging::Unread => Lines::InPlace(matrix),
            _ => Lines::InPlace(
                (matrix.in_order(Order::RowMajor)).expect("the plan says that rows are contiguous"),
            ),
        };
        let device = matrix.device();
        let mut operand = Self {
            lines: lines_of,
            known: Buffer::uninit(device, lines)?,
            k,
        };
        let shape = LinesShape {
            lines,
            k,
            leading_dimension: operand.matrix().leading_dimension(),
            bits: bits as i32,
            unused: 0,
        };
        let config = looping(
            device,
            lines.div_ceil(LINES_THREADS as usize / 32),
            LINES_THREADS,
        );
        let known = operand.known.view_mut();
        let matrix = match &operand.lines {
            Lines::InPlace(matrix) => *matrix,
            Lines::Transposed(copy) => copy.view(),
        };
        // SAFETY: the launch reads only elements of the matrix, and writes an element for each line, as the kernels
        // document. The views are live without conflicting work: the operand is borrowed, and what is known belongs
        // to this call.
        unsafe {
            let x = read_elements(matrix.into());
            T::lines(device, config, (x, global_mut(known)), shape)?;
        }
        Ok(operand)
    }

    fn matrix(&self) -> MatrixView<'_, T> {
        match &self.lines {
            Lines::InPlace(matrix) => *matrix,
            Lines::Transposed(copy) => copy.view(),
        }
    }

    fn part(&self, range: Range<usize>) -> LinesView<'_, T> {
        let known = self.known.view().slice(range.clone());
        LinesView {
            matrix: (self.matrix().part(range, ..)).expect("the operand has the lines"),
            known: known.expect("there is an element for each line"),
            k: self.k,
        }
    }
}

/// Some of an operand's lines.
#[derive(Clone, Copy)]
struct LinesView<'a, T: ExactKernels> {
    matrix: MatrixView<'a, T>,
    known: BufferView<'a, Line>,
    k: usize,
}

impl<T: ExactKernels> LinesView<'_, T> {
    fn len(&self) -> usize {
        self.matrix.rows()
    }

    /// The residues of the lines: for each part of K and each modulus, a row for each line.
    fn residues(&self, plan: &ResiduesPlan, moduli: &Moduli) -> Outcome<Matrix<i8>> {
        let device = self.matrix.device();
        let count = plan.moduli.count as usize;
        let rows_of_part = count * self.len();
        let parts: Vec<_> = parts_of(self.k, plan.part).collect();
        let mut residues =
            Matrix::<i8>::uninit(device, (parts.len() * rows_of_part, plan.part).into())?;
        let room = residues.buffer_mut().view_mut();
        let rooms = room.into_runs(parts.iter().map(|_| rows_of_part * plan.part))?;
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
                T::residues(device, config, views, (shape, moduli))?;
            }
        }
        Ok(residues)
    }
}

/// A launch of a kernel whose blocks loop over `blocks` blocks' work.
fn looping(device: &Device, blocks: usize, threads: u32) -> LaunchConfig {
    let most = device.properties().multiprocessors * BLOCKS_OF_MULTIPROCESSOR;
    let blocks = (blocks.min(most as usize) as u32).max(1);
    LaunchConfig::new(blocks, threads)
}

/// An exact product.
struct ExactProduct<'a, T: ExactKernels> {
    plan: &'a Plan,
    device: &'a Device,
    k: usize,
    epilogue: Epilogue<'a, T>,
    c: MatrixViewMut<'a, T>,
}

impl<T: ExactKernels> ExactProduct<'_, T> {
    /// A panel of C, and the distance of its rows.
    fn panel(&mut self, panel: &Panel) -> (GlobalMut<'_, T>, usize) {
        let c = self.c.view_mut();
        let part = c.into_part(panel.rows.clone(), panel.columns.clone());
        let part = part.expect("C has the panel");
        let ldc = part.leading_dimension();
        // SAFETY: the launch accesses only the elements of the panel, as the kernels document.
        (unsafe { written_by_product(part.into()) }, ldc)
    }

    /// Writes the outputs of a panel whose rounding is certain. The result has the flags of the others.
    fn combine(
        &mut self,
        plan: &ResiduesPlan,
        residues: [&Matrix<i8>; 2],
        [a, b]: [LinesView<'_, T>; 2],
        panel: &Panel,
    ) -> Outcome<Buffer<u8>> {
        match plan.is_reduced {
            true => self.combine_from::<i8>(plan, residues, [a, b], panel, T::combine),
            false => self.combine_from::<i32>(plan, residues, [a, b], panel, T::combine_words),
        }
    }

    fn combine_from<R: crate::element::Element>(
        &mut self,
        plan: &ResiduesPlan,
        [of_a, of_b]: [&Matrix<i8>; 2],
        [a, b]: [LinesView<'_, T>; 2],
        panel: &Panel,
        launch: super::exact_kernels::Combine<T, R>,
    ) -> Outcome<Buffer<u8>>
    where
        i8: Computes<R, i32>,
    {
        let (m, n) = panel.shape();
        let moduli = plan.moduli.count as usize;
        let parts = self.k.div_ceil(plan.part);
        let count = parts * moduli;
        let pitch = n.next_multiple_of(PITCH);
        let mut products = Matrix::<R>::uninit(self.device, (count * m, pitch).into())?;
        let all = products.view_mut().into_equal_rows(count)?;
        let results = all.into_part(.., ..n)?;
        let operands = Operands::new(
            of_a.view().parts(count, Order::RowMajor)?,
            of_b.view().parts(count, Order::RowMajor)?.t(),
        );
        let number_of_moduli = Epilogue {
            alpha: moduli as i32,
            ..Epilogue::identity()
        };
        let epilogue = match plan.is_reduced {
            true => number_of_moduli,
            false => Epilogue::identity(),
        };
        <i8 as Computes<R, i32>>::write(self.device, plan.request, operands, results, epilogue)?;
        let shape = CombineShape {
            m,
            n,
            ldc: 0,
            pitch,
            parts,
            first: panel.first(),
        };
        let pairs = m
            .checked_mul(shape.pairs())
            .filter(|&it| u32::try_from(it).is_ok());
        let mut left = Buffer::uninit(self.device, m * shape.pairs())?;
        let blocks = pairs.map(|it| it.div_ceil(COMBINE_THREADS as usize));
        let blocks = grid_x(blocks, || format!("a result of {m}x{n} elements"))?;
        let config = LaunchConfig::new(blocks, COMBINE_THREADS);
        let (device, epilogue) = (self.device, self.epilogue.arguments(Store::Own));
        let (c, ldc) = self.panel(panel);
        let lines = [global(a.known), global(b.known)];
        // SAFETY: the launch meets the kernels' requirements: the products are those of the residues of these lines,
        // for each part and modulus; C has the panel; there is a byte for each pair, and a thread. The views are live
        // without conflicting work: C is borrowed mutably, and the rest is freed by work that comes later.
        unsafe {
            let products = global(products.as_buffer().view());
            let views = (products, lines, c, global_mut(left.view_mut()));
            launch(
                device,
                config,
                views,
                (CombineShape { ldc, ..shape }, &plan.moduli),
                epilogue,
            )?;
        }
        Ok(left)
    }

    /// Writes the outputs of a panel that are left, or all.
    fn dots(
        &mut self,
        [a, b]: [LinesView<'_, T>; 2],
        left: Option<BufferView<'_, u8>>,
        panel: &Panel,
    ) -> Outcome<()> {
        let (m, n) = panel.shape();
        let Launcher { module, launch } = T::EXACT.of(self.plan.kernel);
        let module = Module::on_demand(self.device, module);
        // A warp looks through 32 pairs at a time.
        let pairs = m.saturating_mul(n.div_ceil(PAIR));
        let config = looping(
            self.device,
            pairs.div_ceil(DOTS_THREADS as usize),
            DOTS_THREADS,
        );
        let (k, epilogue) = (self.k, self.epilogue.arguments(Store::Own));
        let (c, ldc) = self.panel(panel);
        // SAFETY: the launch reads only the elements of the lines, as the kernels document.
        let [of_a, of_b] = unsafe { [a, b].map(|it| read_elements(it.matrix.into())) };
        let arguments = ExactArguments {
            operands: [of_a, of_b],
            lines: [global(a.known), global(b.known)],
            c,
            left: match left {
                Some(left) => global(left),
                None => vector(None),
            },
            shape: DotsShape {
                m,
                n,
                k,
                apart: [a, b].map(|it| it.matrix.leading_dimension()),
                ldc,
                first: panel.first(),
            },
            epilogue,
        };
        // SAFETY: the launch meets the kernels' requirements: the lines are those of the panel's rows and columns, with
        // what is known of them; there is a byte for each pair or none; C has the panel. The views are live without
        // conflicting work: the operands are borrowed, C mutably, and the rest is freed by work that comes later.
        unsafe { launch(&module, config, arguments) }
    }
}
