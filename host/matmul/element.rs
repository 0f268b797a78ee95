//! The types that the table has kernels for: which of its entries take them.

use super::entry::{ChainLaunch, Entry, GroupLaunch, ProductLaunch, TensorLaunch};
use super::fastest::{Accumulate, Accumulator, MatmulInto};
use super::parts::{AddKernel, add_kernel};
use crate::element::Element;
use half::{bf16, f16};

/// A type whose matrices can be multiplied: f32 and f64.
#[diagnostic::on_unimplemented(
    message = "matrices of `{Self}` cannot be multiplied",
    note = "products are for f32 and f64"
)]
pub trait GemmElement: MatmulInto<Self> + Accumulate<Product = Self> + sealed::GemmElement {}

pub mod sealed {
    use super::{
        Accumulate, Accumulator, AddKernel, ChainLaunch, Element, Entry, GroupLaunch,
        ProductLaunch, TensorLaunch,
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
            const ADD: AddKernel<Self, $sum> = add_kernel!($add);

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

macro_rules! mma_types {
    ($($element:ty => $output:ty: $name:ident;)*) => {$(
        impl sealed::MmaInto<$output> for $element {
            fn launch_of(
                entry: Entry,
            ) -> Option<ProductLaunch<Self, $output, <Self as Accumulate>::Accumulator>> {
                match entry {
                    Entry::$name(launch) => Some(launch),
                    _ => None,
                }
            }
        }
    )*};
}
mma_types! {
    f16 => f16: MmaF16;
    f16 => f32: MmaF16ToF32;
    bf16 => bf16: MmaBf16;
    bf16 => f32: MmaBf16ToF32;
    i8 => i32: MmaI8;
}
