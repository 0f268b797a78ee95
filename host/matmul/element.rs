//! The types that the table has kernels for: which of its entries take them.

use super::arithmetic::Arithmetic;
use super::entry::{
    AddArguments, AddKernel, ChainLaunch, Entry, GroupLaunch, ProductLaunch, TensorLaunch,
    VectorLaunch, launch_with_epilogue,
};
use super::types::{Accumulate, Accumulator, MatmulInto};
use crate::element::Element;
use crate::kernels::module_of;
use cuda_std::fp8::{F8E4M3, F8E5M2};
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
        Accumulate, Accumulator, AddKernel, Arithmetic, ChainLaunch, Element, Entry, GroupLaunch,
        ProductLaunch, TensorLaunch, VectorLaunch,
    };

    /// A type that the table has kernels for.
    pub trait GemmElement: Element {
        /// The launch of an entry for this type, or `None` where it is for another.
        fn launch_of(entry: Entry) -> Option<ChainLaunch<Self>>;
    }

    /// A type whose products of unequal shapes are one launch.
    pub trait GroupElement: Accumulate {
        /// How those are computed that the launch has no room for.
        const ARITHMETIC: Arithmetic;

        /// The launch of an entry for this type, or `None` where it is for another.
        fn launch_of(entry: Entry) -> Option<GroupLaunch<Self::Accumulator>>;
    }

    /// A type that warps multiply on tensor cores, for products of type `O`, computed in type `S` at last.
    pub trait MmaInto<O: Element, S: Accumulator = <Self as Accumulate>::Accumulator>:
        Accumulate
    {
        /// The launch of an entry for these types, or `None` where it is for others.
        fn launch_of(entry: Entry) -> Option<ProductLaunch<Self, O, S>>;
    }

    /// A type whose lines are multiplied by a vector, for sums written as type `O`.
    pub trait VectorInto<O: Element>: Accumulate {
        /// The launch of an entry for these types, or `None` where it is for others.
        fn launch_of(entry: Entry) -> Option<VectorLaunch<Self, O, Self::Accumulator>>;
    }

    /// A type of 8 bits whose lines are multiplied by a vector, in words, for sums written as type `O`, computed
    /// in type `S` at last.
    pub trait BytesInto<O: Element, S: Accumulator>: Accumulate {
        /// The launch of an entry for these types, or `None` where it is for others.
        fn launch_of(entry: Entry) -> Option<VectorLaunch<i32, O, S, Self::Accumulator>>;
    }

    /// A type of outputs of tensor cores.
    pub trait TensorOutput: Element {
        /// The type that outputs are computed in.
        type Sum: Accumulator;

        /// The launch of an entry for this type, or `None` where it is for another.
        fn launch_of(entry: Entry) -> Option<TensorLaunch<Self, Self::Sum>>;
    }

    /// A type of outputs of sums of type `P` of parts of K.
    pub trait OutputOf<P: Accumulator>: TensorOutput {
        /// The kernel that adds the sums.
        const ADD: AddKernel<Self, Self::Sum, P>;
    }
}

macro_rules! gemm_elements {
    ($($element:ty: $name:ident;)*) => {$(
        impl GemmElement for $element {}

        impl sealed::GemmElement for $element {
            fn launch_of(entry: Entry) -> Option<ChainLaunch<Self>> {
                match entry {
                    Entry::$name(launch) => Some(launch),
                    _ => None,
                }
            }
        }
    )*};
}
gemm_elements! {
    f32: F32;
    f64: F64;
}

macro_rules! group_elements {
    ($($element:ty, by $arithmetic:ident: $name:ident;)*) => {$(
        impl sealed::GroupElement for $element {
            const ARITHMETIC: Arithmetic = Arithmetic::$arithmetic;

            fn launch_of(entry: Entry) -> Option<GroupLaunch<Self::Accumulator>> {
                match entry {
                    Entry::$name(launch) => Some(launch),
                    _ => None,
                }
            }
        }
    )*};
}
group_elements! {
    f32, by Chain: GroupF32;
    f64, by Chain: GroupF64;
    f16, by Auto: GroupF16;
    bf16, by Auto: GroupBf16;
}

macro_rules! tensor_outputs {
    ($($element:ty, of $sum:ty: $name:ident;)*) => {$(
        impl sealed::TensorOutput for $element {
            type Sum = $sum;

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
    f16, of f32: TensorF16;
    bf16, of f32: TensorBf16;
    f32, of f32: TensorF32;
    i32, of i32: TensorI32;
}

macro_rules! outputs_of_parts {
    ($($element:ty, of $part:ty: $add:ident;)*) => {$(
        impl sealed::OutputOf<$part> for $element {
            const ADD: AddKernel<Self, <Self as sealed::TensorOutput>::Sum, $part> =
                (module_of!($add), |module, config, arguments| {
                    let AddArguments { sums, c, shape, epilogue } = arguments;
                    let shape = GridConstant::new(&shape);
                    // SAFETY: (1), (2) are those of `AddLaunch`.
                    unsafe {
                        launch_with_epilogue!(
                            module, parts::$add, config, [sums, c, shape], epilogue, []
                        )
                    }
                });
        }
    )*};
}
outputs_of_parts! {
    f16, of f32: add_parts_f16;
    bf16, of f32: add_parts_bf16;
    f32, of f32: add_parts_f32;
    i32, of i32: add_parts_i32;
    f32, of i32: add_parts_i32_f32;
    bf16, of i32: add_parts_i32_bf16;
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

/// The same of elements of 8 bits, for outputs that are computed in another type at last, or in the sums'.
macro_rules! bytes {
    ($trait:ident, $($element:ty => $output:ty, in $finish:ty: $launch:ty, $name:ident;)*) => {$(
        impl sealed::$trait<$output, $finish> for $element {
            fn launch_of(entry: Entry) -> Option<$launch> {
                match entry {
                    Entry::$name(launch) => Some(launch),
                    _ => None,
                }
            }
        }
    )*};
}
bytes! {
    MmaInto,
    i8 => f32, in f32: ProductLaunch<i8, f32, f32>, MmaI8ToF32;
    i8 => bf16, in f32: ProductLaunch<i8, bf16, f32>, MmaI8ToBf16;
}
bytes! {
    BytesInto,
    i8 => i32, in i32: VectorLaunch<i32, i32, i32>, VectorI8;
    i8 => f32, in f32: VectorLaunch<i32, f32, f32, i32>, VectorI8ToF32;
    i8 => bf16, in f32: VectorLaunch<i32, bf16, f32, i32>, VectorI8ToBf16;
    F8E4M3 => bf16, in f32: VectorLaunch<i32, bf16, f32>, VectorF8ToBf16;
    F8E4M3 => f32, in f32: VectorLaunch<i32, f32, f32>, VectorF8ToF32;
    F8E5M2 => bf16, in f32: VectorLaunch<i32, bf16, f32>, VectorF8ToBf16;
    F8E5M2 => f32, in f32: VectorLaunch<i32, f32, f32>, VectorF8ToF32;
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
