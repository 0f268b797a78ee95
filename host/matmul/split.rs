//! f32 products on tensor cores, of operands that are taken apart into halves.

use super::kernels::{Entry, GemmKernel};
use super::lines::map_of;
use super::matrices::Matrices;
use super::operands::{read_elements, written_by_product};
use super::persistent::persistent_grid;
use crate::buffer::{Buffer, BufferViewMut};
use crate::error::Outcome;
use crate::kernels::module_of;
use crate::launch::LaunchConfig;
use crate::launch_args::{global, global_mut};
use crate::matrix::{Matrix, MatrixView, MatrixViewMut, Order};
use crate::module::Module;
use cuda_std::grid_constant::GridConstant;
use cuda_std::tma::TensorMap;
use half::f16;
use tilewright_kernels::tensor::{
    LineWords, SCAN_DEPTH, SCAN_LINES, SPLIT, SPLIT_DEPTH, SPLIT_LINES, SPLIT_THREADS,
    lowest_exponent, matmul_split_f32, split_across, split_along, split_scan_across,
    split_scan_along,
};

/// Elements of f16 at whose multiples the lines of halves start, for bulk copies.
const PITCH: usize = 8;

/// An operand that was taken apart: rows of A, or columns of B.
struct SplitOperand<'a> {
    /// The upper halves of all lines, then the lower ones.
    halves: Matrix<f16>,
    words: BufferViewMut<'a, u32>,
    lines: usize,
    k: usize,
}

impl<'a> SplitOperand<'a> {
    /// Takes apart the rows of `x`, whose words are zero.
    fn of_rows(x: MatrixView<'_, f32>, words: BufferViewMut<'a, u32>) -> Outcome<Self> {
        let (lines, k) = x.shape();
        let pitch = k.next_multiple_of(PITCH);
        let mut operand = Self {
            halves: Matrix::uninit(x.device(), (2 * lines, pitch).into())?,
            words,
            lines,
            k,
        };
        operand.scan(x)?;
        operand.split(x)?;
        Ok(operand)
    }

    fn scan(&mut self, x: MatrixView<'_, f32>) -> Outcome<()> {
        let grid = (blocks(self.lines, SCAN_LINES), blocks(self.k, SCAN_DEPTH));
        let config = LaunchConfig::new(grid, SPLIT_THREADS);
        // SAFETY: (1) the kernels read the elements of the view alone, by their (2).
        let elements = unsafe { read_elements(x) };
        let words = global_mut(self.words.view_mut());
        let params = (elements, self.lines, self.k, x.leading_dimension(), words);
        // SAFETY: (1) is (1) to (3) of the kernels: (1) the grid; (2) the view, whose order selects the
        // kernel; (3) the words are zero. (2) The operand is borrowed, the words are ours.
        unsafe {
            match x.order() {
                Order::RowMajor => Module::on_demand(x.device(), module_of!(split_scan_along))
                    .launch_params(split_scan_along, config, params),
                Order::ColumnMajor => Module::on_demand(x.device(), module_of!(split_scan_across))
                    .launch_params(split_scan_across, config, params),
            }
        }
    }

    fn split(&mut self, x: MatrixView<'_, f32>) -> Outcome<()> {
        let grid = (blocks(self.lines, SPLIT_LINES), blocks(self.k, SPLIT_DEPTH));
        let config = LaunchConfig::new(grid, SPLIT_THREADS);
        let pitch = self.halves.cols();
        let lowest = lowest_exponent(self.k).expect("the product can be split");
        let mut halves = self.halves.view_mut();
        let (mut high, mut low) = halves
            .split_rows_at_mut(self.lines)
            .expect("there are twice as many");
        // SAFETY: (1) as in `scan`, and the halves have no gaps.
        let (elements, high, low) = unsafe {
            (
                read_elements(x),
                written_by_product(high.view_mut()),
                written_by_product(low.view_mut()),
            )
        };
        let words = global_mut(self.words.view_mut());
        let params = (
            elements,
            self.lines,
            self.k,
            x.leading_dimension(),
            words,
            high,
            low,
            pitch,
            lowest,
        );
        // SAFETY: (1) is (1) to (4) of the kernels: (1) the grid; (2) the view, whose order selects the
        // kernel; (3) the scan comes before; (4) the pitch. (2) The operand is borrowed, all else is ours.
        unsafe {
            match x.order() {
                Order::RowMajor => Module::on_demand(x.device(), module_of!(split_along))
                    .launch_params(split_along, config, params),
                Order::ColumnMajor => Module::on_demand(x.device(), module_of!(split_across))
                    .launch_params(split_across, config, params),
            }
        }
    }

    /// Maps of the upper and the lower halves, with boxes of `box_rows` lines.
    fn maps<const ROWS: usize>(&self) -> Outcome<[TensorMap<f16, ROWS, 64>; 2]> {
        let map = |first: usize| {
            let half = self
                .halves
                .view()
                .part(first..first + self.lines, ..self.k)?;
            map_of(half, ROWS).map(TensorMap::of_words)
        };
        Ok([map(0)?, map(self.lines)?])
    }
}

fn blocks(elements: usize, of_block: usize) -> u32 {
    elements.div_ceil(of_block) as u32
}

/// C = A B, for a K of which [`lowest_exponent`] has one. `wide` is the kernel for what is left out.
pub fn multiply(
    kernel: &'static GemmKernel,
    wide: &'static GemmKernel,
    mut matrices: Matrices<'_, f32>,
) -> Outcome<()> {
    let (m, n, _) = matrices.extents();
    let of_a = LineWords { lines: m }.len();
    let len = of_a + LineWords { lines: n }.len();
    let mut words = Buffer::zeroed(matrices.c.device(), len)?;
    let (of_a, of_b) = words.split_at_mut(of_a).expect("there are words of B");
    let left = SplitOperand::of_rows(matrices.a, of_a)?;
    let right = SplitOperand::of_rows(matrices.b.t(), of_b)?;
    let is_transposed = matrices.is_transposed;
    multiply_halves(
        kernel,
        [&left, &right],
        matrices.c.view_mut(),
        is_transposed,
    )?;
    multiply_wide(wide, [&left, &right], matrices)
}

fn multiply_halves(
    kernel: &'static GemmKernel,
    [a, b]: [&SplitOperand<'_>; 2],
    c: MatrixViewMut<'_, f32>,
    is_transposed: bool,
) -> Outcome<()> {
    let device = c.device();
    let (m, n, k) = (a.lines, b.lines, a.k);
    let config = persistent_grid(device, &SPLIT, m, n);
    let ([a_high, a_low], [b_high, b_low]) = (a.maps()?, b.maps()?);
    let ldc = c.leading_dimension();
    // SAFETY: (1) by (2) of the kernel.
    let c = unsafe { written_by_product(c) };
    let params = (
        GridConstant::new(&a_high),
        GridConstant::new(&a_low),
        GridConstant::new(&b_high),
        GridConstant::new(&b_low),
        global(a.words.view()),
        global(b.words.view()),
        c,
        m,
        n,
        k,
        ldc,
        u32::from(is_transposed),
    );
    // SAFETY: (1) is (1) to (3) of the kernel: (1) the maps and the words are those of the operands, which
    // earlier work splits; (2) the view; (3) `persistent_grid`. (2) C is borrowed mutably; the operands
    // are freed by work that comes later.
    unsafe {
        Module::on_demand(device, kernel.module).launch_params(matmul_split_f32, config, params)
    }
}

/// The outputs of wide lines.
fn multiply_wide(
    kernel: &'static GemmKernel,
    [left, right]: [&SplitOperand<'_>; 2],
    matrices: Matrices<'_, f32>,
) -> Outcome<()> {
    let Entry::Wide(launch) = kernel.entry else {
        unreachable!("the kernel was selected for wide lines");
    };
    let module = Module::on_demand(matrices.c.device(), kernel.module);
    let config = matrices.grid(kernel)?;
    // SAFETY: (1) by (2) of the kernels.
    let arguments = unsafe { matrices.arguments() };
    let words = [global(left.words.view()), global(right.words.view())];
    // SAFETY: (1) is (1) to (4) of the kernels: (1) the grid; (2) the views; (3) the kernel was selected by
    // the operands' orders and rows; (4) the words are those of the splits. (2) As in `multiply_halves`.
    unsafe { launch(&module, config, arguments, words) }
}
