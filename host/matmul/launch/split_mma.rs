//! f32 products on tensor cores, by warps, of operands that are taken apart into halves.

use crate::error::Outcome;
use crate::launch_args::{global, written_by_product};
use crate::matmul::entry::{SplitMmaArguments, SplitMmaLaunch};
use crate::matmul::epilogue::Stores;
use crate::matmul::halves::SplitOperand;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::matrices::{Matrices, Starts};
use crate::module::Module;

/// The outputs of all lines but the wide ones.
pub fn multiply_halves(
    kernel: &'static GemmKernel,
    [a, b]: [SplitOperand<'_>; 2],
    matrices: &mut Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    let launch: SplitMmaLaunch = kernel.entry.launch();
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
    let module = Module::on_demand(c.view().first().device(), kernel.module);
    let arguments = SplitMmaArguments {
        halves: [a.halves()?, b.halves()?],
        words: [global(a.words), global(b.words)],
        // SAFETY: (1) by (3) of the kernels.
        c: unsafe { written_by_product(c.view_mut()) },
        shape,
        is_transposed: *is_transposed,
        epilogue: epilogue.arguments(Stores::Single),
    };
    // SAFETY: (1) is (1) to (3) of the kernels: (1) `grid`, and K is divided only where warpgroups take it apart; (2) the halves and the words are those of the operands,
    // which earlier work splits; (3) the view. (2) C is borrowed mutably; the operands are freed by work that comes
    // later.
    unsafe { launch(&module, config, arguments) }
}
