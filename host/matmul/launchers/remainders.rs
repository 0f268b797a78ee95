//! Functions that launch kernels for outputs that other kernels leave out, and for exact dot products.

use super::params::with_epilogue;
use crate::element::Element;
use crate::error::Outcome;
use crate::launch::LaunchConfig;
use crate::matmul::entry::{ExactArguments, ProductArguments, launch_with_epilogue};
use crate::matmul::types::Typed;
use crate::module::ModuleRef;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::Kernel;
use tilewright_kernels::epilogue::{EpilogueElement, EpilogueNumbers};
use tilewright_kernels::exact::{DotsShape, Line};
use tilewright_kernels::matmul::ProductShape;

/// Launches a kernel for outputs that others leave out.
///
/// # Safety
/// Those of [`RemainderLaunch`](crate::matmul::entry::RemainderLaunch).
pub unsafe fn remainder<K, T: Typed, O: Typed, S: EpilogueElement, W: Element>(
    module: ModuleRef<'_>,
    config: LaunchConfig,
    product: ProductArguments<'_, T, O, S>,
    [of_a, of_b]: [Global<'_, W>; 2],
) -> Outcome<()>
where
    K: for<'l> Kernel<
        Params<'l> = with_epilogue!['l, S;
                         Global<'l, T>, Global<'l, T>, GlobalMut<'l, O>, GridConstant<'l, ProductShape>;
                         Global<'l, W>, Global<'l, W>
                     ],
    >,
{
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue! {
            module, K, config; product.a, product.b, product.c, GridConstant::new(&product.shape);
            product.epilogue; of_a, of_b
        }
    }
}

/// Launches a kernel for exact dot products.
///
/// # Safety
/// Those of [`ExactLaunch`](crate::matmul::entry::ExactLaunch).
pub unsafe fn exact<K, T: Typed, O: Typed, S: EpilogueElement>(
    module: ModuleRef<'_>,
    config: LaunchConfig,
    dots: ExactArguments<'_, T, O, S>,
) -> Outcome<()>
where
    K: for<'l> Kernel<
        Params<'l> = with_epilogue!['l, S;
                         Global<'l, T>, Global<'l, T>, Global<'l, Line>, Global<'l, Line>,
                         GlobalMut<'l, O>, Global<'l, u8>, GridConstant<'l, DotsShape>
                     ],
    >,
{
    let ([a, b], [of_a, of_b]) = (dots.operands, dots.lines);
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue! {
            module, K, config; a, b, of_a, of_b, dots.c, dots.left, GridConstant::new(&dots.shape); dots.epilogue
        }
    }
}
