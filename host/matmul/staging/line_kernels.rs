//! How the kernels of lines and residues are launched, for each type.

use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::kernels::module_of;
use crate::launch::LaunchConfig;
use crate::module::Module;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::exact::{self, Line, LinesShape, Moduli, ResiduesShape};

/// A type whose lines have residues. `is_exact` is false for products within gamma_K |A||B|, which are of f64.
pub trait LineKernels: Element {
    /// Launches the kernel that looks through lines.
    ///
    /// # Safety
    /// Those of the kernel, and of [`ModuleRef::launch_params`](crate::module::ModuleRef::launch_params).
    unsafe fn lines(
        device: &Device,
        config: LaunchConfig,
        views: (Global<'_, Self>, GlobalMut<'_, Line>),
        shape: LinesShape,
        is_exact: bool,
    ) -> Outcome<()>;

    /// Launches the kernel that makes residues.
    ///
    /// # Safety
    /// Those of the kernel, and of [`ModuleRef::launch_params`](crate::module::ModuleRef::launch_params).
    unsafe fn residues(
        device: &Device,
        config: LaunchConfig,
        views: (Global<'_, Self>, Global<'_, Line>, GlobalMut<'_, i8>),
        constants: (ResiduesShape, &Moduli),
        is_exact: bool,
    ) -> Outcome<()>;
}

/// The module and the launch of the first kernel if `$is_exact`, otherwise of the second.
macro_rules! launch_either {
    ($is_exact:ident, [$kernel:ident $(or $other:ident)?], $launch:ident) => {{
        $(if !$is_exact {
            return $launch!($other);
        })?
        let _ = $is_exact;
        $launch!($kernel)
    }};
}
pub(in crate::matmul) use launch_either;

macro_rules! line_kernels {
    ($($element:ident: $lines:tt, $residues:tt;)*) => {$(
        impl LineKernels for $element {
            unsafe fn lines(
                device: &Device,
                config: LaunchConfig,
                (x, lines): (Global<'_, Self>, GlobalMut<'_, Line>),
                shape: LinesShape,
                is_exact: bool,
            ) -> Outcome<()> {
                macro_rules! launch {
                    ($kernel:ident) => {{
                        let module = Module::on_demand(device, module_of!($kernel));
                        let params = (x, lines, GridConstant::new(&shape));
                        // SAFETY: the caller's contract.
                        unsafe { module.launch_params::<exact::$kernel>(config, params) }
                    }};
                }
                launch_either!(is_exact, $lines, launch)
            }

            unsafe fn residues(
                device: &Device,
                config: LaunchConfig,
                (x, lines, result): (Global<'_, Self>, Global<'_, Line>, GlobalMut<'_, i8>),
                (shape, moduli): (ResiduesShape, &Moduli),
                is_exact: bool,
            ) -> Outcome<()> {
                macro_rules! launch {
                    ($kernel:ident) => {{
                        let module = Module::on_demand(device, module_of!($kernel));
                        let params = (x, lines, result, GridConstant::new(&shape), GridConstant::new(moduli));
                        // SAFETY: the caller's contract.
                        unsafe { module.launch_params::<exact::$kernel>(config, params) }
                    }};
                }
                launch_either!(is_exact, $residues, launch)
            }
        }
    )*};
}
line_kernels! {
    f32: [exact_lines_f32], [exact_residues_f32];
    f64: [exact_lines_f64 or residues_lines_f64], [exact_residues_f64 or residues_of_f64];
}
