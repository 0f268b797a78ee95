//! Functions that launch the kernels for operands with block scales, and for groups of rows that are counted on the
//! device.

use super::params::with_epilogue;
use crate::error::Outcome;
use crate::launch::LaunchConfig;
use crate::matmul::entry::{ScaledArguments, TensorArguments, launch_with_epilogue};
use crate::matmul::types::Typed;
use crate::module::Module;
use bytemuck::{Pod, cast};
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
    module: &Module,
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
    let (a, b, c_map): (A, B, C) = (cast(tensor.a), cast(tensor.b), cast(tensor.c_map));
    let (a, b, c_map) = (
        GridConstant::new(&a),
        GridConstant::new(&b),
        GridConstant::new(&c_map),
    );
    let (c, shape) = (tensor.c, GridConstant::new(&tensor.shape));
    let ([of_a, of_b], scales) = (scales.elements, GridConstant::new(&scales.shape));
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue!(
            module,
            K,
            config,
            [a, b, c_map, c, shape],
            tensor.epilogue,
            [counts, of_a, of_b, scales]
        )
    }
}

/// Launches a kernel for operands with block scales that writes the elements of C.
///
/// # Safety
/// Those of [`ScaledLaunch`](crate::matmul::entry::ScaledLaunch).
pub unsafe fn scaled_direct<K, A: Pod, B: Pod, O: Typed, S: EpilogueElement>(
    module: &Module,
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
    let (a, b): (A, B) = (cast(tensor.a), cast(tensor.b));
    let (a, b) = (GridConstant::new(&a), GridConstant::new(&b));
    let (c, shape) = (tensor.c, GridConstant::new(&tensor.shape));
    let ([of_a, of_b], scales) = (scales.elements, GridConstant::new(&scales.shape));
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue!(
            module,
            K,
            config,
            [a, b, c, shape],
            tensor.epilogue,
            [counts, of_a, of_b, scales]
        )
    }
}

/// Launches a kernel for groups of rows, without block scales.
///
/// # Safety
/// Those of [`ScaledLaunch`](crate::matmul::entry::ScaledLaunch).
pub unsafe fn counted<K, A: Pod, B: Pod, C: Pod, O: Typed, S: EpilogueElement>(
    module: &Module,
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
    let TensorArguments {
        a,
        b,
        c_map,
        c,
        shape,
        epilogue,
    } = tensor;
    let (a, b, c_map): (A, B, C) = (cast(a), cast(b), cast(c_map));
    let (a, b, c_map) = (
        GridConstant::new(&a),
        GridConstant::new(&b),
        GridConstant::new(&c_map),
    );
    let shape = GridConstant::new(&shape);
    // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
    // caller's contract.
    unsafe {
        launch_with_epilogue!(
            module,
            K,
            config,
            [a, b, c_map, c, shape],
            epilogue,
            [counts]
        )
    }
}
