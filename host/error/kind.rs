//! The kinds of errors.

use super::TensorMapRule;
use super::group::GroupError;
use super::image::{CudaVersion, ImageRejection};
use super::simulator::SimulatorError;

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

    /// There is a library of the NVIDIA driver's name that cannot be used as one.
    UnusableDriver {
        /// The library's file name.
        library: &'static str,
        /// What is wrong with it.
        reason: String,
    },

    /// There is no CUDA device with the requested number.
    NoDevice {
        /// The requested number, counted from 0.
        ordinal: u32,
        /// What the driver said, and what to do.
        reason: String,
    },

    /// There is no CUDA device with the requested UUID.
    NoDeviceWithUuid {
        /// The requested UUID.
        uuid: String,
        /// The UUIDs of the devices that the driver shows.
        found: Vec<String>,
    },

    /// The installed driver is older than this library needs, or than the only kernel for a product on the
    /// device does.
    DriverTooOld {
        /// The newest CUDA version that the driver supports.
        found: CudaVersion,
        /// The oldest CUDA version that is enough.
        needed: CudaVersion,
    },

    /// None of a module's PTX images can be run by the device.
    NoModule {
        /// The module's name.
        module: &'static str,
        /// The device's name.
        device: String,
        /// The device's compute capability, as in `9.0`.
        compute_capability: String,
        /// The newest CUDA version that the driver supports.
        driver: CudaVersion,
        /// Every image of the module, with the reason why it was not loaded.
        images: Vec<ImageRejection>,
    },

    /// The library has no kernel for a problem on the device.
    NoKernel {
        /// What was to be computed.
        problem: String,
        /// The device's name.
        device: String,
        /// What stands in the way, and what to do.
        reason: String,
    },

    /// The shapes of two operands do not fit together.
    ShapeMismatch {
        /// The names of the two: of the left one, and of the right one.
        operands: [&'static str; 2],
        /// Rows and columns of the left operand.
        left: (usize, usize),
        /// Rows and columns of the right operand.
        right: (usize, usize),
        /// The rule of the operation for the shapes.
        rule: &'static str,
    },

    /// Some data has another number of elements than the operation needs.
    WrongLength {
        /// Which argument it is.
        what: String,
        /// The number of elements that the operation needs.
        expected: usize,
        /// The number of elements that it was given.
        found: usize,
        /// Where the number comes from, such as "one for each row".
        rule: &'static str,
    },

    /// A reduction of no elements by an operation that needs at least one.
    NoElements {
        /// What is empty: an argument, or which segment of one.
        what: String,
        /// What to do.
        remedy: &'static str,
    },

    /// The offsets of segments descend, are missing, or end past the buffer.
    InvalidOffsets {
        /// Which offset is wrong, its value, and what it has to be.
        reason: String,
    },

    /// An array has no axis of this number.
    NoAxis {
        /// The number, counted from 0.
        axis: usize,
        /// The axes of the array.
        axes: usize,
    },

    /// A range goes past the end of a buffer, a matrix or a view, or ends before it starts.
    OutOfRange {
        /// What the range counts: `elements`, `rows` or `columns`.
        what: &'static str,
        /// The first of the range.
        start: usize,
        /// The one after its last.
        end: usize,
        /// How many there are.
        len: usize,
    },

    /// Rows (columns, in column-major order) that start fewer elements apart than they have.
    LeadingDimension {
        /// The least leading dimension of the matrix.
        least: usize,
        /// The leading dimension that was given.
        found: usize,
    },

    /// Rows or columns that cannot be divided into the requested number of equal parts.
    UnevenBatch {
        /// What was to be divided: `rows` or `columns`.
        what: &'static str,
        /// How many there are.
        len: usize,
        /// How many parts were requested.
        count: usize,
    },

    /// A batch with another number of matrices than the others of its product.
    BatchMismatch {
        /// The names of the two.
        batches: [&'static str; 2],
        /// The matrices of one batch.
        left: usize,
        /// Those of another.
        right: usize,
    },

    /// A row-major and a column-major matrix in a copy, which would transpose it in memory, or in dot
    /// products of rows or columns.
    OrderMismatch,

    /// A matrix cannot be copied in boxes by the hardware, as a tensor map describes it.
    TensorMap {
        /// What the hardware asks and the matrix does not have.
        rule: TensorMapRule,
    },

    /// A size does not fit into the address space or over the limits of the operation.
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
        /// Bytes of the device's memory.
        total: u64,
    },

    /// The host does not have the memory for a copy of a buffer.
    OutOfHostMemory {
        /// Bytes that were requested.
        requested: u64,
    },

    /// A buffer belongs to another device than the one that is to use it.
    WrongDevice {
        /// Which operand or argument it is.
        what: String,
        /// The device that is to use it.
        expected: String,
        /// The device that it belongs to.
        found: String,
    },

    /// A launch needs something that its kernel or the device does not allow.
    LaunchConfig {
        /// The kernel's name.
        kernel: &'static str,
        /// What is wrong, with the limit.
        reason: String,
    },

    /// A module has no static array as the host names it.
    NoSymbol {
        /// The module's name.
        module: &'static str,
        /// The array's name.
        symbol: &'static str,
        /// The array's size as the host knows it.
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
        /// Blocks of the grid.
        blocks: u64,
        /// Threads of a block.
        block: simt::Dim3,
        /// Bytes of dynamic shared memory for each block.
        dynamic_shared_bytes: u32,
        /// Blocks that are resident at once.
        resident: u32,
        /// What keeps it from more.
        reason: String,
    },

    /// A call that concerns the simulator, or that only it answers, failed.
    Simulator(SimulatorError),

    /// The simulator found a defect in a kernel while it ran.
    KernelDefect(Box<simt::Defect>),

    /// The entry of this name in a module's image is another kernel than the one that was launched,
    /// or a kernel of other parameters.
    OtherKernel {
        /// The kernel's name.
        kernel: &'static str,
        /// The module's name.
        module: &'static str,
        /// The signature of the kernel that was launched: its path, its parameters, and the size and
        /// the alignment of their elements.
        expected: String,
        /// The signature beside the module's entry, if it has one.
        found: Option<String>,
    },

    /// The CUDA driver refused a kernel launch.
    Launch {
        /// The kernel's name.
        kernel: &'static str,
        /// The driver's error code.
        code: u32,
        /// The driver's name and words for the code.
        message: String,
    },

    /// A call of the CUDA driver failed.
    Cuda {
        /// The driver's error code.
        code: u32,
        /// The driver's name and words for the code.
        message: String,
    },

    /// The device failed in a way that only a new process can recover from.
    ///
    /// The failure is often that of an earlier kernel: CUDA reports it at a later call.
    DeviceLost {
        /// The device's name.
        device: String,
        /// The first failure that was seen.
        cause: String,
    },

    /// A device and a context, a stream or memory of other code do not fit together.
    #[cfg(feature = "cuda")]
    Interop {
        /// What does not fit, and what to do.
        reason: &'static str,
    },

    /// A call of a group of devices failed, and not by the failure of one device.
    Group(GroupError),

    /// A name that is the name of no device.
    UnknownDevice {
        /// The name.
        name: String,
        /// The names that there are.
        allowed: &'static str,
    },

    /// An environment variable has a value that means nothing.
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
}
