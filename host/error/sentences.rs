//! The message of each kind of error: the argument, what it is, what was expected, and what to do.
//!
//! `tests/messages/` shows all of them as a caller sees them.

use super::ErrorKind;
use super::image::rejections;
use super::words::{bytes, counted, elements};
use std::fmt::{self, Display, Formatter};

/// How to do without a GPU: in the environment and on the command line, and in code.
const USE_THE_SIMULATOR: &str = "use the simulator (device `sim`, or Device::simulator() in code)";

impl Display for ErrorKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCudaFeature => write!(
                f,
                "this program was built without tilewright's feature `cuda`, so it cannot open a CUDA \
                 device; build it with `--features cuda` (on by default), or {USE_THE_SIMULATOR}"
            ),
            Self::NoDriver { library, reason } => write!(
                f,
                "no NVIDIA driver was found: its library {library} cannot be loaded ({reason}); install \
                 the driver, or {USE_THE_SIMULATOR}"
            ),
            Self::UnusableDriver { library, reason } => write!(
                f,
                "the NVIDIA driver cannot be used: {library}: {reason}; reinstall the driver"
            ),
            Self::NoDevice { ordinal, reason } => {
                write!(f, "there is no CUDA device {ordinal}: {reason}")
            }
            Self::NotRecorded { call, reason } => {
                write!(f, "a graph cannot record {call}: {reason}")
            }
            Self::NoDeviceWithUuid { uuid, found } => match found.as_slice() {
                [] => write!(f, "there is no CUDA device {uuid}: the driver lists none"),
                found if found[0].starts_with(uuid) => write!(
                    f,
                    "several CUDA devices have a UUID that starts with {uuid}: {}; give more digits",
                    found.join(" and ")
                ),
                found => write!(
                    f,
                    "there is no CUDA device {uuid}: the driver lists {}",
                    found.join(" and ")
                ),
            },
            Self::DriverTooOld { found, needed } => write!(
                f,
                "the NVIDIA driver is too old: it supports CUDA {found}, and this call needs CUDA {needed} \
                 or newer; update the driver"
            ),
            Self::NoModule {
                module,
                device,
                compute_capability,
                driver,
                images,
            } => write!(
                f,
                "no image of module `{module}` runs on {device} (compute capability {compute_capability}, \
                 driver for CUDA {driver}):{}",
                rejections(images)
            ),
            Self::NoKernel {
                problem,
                device,
                reason,
            } => write!(f, "no kernel computes {problem} on {device}: {reason}"),
            Self::KernelDefect(defect) => {
                write!(f, "the simulator found a defect: {defect}")
            }
            Self::Simulator(error) => error.fmt(f),
            Self::Group(error) => error.fmt(f),
            #[cfg(any(feature = "cuda", feature = "dlpack"))]
            Self::Interop { reason } => f.write_str(reason),
            #[cfg(feature = "dlpack")]
            Self::Tensor(error) => error.fmt(f),
            Self::UnknownDevice { name, allowed } => {
                write!(f, "`{name}` is not the name of a device; use {allowed}")
            }
            Self::InvalidEnvironment {
                variable,
                value,
                allowed,
            } => write!(
                f,
                "the environment variable {variable} is `{value}`, which is not the name of a device; set \
                 it to {allowed}"
            ),
            Self::ShapeMismatch {
                operands: [first, second],
                left,
                right,
                rule,
            } => write!(
                f,
                "{first} is {}x{} and {second} is {}x{}: {rule}",
                left.0, left.1, right.0, right.1
            ),
            Self::WrongLength {
                what,
                expected,
                found,
                rule,
            } => write!(
                f,
                "{what} has {}, and needs {expected}: {rule}",
                elements(*found)
            ),
            Self::NoElements { what, remedy } => write!(
                f,
                "{what} is empty, and this operation needs at least one element; {remedy}"
            ),
            Self::InvalidOffsets { reason } => {
                write!(f, "the offsets of the segments are wrong: {reason}")
            }
            Self::NoAxis { axis, axes } => write!(
                f,
                "the array has no axis {axis}: it has {}, numbered from 0",
                counted(*axes, "axis", "axes")
            ),
            Self::OutOfRange {
                what,
                start,
                end,
                len,
            } => match start > end {
                true if start > len => write!(
                    f,
                    "the range {start}..{end} of {what} starts past the end: the number of {what} is {len}"
                ),
                true => write!(
                    f,
                    "the range {start}..{end} of {what} ends before it starts"
                ),
                false => write!(
                    f,
                    "the range {start}..{end} of {what} goes past the end: the number of {what} is {len}"
                ),
            },
            Self::LeadingDimension { least, found } => write!(
                f,
                "the leading dimension is {found}, and must be at least {least}, the length of a row (of a \
                 column, in column-major order)"
            ),
            Self::UnevenBatch { what, count: 0, .. } => write!(
                f,
                "the {what} cannot be divided into 0 parts; a batch has at least one matrix"
            ),
            Self::UnevenBatch { what, len, count } => write!(
                f,
                "{} cannot be divided into {count} equal parts; the number of parts must divide the number \
                 of {what}",
                counted(*len, what.trim_end_matches('s'), what)
            ),
            Self::BatchMismatch {
                batches: [first, second],
                left,
                right,
            } => write!(
                f,
                "{first} has {} and {second} has {right}: all batches of a product must have the same number of \
                 matrices; only A or B can be a single matrix, which all products then use",
                counted(*left, "matrix", "matrices")
            ),
            Self::OrderMismatch => write!(
                f,
                "one matrix is row-major and the other column-major, and copies, scans and dot products need \
                 both in the same order; create one of them in the order of the other (matmul accepts any mix)"
            ),
            Self::TensorMap { rule } => {
                write!(f, "bulk copies cannot read the matrix: {rule}")
            }
            Self::TooLarge { what, remedy } => write!(f, "{what} is too large: {remedy}"),
            Self::WrongDevice {
                what,
                expected,
                found,
            } => write!(
                f,
                "{what} is on {found}, and this call runs on {expected}; create all operands with one `Device` \
                 or its clones"
            ),
            Self::InvalidTexture { reason } => {
                write!(f, "the texture cannot be created: {reason}")
            }
            Self::OutOfMemory {
                device,
                requested,
                free,
                total,
            } => write!(
                f,
                "{device} cannot allocate {}: {free} of its {total} bytes are free; drop buffers that are \
                 no longer needed, or work on smaller parts",
                bytes(*requested)
            ),
            Self::OutOfHostMemory { requested } => write!(
                f,
                "the host cannot allocate {}; free memory, or copy in parts to a slice of your own",
                bytes(*requested)
            ),
            Self::LaunchConfig { kernel, reason } => {
                write!(f, "kernel `{kernel}` cannot be launched: {reason}")
            }
            Self::NoSymbol {
                module,
                symbol,
                bytes: size,
                reason,
            } => write!(
                f,
                "module `{module}` has no static array `{symbol}` of {}: {reason}",
                bytes(*size)
            ),
            Self::NotResident {
                kernel,
                device,
                blocks,
                block,
                dynamic_shared_bytes,
                resident,
                reason,
            } => write!(
                f,
                "kernel `{kernel}` cannot be launched cooperatively: all of its {} of {} and {} \
                 of dynamic shared memory must be resident at once, and {device} holds {resident} \
                 ({reason}); launch at most as many as Module::max_resident_blocks returns, and give each \
                 more work",
                counted(*blocks, "block", "blocks"),
                counted(block.count(), "thread", "threads"),
                bytes(*dynamic_shared_bytes)
            ),
            Self::OtherKernel {
                kernel,
                module,
                expected,
                found,
            } => write!(
                f,
                "kernel `{kernel}` was not launched: the kernel of this name in module `{module}` is {}, and \
                 the program launches {expected}; build the module's images from the crate that declares \
                 the kernel",
                found.as_deref().unwrap_or("one without a signature")
            ),
            Self::Launch {
                kernel,
                code,
                message,
            } => write!(
                f,
                "kernel `{kernel}` was not launched: CUDA error {code}: {message}"
            ),
            Self::Cuda { code, message } => write!(f, "CUDA error {code}: {message}"),
            Self::DeviceLost { device, cause } => write!(
                f,
                "{device} was lost ({cause}); its buffers are gone: restart the program to use it again"
            ),
        }
    }
}

impl std::error::Error for ErrorKind {}
