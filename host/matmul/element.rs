//! The types that the table has kernels for.

use super::arithmetic::Arithmetic;
use super::element_type::{Output, Typed};
use super::entry::{AddArguments, AddKernel, launch_with_epilogue};
use super::launchers::Kernels;
use super::types::{Accumulate, Accumulator, MatmulInto};
use crate::element::Element;
use crate::images::oldest_driver;
use crate::kernels::{images_of, module_of};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::Kernel;
use half::{bf16, f16};
use tilewright_kernels::parts;

/// A type whose products can have fixed kernels, such as `Device::matmul_tiled`: f32 and f64.
///
/// [`MatmulElement`](crate::MatmulElement) covers all types whose matrices can be multiplied.
#[diagnostic::on_unimplemented(
    message = "there is no product in chosen tiles of matrices of `{Self}`",
    label = "`matmul_tiled` and `matmul_coarsened` are for f32 and f64",
    note = "`matmul` and `Matmul::new` multiply matrices of f32, f64, f16, bf16, i8, F8E4M3 and F8E5M2, and \
            `Matmul::tiles` chooses their tiles"
)]
pub trait GemmElement: MatmulInto<Self> + Accumulate<Product = Self> + sealed::GemmElement {}

pub mod sealed {
    use super::{Accumulate, Accumulator, AddKernel, Arithmetic, Element, Kernels, Typed};

    /// A type that the table has chains for.
    pub trait GemmElement {}

    /// A type whose products of unequal shapes can share a launch.
    pub trait GroupElement: Accumulate + Kernels<Self, <Self as Accumulate>::Accumulator> {
        /// The arithmetic of the products that do not fit into the launch.
        const ARITHMETIC: Arithmetic;
    }

    /// A type of outputs of tensor-core kernels.
    pub trait TensorOutput: Element + Typed {
        /// The type in which outputs are computed.
        type Sum: Accumulator;
    }

    /// A type of outputs computed from the sums, of type `P`, of the parts of a split K.
    pub trait OutputOf<P: Accumulator>: TensorOutput {
        /// The kernel that adds the sums.
        const ADD: AddKernel<Self, Self::Sum, P>;

        /// The kernel that adds the sums and can start while the kernel before it still runs.
        const ADD_AFTER: AddKernel<Self, Self::Sum, P>;
    }
}

macro_rules! gemm_elements {
    ($($element:ty)*) => {$(
        impl GemmElement for $element {}
        impl sealed::GemmElement for $element {}
    )*};
}
gemm_elements!(f32 f64);

macro_rules! group_elements {
    ($($element:ty, by $arithmetic:ident;)*) => {$(
        impl sealed::GroupElement for $element {
            const ARITHMETIC: Arithmetic = Arithmetic::$arithmetic;
        }
    )*};
}
group_elements! {
    f32, by Chain;
    f64, by Chain;
    f16, by Auto;
    bf16, by Auto;
}

macro_rules! tensor_outputs {
    ($($element:ty)*) => {$(
        impl sealed::TensorOutput for $element {
            type Sum = <Self as Output>::Finish;
        }
    )*};
}
tensor_outputs!(f16 bf16 f32 i32);

macro_rules! outputs_of_parts {
    ($({$part:ident to $element:ident in $finish:ident} {alone $add:ident; after $add_after:ident;})*) => {$(
        impl sealed::OutputOf<$part> for $element {
            const ADD: AddKernel<Self, <Self as sealed::TensorOutput>::Sum, $part> =
                outputs_of_parts!(@kernel $add);
            const ADD_AFTER: AddKernel<Self, <Self as sealed::TensorOutput>::Sum, $part> =
                outputs_of_parts!(@kernel $add_after);
        }
    )*};
    (@kernel $add:ident) => {
        AddKernel {
            architecture: <parts::$add as Kernel>::ARCH,
            driver: oldest_driver(images_of!($add)),
            module: module_of!($add),
            launch: |module, config, arguments| {
                let AddArguments { sums, c, shape, epilogue } = arguments;
                let shape = GridConstant::new(&shape);
                // SAFETY: the launch meets the kernel's requirements and the views are live: the contract of
                // `AddLaunch`.
                unsafe {
                    launch_with_epilogue!(module, parts::$add, config, [sums, c, shape], epilogue, [])
                }
            },
        }
    };
}
tilewright_kernels::sums_of_parts!(outputs_of_parts by types);
