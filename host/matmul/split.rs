//! f32 products on tensor cores, of operands that are taken apart into halves.

use super::epilogue::Stores;
use super::kernels::{Entry, GemmKernel};
use super::matrices::Matrices;
use super::operands::{read_elements, written_by_product};
use super::persistent::persistent_grid;
use super::prepared::PreparedMatrix;
use crate::backend::TensorMapBatch;
use crate::buffer::{Buffer, BufferView, BufferViewMut};
use crate::error::Outcome;
use crate::kernels::module_of;
use crate::launch::LaunchConfig;
use crate::launch_args::{global, global_mut};
use crate::matrix::{Matrix, MatrixView, Order};
use crate::module::Module;
use cuda_std::grid_constant::GridConstant;
use cuda_std::tma::TensorMap;
use half::f16;
use tilewright_kernels::tensor::{
    HALF_DEPTH, LineWords, SCAN_DEPTH, SCAN_LINES, SPLIT, SPLIT_DEPTH, SPLIT_LINES, SPLIT_THREADS,
    TensorShape, lowest_exponent, matmul_split_f32, split_across, split_along, split_scan_across,
    split_scan_along,
};

/// Elements of f16 at whose multiples the lines of halves start, for bulk copies.
const PITCH: usize = 8;

/// The memory of an operand that is taken apart: rows of A, or columns of B.
struct Lines<'a> {
    /// The upper halves of all lines, then the lower ones.
    halves: Matrix<f16>,
    words: BufferViewMut<'a, u32>,
    lines: usize,
    k: usize,
}

/// An operand that was taken apart.
#[derive(Clone, Copy)]
pub struct SplitOperand<'a> {
    halves: MatrixView<'a, f16>,
    words: BufferView<'a, u32>,
    lines: usize,
    k: usize,
}

/// Takes apart the rows of `x`, whose words are zero, and returns the halves.
pub fn split_rows(x: MatrixView<'_, f32>, words: BufferViewMut<'_, u32>) -> Outcome<Matrix<f16>> {
    let (lines, k) = x.shape();
    let pitch = k.next_multiple_of(PITCH);
    let mut operand = Lines {
        halves: Matrix::uninit(x.device(), (2 * lines, pitch).into())?,
        words,
        lines,
        k,
    };
    operand.scan(x)?;
    operand.split(x)?;
    Ok(operand.halves)
}

impl Lines<'_> {
    fn scan(&mut self, x: MatrixView<'_, f32>) -> Outcome<()> {
        let grid = (blocks(self.lines, SCAN_LINES), blocks(self.k, SCAN_DEPTH));
        let config = LaunchConfig::new(grid, SPLIT_THREADS);
        // SAFETY: (1) the kernels read the elements of the view alone, by their (2).
        let elements = unsafe { read_elements(x.into()) };
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
                read_elements(x.into()),
                written_by_product(high.view_mut().into()),
                written_by_product(low.view_mut().into()),
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
}

impl<'a> SplitOperand<'a> {
    /// The halves and the words of `lines` lines of `k` elements.
    pub fn new(
        halves: &'a Matrix<f16>,
        words: BufferView<'a, u32>,
        (lines, k): (usize, usize),
    ) -> Self {
        Self {
            halves: halves.view(),
            words,
            lines,
            k,
        }
    }

    /// A map of the upper and the lower halves, two matrices, with boxes of `ROWS` lines.
    fn map<const ROWS: usize>(&self) -> Outcome<TensorMap<f16, ROWS, 64, 3>> {
        let halves = TensorMapBatch {
            count: 2,
            matrix_bytes: (self.lines * self.halves.leading_dimension() * size_of::<f16>()) as u64,
        };
        let upper = self.halves.part(..self.lines, ..self.k)?;
        let words = upper.encode_tensor_map_of_batch(ROWS, HALF_DEPTH, halves)?;
        Ok(TensorMap::of_words(words))
    }
}

fn blocks(elements: usize, of_block: usize) -> u32 {
    elements.div_ceil(of_block) as u32
}

/// Products one after the other, for a K of which [`lowest_exponent`] has one. `wide` is the kernel for
/// what is left out.
pub fn multiply(
    kernel: &'static GemmKernel,
    wide: &'static GemmKernel,
    mut matrices: Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    (0..matrices.count()).try_for_each(|index| multiply_one(kernel, wide, matrices.part(index, 1)))
}

/// C = A B.
fn multiply_one(
    kernel: &'static GemmKernel,
    wide: &'static GemmKernel,
    mut matrices: Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    let (m, n, k) = matrices.extents();
    let [left, right] = [matrices.a.first(), matrices.b.first().t()];
    let [of_a, of_b] = matrices.prepared;
    // One buffer for the words of all that is taken apart here.
    let len = |lines, prepared: Option<&PreparedMatrix<'_>>| match prepared {
        Some(_) => 0,
        None => LineWords { lines }.len(),
    };
    // A's rows are B's columns in a product of a matrix with its transpose.
    let is_gram = matrices.is_gram;
    let (a_words, b_words) = (len(m, of_a), if is_gram { 0 } else { len(n, of_b) });
    let mut words = Buffer::zeroed(left.device(), a_words + b_words)?;
    let (mut a_words, mut b_words) = words.split_at_mut(a_words).expect("there are so many");
    let a_halves = match of_a {
        Some(_) => None,
        None => Some(split_rows(left, a_words.view_mut())?),
    };
    let b_halves = match of_b {
        _ if is_gram => None,
        Some(_) => None,
        None => Some(split_rows(right, b_words.view_mut())?),
    };
    let operand = |prepared, halves, words, lines| match (prepared, halves) {
        (Some(prepared), _) => PreparedMatrix::operand(prepared),
        (None, Some(halves)) => SplitOperand::new(halves, words, (lines, k)),
        (None, None) => unreachable!("what is not prepared is taken apart"),
    };
    let of_left = operand(of_a, a_halves.as_ref(), a_words.view(), m);
    let of_right = match is_gram {
        true => of_left,
        false => operand(of_b, b_halves.as_ref(), b_words.view(), n),
    };
    let operands = [of_left, of_right];
    multiply_halves(kernel, operands, &mut matrices)?;
    multiply_wide(wide, operands, matrices)
}

/// The outputs of all lines but the wide ones.
fn multiply_halves(
    kernel: &'static GemmKernel,
    [a, b]: [SplitOperand<'_>; 2],
    matrices: &mut Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    let (m, n, k) = (a.lines, b.lines, a.k);
    let (a_map, b_map) = (a.map()?, b.map()?);
    let Matrices {
        c,
        epilogue,
        is_transposed,
        is_gram,
        ..
    } = matrices;
    let result = c.view().first();
    let tiles = SPLIT.count((m, n), *is_gram);
    let config = persistent_grid(result.device(), &SPLIT, tiles);
    let module = Module::on_demand(result.device(), kernel.module);
    let shape = TensorShape {
        m: m as u32,
        n: n as u32,
        k: k as u32,
        matrices: 1,
        tiles: tiles as u32,
        is_lower: u32::from(*is_gram),
        a_step: 0,
        b_step: 0,
        ldc: result.leading_dimension(),
        c_stride: 0,
    };
    let epilogue = epilogue.arguments(Stores::Single);
    // SAFETY: (1) by (2) of the kernel.
    let c = unsafe { written_by_product(c.view_mut()) };
    let params = (
        GridConstant::new(&a_map),
        GridConstant::new(&b_map),
        global(a.words),
        global(b.words),
        c,
        GridConstant::new(&shape),
        u32::from(*is_transposed),
        GridConstant::new(&epilogue.numbers),
        epilogue.row_scale,
        epilogue.column_scale,
        epilogue.row_bias,
        epilogue.column_bias,
    );
    // SAFETY: (1) is (1) to (3) of the kernel: (1) the maps and the words are those of the operands, which
    // earlier work splits; (2) the view; (3) `persistent_grid`. (2) C is borrowed mutably; the operands
    // are freed by work that comes later.
    unsafe { module.launch_params(matmul_split_f32, config, params) }
}

/// The outputs of wide lines.
fn multiply_wide(
    kernel: &'static GemmKernel,
    [left, right]: [SplitOperand<'_>; 2],
    matrices: Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    let Entry::Wide(launch) = kernel.entry else {
        unreachable!("the kernel was selected for wide lines");
    };
    let module = Module::on_demand(matrices.a.first().device(), kernel.module);
    let config = matrices.grid(kernel)?;
    // SAFETY: (1) by (2) of the kernels.
    let arguments = unsafe { matrices.arguments() };
    let words = [global(left.words), global(right.words)];
    // SAFETY: (1) is (1) to (4) of the kernels: (1) the grid; (2) the views; (3) the kernel was selected by
    // the operands' orders and rows; (4) the words are those of the splits. (2) As in `multiply_halves`.
    unsafe { launch(&module, config, arguments, words) }
}
