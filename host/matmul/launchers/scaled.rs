//! Functions that launch the kernels for operands with block scales, and for groups of rows that are counted on the
//! device.

use super::params::product_launch;
use crate::error::Outcome;
use crate::launch::LaunchConfig;
use crate::matmul::entry::{ScaledArguments, launch_with_epilogue};
use crate::matmul::types::Typed;
use crate::module::ModuleRef;
use bytemuck::Pod;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::Kernel;
use tilewright_kernels::epilogue::{EpilogueElement, EpilogueNumbers};
use tilewright_kernels::tensor::{ScaleShape, TensorShape};

/// A function that launches kernels for operands with block scales: those that write C through a `map` of it have its
/// type as a parameter, and kernels of `counted` groups have the counts.
macro_rules! scaled_launch {
    ($(#[$documentation:meta])* $name:ident $(, map $c:ident: $map:ident)? $(, counted $counts:ident: $count:ty)?) => {
        product_launch! {
            $(#[$documentation])*
            ScaledLaunch, $name<A: Pod, B: Pod, $($c: Pod,)? O: Typed, S: EpilogueElement>(
                product: ScaledArguments<'_, O, S>
            );
            'l, S;
            GridConstant<'l, A> = product.tensor.a.param(),
            GridConstant<'l, B> = product.tensor.b.param(),
            $(GridConstant<'l, $c> = product.tensor.$map.param(),)?
            GlobalMut<'l, O> = product.tensor.c,
            GridConstant<'l, TensorShape> = GridConstant::new(&product.tensor.shape);
            product.tensor.epilogue;
            $(Global<'l, $count> = product.$counts,)?
            Global<'l, f32> = product.scales.elements[0],
            Global<'l, f32> = product.scales.elements[1],
            GridConstant<'l, ScaleShape> = GridConstant::new(&product.scales.shape)
        }
    };
}
scaled_launch! {
    /// Launches a kernel that writes C through a map.
    scaled_bulk, map C: c_map, counted counts: u32
}
scaled_launch! {
    /// Launches a kernel that writes the elements of C.
    scaled_direct, counted counts: u32
}
scaled_launch! {
    /// Launches a kernel for few rows that writes C through a map.
    scaled_skinny_bulk, map C: c_map
}
scaled_launch! {
    /// Launches a kernel for few rows that writes the elements of C.
    scaled_skinny_direct
}

product_launch! {
    /// Launches a kernel for groups of rows, without block scales.
    ScaledLaunch, counted<A: Pod, B: Pod, C: Pod, O: Typed, S: EpilogueElement>(product: ScaledArguments<'_, O, S>);
    'l, S;
    GridConstant<'l, A> = product.tensor.a.param(),
    GridConstant<'l, B> = product.tensor.b.param(),
    GridConstant<'l, C> = product.tensor.c_map.param(),
    GlobalMut<'l, O> = product.tensor.c,
    GridConstant<'l, TensorShape> = GridConstant::new(&product.tensor.shape);
    product.tensor.epilogue;
    Global<'l, u32> = product.counts
}
