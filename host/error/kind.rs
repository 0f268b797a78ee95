//! The kinds of errors.

use super::TensorMapRule;
use super::group::GroupError;
use super::image::{CudaVersion, ImageRejection};
use super::simulator::SimulatorError;
#[cfg(feature = "dlpack")]
use super::tensor::TensorError;

/// What went wrong in a call, with the sizes involved and the remedy.
///
/// ```
/// use tilewright::{Device, ErrorKind};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let measurements = device.zeros::<f32>(0)?;
/// let greatest = match device.reduce_max(&measurements) {
///     Ok(greatest) => Some(greatest),
///     Err(error) if matches!(error.kind(), ErrorKind::NoElements { .. }) => None,
///     Err(error) => return Err(error),
/// };
/// assert_eq!(greatest, None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A CUDA device was requested in a build that has no CUDA backend.
    NoCudaFeature,

    /// There is no NVIDIA driver on this machine.
    NoDriver {
        /// The library's file name.
        library: &'static str,
        /// What the system's loader said.
        reason: String,
    },

    /// A library has the NVIDIA driver's name, but cannot be used as the driver.
    UnusableDriver {
        /// The library's file name.
        library: &'static str,
        /// What is wrong with it.
        reason: String,
    },

    /// A call that a graph cannot record was made while recording one.
    NotRecorded {
        /// The call.
        call: String,
        /// Why not, and what to do.
        reason: &'static str,
    },

    /// There is no CUDA device with the requested number.
    NoDevice {
        /// The requested number, counted from 0.
        ordinal: u32,
        /// What the driver said, and what to do.
        reason: String,
    },

    /// There is no CUDA device with the requested UUID, or several UUIDs start with the requested digits.
    NoDeviceWithUuid {
        /// The requested UUID, or its first digits.
        uuid: String,
        /// The UUIDs that start with these digits; if none does, those of all devices that the driver lists.
        found: Vec<String>,
    },

    /// The installed driver is older than the library requires, or than the only kernel for a product on this device
    /// requires.
    DriverTooOld {
        /// The newest CUDA version that the driver supports.
        found: CudaVersion,
        /// The oldest CUDA version that suffices.
        needed: CudaVersion,
    },

    /// The device can run none of a module's PTX images.
    NoModule {
        /// The module's name.
        module: &'static str,
        /// The device's name.
        device: String,
        /// The device's compute capability, as in `9.0`.
        compute_capability: String,
        /// The newest CUDA version that the driver supports.
        driver: CudaVersion,
        /// Every image of the module, each with the reason why it was not loaded.
        images: Vec<ImageRejection>,
    },

    /// The library has no kernel for this problem on this device.
    NoKernel {
        /// The problem, with its types and sizes.
        problem: String,
        /// The device's name.
        device: String,
        /// Why there is none, and what to do.
        reason: String,
    },

    /// The shapes of two operands do not fit together.
    ShapeMismatch {
        /// The names of the left and the right operand.
        operands: [&'static str; 2],
        /// Rows and columns of the left operand.
        left: (usize, usize),
        /// Rows and columns of the right operand.
        right: (usize, usize),
        /// The rule that the shapes break.
        rule: &'static str,
    },

    /// An argument does not have the number of elements that the operation needs.
    WrongLength {
        /// Which argument it is.
        what: String,
        /// The number of elements that the operation needs.
        expected: usize,
        /// The number of elements that it has.
        found: usize,
        /// Where the number comes from, such as "one for each row".
        rule: &'static str,
    },

    /// There are no elements, and the reduction needs at least one.
    NoElements {
        /// What is empty: an argument, or which segment of one.
        what: String,
        /// What to do.
        remedy: &'static str,
    },

    /// The offsets of segments descend, are missing, or end past the buffer.
    InvalidOffsets {
        /// Which offset is wrong, its value, and what it must be.
        reason: String,
    },

    /// An array has no axis of this number.
    NoAxis {
        /// The number, counted from 0.
        axis: usize,
        /// The number of axes of the array.
        axes: usize,
    },

    /// A range goes past the end of a buffer, a matrix or a view, or ends before it starts.
    OutOfRange {
        /// What the range counts: `elements`, `rows` or `columns`.
        what: &'static str,
        /// The first index of the range.
        start: usize,
        /// The index after the range's last.
        end: usize,
        /// The number of elements, rows or columns that exist.
        len: usize,
    },

    /// A leading dimension is smaller than a row (a column, if column-major).
    LeadingDimension {
        /// The smallest leading dimension that the matrix can have.
        least: usize,
        /// The leading dimension that was given.
        found: usize,
    },

    /// Rows or columns cannot be divided into the requested number of equal parts.
    UnevenBatch {
        /// What the batch divides: `rows` or `columns`.
        what: &'static str,
        /// The number of rows or columns.
        len: usize,
        /// The requested number of parts.
        count: usize,
    },

    /// The batches of a product have different numbers of matrices.
    BatchMismatch {
        /// The names of the two batches.
        batches: [&'static str; 2],
        /// The number of matrices of the first.
        left: usize,
        /// The number of matrices of the second.
        right: usize,
    },

    /// A copy, or dot products of rows or columns, mixes a row-major and a column-major matrix.
    OrderMismatch,

    /// No tensor map can describe the matrix.
    TensorMap {
        /// The rule of the hardware that the matrix breaks.
        rule: TensorMapRule,
    },

    /// A size exceeds the address space or a limit of the operation.
    TooLarge {
        /// What is too large, with its numbers.
        what: String,
        /// What to do.
        remedy: &'static str,
    },

    /// The device cannot allocate the memory for a buffer.
    OutOfMemory {
        /// The device's name.
        device: String,
        /// Bytes that were requested.
        requested: u64,
        /// Bytes that were free.
        free: u64,
        /// The size of the device's memory in bytes.
        total: u64,
    },

    /// The host cannot allocate the memory for a copy of a buffer.
    OutOfHostMemory {
        /// Bytes that were requested.
        requested: u64,
    },

    /// A buffer is not on the device that would use it.
    WrongDevice {
        /// Which operand or argument it is.
        what: String,
        /// The device that would use it.
        expected: String,
        /// The device that it is on.
        found: String,
    },

    /// A launch has a size that its kernel or the device does not allow.
    LaunchConfig {
        /// The kernel's name.
        kernel: &'static str,
        /// What is wrong, with the limit.
        reason: String,
    },

    /// A module has no static array of this name and size.
    NoSymbol {
        /// The module's name.
        module: &'static str,
        /// The array's name.
        symbol: &'static str,
        /// The array's size in bytes, on the host.
        bytes: usize,
        /// What the device has instead, and what to do.
        reason: String,
    },

    /// A texture was requested that no device supports.
    InvalidTexture {
        /// What is wrong, and what to do.
        reason: &'static str,
    },

    /// The blocks of a cooperative launch cannot all be resident at once.
    NotResident {
        /// The kernel's name.
        kernel: &'static str,
        /// The device's name.
        device: String,
        /// The number of blocks of the grid.
        blocks: u64,
        /// The number of threads of a block, in each dimension.
        block: simt::Dim3,
        /// Bytes of dynamic shared memory for each block.
        dynamic_shared_bytes: u32,
        /// The number of blocks that can be resident at once.
        resident: u32,
        /// What limits their number.
        reason: String,
    },

    /// A call failed because of the simulator's state or options, or because only the simulator supports it.
    Simulator(SimulatorError),

    /// The simulator found a defect in a running kernel.
    KernelDefect(Box<simt::Defect>),

    /// A module's image has a different kernel, or different parameters, under the launched kernel's name.
    OtherKernel {
        /// The kernel's name.
        kernel: &'static str,
        /// The module's name.
        module: &'static str,
        /// The signature of the launched kernel: its path, its parameters, and the size and the alignment of
        /// their elements.
        expected: String,
        /// The signature of the module's entry, if it has one.
        found: Option<String>,
    },

    /// The CUDA driver refused a kernel launch.
    Launch {
        /// The kernel's name.
        kernel: &'static str,
        /// The driver's error code.
        code: u32,
        /// The driver's name and message for the code.
        message: String,
    },

    /// A call to the CUDA driver failed.
    Cuda {
        /// The driver's error code.
        code: u32,
        /// The driver's name and message for the code.
        message: String,
    },

    /// The device failed in a way that only a new process can recover from.
    ///
    /// Often an earlier kernel failed: CUDA reports its failure at a later call.
    DeviceLost {
        /// The device's name.
        device: String,
        /// The first failure that was seen.
        cause: String,
    },

    /// A context, a stream or memory of other code cannot be used with the device.
    #[cfg(any(feature = "cuda", feature = "dlpack"))]
    Interop {
        /// Why not, and what to do.
        reason: &'static str,
    },

    /// A tensor of another library is not what a call needs.
    #[cfg(feature = "dlpack")]
    Tensor(TensorError),

    /// A call of a device group failed, but not because one device failed.
    Group(GroupError),

    /// No device has this name.
    UnknownDevice {
        /// The name.
        name: String,
        /// The names of devices.
        allowed: &'static str,
    },

    /// An environment variable has an invalid value.
    InvalidEnvironment {
        /// The variable's name.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The values that it can have.
        allowed: &'static str,
    },
}

impl ErrorKind {
    /// An index computation or an allocation size that overflows `usize`.
    pub(crate) fn size_overflow(what: String) -> Self {
        Self::TooLarge {
            what,
            remedy: "a buffer can hold at most isize::MAX bytes",
        }
    }

    /// This process is a forked child, and a lock that the device needs is held by a thread that only its parent has.
    pub(crate) fn busy_at_fork(device: String) -> Self {
        Self::Simulator(SimulatorError::BusyAtFork { device })
    }
}
