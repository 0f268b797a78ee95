//! f32 products on tensor cores, of operands that are taken apart into halves.

use super::persistent::persistent_grid;
use crate::buffer::Buffer;
use crate::error::Outcome;
use crate::launch_args::global;
use crate::launch_args::written_by_product;
use crate::matmul::entry::{Entry, SplitArguments};
use crate::matmul::epilogue::Stores;
use crate::matmul::halves::{SplitOperand, Whole, split_rows};
use crate::matmul::kernel::{GemmKernel, Method};
use crate::matmul::matrices::Matrices;
use crate::matmul::prepared::PreparedMatrix;
use crate::module::Module;
use tilewright_kernels::tensor::{LineWords, TensorShape};

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
    let mut words = Buffer::uninit(left.device(), a_words + b_words)?;
    let (mut a_words, mut b_words) = words.split_at_mut(a_words).expect("there are so many");
    let whole = |prepared: Option<_>, x, words| match prepared {
        Some(_) => None,
        None => Some(Whole { x, words }),
    };
    let wholes = [
        whole(of_a, left, a_words.view_mut()),
        match is_gram {
            true => None,
            false => whole(of_b, right, b_words.view_mut()),
        },
    ];
    let [a_halves, b_halves] = split_rows(left.device(), wholes)?;
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
    let (Entry::Split(launch), Method::Split(tiles)) = (kernel.entry, kernel.method) else {
        unreachable!("the kernel was selected for operands that are taken apart");
    };
    let tile = kernel.element.cluster_tile(tiles);
    let (a_map, b_map) = (a.map(tile.rows)?, b.map(tile.columns / tile.blocks)?);
    let Matrices {
        c,
        epilogue,
        is_transposed,
        is_gram,
        ..
    } = matrices;
    let result = c.view().first();
    let tiles = tile.count((m, n), *is_gram);
    let config = persistent_grid(result.device(), tile, tiles);
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
    let arguments = SplitArguments {
        a: a_map,
        b: b_map,
        words: [global(a.words), global(b.words)],
        // SAFETY: (1) by (2) of the kernels.
        c: unsafe { written_by_product(c.view_mut()) },
        shape,
        is_transposed: *is_transposed,
        epilogue: epilogue.arguments(Stores::Single),
    };
    // SAFETY: (1) is (1) to (3) of the kernels: (1) the maps and the words are those of the operands, which
    // earlier work splits; (2) the view; (3) `persistent_grid`. (2) C is borrowed mutably; the operands
    // are freed by work that comes later.
    unsafe { launch(&module, config, arguments) }
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
