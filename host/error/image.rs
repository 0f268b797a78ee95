//! Why a module has no image for a device.

use std::fmt;

/// A version of CUDA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CudaVersion {
    /// The number before the point.
    pub major: u32,
    /// The number after the point.
    pub minor: u32,
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

/// Why one image of a module was not loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageRejection {
    /// The architecture that the image was compiled for, such as `sm_80`.
    pub architecture: &'static str,
    /// The image's PTX version, such as `7.0`; `unknown` if it names none.
    pub ptx_version: String,
    /// The oldest CUDA driver that reads this PTX version, if known.
    pub needed_driver: Option<CudaVersion>,
    /// Why the image was not loaded, with the log of the driver's compiler.
    pub reason: String,
}

/// One line for each image, under the first line of [`ErrorKind::NoModule`](super::ErrorKind::NoModule).
pub(super) fn rejections(images: &[ImageRejection]) -> String {
    if images.is_empty() {
        return " the module has no images".to_owned();
    }
    images.iter().map(rejection_line).collect()
}

fn rejection_line(image: &ImageRejection) -> String {
    let driver = match image.needed_driver {
        Some(version) => format!(", needs a driver for CUDA {version}"),
        None => String::new(),
    };
    format!(
        "\n  {} (PTX {}{driver}): {}",
        image.architecture, image.ptx_version, image.reason
    )
}
