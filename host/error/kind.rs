//! The kinds of errors.

use super::TensorMapRule;
use super::group::GroupError;
use super::image::{CudaVersion, ImageRejection, rejections};

/// What went wrong in a call, with the sizes involved and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A CUDA device was requested in a build that has no CUDA backend.
    #[error(
        "a CUDA device was requested, but this program was built without tilewright's feature \
         `cuda`, which is on by default; build it with `--features cuda`, or use \
         Device::simulator()"
    )]
    NoCudaFeature,

    /// There is no NVIDIA driver on this machine.
    #[error(
        "there is no NVIDIA driver: its library {library} is not found ({reason}); install the \
         driver, or use Device::simulator()"
    )]
    NoDriver {
        /// The library's file name.
        library: &'static str,
        /// What the system's loader said.
        reason: String,
    },

    /// There is a library of the NVIDIA driver's name that cannot be used as one.
    #[error("the NVIDIA driver cannot be used: {library}: {reason}; reinstall the driver")]
    UnusableDriver {
        /// The library's file name.
        library: &'static str,
        /// What is wrong with it.
        reason: String,
    },

    /// There is no CUDA device with the requested number.
    #[error("there is no CUDA device {ordinal}: {reason}")]
    NoDevice {
        /// The requested number, counted from 0.
        ordinal: u32,
        /// What the driver said, and what to do.
        reason: String,
    },

    /// The installed driver is older than this library needs.
    #[error(
        "the CUDA driver is too old: it supports CUDA {found}, and {needed} is needed; \
         install a newer NVIDIA driver"
    )]
    DriverTooOld {
        /// The newest CUDA version that the driver supports.
        found: CudaVersion,
        /// The oldest CUDA version that is enough.
        needed: CudaVersion,
    },

    /// None of a module's PTX images can be run by the device.
    #[error(
        "no image of module `{module}` runs on {device} (compute capability {compute_capability}, \
         driver for CUDA {driver}):{}", rejections(.images)
    )]
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
    #[error("no kernel computes {problem} on {device}")]
    NoKernel {
        /// What was to be computed.
        problem: String,
        /// The device's name.
        device: String,
    },

    /// The shapes of two operands do not fit together.
    #[error(
        "the shapes {}x{} and {}x{} do not fit together; {rule}",
        .left.0, .left.1, .right.0, .right.1
    )]
    ShapeMismatch {
        /// Rows and columns of the left operand.
        left: (usize, usize),
        /// Rows and columns of the right operand.
        right: (usize, usize),
        /// The rule of the operation for the shapes.
        rule: &'static str,
    },

    /// Some data has another number of elements than the operation needs.
    #[error("{expected} elements are needed, and there are {found}")]
    WrongLength {
        /// The number of elements that the operation needs.
        expected: usize,
        /// The number of elements that it was given.
        found: usize,
    },

    /// A reduction without elements whose value only elements have.
    #[error(
        "there are no elements, and without one there is no minimum, no maximum and no place of \
         either; ask for them where there is an element"
    )]
    NoElements,

    /// A range goes past the end of a buffer, a matrix or a view, or ends before it starts.
    #[error("there are no {what} {start}..{end} among {len}")]
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
    #[error(
        "a leading dimension of {found} is too small: {least} elements lie one after another, so it \
         is at least that"
    )]
    LeadingDimension {
        /// The least leading dimension of the matrix.
        least: usize,
        /// The leading dimension that was given.
        found: usize,
    },

    /// Rows or columns that are not so many parts of one size.
    #[error("{len} {what} are not {count} parts of one size")]
    UnevenBatch {
        /// What was to be divided: `rows` or `columns`.
        what: &'static str,
        /// How many there are.
        len: usize,
        /// How many parts were requested.
        count: usize,
    },

    /// A batch with another number of matrices than the others of its product.
    #[error(
        "batches of {left} and {right} matrices do not fit together; a single matrix as an operand \
         serves all products"
    )]
    BatchMismatch {
        /// The matrices of one batch.
        left: usize,
        /// Those of another.
        right: usize,
    },

    /// A copy between a row-major and a column-major matrix, which would transpose it in memory.
    #[error(
        "one of the matrices is row-major and the other column-major, and a copy keeps the order; \
         make both in one order (products take operands and results in either, without a copy)"
    )]
    OrderMismatch,

    /// A matrix cannot be copied in boxes by the hardware, as a tensor map describes it.
    #[error("no tensor map describes the matrix: {rule}")]
    TensorMap {
        /// What the hardware asks and the matrix does not have.
        rule: TensorMapRule,
    },

    /// A size does not fit into the address space or over the limits of the operation.
    #[error("{what} is too large; {remedy}")]
    TooLarge {
        /// What is too large, with its numbers.
        what: String,
        /// What to do.
        remedy: &'static str,
    },

    /// The device cannot allocate the memory for a buffer.
    #[error(
        "{requested} bytes cannot be allocated on {device} ({free} of {total} \
         bytes are free); drop buffers that are no longer needed, or work on smaller parts"
    )]
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
    #[error(
        "the host has no {requested} bytes left; copy the buffer to a slice that you \
         allocate, or free memory"
    )]
    OutOfHostMemory {
        /// Bytes that were requested.
        requested: u64,
    },

    /// A buffer belongs to another device than the one that is to use it.
    #[error(
        "{what} belongs to another device ({found}) than the one that is to use it \
         ({expected}); make all operands with one `Device` or its clones"
    )]
    WrongDevice {
        /// Which operand or argument it is.
        what: String,
        /// The device that is to use it.
        expected: String,
        /// The device that it belongs to.
        found: String,
    },

    /// A launch needs something that its kernel or the device does not allow.
    #[error("kernel `{kernel}` cannot be launched: {reason}")]
    LaunchConfig {
        /// The kernel's name.
        kernel: &'static str,
        /// What is wrong, with the limit.
        reason: String,
    },

    /// A module has no static array as the host names it.
    #[error("module `{module}` has no static array `{symbol}` of {bytes} bytes: {reason}")]
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
    #[error("there is no such texture: {reason}")]
    InvalidTexture {
        /// What is wrong, and what to do.
        reason: &'static str,
    },

    /// The blocks of a cooperative launch cannot all be resident at once.
    #[error(
        "kernel `{kernel}` cannot be launched cooperatively with {blocks} blocks of {block} threads \
         and {dynamic_shared_bytes} bytes of dynamic shared memory: {device} holds {resident} such \
         blocks at once ({reason}); launch at most as many as Module::max_resident_blocks returns, \
         and let each of them do more"
    )]
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

    /// A process was forked while a simulated device ran a launch, and its child uses the device.
    #[error(
        "{device} was running a launch when this process was forked, which never completes \
         in the child; make a new device in the child, or fork between launches"
    )]
    BusyAtFork {
        /// The device's name.
        device: String,
    },

    /// The host read memory of a simulator that nothing has written.
    #[error(
        "byte {first} of the {bytes} bytes that are read{} on {device} has never been written, \
         neither by the host nor by a kernel; let the kernel write all elements, or begin with \
         Device::zeros",
        of_buffer(buffer.as_deref())
    )]
    NeverWritten {
        /// The device's name.
        device: String,
        /// The buffer's name, if it has one ([`Buffer::named`](crate::Buffer::named)).
        buffer: Option<String>,
        /// Bytes that are read.
        bytes: usize,
        /// The first of them that was not written.
        first: usize,
    },

    /// The simulator found a defect in a kernel while it ran.
    #[error("the simulator found a defect: {0}")]
    KernelDefect(Box<simt::Defect>),

    /// Counters were requested, but only the simulator counts.
    #[error(
        "{device} does not count; use Device::simulator(), or Nsight Compute as \
         docs/counters.md says"
    )]
    NoCounters {
        /// The device's name.
        device: String,
    },

    /// A report of all launches was requested, but the simulator was opened without counters.
    #[error(
        "this simulator counts only within Device::with_report; open it with \
         SimulatorOptions::with_counters(true) to have every launch counted"
    )]
    CountersOff,

    /// The entry of this name in a module's image is another kernel than the one that was launched,
    /// or a kernel of other parameters.
    #[error(
        "kernel `{kernel}` was not launched: module `{module}` has another kernel of this name, \
         {}, where {expected} is needed; build the module's images from the crate that declares the \
         kernel", .found.as_deref().unwrap_or("one without a signature")
    )]
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
    #[error("kernel `{kernel}` was not launched: {}", cuda_failure(*.code, .message))]
    Launch {
        /// The kernel's name.
        kernel: &'static str,
        /// The driver's error code.
        code: u32,
        /// The driver's name and words for the code.
        message: String,
    },

    /// A call of the CUDA driver failed.
    #[error("{}", cuda_failure(*.code, .message))]
    Cuda {
        /// The driver's error code.
        code: u32,
        /// The driver's name and words for the code.
        message: String,
    },

    /// The device failed in a way that only a new process can recover from.
    ///
    /// The failure is often that of an earlier kernel: CUDA reports it at a later call.
    #[error(
        "{device} was lost ({cause}); its buffers are gone, and the program has to \
         be started again to use it"
    )]
    DeviceLost {
        /// The device's name.
        device: String,
        /// The first failure that was seen.
        cause: String,
    },

    /// A device and an object of the crate `cust` do not fit together.
    #[cfg(feature = "cust")]
    #[error("{reason}")]
    Interop {
        /// What does not fit, and what to do.
        reason: &'static str,
    },

    /// A call of a group of devices failed, and not by the failure of one device.
    #[error("{0}")]
    Group(GroupError),

    /// An environment variable has a value that means nothing.
    #[error("the environment variable {variable} is `{value}`; it can be {allowed}")]
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

/// " of buffer `x`", if it has a name.
fn of_buffer(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(" of buffer `{name}`"))
}

fn cuda_failure(code: u32, message: &str) -> String {
    format!("CUDA error {code}: {message}")
}
