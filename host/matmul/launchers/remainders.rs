//! Functions that launch kernels for outputs that other kernels leave out, and for exact dot products.

use super::params::product_launch;
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

product_launch! {
    /// Launches a kernel for outputs that others leave out.
    RemainderLaunch, remainder<T: Typed, O: Typed, S: EpilogueElement, W: Element>(
        product: ProductArguments<'_, T, O, S>,
        words: [Global<'_, W>; 2]
    );
    'l, S;
    Global<'l, T> = product.a,
    Global<'l, T> = product.b,
    GlobalMut<'l, O> = product.c,
    GridConstant<'l, ProductShape> = GridConstant::new(&product.shape);
    product.epilogue;
    Global<'l, W> = words[0],
    Global<'l, W> = words[1]
}

product_launch! {
    /// Launches a kernel for exact dot products.
    ExactLaunch, exact<T: Typed, O: Typed, S: EpilogueElement>(dots: ExactArguments<'_, T, O, S>);
    'l, S;
    Global<'l, T> = dots.operands[0],
    Global<'l, T> = dots.operands[1],
    Global<'l, Line> = dots.lines[0],
    Global<'l, Line> = dots.lines[1],
    GlobalMut<'l, O> = dots.c,
    Global<'l, u8> = dots.left,
    GridConstant<'l, DotsShape> = GridConstant::new(&dots.shape);
    dots.epilogue
}
