//! Functions that launch the kernels of each kind. They are generic in the kernel, so that the compiler checks them
//! once, though the table names hundreds of kernels.

pub use super::remainders::{exact, remainder};
pub use super::scaled::{counted, scaled_bulk, scaled_direct};

use super::params::with_epilogue;
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
/// Those of [`ProductLaunch`](crate::matmul::entry::ProductLaunch).
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

/// Launches a kernel with a block for each part of C.
///
/// # Safety
/// Those of [`ProductLaunch`](crate::matmul::entry::ProductLaunch).
pub unsafe fn product<K, T: Typed, O: Typed, S: EpilogueElement>(
    module: ModuleRef<'_>,
    config: LaunchConfig,
    product: ProductArguments<'_, T, O, S>,
) -> Outcome<()>
where
    K: for<'l> Kernel<
        Params<'l> = with_epilogue!['l, S;
                         Global<'l, T>, Global<'l, T>, GlobalMut<'l, O>, GridConstant<'l, ProductShape>
                     ],
    >,
{
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue! {
            module, K, config; product.a, product.b, product.c, GridConstant::new(&product.shape); product.epilogue
        }
    }
}

/// Launches a tensor-core kernel that writes C through a map.
///
/// # Safety
/// Those of [`TensorLaunch`](crate::matmul::entry::TensorLaunch).
pub unsafe fn bulk<K, A: Pod, B: Pod, C: Pod, O: Typed, S: EpilogueElement>(
    module: ModuleRef<'_>,
    config: LaunchConfig,
    tensor: TensorArguments<'_, O, S>,
) -> Outcome<()>
where
    K: for<'l> Kernel<
        Params<'l> = with_epilogue!['l, S;
                         GridConstant<'l, A>, GridConstant<'l, B>, GridConstant<'l, C>, GlobalMut<'l, O>,
                         GridConstant<'l, TensorShape>
                     ],
    >,
{
    let shape = GridConstant::new(&tensor.shape);
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue! {
            module, K, config; tensor.a.param(), tensor.b.param(), tensor.c_map.param(), tensor.c, shape;
            tensor.epilogue
        }
    }
}

/// Launches a tensor-core kernel that writes the elements of C.
///
/// # Safety
/// Those of [`TensorLaunch`](crate::matmul::entry::TensorLaunch).
pub unsafe fn direct<K, A: Pod, B: Pod, O: Typed, S: EpilogueElement>(
    module: ModuleRef<'_>,
    config: LaunchConfig,
    tensor: TensorArguments<'_, O, S>,
) -> Outcome<()>
where
    K: for<'l> Kernel<
        Params<'l> = with_epilogue!['l, S;
                         GridConstant<'l, A>, GridConstant<'l, B>, GlobalMut<'l, O>, GridConstant<'l, TensorShape>
                     ],
    >,
{
    let shape = GridConstant::new(&tensor.shape);
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue! {
            module, K, config; tensor.a.param(), tensor.b.param(), tensor.c, shape; tensor.epilogue
        }
    }
}

/// Launches a kernel for the products of a group, which holds their addresses.
///
/// # Safety
/// Those of [`GroupLaunch`](crate::matmul::entry::GroupLaunch).
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
    // SAFETY: the views have no elements, so there is nothing that must be live, and nothing is touched.
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

/// Launches a tensor-core kernel for split operands.
///
/// # Safety
/// Those of [`SplitLaunch`](crate::matmul::entry::SplitLaunch).
pub unsafe fn split<K, A: Pod, B: Pod>(
    module: ModuleRef<'_>,
    config: LaunchConfig,
    split: SplitArguments<'_>,
) -> Outcome<()>
where
    K: for<'l> Kernel<
        Params<'l> = with_epilogue!['l, f32;
                         GridConstant<'l, A>, GridConstant<'l, B>, Global<'l, u32>, Global<'l, u32>, GlobalMut<'l, f32>,
                         GridConstant<'l, TensorShape>, u32
                     ],
    >,
{
    let [of_a, of_b] = split.words;
    let shape = GridConstant::new(&split.shape);
    let is_transposed = u32::from(split.is_transposed);
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue! {
            module, K, config; split.a.param(), split.b.param(), of_a, of_b, split.c, shape, is_transposed;
            split.epilogue
        }
    }
}

/// Launches a warp-level kernel for split operands.
///
/// # Safety
/// Those of [`SplitMmaLaunch`](crate::matmul::entry::SplitMmaLaunch).
pub unsafe fn split_mma<K>(
    module: ModuleRef<'_>,
    config: LaunchConfig,
    split: SplitMmaArguments<'_>,
) -> Outcome<()>
where
    K: for<'l> Kernel<
        Params<'l> = with_epilogue!['l, f32;
                         Global<'l, f16>, Global<'l, f16>, Global<'l, f16>, Global<'l, f16>, Global<'l, u32>,
                         Global<'l, u32>, GlobalMut<'l, f32>, GridConstant<'l, ProductShape>, u32
                     ],
    >,
{
    let [[a_high, a_low], [b_high, b_low]] = split.halves;
    let [of_a, of_b] = split.words;
    let shape = GridConstant::new(&split.shape);
    let is_transposed = u32::from(split.is_transposed);
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue! {
            module, K, config; a_high, a_low, b_high, b_low, of_a, of_b, split.c, shape, is_transposed; split.epilogue
        }
    }
}

/// Launches a kernel that multiplies rows or columns by a vector.
///
/// # Safety
/// Those of [`VectorLaunch`](crate::matmul::entry::VectorLaunch).
pub unsafe fn vector<K, T: Typed, O: Typed, S: EpilogueElement, P: Typed>(
    module: ModuleRef<'_>,
    config: LaunchConfig,
    product: VectorArguments<'_, T, O, S, P>,
) -> Outcome<()>
where
    K: for<'l> Kernel<
        Params<'l> = with_epilogue!['l, S;
                         Global<'l, T>, Global<'l, T>, GlobalMut<'l, O>, GridConstant<'l, VectorShape>; GlobalMut<'l, P>, GlobalMut<'l, u32>
                     ],
    >,
{
    let shape = GridConstant::new(&product.shape);
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue! {
            module, K, config; product.x, product.v, product.y, shape;
            product.epilogue; product.partials, product.tickets
        }
    }
}
