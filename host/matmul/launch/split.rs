//! f32 products on tensor cores, with split operands.

use super::persistent::persistent_grid;
use super::split_mma;
use crate::buffer::Buffer;
use crate::error::Outcome;
use crate::launch::MAX_GRID_Y;
use crate::launch_args::global;
use crate::launch_args::written_by_product;
use crate::matmul::entry::SplitArguments;
use crate::matmul::epilogue::Stores;
use crate::matmul::halves::{SplitOperand, Whole, matrices_of, split_rows};
use crate::matmul::kernel::{GemmKernel, Method};
use crate::matmul::launchers::{Kernels as _, Launcher};
use crate::matmul::matrices::Matrices;
use crate::matmul::prepared::PreparedMatrix;
use crate::matrix::MatrixBatch;
use crate::module::Module;
use tilewright_kernels::tensor::{LineWords, TensorShape};

/// Elements of both operands that are split at a time, if there are several products. Their halves take as many
/// bytes as they do: 256 MB.
const AT_A_TIME: usize = 1 << 26;

/// Products with a K for which [`lowest_exponent`](tilewright_kernels::tensor::lowest_exponent) is not `None`, in
/// one launch or, if they are large, in several. The kernel `wide` computes what the split leaves out.
pub fn multiply(
    kernel: &'static GemmKernel,
    wide: &'static GemmKernel,
    matrices: Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    multiply_some(AT_A_TIME, kernel, wide, matrices)
}

/// [`multiply`], with `at_a_time` elements of the operands split at a time, or those of one product.
fn multiply_some(
    at_a_time: usize,
    kernel: &'static GemmKernel,
    wide: &'static GemmKernel,
    mut matrices: Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    let ((m, n, k), count) = (matrices.extents(), matrices.count());
    let elements = |it: MatrixBatch<'_, f32>, lines: usize| it.count().map_or(0, |_| lines * k);
    let of_product = elements(matrices.a, m).saturating_add(elements(matrices.b, n));
    let at_a_time = (at_a_time / of_product.max(1)).clamp(1, MAX_GRID_Y as usize);
    if count <= at_a_time {
        return multiply_at_once(kernel, wide, matrices);
    }
    // An operand that all products share is split once.
    let device = matrices.a.first().device().clone();
    let shared = |it: MatrixBatch<'_, f32>| it.count().is_none();
    let [of_a, of_b] = matrices.prepared;
    let (left, right) = (matrices.a.first().t(), matrices.b.first());
    let prepared = |is_shared: bool, matrix| {
        let prepared = is_shared.then(|| PreparedMatrix::new(&device, matrix));
        prepared.transpose()
    };
    let new_a = prepared(of_a.is_none() && shared(matrices.a), left)?;
    let new_b = prepared(of_b.is_none() && shared(matrices.b), right)?;
    (0..count).step_by(at_a_time).try_for_each(|first| {
        let part = matrices.part(first, at_a_time.min(count - first));
        let prepared = [of_a.or(new_a.as_ref()), of_b.or(new_b.as_ref())];
        multiply_at_once(kernel, wide, Matrices { prepared, ..part })
    })
}

/// Products in one launch.
fn multiply_at_once(
    kernel: &'static GemmKernel,
    wide: &'static GemmKernel,
    mut matrices: Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    let (m, n, k) = matrices.extents();
    let [left, right] = [matrices.a, matrices.b.t()];
    let [of_a, of_b] = matrices.prepared;
    let device = left.first().device();
    // One buffer holds the words of all that is split here.
    let len = |x, lines, prepared: Option<&PreparedMatrix<'_>>| match prepared {
        Some(_) => 0,
        None => matrices_of(x) * LineWords { lines }.len(),
    };
    // In a product of a matrix with its transpose, A's rows are B's columns.
    let is_gram = matrices.is_gram;
    let a_words = len(left, m, of_a);
    let b_words = if is_gram { 0 } else { len(right, n, of_b) };
    let mut words = Buffer::uninit(device, a_words + b_words)?;
    let (mut a_words, mut b_words) = words
        .split_at_mut(a_words)
        .expect("both operands have their words");
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
    let [a_halves, b_halves] = split_rows(device, wholes)?;
    let operand = |prepared, halves, words, (x, lines)| match (prepared, halves) {
        (Some(prepared), _) => PreparedMatrix::operand(prepared),
        (None, Some(halves)) => SplitOperand::new(halves, words, matrices_of(x), (lines, k)),
        (None, None) => unreachable!("an operand that is not prepared is split"),
    };
    let of_left = operand(of_a, a_halves.as_ref(), a_words.view(), (left, m));
    let of_right = match is_gram {
        true => of_left,
        false => operand(of_b, b_halves.as_ref(), b_words.view(), (right, n)),
    };
    let operands = [of_left, of_right];
    match kernel.method {
        Method::SplitMma(_) => split_mma::multiply_halves(kernel, operands, &mut matrices)?,
        _ => multiply_halves(kernel, operands, &mut matrices)?,
    }
    multiply_wide(wide, operands, matrices)
}

/// The outputs of all rows and columns within the split's range.
fn multiply_halves(
    kernel: &'static GemmKernel,
    [a, b]: [SplitOperand<'_>; 2],
    matrices: &mut Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    let (m, n, k) = (a.lines, b.lines, a.k);
    let Launcher { module, launch } = f32::SPLITS.of(kernel);
    let tile = kernel.cluster_tile();
    let (a_map, b_map) = (a.map(tile.rows)?, b.map(tile.part())?);
    let count = matrices.count();
    let steps = [matrices.a, matrices.b].map(|it| u32::from(it.count().is_some()));
    let Matrices {
        c,
        epilogue,
        is_transposed,
        is_gram,
        part,
        ..
    } = matrices;
    let result = c.view().first();
    let tiles = tile.tiles((m, n), *is_gram);
    let config = persistent_grid(result.device(), tile, tiles.saturating_mul(count));
    let module = Module::on_demand(result.device(), module);
    let shape = TensorShape {
        m: m as u32,
        n: n as u32,
        k: k as u32,
        matrices: count as u32,
        tiles: tiles as u32,
        is_lower: u32::from(*is_gram),
        a_step: steps[0],
        b_step: steps[1],
        ldc: result.leading_dimension(),
        c_stride: c.view().stride(),
        c_columns_apart: 1,
        part: part.unwrap_or(0),
    };
    let arguments = SplitArguments {
        a: a_map,
        b: b_map,
        words: [global(a.words), global(b.words)],
        // SAFETY: the launch accesses only the elements of C, as the kernels document.
        c: unsafe { written_by_product(c.view_mut()) },
        shape,
        is_transposed: *is_transposed,
        epilogue: epilogue.arguments(Stores::Single),
    };
    // SAFETY: the launch meets the kernels' requirements: the maps and the words are those of the operands, which
    // earlier work splits; the view of C has the shape of the product; the grid is that of `persistent_grid`. The
    // views are live without conflicting work: C is borrowed mutably, and the operands are freed by work that comes
    // later.
    unsafe { launch(&module, config, arguments) }
}

/// The outputs of rows and columns outside the split's range.
fn multiply_wide(
    kernel: &'static GemmKernel,
    [left, right]: [SplitOperand<'_>; 2],
    matrices: Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    let Launcher { module, launch } = f32::LEFT_OUT.of(kernel);
    let module = Module::on_demand(matrices.a.first().device(), module);
    let config = matrices.grid(kernel)?;
    // SAFETY: the launch accesses only the elements of the matrices, as the kernels document.
    let arguments = unsafe { matrices.arguments() };
    let words = [global(left.words), global(right.words)];
    // SAFETY: the launch meets the kernels' requirements: the grid is the tile's, the views are those of the
    // matrices, the kernel was selected by the operands' orders and rows, and the words are those of the split. The
    // views are live without conflicting work, as in `multiply_halves`.
    unsafe { launch(&module, config, arguments, words) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::matmul::arithmetic::Arithmetic;
    use crate::matmul::epilogue::Epilogue;
    use crate::matmul::kernel::ElementType;
    use crate::matmul::matrices::Operands;
    use crate::matmul::select::Request;

    /// An operand that all products share is split once, and the others two products at a time.
    #[test]
    fn a_batch_in_several_launches_has_the_bits_of_one() {
        const COUNT: usize = 5;
        let (m, n, k) = (9, 20, 64);
        let device = Device::simulator();
        let elements = |len: usize, step: usize| -> Vec<f32> {
            let element = |i: usize| (i * step % 251) as f32 / 125.0 - 1.0;
            (0..len).map(element).collect()
        };
        let all = device
            .matrix((COUNT * m, k), &elements(COUNT * m * k, 7))
            .unwrap();
        let shared = device.matrix((k, n), &elements(k * n, 11)).unwrap();
        let product = |at_a_time| {
            let operands = Operands::new(
                all.view().batch_rows(COUNT).unwrap(),
                MatrixBatch::from(&shared),
            );
            let mut c = device.matrix_zeros::<f32>((COUNT * m, n)).unwrap();
            let results = c.view_mut().into_batch_rows(COUNT).unwrap();
            let matrices = Matrices::of(&device, operands, results, Epilogue::identity())
                .unwrap()
                .unwrap();
            let problem = matrices.problem(ElementType::F32, ElementType::F32);
            let select = |request| device.select_kernel(request, &problem).unwrap().kernel;
            let kernel = select(Request::Fastest(Arithmetic::Split, None));
            let wide = select(Request::LeftOutBy(kernel.method));
            multiply_some(at_a_time, kernel, wide, matrices).unwrap();
            c.to_vec().unwrap()
        };
        let whole = product(usize::MAX);
        assert!(whole.iter().all(|&it| it != 0.0));
        // One product at a time, and two, with one in the last launch.
        for at_a_time in [1, 2 * m * k] {
            assert_eq!(product(at_a_time), whole, "{at_a_time}");
        }
    }
}
