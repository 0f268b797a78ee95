//! PTX images of kernels, as a program carries them.

use std::ptr;

/// Identifies a module: that of one source, on any device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ModuleId(usize);

#[cfg(feature = "cuda")]
impl ModuleId {
    /// A number that no other module has.
    pub(crate) fn number(self) -> u64 {
        self.0 as u64
    }
}

/// Kernels compiled to PTX, one image for each of several architectures.
///
/// Declare it as a `static`. `cuda_builder` writes the PTX:
///
/// ```
/// use tilewright::ModuleSource;
///
/// // With a build script: `include!(env!("KERNEL_IMAGES"))`. The simulator needs no images.
/// const IMAGES: &[(&str, &str)] = &[];
///
/// // SAFETY: each image was compiled from the kernels of this program.
/// static KERNELS: ModuleSource = unsafe { ModuleSource::new("my_kernels", IMAGES) };
/// assert_eq!(KERNELS.name(), "my_kernels");
/// ```
#[derive(Debug)]
pub struct ModuleSource {
    name: &'static str,
    images: &'static [(&'static str, &'static str)],
}

impl ModuleSource {
    /// A module with PTX `images`, each with the architecture that it was compiled for.
    ///
    /// An image for `sm_80` runs on compute capability 8.0 and later; one for `sm_90a` runs on 9.0 only. Their order
    /// does not matter: each device gets the best image that it can run. A module for the simulator alone needs no
    /// images.
    ///
    /// # Safety
    /// 1. Each image was compiled from the same source as the kernels that are launched from this module. An entry
    ///    point has the name, the parameters and the behaviour of the [`Kernel`](cuda_std::kernel::Kernel) that names
    ///    it.
    #[must_use]
    pub const unsafe fn new(
        name: &'static str,
        images: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { name, images }
    }

    /// The module's name, for messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The module's identity: the address of its source.
    pub(crate) fn id(&'static self) -> ModuleId {
        ModuleId(ptr::from_ref(self).addr())
    }

    /// The PTX images, each with its architecture.
    #[must_use]
    pub const fn images(&self) -> &'static [(&'static str, &'static str)] {
        self.images
    }
}
