//! How the kernels that put products of residues together are launched, for each type.

use crate::device::Device;
use crate::error::Outcome;
use crate::kernels::module_of;
use crate::launch::LaunchConfig;
use crate::matmul::entry::{EpilogueArguments, launch_with_epilogue};
use crate::matmul::execute::Computes;
use crate::matmul::staging::{LineKernels, launch_either};
use crate::matmul::types::{EpilogueScalar, Operand};
use crate::module::Module;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::exact::{self, CombineShape, Line, Weights};

/// Products of residues `R`, rows of A and columns of B, outputs, and the flags of those that are left.
pub type CombineViews<'a, T, R> = (
    Global<'a, R>,
    [Global<'a, Line>; 2],
    GlobalMut<'a, T>,
    GlobalMut<'a, u8>,
);

/// Launches a kernel that makes outputs of products of residues.
///
/// # Safety
/// Those of the kernel, and of [`ModuleRef::launch_params`](crate::module::ModuleRef::launch_params).
pub type Combine<T, R> = unsafe fn(
    &Device,
    LaunchConfig,
    CombineViews<'_, T, R>,
    (CombineShape, &Weights),
    EpilogueArguments<'_, T>,
    bool,
) -> Outcome<()>;

/// A type of exact products, and its kernels. `is_exact` is false for products within gamma_K |A||B|, which are of f64.
pub trait ExactKernels:
    EpilogueScalar + Operand<Sum = Self> + Computes<Self, Self> + LineKernels
{
    /// Launches the kernel for products that are reduced.
    ///
    /// # Safety
    /// Those of the kernel, and of [`ModuleRef::launch_params`](crate::module::ModuleRef::launch_params).
    unsafe fn combine(
        device: &Device,
        config: LaunchConfig,
        views: CombineViews<'_, Self, i8>,
        constants: (CombineShape, &Weights),
        epilogue: EpilogueArguments<'_, Self>,
        is_exact: bool,
    ) -> Outcome<()>;

    /// Launches the kernel for products in i32.
    ///
    /// # Safety
    /// Those of the kernel, and of [`ModuleRef::launch_params`](crate::module::ModuleRef::launch_params).
    unsafe fn combine_words(
        device: &Device,
        config: LaunchConfig,
        views: CombineViews<'_, Self, i32>,
        constants: (CombineShape, &Weights),
        epilogue: EpilogueArguments<'_, Self>,
        is_exact: bool,
    ) -> Outcome<()>;
}

macro_rules! exact_kernels {
    ($($element:ident: $combine:tt, $combine_words:tt;)*) => {$(
        impl ExactKernels for $element {
            exact_kernels!(@combine combine $combine i8);
            exact_kernels!(@combine combine_words $combine_words i32);
        }
    )*};
    (@combine $function:ident $kernels:tt $product:ident) => {
        unsafe fn $function(
            device: &Device,
            config: LaunchConfig,
            (products, [a, b], c, left): CombineViews<'_, Self, $product>,
            (shape, weights): (CombineShape, &Weights),
            epilogue: EpilogueArguments<'_, Self>,
            is_exact: bool,
        ) -> Outcome<()> {
            macro_rules! launch {
                ($kernel:ident) => {{
                    let module = Module::on_demand(device, module_of!($kernel));
                    let (shape, weights) = (GridConstant::new(&shape), GridConstant::new(weights));
                    // SAFETY: the caller's contract.
                    unsafe {
                        launch_with_epilogue! {
                            module, exact::$kernel, config; products, a, b, c, left, shape, weights; epilogue
                        }
                    }
                }};
            }
            launch_either!(is_exact, $kernels, launch)
        }
    };
}
exact_kernels! {
    f32: [exact_combine_f32], [exact_combine_words_f32];
    f64: [exact_combine_f64 or residues_combine_f64],
        [exact_combine_words_f64 or residues_combine_words_f64];
}
