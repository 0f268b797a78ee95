//! How a kernel of each kind in the table is launched.

pub mod kinds;

/// The names that the arms of [`launcher`] use.
pub mod names {
    use crate::matmul::types::{Operand, Output};

    pub use crate::matmul::entry::{
        ChainLaunch, GroupLaunch, Launcher, ProductLaunch, SplitLaunch, SplitMmaLaunch,
        TensorLaunch, VectorLaunch, WideLaunch,
    };
    pub use crate::matmul::launchers::kinds;

    /// The type in which products of elements `T` are added.
    pub type SumOf<T> = <T as Operand>::Sum;
    /// The type in which outputs `O` are computed.
    pub type FinishOf<O> = <O as Output>::Finish;
}

/// The [`Launcher`](super::entry::Launcher) of a kernel, from its kind, the types of its elements and of its
/// outputs, and the kernel.
macro_rules! launcher {
    ($kind:ident of $element:ty, $output:ty: $kernel:ty) => {{
        #[allow(unused_imports, reason = "each kind of kernel is launched with some of them")]
        use $crate::matmul::launchers::names::*;
        launcher!(@$kind $element, $output, $kernel)
    }};
    (@tiled $element:ty, $output:ty, $kernel:ty) => {
        Launcher::new::<ChainLaunch<$element>>(kinds::tiled::<$kernel, _>)
    };
    (@chain $element:ty, $output:ty, $kernel:ty) => {
        Launcher::new::<ChainLaunch<$element>>(kinds::product::<$kernel, _, _, _>)
    };
    (@words $element:ty, $output:ty, $kernel:ty) => {
        Launcher::new::<ChainLaunch<i32>>(kinds::product::<$kernel, _, _, _>)
    };
    (@mma $element:ty, $output:ty, $kernel:ty) => {
        Launcher::new::<ProductLaunch<$element, $output, FinishOf<$output>>>(
            kinds::product::<$kernel, _, _, _>,
        )
    };
    (@bulk $element:ty, $output:ty, $kernel:ty) => {
        Launcher::new::<TensorLaunch<$output, FinishOf<$output>>>(kinds::bulk::<$kernel, _, _, _, _, _>)
    };
    (@direct $element:ty, $output:ty, $kernel:ty) => {
        Launcher::new::<TensorLaunch<$output, FinishOf<$output>>>(kinds::direct::<$kernel, _, _, _, _>)
    };
    (@group $element:ty, $output:ty, $kernel:ty) => {
        Launcher::new::<GroupLaunch<FinishOf<$output>>>(
            kinds::group::<$kernel, _, _, _>,
        )
    };
    (@split $element:ty, $output:ty, $kernel:ty) => {
        Launcher::new::<SplitLaunch>(kinds::split::<$kernel, _, _>)
    };
    (@split_mma $element:ty, $output:ty, $kernel:ty) => {
        Launcher::new::<SplitMmaLaunch>(kinds::split_mma::<$kernel>)
    };
    (@vector $element:ty, $output:ty, $kernel:ty) => {
        Launcher::new::<VectorLaunch<$element, $output, FinishOf<$output>>>(
            kinds::vector::<$kernel, _, _, _, _>,
        )
    };
    // The kernel reads words of four elements.
    (@bytes $element:ty, $output:ty, $kernel:ty) => {
        Launcher::new::<VectorLaunch<i32, $output, FinishOf<$output>, SumOf<$element>>>(
            kinds::vector::<$kernel, _, _, _, _>,
        )
    };
    (@wide $element:ty, $output:ty, $kernel:ty) => {
        Launcher::new::<WideLaunch>(kinds::wide::<$kernel>)
    };
}
pub(super) use launcher;
