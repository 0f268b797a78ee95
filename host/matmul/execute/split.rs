//! f32 products on tensor cores, with split operands.

use crate::buffer::Buffer;
use crate::error::Outcome;
use crate::launch_args::{global, read_elements, written_by_product};
use crate::matmul::entry::{ProductArguments, SplitArguments, SplitMmaArguments};
use crate::matmul::execute::tiles::{Starts, shape_of};
use crate::matmul::execute::warpgroup::tensor_shape;
use crate::matmul::kernel::Method;
use crate::matmul::launchers::{Kernels as _, Launcher};
use crate::matmul::operands::{Matrices, Operands};
use crate::matmul::plan::{Plan, SplitPlan, Staging, Steps, Store};
use crate::matmul::staging::{PreparedMatrix, SplitOperand, Whole, matrices_of, split_rows};
use crate::matrix::{MatrixBatch, Order};
use crate::module::Module;
use tilewright_kernels::tensor::{RangeWords, TensorShape};

/// C = A B of split operands, in one launch or, if they are large, in several.
pub fn multiply(plan: &Plan, mut matrices: Matrices<'_, f32, f32, f32>) -> Outcome<()> {
    let Steps::Split(split) = &plan.steps else {
        unreachable!("the plan is of split operands");
    };
    let count = matrices.count();
    if count <= split.at_a_time {
        return multiply_at_once(plan, split, matrices);
    }
    // An operand that all products share is split once.
    let device = matrices.operands.a.first().device().clone();
    let [left, right] = [matrices.operands.a.first().t(), matrices.operands.b.first()];
    let split_once = |staging, matrix| {
        let is_once = staging == Staging::SplitOnce;
        let split = is_once.then(|| PreparedMatrix::split(&device, matrix, split.passes));
        split.transpose()
    };
    let [a_staging, b_staging] = plan.staging;
    let new_a = split_once(a_staging, left)?;
    let new_b = split_once(b_staging, right)?;
    (0..count).step_by(split.at_a_time).try_for_each(|first| {
        let part = matrices.part(first, split.at_a_time.min(count - first));
        let [of_a, of_b] = part.operands.prepared;
        let operands = Operands {
            prepared: [of_a.or(new_a.as_ref()), of_b.or(new_b.as_ref())],
            ..part.operands
        };
        multiply_at_once(plan, split, Matrices { operands, ..part })
    })
}

/// Products in one launch.
fn multiply_at_once(
    plan: &Plan,
    split: &SplitPlan,
    mut matrices: Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    let (m, n, k) = matrices.extents();
    let Operands { a, b, prepared, .. } = matrices.operands;
    let [left, right] = [a, b.t()];
    let device = left.first().device();
    let [a_is_split, b_is_split] = plan.staging.map(|it| it == Staging::Split);
    // One buffer holds the words of all that is split here.
    let len = |x, lines, is_split| match is_split {
        true => matrices_of(x) * RangeWords { lines }.len(),
        false => 0,
    };
    let a_words = len(left, m, a_is_split);
    let b_words = len(right, n, b_is_split);
    let mut words = Buffer::uninit(device, a_words + b_words)?;
    let (mut a_words, mut b_words) = words
        .split_at_mut(a_words)
        .expect("both operands have their words");
    let wholes = [
        a_is_split.then(|| Whole {
            x: left,
            words: a_words.view_mut(),
        }),
        b_is_split.then(|| Whole {
            x: right,
            words: b_words.view_mut(),
        }),
    ];
    let [a_halves, b_halves] = split_rows(device, split.passes, wholes)?;
    let [of_a, of_b] = prepared;
    let operand = |prepared: Option<_>, halves, words, (x, lines)| match (prepared, halves) {
        (_, Some(halves)) => SplitOperand::new(halves, words, matrices_of(x), (lines, k)),
        (prepared, None) => prepared
            .and_then(PreparedMatrix::operand)
            .expect("it was split before"),
    };
    let of_left = operand(of_a, a_halves.as_ref(), a_words.view(), (left, m));
    let of_right = match plan.staging[1] {
        // A's rows are B's columns.
        Staging::SplitWithOther => of_left,
        _ => operand(of_b, b_halves.as_ref(), b_words.view(), (right, n)),
    };
    let operands = [of_left, of_right];
    match plan.kernel.method {
        Method::SplitMma(_) => multiply_by_warps(plan, operands, &mut matrices)?,
        _ => multiply_by_warpgroups(plan, operands, &mut matrices)?,
    }
    multiply_out_of_range(split, operands, matrices)
}

/// The outputs of all rows and columns within the split's range, by warpgroups.
fn multiply_by_warpgroups(
    plan: &Plan,
    [a, b]: [SplitOperand<'_>; 2],
    matrices: &mut Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    let (m, n, k) = (a.lines, b.lines, a.k);
    let Launcher { module, launch } = f32::SPLITS.of(plan.kernel);
    let tile = plan.kernel.cluster_tile();
    let (a_map, b_map) = (a.map(tile.rows)?, b.map(tile.part())?);
    let count = matrices.count();
    let config = plan.grid.of_results(count, (m, n))?;
    let shape = TensorShape {
        ldc: matrices.c.view().first().leading_dimension(),
        c_stride: matrices.c.view().stride(),
        c_columns_apart: 1,
        ..tensor_shape(matrices, tile, (m, n, k), count)
    };
    let Matrices {
        operands,
        c,
        epilogue,
    } = matrices;
    let module = Module::on_demand(operands.a.first().device(), module);
    let arguments = SplitArguments {
        a: a_map,
        b: b_map,
        words: [global(a.words), global(b.words)],
        // SAFETY: the launch accesses only the elements of C, as the kernels document.
        c: unsafe { written_by_product(c.view_mut()) },
        shape,
        is_transposed: operands.is_transposed,
        epilogue: epilogue.arguments(plan.store),
    };
    // SAFETY: the launch meets the kernels' requirements: the maps and the words are those of the operands, which
    // earlier work splits; the view of C has the shape of the product; the grid is the plan's. The views are live
    // without conflicting work: C is borrowed mutably, and the operands are freed by work that comes later.
    unsafe { launch(module, config, arguments) }
}

/// The outputs of all rows and columns within the split's range, at warp level.
fn multiply_by_warps(
    plan: &Plan,
    [a, b]: [SplitOperand<'_>; 2],
    matrices: &mut Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    let Launcher { module, launch } = f32::SPLITS_BY_WARPS.of(plan.kernel);
    let (m, n, _) = matrices.extents();
    let config = plan.grid.of_results(matrices.count(), (m, n))?;
    let starts = |it: SplitOperand<'_>, count: Option<usize>| {
        let leading_dimension = it.pitch();
        Starts {
            leading_dimension,
            stride: count.map_or(0, |_| it.lines * leading_dimension),
            is_along: true,
        }
    };
    let starts = [
        starts(a, matrices.operands.a.count()),
        starts(b, matrices.operands.b.count()),
    ];
    let shape = shape_of(matrices, 1, starts);
    let Matrices {
        operands,
        c,
        epilogue,
    } = matrices;
    let module = Module::on_demand(operands.a.first().device(), module);
    let arguments = SplitMmaArguments {
        halves: [a.halves()?, b.halves()?],
        words: [global(a.words), global(b.words)],
        // SAFETY: the launch accesses only the elements of C, as the kernels document.
        c: unsafe { written_by_product(c.view_mut()) },
        shape,
        is_transposed: operands.is_transposed,
        epilogue: epilogue.arguments(plan.store),
    };
    // SAFETY: the launch meets the kernels' requirements: the grid is the plan's, and K is not divided, which only
    // warpgroups do; the halves and the words are those of the operands, which earlier work splits; the view of C
    // has the shape of the product. The views are live without conflicting work: C is borrowed mutably, and the
    // operands are freed by work that comes later.
    unsafe { launch(module, config, arguments) }
}

/// The outputs of rows and columns outside the split's range, on CUDA cores.
fn multiply_out_of_range(
    split: &SplitPlan,
    [left, right]: [SplitOperand<'_>; 2],
    matrices: Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    let Launcher { module, launch } = f32::OUT_OF_RANGE.of(split.fallback);
    let (m, n, _) = matrices.extents();
    let config = split.fallback_grid.of_results(matrices.count(), (m, n))?;
    let starts = |it: MatrixBatch<'_, f32>, along_k| Starts {
        leading_dimension: it.first().leading_dimension(),
        stride: it.stride(),
        is_along: it.first().order() == along_k,
    };
    let Operands { a, b, .. } = matrices.operands;
    let starts = [starts(a, Order::RowMajor), starts(b, Order::ColumnMajor)];
    let shape = shape_of(&matrices, 1, starts);
    let module = Module::on_demand(a.first().device(), module);
    let arguments = ProductArguments {
        // SAFETY: the launch reads only the elements of the matrix, as the kernels document.
        a: unsafe { read_elements(a) },
        // SAFETY: as for A.
        b: unsafe { read_elements(b) },
        // SAFETY: the launch accesses only the elements of C, as the kernels document.
        c: unsafe { written_by_product(matrices.c) },
        shape,
        epilogue: matrices.epilogue.arguments(Store::Own),
    };
    let words = [global(left.words), global(right.words)];
    // SAFETY: the launch meets the kernels' requirements: the grid is the tile's, the views are those of the
    // matrices, the kernel was selected by the operands' orders and rows, and the words are those of the split. The
    // views are live without conflicting work, as in `multiply_by_warpgroups`.
    unsafe { launch(module, config, arguments, words) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::matmul::arithmetic::Arithmetic;
    use crate::matmul::epilogue::Epilogue;
    use crate::matmul::plan::Request;
    use crate::matmul::types::ElementType;

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
            let plain = Epilogue::identity();
            let matrices = Matrices::in_stream_of(&device, &operands, results, &plain);
            let problem = matrices.problem((ElementType::F32, ElementType::F32));
            let facts = device.facts();
            let plan = Plan::of(&problem, facts, Request::Fastest(Arithmetic::Split, None));
            let mut plan = plan.unwrap();
            let Steps::Split(split) = &mut plan.steps else {
                panic!("the operands are split");
            };
            if let Some(at_a_time) = at_a_time {
                split.at_a_time = at_a_time;
                // All products share B.
                plan.staging[1] = Staging::SplitOnce;
            }
            multiply(&plan, matrices).unwrap();
            c.to_vec().unwrap()
        };
        let whole = product(None);
        assert!(whole.iter().all(|&it| it != 0.0));
        // One product at a time, and two, with one in the last launch.
        for at_a_time in [1, 2] {
            assert_eq!(product(Some(at_a_time)), whole, "{at_a_time}");
        }
    }
}
