//! Functions that launch the kernels of each kind. They are generic in the kernel, so that the compiler checks them
//! once, though the table names hundreds of kernels.

pub use super::remainders::{exact, remainder};
pub use super::scaled::{
    counted, scaled_bulk, scaled_direct, scaled_skinny_bulk, scaled_skinny_direct,
};

use super::params::product_launch;
use crate::error::Outcome;
use crate::launch::LaunchConfig;
use crate::matmul::entry::{
    ChainArguments, ProductArguments, SplitArguments, SplitMmaArguments, TensorArguments,
    VectorArguments, launch_with_epilogue,
};
use crate::matmul::types::Typed;
use crate::module::ModuleRef;
use bytemuck::Pod;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::Kernel;
use half::f16;
use std::ptr;
use tilewright_kernels::epilogue::{EpilogueElement, EpilogueNumbers};
use tilewright_kernels::matmul::{ProductGroup, ProductShape};
use tilewright_kernels::matvec::VectorShape;
use tilewright_kernels::tensor::TensorShape;

/// Launches a kernel that stores sums unchanged, for one product.
///
/// # Safety
/// The requirements of [`ProductLaunch`](crate::matmul::entry::ProductLaunch).
pub unsafe fn tiled<K, T: Typed>(
    module: ModuleRef<'_>,
    config: LaunchConfig,
    arguments: ChainArguments<'_, T>,
) -> Outcome<()>
where
    K: for<'l> Kernel<
        Params<'l> = (
            Global<'l, T>,
            Global<'l, T>,
            GlobalMut<'l, T>,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
        ),
    >,
{
    let ProductArguments { a, b, c, shape, .. } = arguments;
    let (m, n, k) = (shape.m, shape.n, shape.k);
    let params = (a, b, c, m, n, k, shape.lda, shape.ldb, shape.ldc);
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe { module.launch_params::<K>(config, params) }
}

product_launch! {
    /// Launches a kernel with a block for each part of C.
    ProductLaunch, product<T: Typed, O: Typed, S: EpilogueElement>(product: ProductArguments<'_, T, O, S>);
    'l, S;
    Global<'l, T> = product.a,
    Global<'l, T> = product.b,
    GlobalMut<'l, O> = product.c,
    GridConstant<'l, ProductShape> = GridConstant::new(&product.shape);
    product.epilogue
}

product_launch! {
    /// Launches a tensor-core kernel that writes C through a map.
    TensorLaunch, bulk<A: Pod, B: Pod, C: Pod, O: Typed, S: EpilogueElement>(tensor: TensorArguments<'_, O, S>);
    'l, S;
    GridConstant<'l, A> = tensor.a.param(),
    GridConstant<'l, B> = tensor.b.param(),
    GridConstant<'l, C> = tensor.c_map.param(),
    GlobalMut<'l, O> = tensor.c,
    GridConstant<'l, TensorShape> = GridConstant::new(&tensor.shape);
    tensor.epilogue
}

product_launch! {
    /// Launches a tensor-core kernel that writes the elements of C.
    TensorLaunch, direct<A: Pod, B: Pod, O: Typed, S: EpilogueElement>(tensor: TensorArguments<'_, O, S>);
    'l, S;
    GridConstant<'l, A> = tensor.a.param(),
    GridConstant<'l, B> = tensor.b.param(),
    GlobalMut<'l, O> = tensor.c,
    GridConstant<'l, TensorShape> = GridConstant::new(&tensor.shape);
    tensor.epilogue
}

/// Launches a kernel for the products of a group, which holds their addresses.
///
/// # Safety
/// The requirements of [`GroupLaunch`](crate::matmul::entry::GroupLaunch).
pub unsafe fn group<K, T: Typed, O: Typed, S: EpilogueElement>(
    module: ModuleRef<'_>,
    config: LaunchConfig,
    group: &ProductGroup,
    numbers: &EpilogueNumbers<S>,
) -> Outcome<()>
where
    K: for<'l> Kernel<
        Params<'l> = (
            Global<'l, T>,
            GlobalMut<'l, O>,
            GridConstant<'l, ProductGroup>,
            GridConstant<'l, EpilogueNumbers<S>>,
        ),
    >,
{
    // SAFETY: the views have no elements, so nothing must be live, and nothing is touched.
    let (operands, results) = unsafe {
        (
            Global::from_raw_parts(ptr::null(), 0),
            GlobalMut::from_raw_parts(ptr::null_mut(), 0),
        )
    };
    let (group, numbers) = (GridConstant::new(group), GridConstant::new(numbers));
    // SAFETY: the launch meets the kernel's requirements and the addresses are live without conflicting work: the
    // caller's contract. The views start at address 0, so that the addresses in the group count from there.
    unsafe { module.launch_params::<K>(config, (operands, results, group, numbers)) }
}

product_launch! {
    /// Launches a tensor-core kernel for split operands.
    SplitLaunch, split<A: Pod, B: Pod>(split: SplitArguments<'_>);
    'l, f32;
    GridConstant<'l, A> = split.a.param(),
    GridConstant<'l, B> = split.b.param(),
    Global<'l, u32> = split.words[0],
    Global<'l, u32> = split.words[1],
    GlobalMut<'l, f32> = split.c,
    GridConstant<'l, TensorShape> = GridConstant::new(&split.shape),
    u32 = u32::from(split.is_transposed);
    split.epilogue
}

product_launch! {
    /// Launches a warp-level kernel for split operands.
    SplitMmaLaunch, split_mma<>(split: SplitMmaArguments<'_>);
    'l, f32;
    Global<'l, f16> = split.halves[0][0],
    Global<'l, f16> = split.halves[0][1],
    Global<'l, f16> = split.halves[1][0],
    Global<'l, f16> = split.halves[1][1],
    Global<'l, u32> = split.words[0],
    Global<'l, u32> = split.words[1],
    GlobalMut<'l, f32> = split.c,
    GridConstant<'l, ProductShape> = GridConstant::new(&split.shape),
    u32 = u32::from(split.is_transposed);
    split.epilogue
}

product_launch! {
    /// Launches a kernel that multiplies rows or columns by a vector.
    VectorLaunch, vector<T: Typed, O: Typed, S: EpilogueElement, P: Typed>(product: VectorArguments<'_, T, O, S, P>);
    'l, S;
    Global<'l, T> = product.x,
    Global<'l, T> = product.v,
    GlobalMut<'l, O> = product.y,
    GridConstant<'l, VectorShape> = GridConstant::new(&product.shape);
    product.epilogue;
    GlobalMut<'l, P> = product.partials,
    GlobalMut<'l, u32> = product.tickets
}
