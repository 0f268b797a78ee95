//! The element types of row operations, and their kernels.

use crate::element::Element;
use crate::kernels::module_of;
use crate::module_source::ModuleSource;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::Kernel;
use half::{bf16, f16};
use tilewright_kernels::for_each_row_type;
use tilewright_kernels::rows::{self, NormShape, SoftmaxShape};

/// An element type of [`Device::softmax`](crate::Device::softmax) and the other row operations: f32, f16 or bf16.
///
/// All are computed in f32, and results are rounded once.
#[diagnostic::on_unimplemented(
    message = "row operations have no kernels for `{Self}`",
    note = "softmax, normalisation and cross entropy are for f32, f16 and bf16"
)]
pub trait RowElement: sealed::RowElement {}

pub(super) mod sealed {
    use super::{
        Element, Global, GlobalMut, GridConstant, Kernel, ModuleSource, NormShape, SoftmaxShape,
    };

    /// An element type with kernels for each class of rows.
    pub trait RowElement: Element {
        type SoftmaxShort: for<'launch> Kernel<
            Params<'launch> = (
                Global<'launch, Self>,
                GlobalMut<'launch, Self>,
                Global<'launch, u32>,
                GlobalMut<'launch, f32>,
                GridConstant<'launch, SoftmaxShape>,
            ),
        >;
        const SOFTMAX_SHORT: &'static ModuleSource;
        type SoftmaxBlock: for<'launch> Kernel<
            Params<'launch> = <Self::SoftmaxShort as Kernel>::Params<'launch>,
        >;
        const SOFTMAX_BLOCK: &'static ModuleSource;
        type SoftmaxLong: for<'launch> Kernel<
            Params<'launch> = <Self::SoftmaxShort as Kernel>::Params<'launch>,
        >;
        const SOFTMAX_LONG: &'static ModuleSource;
        type NormShort: for<'launch> Kernel<
            Params<'launch> = (
                Global<'launch, Self>,
                Global<'launch, Self>,
                GlobalMut<'launch, Self>,
                GlobalMut<'launch, Self>,
                Global<'launch, Self>,
                Global<'launch, Self>,
                GridConstant<'launch, NormShape>,
            ),
        >;
        const NORM_SHORT: &'static ModuleSource;
        type NormBlock: for<'launch> Kernel<
            Params<'launch> = <Self::NormShort as Kernel>::Params<'launch>,
        >;
        const NORM_BLOCK: &'static ModuleSource;
        type NormLong: for<'launch> Kernel<
            Params<'launch> = <Self::NormShort as Kernel>::Params<'launch>,
        >;
        const NORM_LONG: &'static ModuleSource;
    }
}

macro_rules! row_elements {
    ($($element:ident: $short:ident, $block:ident, $long:ident,
        $norm_short:ident, $norm_block:ident, $norm_long:ident;)*) => {$(
        impl sealed::RowElement for $element {
            type SoftmaxShort = rows::$short;
            const SOFTMAX_SHORT: &'static ModuleSource = module_of!($short);
            type SoftmaxBlock = rows::$block;
            const SOFTMAX_BLOCK: &'static ModuleSource = module_of!($block);
            type SoftmaxLong = rows::$long;
            const SOFTMAX_LONG: &'static ModuleSource = module_of!($long);
            type NormShort = rows::$norm_short;
            const NORM_SHORT: &'static ModuleSource = module_of!($norm_short);
            type NormBlock = rows::$norm_block;
            const NORM_BLOCK: &'static ModuleSource = module_of!($norm_block);
            type NormLong = rows::$norm_long;
            const NORM_LONG: &'static ModuleSource = module_of!($norm_long);
        }

        impl RowElement for $element {}
    )*};
}
for_each_row_type!(row_elements);
