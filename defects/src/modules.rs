//! The module of each kernel.

/// The PTX of each kernel; empty without the feature `cuda`.
#[cfg(feature = "cuda")]
pub mod images {
    include!(concat!(env!("OUT_DIR"), "/images.rs"));
}

#[cfg(feature = "cuda")]
macro_rules! images_of {
    ($kernel:ident) => {
        $crate::modules::images::$kernel
    };
}
#[cfg(not(feature = "cuda"))]
macro_rules! images_of {
    ($kernel:ident) => {
        &[]
    };
}

/// The module of one kernel.
macro_rules! module_of {
    ($kernel:ident) => {{
        static MODULE: ModuleSource =
            // SAFETY: the build script compiles the PTX from the crate that defines the kernels.
            unsafe { ModuleSource::new(stringify!($kernel), images_of!($kernel)) };
        &MODULE
    }};
}
