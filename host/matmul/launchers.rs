//! How a kernel of each kind in the table is launched.

/// What the arms of [`launcher`] name.
pub mod names {
    use crate::matmul::element_type::{Operand, Output};

    pub(in crate::matmul) use crate::matmul::entry::launch_with_epilogue;
    pub use crate::matmul::entry::{
        ChainArguments, ChainLaunch, GroupLaunch, Launcher, ProductArguments, ProductLaunch,
        SplitArguments, SplitLaunch, SplitMmaArguments, SplitMmaLaunch, TensorArguments,
        TensorLaunch, VectorArguments, VectorLaunch, WideLaunch,
    };
    pub use cuda_std::global::{Global, GlobalMut};
    pub use cuda_std::grid_constant::GridConstant;
    pub use cuda_std::tma::{TensorMap, TensorMapMut};
    pub use tilewright_kernels::matmul::ProductShape;

    /// The type in which products of elements `T` are added.
    pub type SumOf<T> = <T as Operand>::Sum;
    /// The type in which outputs `O` are computed.
    pub type FinishOf<O> = <O as Output>::Finish;
}

/// The [`Launcher`](super::entry::Launcher) of a kernel: its kind, the types of its elements and of its outputs, and
/// the kernel.
macro_rules! launcher {
    ($kind:ident of $element:ty, $output:ty: $kernel:path) => {{
        #[allow(unused_imports, reason = "each kind of kernel is launched with some of them")]
        use $crate::matmul::launchers::names::*;
        launcher!(@$kind $element, $output, $kernel)
    }};
    (@tiled $element:ty, $output:ty, $kernel:path) => {
        Launcher::new::<ChainLaunch<$element>>(|module, config, arguments| {
            let ChainArguments { a, b, c, shape, .. } = arguments;
            let ProductShape { m, n, k, lda, ldb, ldc, .. } = shape;
            // SAFETY: (1), (2) are those of `ProductLaunch`.
            unsafe { module.launch_params($kernel(), config, (a, b, c, m, n, k, lda, ldb, ldc)) }
        })
    };
    (@chain $element:ty, $output:ty, $kernel:path) => {
        launcher!(@product ChainLaunch<$element>, $kernel)
    };
    (@words $element:ty, $output:ty, $kernel:path) => { launcher!(@product ChainLaunch<i32>, $kernel) };
    (@mma $element:ty, $output:ty, $kernel:path) => {
        launcher!(@product ProductLaunch<$element, $output, FinishOf<$output>>, $kernel)
    };
    (@product $launch:ty, $kernel:path) => {
        Launcher::new::<$launch>(|module, config, arguments| {
            let ProductArguments { a, b, c, shape, epilogue } = arguments;
            let shape = GridConstant::new(&shape);
            // SAFETY: (1), (2) are those of `ProductLaunch`.
            unsafe { launch_with_epilogue!(module, $kernel(), config, [a, b, c, shape], epilogue, []) }
        })
    };
    (@bulk $element:ty, $output:ty, $kernel:path) => {
        Launcher::new::<TensorLaunch<$output, FinishOf<$output>>>(|module, config, arguments| {
            let TensorArguments { a, b, c_map, c, shape, epilogue } = arguments;
            let (a, b) = (TensorMap::of_words(a), TensorMap::of_words(b));
            let (a, b) = (GridConstant::new(&a), GridConstant::new(&b));
            let c_map = TensorMapMut::of_words(c_map);
            let (c_map, shape) = (GridConstant::new(&c_map), GridConstant::new(&shape));
            // SAFETY: (1), (2) are those of `TensorLaunch`.
            unsafe { launch_with_epilogue!(module, $kernel(), config, [a, b, c_map, c, shape], epilogue, []) }
        })
    };
    (@direct $element:ty, $output:ty, $kernel:path) => {
        Launcher::new::<TensorLaunch<$output, FinishOf<$output>>>(|module, config, arguments| {
            let TensorArguments { a, b, c, shape, epilogue, .. } = arguments;
            let (a, b) = (TensorMap::of_words(a), TensorMap::of_words(b));
            let (a, b) = (GridConstant::new(&a), GridConstant::new(&b));
            let shape = GridConstant::new(&shape);
            // SAFETY: (1), (2) are those of `TensorLaunch`.
            unsafe { launch_with_epilogue!(module, $kernel(), config, [a, b, c, shape], epilogue, []) }
        })
    };
    (@group $element:ty, $output:ty, $kernel:path) => {
        Launcher::new::<GroupLaunch<FinishOf<$output>>>(|module, config, group, numbers| {
            // SAFETY: (1) no element. (2) None is touched.
            let memory = unsafe {
                let operands = Global::from_raw_parts(std::ptr::null(), 0);
                (operands, GlobalMut::from_raw_parts(std::ptr::null_mut(), 0))
            };
            let (group, numbers) = (GridConstant::new(group), GridConstant::new(numbers));
            let params = (memory.0, memory.1, group, numbers);
            // SAFETY: (1), (2) are those of `GroupLaunch`, and the views are those of address 0.
            unsafe { module.launch_params($kernel(), config, params) }
        })
    };
    (@split $element:ty, $output:ty, $kernel:path) => {
        Launcher::new::<SplitLaunch>(|module, config, arguments| {
            let SplitArguments { a, b, words, c, shape, is_transposed, epilogue } = arguments;
            let (a, b) = (TensorMap::of_words(a), TensorMap::of_words(b));
            let (a, b) = (GridConstant::new(&a), GridConstant::new(&b));
            let [a_words, b_words] = words;
            let (shape, is_transposed) = (GridConstant::new(&shape), u32::from(is_transposed));
            // SAFETY: (1), (2) are those of `SplitLaunch`.
            unsafe {
                launch_with_epilogue!(
                    module, $kernel(), config, [a, b, a_words, b_words, c, shape, is_transposed], epilogue, []
                )
            }
        })
    };
    (@split_mma $element:ty, $output:ty, $kernel:path) => {
        Launcher::new::<SplitMmaLaunch>(|module, config, arguments| {
            let SplitMmaArguments { halves, words, c, shape, is_transposed, epilogue } = arguments;
            let [[a_high, a_low], [b_high, b_low]] = halves;
            let [a_words, b_words] = words;
            let (shape, is_transposed) = (GridConstant::new(&shape), u32::from(is_transposed));
            // SAFETY: (1), (2) are those of `SplitMmaLaunch`.
            unsafe {
                launch_with_epilogue!(
                    module, $kernel(), config,
                    [a_high, a_low, b_high, b_low, a_words, b_words, c, shape, is_transposed], epilogue, []
                )
            }
        })
    };
    (@vector $element:ty, $output:ty, $kernel:path) => {
        launcher!(@lines VectorLaunch<$element, $output, FinishOf<$output>>, $kernel)
    };
    // In words of four.
    (@bytes $element:ty, $output:ty, $kernel:path) => {
        launcher!(@lines VectorLaunch<i32, $output, FinishOf<$output>, SumOf<$element>>, $kernel)
    };
    (@lines $launch:ty, $kernel:path) => {
        Launcher::new::<$launch>(|module, config, arguments| {
            let VectorArguments { x, v, y, shape, epilogue, partials, tickets } = arguments;
            let shape = GridConstant::new(&shape);
            // SAFETY: (1), (2) are those of `VectorLaunch`.
            unsafe {
                launch_with_epilogue!(
                    module, $kernel(), config, [x, v, y, shape], epilogue, [partials, tickets]
                )
            }
        })
    };
    (@wide $element:ty, $output:ty, $kernel:path) => {
        Launcher::new::<WideLaunch>(|module, config, arguments, [a_words, b_words]| {
            let ChainArguments { a, b, c, shape, epilogue } = arguments;
            let shape = GridConstant::new(&shape);
            // SAFETY: (1), (2) are those of `WideLaunch`.
            unsafe {
                launch_with_epilogue!(
                    module, $kernel(), config, [a, b, c, shape], epilogue, [a_words, b_words]
                )
            }
        })
    };
}
pub(super) use launcher;
