//! Element types of reproducible sums, and their kernels.

use crate::element::Element;
use crate::kernels::module_of;
use crate::module_source::ModuleSource;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright_kernels::for_each_reproducible_sum;
use tilewright_kernels::reduce::reproducible::{self, state_words};

/// An element type of [`ReproducibleSum`](crate::ReproducibleSum): f32, f64, f16 and bf16.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be summed reproducibly",
    note = "reproducible sums are for f32, f64, f16 and bf16; those of integers always are: `reduce_sum`"
)]
pub trait ReproducibleElement: Element + sealed::Reproducible<Value = Self::Sum> {
    /// The type of the sum: f64 for f64, f32 for the others.
    type Sum: Element + PartialEq + Debug;
}

pub(in crate::reduce) mod sealed {
    use super::{Debug, Element, Global, GlobalMut, Kernel, ModuleSource, reproducible};

    pub trait Reproducible: Element + reproducible::ReproducibleElement {
        /// The type of the sum.
        type Value: Element;
        /// The words of the state.
        type Words: Copy + Debug + AsRef<[u64]> + AsMut<[u64]>;
        /// The words of an empty sum.
        const EMPTY: Self::Words;
        /// The total as the type of the sum.
        fn sum_of(total: Self::Total) -> Self::Value;
        type Kernel: for<'launch> Kernel<
            Params<'launch> = (
                Global<'launch, Self>,
                GlobalMut<'launch, i64>,
                GlobalMut<'launch, u32>,
                GlobalMut<'launch, u64>,
                GlobalMut<'launch, Self::Value>,
            ),
        >;
        const MODULE: &'static ModuleSource;
    }
}

macro_rules! reproducible_sums {
    ($($kernel:ident: sum of $element:ident in $sum:ident, $bins:literal bins,
        $blocks:literal blocks;)*) => {$(
        impl sealed::Reproducible for $element {
            type Value = $sum;
            type Words = [u64; state_words::<$sum>()];
            const EMPTY: Self::Words = [0; state_words::<$sum>()];

            fn sum_of(total: $sum) -> $sum {
                total
            }

            type Kernel = reproducible::$kernel;
            const MODULE: &'static ModuleSource = module_of!($kernel);
        }

        impl ReproducibleElement for $element {
            type Sum = $sum;
        }
    )*};
}
for_each_reproducible_sum!(reproducible_sums);
