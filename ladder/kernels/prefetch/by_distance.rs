//! Kernels compiled for each distance, and their selection by number.

#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::{
    global::{Global, GlobalMut},
    kernel::{Kernel, KernelParams},
};

/// The parameters of a family of kernels. Views end with their launch.
#[cfg(not(target_arch = "nvptx64"))]
pub trait Parameters {
    /// The parameters of one launch.
    type Of<'launch>: KernelParams;
}

/// The parameters of the kernels that keep their values in registers: `rounds`, `generations`,
/// `x` and `sums`.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy, Debug)]
pub struct ScalarParams;

#[cfg(not(target_arch = "nvptx64"))]
impl Parameters for ScalarParams {
    type Of<'launch> = (u32, u32, Global<'launch, f64>, GlobalMut<'launch, f64>);
}

/// The parameters of the kernels that keep their values in shared memory: `rounds`,
/// `generations`, `thread_pitch`, `slot_pitch`, `x` and `sums`.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy, Debug)]
pub struct SharedParams;

#[cfg(not(target_arch = "nvptx64"))]
impl Parameters for SharedParams {
    type Of<'launch> = (
        u32,
        u32,
        u32,
        u32,
        Global<'launch, f64>,
        GlobalMut<'launch, f64>,
    );
}

/// A visitor for the kernel of a distance, whose type depends on the distance.
#[cfg(not(target_arch = "nvptx64"))]
pub trait WithKernel<P: Parameters> {
    /// The result.
    type Output;

    /// Visits the kernel. All kernels that one function selects have the same documented
    /// requirements.
    fn with<K>(self, kernel: K) -> Self::Output
    where
        K: for<'launch> Kernel<Params<'launch> = P::Of<'launch>>;
}

/// Defines two kernels for each distance, without and with a barrier, and the function that selects
/// them.
///
/// The constant of `run` is the distance plus `more`. `asked` is the kernels' `# Safety` section.
macro_rules! kernels_by_distance {
    (
        $run:ident::<distance + $more:literal> $parameters:tt, $arguments:tt, $asked:tt,
        $find:ident: $params:ident, $about:literal;
        $($distance:literal: $free:ident, $synced:ident;)*
    ) => {
        $(
            kernels_by_distance! {
                @kernel $asked
                #[doc = concat!($about, " At distance ", $distance, ".")]
                $free $parameters => ($run::<{ $distance + $more }, false>) $arguments
            }
            kernels_by_distance! {
                @kernel $asked
                #[doc = concat!($about, " At distance ", $distance, ", with a barrier in each round.")]
                $synced $parameters => ($run::<{ $distance + $more }, true>) $arguments
            }
        )*

        /// Calls `what` with the kernel of a distance, or returns `None` if there is none. `is_synced` selects the
        /// kernel with a barrier in each round.
        #[cfg(not(target_arch = "nvptx64"))]
        pub fn $find<W>(distance: u32, is_synced: bool, what: W) -> Option<W::Output>
        where
            W: super::WithKernel<super::$params>,
        {
            match (distance, is_synced) {
                $(
                    ($distance, false) => Some(what.with($free)),
                    ($distance, true) => Some(what.with($synced)),
                )*
                _ => None,
            }
        }
    };
    (
        @kernel ($asked:literal)
        #[$doc:meta] $name:ident ($($parameters:tt)*) => ($($run:tt)*) $arguments:tt
    ) => {
        #[$doc]
        ///
        /// # Safety
        #[doc = $asked]
        #[kernel(max_threads = 256)]
        pub unsafe fn $name($($parameters)*) {
            // SAFETY: `run` has the kernel's requirements: the caller's contract.
            unsafe { $($run)* $arguments }
        }
    };
}
pub(super) use kernels_by_distance;
