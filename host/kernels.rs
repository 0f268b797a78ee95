//! The PTX of this crate's own kernels: a module for each kernel of sums and products.

use crate::module_source::ModuleSource;
use cuda_std::kernel::Kernel;

/// The images of each kernel of `tilewright_kernels`, compiled or found by the build script.
#[cfg(feature = "cuda")]
pub(crate) mod images {
    include!(concat!(env!("OUT_DIR"), "/images.rs"));
}

/// The images of one kernel of `tilewright_kernels`. Without CUDA there are none: the simulator runs the kernels as
/// compiled for the host.
#[cfg(feature = "cuda")]
macro_rules! images_of {
    ($kernel:ident) => {
        $crate::kernels::images::$kernel
    };
}
#[cfg(not(feature = "cuda"))]
macro_rules! images_of {
    ($kernel:ident) => {
        &[]
    };
}
pub(crate) use images_of;

/// The module of one kernel of `tilewright_kernels`, a `&'static ModuleSource`.
///
/// Each use has its own module, so each kernel is named in one place. A program contains the images of the kernels
/// that it may launch.
macro_rules! module_of {
    ($kernel:ident) => {{
        // SAFETY: each image was compiled from the same source as the kernel: `same_sources` compares the hashes of
        // the kernels, of the device library and of `#[kernel]`, from which the descriptors come. Other crates
        // (`half`, `bytemuck`) only give kernels types whose layouts they document, but no parameters or behaviour.
        static MODULE: $crate::module_source::ModuleSource = unsafe {
            $crate::module_source::ModuleSource::new(
                stringify!($kernel),
                $crate::kernels::images_of!($kernel),
            )
        };
        &MODULE
    }};
}
pub(crate) use module_of;

/// A kernel of this crate.
pub trait OwnKernel: Kernel {
    const MODULE: &'static ModuleSource;
}

/// Implements [`OwnKernel`] for kernels of one module of `tilewright_kernels`.
macro_rules! own_kernels {
    ($module:ident: $($kernel:ident),*) => {$(
        impl $crate::kernels::OwnKernel for $module::$kernel {
            const MODULE: &'static $crate::module_source::ModuleSource = $crate::kernels::module_of!($kernel);
        }
    )*};
}
pub(crate) use own_kernels;

/// Fails to compile if a module was compiled from other sources than the crates with its kernels' descriptors.
#[cfg(feature = "cuda")]
mod same_sources {
    /// The sources in the repository that a module was compiled from, each with its hash.
    type Sources = &'static [(&'static str, &'static str)];
    const MODULE: Sources = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

    const fn contains(sources: Sources, source: &str, hash: &str) -> bool {
        let mut index = 0;
        while index < sources.len() {
            let (name, built_from) = sources[index];
            if equal(name, source) && equal(built_from, hash) {
                return true;
            }
            index += 1;
        }
        false
    }

    const fn equal(left: &str, right: &str) -> bool {
        let (left, right) = (left.as_bytes(), right.as_bytes());
        let mut index = 0;
        while index < left.len() && index < right.len() && left[index] == right[index] {
            index += 1;
        }
        index == left.len() && index == right.len()
    }

    macro_rules! assert_same_sources {
        ($($module:ident: $source:literal of $package:literal is $hash:expr;)*) => {$(
            const _: () = assert!(
                contains($module, $source, $hash),
                concat!(
                    "the PTX in this version of tilewright was compiled from other sources than \
                     the package ",
                    $package,
                    " that it is built with: use the versions that were published together, or \
                     `cargo xtask ptx` in the repository",
                ),
            );
        )*};
    }
    assert_same_sources! {
        MODULE: "kernels" of "tilewright-kernels" is tilewright_kernels::SOURCE_HASH;
        MODULE: "crates/cuda_std/src" of "tilewright-cuda-std" is cuda_std::SOURCE_HASH;
        MODULE: "crates/cuda_std_macros/src" of "tilewright-cuda-std-macros" is cuda_std::MACROS_SOURCE_HASH;
    }
}
