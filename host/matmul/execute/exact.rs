//! Products by residues. The outputs that these cannot settle are computed by exact dot products, or, if the product is
//! not exact, on the tensor cores for f64.

mod kernels;
mod side;
#[cfg(test)]
mod tests;

pub use kernels::ExactKernels;

use super::Computes;
use crate::buffer::{Buffer, BufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, Outcome};
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{global, global_mut, read_elements, written_by_product};
use crate::matmul::entry::{ExactArguments, ProductArguments};
use crate::matmul::epilogue::{Epilogue, vector};
use crate::matmul::launchers::Launcher;
use crate::matmul::operands::{Matrices, Operands};
use crate::matmul::plan::{ExactPlan, Plan, ResiduesPlan, Steps, Store, smaller_panel};
use crate::matmul::staging::{LinesView, looping, parts_of};
use crate::matrix::{Matrix, MatrixViewMut};
use crate::module::Module;
use cuda_std::global::GlobalMut;
use kernels::Combine;
use side::{Side, SideResidues};
use std::ops::Range;
use tilewright_kernels::exact::{COMBINE_THREADS, CombineShape, DOTS_THREADS, DotsShape, QUAD};
use tilewright_kernels::matmul::ProductShape;

/// Bytes to which rows of products of residues are aligned.
const PITCH: usize = 16;

/// C = A B, one product after another.
pub fn multiply<T: ExactKernels>(plan: &Plan, mut matrices: Matrices<'_, T, T, T>) -> Outcome<()> {
    (0..matrices.count()).try_for_each(|number| multiply_one(plan, matrices.part(number, 1)))
}

fn multiply_one<T: ExactKernels>(plan: &Plan, matrices: Matrices<'_, T, T, T>) -> Outcome<()> {
    let (residues, is_exact) = match &plan.steps {
        Steps::Exact(ExactPlan { residues }) => (residues.as_ref(), true),
        Steps::Residues(residues) => (Some(residues), false),
        _ => unreachable!("the plan is of a product by residues"),
    };
    let (m, n, k) = matrices.extents();
    let Matrices {
        operands: Operands { a, b, prepared, .. },
        c,
        epilogue,
    } = matrices;
    let device = a.first().device();
    let bits = residues.map_or([0; 2], |it| it.bits);
    let side = |number: usize, matrix, lines| {
        let ways = (plan.staging[number], prepared[number]);
        Side::new(device, matrix, ways, (lines, k), (bits[number], is_exact))
    };
    let a = side(0, a.first(), m)?;
    let b = side(1, b.first().t(), n)?;
    let lines = [a.lines().part(0..m), b.lines().part(0..n)];
    let mut product = ExactProduct {
        plan,
        device,
        k,
        is_exact,
        epilogue,
        c: c.into_first(),
        has_written: false,
    };
    let Some(residues) = residues else {
        let all = Panel {
            rows: 0..m,
            columns: 0..n,
        };
        return product.dots(lines, None, &all);
    };
    let mut size = residues.panel;
    while let Err(error) = product.in_panels(residues, size, [&a, &b]) {
        let is_short = matches!(error, ErrorKind::OutOfMemory { .. });
        match smaller_panel(size).filter(|_| is_short && !product.has_written) {
            Some(smaller) => size = smaller,
            None => return Err(error),
        }
    }
    match is_exact {
        true => Ok(()),
        false => product.left(lines),
    }
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

/// An exact product.
struct ExactProduct<'a, T: ExactKernels> {
    plan: &'a Plan,
    device: &'a Device,
    k: usize,
    is_exact: bool,
    epilogue: Epilogue<'a, T>,
    c: MatrixViewMut<'a, T>,
    /// Whether a launch writes elements of C, so that the product cannot be begun again.
    has_written: bool,
}

impl<T: ExactKernels> ExactProduct<'_, T> {
    /// Computes C by products of residues, in panels of `height` rows and `width` columns.
    fn in_panels(
        &mut self,
        plan: &ResiduesPlan,
        (height, width): (usize, usize),
        [a, b]: [&Side<'_, T>; 2],
    ) -> Outcome<()> {
        let (m, n) = (self.c.rows(), self.c.cols());
        for rows in parts_of(m, height) {
            let of_a = a.lines().part(rows.clone());
            let residues_of_a = a.residues(self.device, plan, 0, rows.clone())?;
            for columns in parts_of(n, width) {
                let lines = [of_a, b.lines().part(columns.clone())];
                let residues_of_b = b.residues(self.device, plan, 1, columns.clone())?;
                let panel = Panel {
                    rows: rows.clone(),
                    columns,
                };
                let residues = [&residues_of_a, &residues_of_b];
                let left = self.combine(plan, residues, lines, &panel)?;
                if let Some(left) = left {
                    self.dots(lines, Some(left.view()), &panel)?;
                }
            }
        }
        Ok(())
    }

    /// A panel of C, and the distance of its rows.
    fn panel(&mut self, panel: &Panel) -> (GlobalMut<'_, T>, usize) {
        let c = self.c.view_mut();
        let part = c.into_part(panel.rows.clone(), panel.columns.clone());
        let part = part.expect("C has the panel");
        let ldc = part.leading_dimension();
        // SAFETY: the launch accesses only the elements of the panel, as the kernels document.
        (unsafe { written_by_product(part.into()) }, ldc)
    }

    /// Writes the outputs of a panel whose rounding is certain, and returns the flags of the others; if the product is
    /// not exact, writes all outputs but those of lines out of range.
    fn combine(
        &mut self,
        plan: &ResiduesPlan,
        residues: [&SideResidues<'_>; 2],
        [a, b]: [LinesView<'_, T>; 2],
        panel: &Panel,
    ) -> Outcome<Option<Buffer<u8>>> {
        match plan.is_reduced {
            true => self.combine_from::<i8>(plan, residues, [a, b], panel, T::combine),
            false => self.combine_from::<i32>(plan, residues, [a, b], panel, T::combine_words),
        }
    }

    fn combine_from<R: Element>(
        &mut self,
        plan: &ResiduesPlan,
        [of_a, of_b]: [&SideResidues<'_>; 2],
        [a, b]: [LinesView<'_, T>; 2],
        panel: &Panel,
        launch: Combine<T, R>,
    ) -> Outcome<Option<Buffer<u8>>>
    where
        i8: Computes<R, i32>,
    {
        let (m, n) = panel.shape();
        let moduli = plan.count();
        let parts = self.k.div_ceil(plan.part);
        let count = parts * moduli;
        let pitch = n.next_multiple_of(PITCH);
        let mut products = Matrix::<R>::uninit(self.device, (count * m, pitch).into())?;
        let all = products.view_mut().into_equal_rows(count)?;
        let results = all.into_part(.., ..n)?;
        let operands = Operands::new(of_a.matrices()?, of_b.matrices()?.t());
        // A kernel that reduces takes the number of moduli as alpha.
        let epilogue = Epilogue {
            alpha: if plan.is_reduced { moduli as i32 } else { 1 },
            ..Epilogue::identity()
        };
        <i8 as Computes<R, i32>>::write(self.device, plan.request, &operands, results, &epilogue)?;
        let shape = CombineShape {
            m,
            n,
            ldc: 0,
            pitch,
            parts,
            first: panel.first(),
        };
        let quads = m
            .checked_mul(shape.quads())
            .filter(|&it| u32::try_from(it).is_ok());
        let flags = if self.is_exact { m * shape.quads() } else { 0 };
        let mut left = Buffer::uninit(self.device, flags)?;
        let blocks = quads.map(|it| it.div_ceil(COMBINE_THREADS as usize));
        let blocks = grid_x(blocks, || format!("a result of {m}x{n} elements"))?;
        let config = LaunchConfig::new(blocks, COMBINE_THREADS);
        let (device, is_exact) = (self.device, self.is_exact);
        let epilogue = self.epilogue.arguments(Store::Own);
        self.has_written = true;
        let (c, ldc) = self.panel(panel);
        let lines = [global(a.known), global(b.known)];
        // SAFETY: the launch meets the kernels' requirements: the products are those of the residues of these lines,
        // for each part and modulus; C has the panel; there is a byte for each four outputs, and a thread. The views are
        // live without conflicting work: C is borrowed mutably, and the rest is freed by work that comes later.
        unsafe {
            let products = global(products.as_buffer().view());
            let views = (products, lines, c, global_mut(left.view_mut()));
            launch(
                device,
                config,
                views,
                (CombineShape { ldc, ..shape }, plan.weights),
                epilogue,
                is_exact,
            )?;
        }
        Ok(self.is_exact.then_some(left))
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
        // A warp looks through 32 bytes of flags at a time.
        let quads = m.saturating_mul(n.div_ceil(QUAD));
        let config = looping(
            self.device,
            quads.div_ceil(DOTS_THREADS as usize),
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
                apart: [a, b].map(|it| it.leading_dimension()),
                ldc,
                first: panel.first(),
            },
            epilogue,
        };
        // SAFETY: the launch meets the kernels' requirements: the lines are those of the panel's rows and columns, with
        // what is known of them; there is a byte for each four outputs, or none; C has the panel. The views are live
        // without conflicting work: the operands are borrowed, C mutably, and the rest is freed by work that comes
        // later.
        unsafe { launch(module, config, arguments) }
    }

    /// Writes the outputs of lines out of range.
    fn left(&mut self, [a, b]: [LinesView<'_, T>; 2]) -> Outcome<()> {
        let Launcher { module, launch } = T::LEFT.of(self.plan.kernel);
        let (m, n) = (a.len(), b.len());
        let config = self.plan.grid.of_results(1, (m, n))?;
        let module = Module::on_demand(self.device, module);
        let shape = ProductShape {
            m,
            n,
            k: self.k,
            lda: a.leading_dimension(),
            ldb: b.leading_dimension(),
            ldc: self.c.leading_dimension(),
            a_stride: 0,
            b_stride: 0,
            c_stride: 0,
            is_lower: 0,
            part: 0,
        };
        let lines = [a, b].map(|it| global(it.known));
        // SAFETY: the launch reads only the elements of the lines, as the kernels document.
        let [of_a, of_b] = unsafe { [a, b].map(|it| read_elements(it.matrix.into())) };
        let arguments = ProductArguments {
            a: of_a,
            b: of_b,
            // SAFETY: the launch accesses only the elements of C, as the kernels document.
            c: unsafe { written_by_product(self.c.view_mut().into()) },
            shape,
            epilogue: self.epilogue.arguments(Store::Own),
        };
        // SAFETY: the launch meets the kernels' requirements: rows of A and columns of B are contiguous, with a line
        // for each; the grid is the tile's; C is row-major and has the shape of the product. The views are live without
        // conflicting work: the operands are borrowed, C mutably, and the rest is freed by work that comes later.
        unsafe { launch(module, config, arguments, lines) }
    }
}
