//! f32 products on tensor cores, at warp level, with split operands.

use crate::error::Outcome;
use crate::launch_args::{global, written_by_product};
use crate::matmul::entry::SplitMmaArguments;
use crate::matmul::epilogue::Stores;
use crate::matmul::halves::SplitOperand;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::launchers::{Kernels as _, Launcher};
use crate::matmul::matrices::{Matrices, Starts};
use crate::module::Module;

/// The outputs of all rows and columns within the split's range.
pub fn multiply_halves(
    kernel: &'static GemmKernel,
    [a, b]: [SplitOperand<'_>; 2],
    matrices: &mut Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    let Launcher { module, launch } = f32::SPLITS_BY_WARPS.of(kernel);
    let config = matrices.grid(kernel)?;
    let starts = |it: SplitOperand<'_>, count: Option<usize>| {
        let leading_dimension = it.pitch();
        Starts {
            leading_dimension,
            stride: count.map_or(0, |_| it.lines * leading_dimension),
            is_along: true,
        }
    };
    let starts = [starts(a, matrices.a.count()), starts(b, matrices.b.count())];
    let shape = matrices.shape(|k| k, starts);
    let Matrices {
        c,
        epilogue,
        is_transposed,
        ..
    } = matrices;
    let module = Module::on_demand(c.view().first().device(), module);
    let arguments = SplitMmaArguments {
        halves: [a.halves()?, b.halves()?],
        words: [global(a.words), global(b.words)],
        // SAFETY: the launch accesses only the elements of C, as the kernels document.
        c: unsafe { written_by_product(c.view_mut()) },
        shape,
        is_transposed: *is_transposed,
        epilogue: epilogue.arguments(Stores::Single),
    };
    // SAFETY: the launch meets the kernels' requirements: the grid is that of `grid`, and K is not split, which
    // only warpgroups do; the halves and the words are those of the operands, which earlier work splits; the view
    // of C has the shape of the product. The views are live without conflicting work: C is borrowed mutably, and
    // the operands are freed by work that comes later.
    unsafe { launch(&module, config, arguments) }
}
