//! Products of f16 and bf16 matrices, on tensor cores.

use super::kernels::{Entry, GemmKernel, HalfLaunch};
use super::lines::{AlignedLines, first_columns, is_aligned, map_of, room_for};
use super::matrices::Matrices;
use super::persistent::persistent_grid;
use crate::element::Element;
use crate::error::Outcome;
use crate::matrix::{Matrix, MatrixView, MatrixViewMut, Order};
use crate::module::Module;
use tilewright_kernels::tensor::{DEPTH, HALF};

/// Rows of C of a box of its map.
const C_BOX_ROWS: usize = 64;

/// C = A B in f16 or bf16.
pub fn multiply<T: Element>(kernel: &'static GemmKernel, matrices: Matrices<'_, T>) -> Outcome<()> {
    let extents = matrices.extents();
    let Matrices { a, b, mut c, .. } = matrices;
    if a.cols() == 0 {
        let zeros = Matrix::zeroed(c.device(), c.shape().into())?;
        return c.read_view(zeros.view());
    }
    let Entry::Half(launch) = kernel.entry else {
        unreachable!("the kernel was selected for halves");
    };
    let product = HalfProduct {
        kernel,
        launch,
        a: Operand::new(a, Order::RowMajor, HALF.rows)?,
        b: Operand::new(b, Order::ColumnMajor, HALF.columns / HALF.blocks)?,
        extents,
    };
    if is_aligned(c.view()) {
        return product.submit(&mut c);
    }
    let mut room = room_for(c.view())?;
    let mut aligned = first_columns(&mut room, c.cols());
    product.submit(&mut aligned)?;
    c.read_view(aligned.view())
}

/// An operand, and how many of its lines a block brings at a time.
struct Operand<'a, T: Element> {
    lines: AlignedLines<'a, T>,
    box_rows: usize,
}

impl<'a, T: Element> Operand<'a, T> {
    /// In the order `along_k` the lines are rows of A or columns of B, of which a block brings
    /// `outputs` at a time.
    fn new(view: MatrixView<'a, T>, along_k: Order, outputs: usize) -> Outcome<Self> {
        let box_rows = match view.order() == along_k {
            true => outputs,
            false => DEPTH,
        };
        Ok(Self {
            lines: AlignedLines::of(view)?,
            box_rows,
        })
    }
}

struct HalfProduct<'a, T: Element> {
    kernel: &'static GemmKernel,
    launch: HalfLaunch,
    a: Operand<'a, T>,
    b: Operand<'a, T>,
    /// M, N and K.
    extents: (usize, usize, usize),
}

impl<T: Element> HalfProduct<'_, T> {
    /// Launches the kernel for a C with aligned rows.
    fn submit(&self, c: &mut MatrixViewMut<'_, T>) -> Outcome<()> {
        let maps = [
            self.a.lines.map(self.a.box_rows)?,
            self.b.lines.map(self.b.box_rows)?,
            map_of(c.view(), C_BOX_ROWS)?,
        ];
        let (m, n, k) = self.extents;
        let config = persistent_grid(c.device(), &HALF, m, n);
        let module = Module::on_demand(c.device(), self.kernel.module);
        let extents = (m as u32, n as u32, k as u32);
        // SAFETY: (1) is (1) and (2) of the kernels: (1) the maps are those of the matrices, by whose
        // orders the kernel was selected. (2) `persistent_grid`. (2) A, B and C are borrowed until this
        // returns, C mutably; a copy is freed by work that comes later.
        unsafe { (self.launch)(&module, config, maps, extents) }
    }
}
