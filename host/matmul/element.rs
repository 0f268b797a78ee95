//! The types that the table has kernels for: which of its entries take them.

use super::entry::{
    AddArguments, AddKernel, ChainLaunch, Entry, GroupLaunch, ProductLaunch, TensorLaunch,
    VectorLaunch, launch_with_epilogue,
};
use super::types::{Accumulate, Accumulator, MatmulInto};
use crate::element::Element;
use crate::kernels::module_of;
use cuda_std::grid_constant::GridConstant;
use half::{bf16, f16};
use tilewright_kernels::parts;

/// A type whose matrices can be multiplied: f32 and f64.
#[diagnostic::on_unimplemented(
    message = "matrices of `{Self}` cannot be multiplied",
    note = "products are for f32 and f64"
)]
pub trait GemmElement: MatmulInto<Self> + Accumulate<Product = Self> + sealed::GemmElement {}

pub mod sealed {
    use super::{
        Accumulate, Accumulator, AddKernel, ChainLaunch, Element, Entry, GroupLaunch,
        ProductLaunch, TensorLaunch, VectorLaunch,
    };

    /// A type that the table has kernels for.
    pub trait GemmElement: Element {
        /// The launch of an entry for this type, or `None` where it is for another.
        fn launch_of(entry: Entry) -> Option<ChainLaunch<Self>>;

        /// The same for products of unequal shapes.
        fn group_launch_of(entry: Entry) -> Option<GroupLaunch<Self>>;
    }

    /// A type that warps multiply on tensor cores, for products of type `O`.
    pub trait MmaInto<O: Element>: Accumulate {
        /// The launch of an entry for these types, or `None` where it is for others.
        fn launch_of(entry: Entry) -> Option<ProductLaunch<Self, O, Self::Accumulator>>;
    }

    /// A type whose lines are multiplied by a vector, for sums written as type `O`.
    pub trait VectorInto<O: Element>: Accumulate {
        /// The launch of an entry for these types, or `None` where it is for others.
        fn launch_of(entry: Entry) -> Option<VectorLaunch<Self, O, Self::Accumulator>>;
    }

    /// A type of outputs of tensor cores.
    pub trait TensorOutput: Element {
        /// The type of sums.
        type Sum: Accumulator;

        /// The kernel that adds the sums of parts of K.
        const ADD: AddKernel<Self, Self::Sum>;

        /// The launch of an entry for this type, or `None` where it is for another.
        fn launch_of(entry: Entry) -> Option<TensorLaunch<Self, Self::Sum>>;
    }
}

macro_rules! gemm_elements {
    ($($element:ty: $name:ident, $group:ident;)*) => {$(
        impl GemmElement for $element {}

        impl sealed::GemmElement for $element {
            fn launch_of(entry: Entry) -> Option<ChainLaunch<Self>> {
                match entry {
                    Entry::$name(launch) => Some(launch),
                    _ => None,
                }
            }

            fn group_launch_of(entry: Entry) -> Option<GroupLaunch<Self>> {
                match entry {
                    Entry::$group(launch) => Some(launch),
                    _ => None,
                }
            }
        }
    )*};
}
gemm_elements! {
    f32: F32, GroupF32;
    f64: F64, GroupF64;
}

macro_rules! tensor_outputs {
    ($($element:ty, of $sum:ty: $name:ident, $add:ident;)*) => {$(
        impl sealed::TensorOutput for $element {
            type Sum = $sum;
            const ADD: AddKernel<Self, $sum> = (module_of!($add), |module, config, arguments| {
                let AddArguments { sums, c, shape, epilogue } = arguments;
                let shape = GridConstant::new(&shape);
                // SAFETY: (1), (2) are those of `AddLaunch`.
                unsafe {
                    launch_with_epilogue!(
                        module, parts::$add, config, [sums, c, shape], epilogue, []
                    )
                }
            });

            fn launch_of(entry: Entry) -> Option<TensorLaunch<Self, $sum>> {
                match entry {
                    Entry::$name(launch) => Some(launch),
                    _ => None,
                }
            }
        }
    )*};
}
tensor_outputs! {
    f16, of f32: TensorF16, add_parts_f16;
    bf16, of f32: TensorBf16, add_parts_bf16;
    f32, of f32: TensorF32, add_parts_f32;
    i32, of i32: TensorI32, add_parts_i32;
}

/// Types with an entry for themselves and their outputs.
macro_rules! pairs {
    ($trait:ident, $launch:ident: $($element:ty => $output:ty: $name:ident;)*) => {$(
        impl sealed::$trait<$output> for $element {
            fn launch_of(
                entry: Entry,
            ) -> Option<$launch<Self, $output, <Self as Accumulate>::Accumulator>> {
                match entry {
                    Entry::$name(launch) => Some(launch),
                    _ => None,
                }
            }
        }
    )*};
}
pairs! {
    MmaInto, ProductLaunch:
    f16 => f16: MmaF16;
    f16 => f32: MmaF16ToF32;
    bf16 => bf16: MmaBf16;
    bf16 => f32: MmaBf16ToF32;
    i8 => i32: MmaI8;
}
pairs! {
    VectorInto, VectorLaunch:
    f32 => f32: VectorF32;
    f64 => f64: VectorF64;
    f16 => f16: VectorF16;
    f16 => f32: VectorF16ToF32;
    bf16 => bf16: VectorBf16;
    bf16 => f32: VectorBf16ToF32;
}
