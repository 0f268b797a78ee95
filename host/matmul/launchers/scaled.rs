//! Functions that launch the kernels for operands with block scales, and for groups of rows that are counted on the
//! device.

use super::params::with_epilogue;
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

/// Launches a kernel for operands with block scales that writes C through a map.
///
/// # Safety
/// Those of [`ScaledLaunch`](crate::matmul::entry::ScaledLaunch).
pub unsafe fn scaled_bulk<K, A: Pod, B: Pod, C: Pod, O: Typed, S: EpilogueElement>(
    module: ModuleRef<'_>,
    config: LaunchConfig,
    arguments: ScaledArguments<'_, O, S>,
) -> Outcome<()>
where
    K: for<'l> Kernel<
        Params<'l> = with_epilogue!['l, S;
                         GridConstant<'l, A>, GridConstant<'l, B>, GridConstant<'l, C>, GlobalMut<'l, O>,
                         GridConstant<'l, TensorShape>;
                         Global<'l, u32>, Global<'l, f32>, Global<'l, f32>, GridConstant<'l, ScaleShape>
                     ],
    >,
{
    let ScaledArguments {
        tensor,
        counts,
        scales,
    } = arguments;
    let shape = GridConstant::new(&tensor.shape);
    let ([of_a, of_b], scales) = (scales.elements, GridConstant::new(&scales.shape));
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue! {
            module, K, config; tensor.a.param(), tensor.b.param(), tensor.c_map.param(), tensor.c, shape;
            tensor.epilogue; counts, of_a, of_b, scales
        }
    }
}

/// Launches a kernel for operands with block scales that writes the elements of C.
///
/// # Safety
/// Those of [`ScaledLaunch`](crate::matmul::entry::ScaledLaunch).
pub unsafe fn scaled_direct<K, A: Pod, B: Pod, O: Typed, S: EpilogueElement>(
    module: ModuleRef<'_>,
    config: LaunchConfig,
    arguments: ScaledArguments<'_, O, S>,
) -> Outcome<()>
where
    K: for<'l> Kernel<
        Params<'l> = with_epilogue!['l, S;
                         GridConstant<'l, A>, GridConstant<'l, B>, GlobalMut<'l, O>, GridConstant<'l, TensorShape>;
                         Global<'l, u32>, Global<'l, f32>, Global<'l, f32>, GridConstant<'l, ScaleShape>
                     ],
    >,
{
    let ScaledArguments {
        tensor,
        counts,
        scales,
    } = arguments;
    let shape = GridConstant::new(&tensor.shape);
    let ([of_a, of_b], scales) = (scales.elements, GridConstant::new(&scales.shape));
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue! {
            module, K, config; tensor.a.param(), tensor.b.param(), tensor.c, shape;
            tensor.epilogue; counts, of_a, of_b, scales
        }
    }
}

/// Launches a kernel for groups of rows, without block scales.
///
/// # Safety
/// Those of [`ScaledLaunch`](crate::matmul::entry::ScaledLaunch).
pub unsafe fn counted<K, A: Pod, B: Pod, C: Pod, O: Typed, S: EpilogueElement>(
    module: ModuleRef<'_>,
    config: LaunchConfig,
    arguments: ScaledArguments<'_, O, S>,
) -> Outcome<()>
where
    K: for<'l> Kernel<
        Params<'l> = with_epilogue!['l, S;
                         GridConstant<'l, A>, GridConstant<'l, B>, GridConstant<'l, C>, GlobalMut<'l, O>,
                         GridConstant<'l, TensorShape>; Global<'l, u32>
                     ],
    >,
{
    let ScaledArguments { tensor, counts, .. } = arguments;
    let shape = GridConstant::new(&tensor.shape);
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue! {
            module, K, config; tensor.a.param(), tensor.b.param(), tensor.c_map.param(), tensor.c, shape;
            tensor.epilogue; counts
        }
    }
}
