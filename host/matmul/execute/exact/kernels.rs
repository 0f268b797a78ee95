//! How the kernels of exact products are launched, for each type.

use crate::device::Device;
use crate::error::Outcome;
use crate::kernels::module_of;
use crate::launch::LaunchConfig;
use crate::matmul::entry::{EpilogueArguments, launch_with_epilogue};
use crate::matmul::execute::Computes;
use crate::matmul::types::{EpilogueScalar, Operand};
use crate::module::Module;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::exact::{self, CombineShape, Line, LinesShape, Moduli, ResiduesShape};

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
/// Those of the kernel, and of [`Module::launch_params`].
pub type Combine<T, R> = unsafe fn(
    &Device,
    LaunchConfig,
    CombineViews<'_, T, R>,
    (CombineShape, &Moduli),
    EpilogueArguments<'_, T>,
) -> Outcome<()>;

/// A type of exact products, and its kernels.
pub trait ExactKernels: EpilogueScalar + Operand<Sum = Self> + Computes<Self, Self> {
    /// Launches the kernel that looks through lines.
    ///
    /// # Safety
    /// Those of the kernel, and of [`Module::launch_params`].
    unsafe fn lines(
        device: &Device,
        config: LaunchConfig,
        views: (Global<'_, Self>, GlobalMut<'_, Line>),
        shape: LinesShape,
    ) -> Outcome<()>;

    /// Launches the kernel that makes residues.
    ///
    /// # Safety
    /// Those of the kernel, and of [`Module::launch_params`].
    unsafe fn residues(
        device: &Device,
        config: LaunchConfig,
        views: (Global<'_, Self>, Global<'_, Line>, GlobalMut<'_, i8>),
        constants: (ResiduesShape, &Moduli),
    ) -> Outcome<()>;

    /// Launches the kernel for products that are reduced.
    ///
    /// # Safety
    /// Those of the kernel, and of [`Module::launch_params`].
    unsafe fn combine(
        device: &Device,
        config: LaunchConfig,
        views: CombineViews<'_, Self, i8>,
        constants: (CombineShape, &Moduli),
        epilogue: EpilogueArguments<'_, Self>,
    ) -> Outcome<()>;

    /// Launches the kernel for products in i32.
    ///
    /// # Safety
    /// Those of the kernel, and of [`Module::launch_params`].
    unsafe fn combine_words(
        device: &Device,
        config: LaunchConfig,
        views: CombineViews<'_, Self, i32>,
        constants: (CombineShape, &Moduli),
        epilogue: EpilogueArguments<'_, Self>,
    ) -> Outcome<()>;
}

macro_rules! exact_kernels {
    ($($element:ident: $lines:ident, $residues:ident, $combine:tt, $combine_words:tt;)*) => {$(
        impl ExactKernels for $element {
            unsafe fn lines(
                device: &Device,
                config: LaunchConfig,
                (x, lines): (Global<'_, Self>, GlobalMut<'_, Line>),
                shape: LinesShape,
            ) -> Outcome<()> {
                let module = Module::on_demand(device, module_of!($lines));
                let params = (x, lines, GridConstant::new(&shape));
                // SAFETY: the caller's contract.
                unsafe { module.launch_params::<exact::$lines>(config, params) }
            }

            unsafe fn residues(
                device: &Device,
                config: LaunchConfig,
                (x, lines, result): (Global<'_, Self>, Global<'_, Line>, GlobalMut<'_, i8>),
                (shape, moduli): (ResiduesShape, &Moduli),
            ) -> Outcome<()> {
                let module = Module::on_demand(device, module_of!($residues));
                let params = (x, lines, result, GridConstant::new(&shape), GridConstant::new(moduli));
                // SAFETY: the caller's contract.
                unsafe { module.launch_params::<exact::$residues>(config, params) }
            }

            exact_kernels!(@combine combine $combine i8);
            exact_kernels!(@combine combine_words $combine_words i32);
        }
    )*};
    (@combine $function:ident [$kernel:ident $(or $of_range:ident)?] $product:ident) => {
        unsafe fn $function(
            device: &Device,
            config: LaunchConfig,
            (products, [a, b], c, left): CombineViews<'_, Self, $product>,
            (shape, moduli): (CombineShape, &Moduli),
            epilogue: EpilogueArguments<'_, Self>,
        ) -> Outcome<()> {
            $(if shape.is_exact == 0 {
                return exact_kernels!(@launch $of_range of device, config, products, a, b, c, left, shape, moduli, epilogue);
            })?
            exact_kernels!(@launch $kernel of device, config, products, a, b, c, left, shape, moduli, epilogue)
        }
    };
    (@launch $kernel:ident of $device:ident, $config:ident, $products:ident, $a:ident, $b:ident, $c:ident,
        $left:ident, $shape:ident, $moduli:ident, $epilogue:ident) => {{
            let module = Module::on_demand($device, module_of!($kernel));
            let (shape, moduli) = (GridConstant::new(&$shape), GridConstant::new($moduli));
            // SAFETY: the caller's contract.
            unsafe {
                launch_with_epilogue!(module, exact::$kernel, $config,
                    [$products, $a, $b, $c, $left, shape, moduli], $epilogue, [])
            }
        }};
}
exact_kernels! {
    f32: exact_lines_f32, exact_residues_f32, [exact_combine_f32], [exact_combine_words_f32];
    f64: exact_lines_f64, exact_residues_f64, [exact_combine_f64 or residues_combine_f64],
        [exact_combine_words_f64 or residues_combine_words_f64];
}
