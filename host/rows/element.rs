//! The element types of row operations, and their kernels.

use crate::element::Element;
use crate::kernels::{OwnKernel, own_kernels};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::Kernel;
use half::{bf16, f16};
use tilewright_kernels::for_each_row_type;
use tilewright_kernels::rows::{self, NormShape, SoftmaxShape};

/// An element type of [`Device::softmax`](crate::Device::softmax) and the other row operations: f32, f16 or bf16.
///
/// All operations compute in f32 and round results once.
#[diagnostic::on_unimplemented(
    message = "row operations have no kernels for `{Self}`",
    note = "softmax, normalisation and cross entropy are for f32, f16 and bf16"
)]
pub trait RowElement: sealed::RowElement {}

pub(super) mod sealed {
    use super::{
        Element, Global, GlobalMut, GridConstant, Kernel, NormShape, OwnKernel, SoftmaxShape,
    };

    /// An element type with kernels for each class of rows.
    pub trait RowElement: Element {
        type SoftmaxShort: for<'launch> OwnKernel<
            Params<'launch> = (
                Global<'launch, Self>,
                GlobalMut<'launch, Self>,
                Global<'launch, u32>,
                GlobalMut<'launch, f32>,
                GridConstant<'launch, SoftmaxShape>,
            ),
        >;
        type SoftmaxBlock: for<'launch> OwnKernel<
            Params<'launch> = <Self::SoftmaxShort as Kernel>::Params<'launch>,
        >;
        type SoftmaxAhead: for<'launch> OwnKernel<
            Params<'launch> = <Self::SoftmaxShort as Kernel>::Params<'launch>,
        >;
        type SoftmaxLong: for<'launch> OwnKernel<
            Params<'launch> = <Self::SoftmaxShort as Kernel>::Params<'launch>,
        >;
        type SoftmaxParts: for<'launch> OwnKernel<
            Params<'launch> = <Self::SoftmaxShort as Kernel>::Params<'launch>,
        >;
        type SoftmaxCluster: for<'launch> OwnKernel<
            Params<'launch> = <Self::SoftmaxShort as Kernel>::Params<'launch>,
        >;
        type NormShort: for<'launch> OwnKernel<
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
        type NormBlock: for<'launch> OwnKernel<
            Params<'launch> = <Self::NormShort as Kernel>::Params<'launch>,
        >;
        type NormAhead: for<'launch> OwnKernel<
            Params<'launch> = <Self::NormShort as Kernel>::Params<'launch>,
        >;
        type NormLong: for<'launch> OwnKernel<
            Params<'launch> = <Self::NormShort as Kernel>::Params<'launch>,
        >;
        type NormParts: for<'launch> OwnKernel<
            Params<'launch> = <Self::NormShort as Kernel>::Params<'launch>,
        >;
        type NormCluster: for<'launch> OwnKernel<
            Params<'launch> = <Self::NormShort as Kernel>::Params<'launch>,
        >;
    }
}

/// The kernel for rows that are copied ahead, or for rows of a block if there is none.
macro_rules! first {
    ($first:ident $(, $block:ident)?) => {
        rows::$first
    };
}

macro_rules! row_elements {
    ($($element:ident: $short:ident, $block:ident, [$($ahead:ident)?], $long:ident, $parts:ident, $cluster:ident,
        $norm_short:ident, $norm_block:ident, [$($norm_ahead:ident)?], $norm_long:ident,
        $norm_parts:ident, $norm_cluster:ident;)*) => {$(
        own_kernels!(rows: $short, $block, $($ahead,)? $long, $parts, $cluster);
        own_kernels!(rows: $norm_short, $norm_block, $($norm_ahead,)? $norm_long, $norm_parts, $norm_cluster);

        impl sealed::RowElement for $element {
            type SoftmaxShort = rows::$short;
            type SoftmaxBlock = rows::$block;
            type SoftmaxAhead = first!($($ahead,)? $block);
            type SoftmaxLong = rows::$long;
            type SoftmaxParts = rows::$parts;
            type SoftmaxCluster = rows::$cluster;
            type NormShort = rows::$norm_short;
            type NormBlock = rows::$norm_block;
            type NormAhead = first!($($norm_ahead,)? $norm_block);
            type NormLong = rows::$norm_long;
            type NormParts = rows::$norm_parts;
            type NormCluster = rows::$norm_cluster;
        }

        impl RowElement for $element {}
    )*};
}
for_each_row_type!(row_elements);
