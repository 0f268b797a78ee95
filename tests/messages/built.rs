//! Errors that take a GPU, an old driver, or a failing process are built here.

use crate::{Line, built};
use std::time::Duration;
use tilewright::{CudaVersion, ErrorKind, GroupError, SimulatorError, TensorMapRule};

const H200: &str = "NVIDIA H200 (cuda:1)";

const fn version(major: u32, minor: u32) -> CudaVersion {
    CudaVersion { major, minor }
}

pub fn table() -> Vec<Line> {
    [
        drivers(),
        launches(),
        failures(),
        processes(),
        tensor_maps(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn drivers() -> Vec<Line> {
    let library = "libcuda.so.1";
    vec![
        built(
            ErrorKind::NoCudaFeature,
            "this program was built without tilewright's feature `cuda`, so it cannot open a CUDA device; build it with \
             `--features cuda` (on by default), or use the simulator (device `sim`, or Device::simulator() in code)",
        ),
        built(
            ErrorKind::NoDriver {
                library,
                reason: "cannot open shared object file".to_owned(),
            },
            "no NVIDIA driver was found: its library libcuda.so.1 cannot be loaded (cannot open shared object file); \
             install the driver, or use the simulator (device `sim`, or Device::simulator() in code)",
        ),
        built(
            ErrorKind::UnusableDriver {
                library,
                reason: "it has no function `cuInit`".to_owned(),
            },
            "the NVIDIA driver cannot be used: libcuda.so.1: it has no function `cuInit`; reinstall the driver",
        ),
        built(
            ErrorKind::NoDevice {
                ordinal: 4,
                reason: "the driver lists 2 devices, numbered from 0".to_owned(),
            },
            "there is no CUDA device 4: the driver lists 2 devices, numbered from 0",
        ),
        built(
            ErrorKind::NotRecorded {
                call: "a copy to host memory".to_owned(),
                reason: "it waits",
            },
            "a graph cannot record a copy to host memory: it waits",
        ),
        built(
            ErrorKind::NoDeviceWithUuid {
                uuid: "GPU-0".to_owned(),
                found: vec!["GPU-1".to_owned(), "GPU-2".to_owned()],
            },
            "there is no CUDA device GPU-0: the driver lists GPU-1 and GPU-2",
        ),
        built(
            ErrorKind::NoDeviceWithUuid {
                uuid: "GPU-1".to_owned(),
                found: vec!["GPU-10".to_owned(), "GPU-11".to_owned()],
            },
            "several CUDA devices have a UUID that starts with GPU-1: GPU-10 and GPU-11; give more digits",
        ),
        built(
            ErrorKind::Simulator(SimulatorError::UnorderedStreams {
                device: "simulator #1".to_owned(),
                call: "a launch of `scale`".to_owned(),
                is_write: true,
                earlier_is_write: false,
                buffer: Some("y".to_owned()),
            }),
            "a launch of `scale` writes memory of buffer `y` that another stream of simulator #1 reads, and does not \
             wait for that stream; record an event after the other call, and make this stream wait for it with \
             Device::wait_for",
        ),
        built(
            ErrorKind::DriverTooOld {
                found: version(11, 2),
                needed: version(11, 4),
            },
            "the NVIDIA driver is too old: it supports CUDA 11.2, and this call needs CUDA 11.4 or newer; update the \
             driver",
        ),
        built(
            ErrorKind::NoModule {
                module: "filters",
                device: H200.to_owned(),
                compute_capability: "9.0".to_owned(),
                driver: version(12, 4),
                images: Vec::new(),
            },
            "no image of module `filters` runs on NVIDIA H200 (cuda:1) (compute capability 9.0, driver for CUDA 12.4): \
             the module has no images",
        ),
        built(
            ErrorKind::InvalidEnvironment {
                variable: "TILEWRIGHT_DEVICE",
                value: "gpu".to_owned(),
                allowed: "sim, or cuda",
            },
            "the environment variable TILEWRIGHT_DEVICE is `gpu`, which is not the name of a device; set it to sim, or \
             cuda",
        ),
    ]
}

fn launches() -> Vec<Line> {
    let kernel = "blur";
    let other = |found| ErrorKind::OtherKernel {
        kernel,
        module: "filters",
        expected: "filters::blur(Global<f32>)".to_owned(),
        found,
    };
    vec![
        built(
            ErrorKind::NotResident {
                kernel,
                device: H200.to_owned(),
                blocks: 265,
                block: (256, 1, 1).into(),
                dynamic_shared_bytes: 0,
                resident: 264,
                reason: "2 on each of 132 multiprocessors, limited by registers".to_owned(),
            },
            "kernel `blur` cannot be launched cooperatively: all of its 265 blocks of 256 threads and 0 bytes of dynamic \
             shared memory must be resident at once, and NVIDIA H200 (cuda:1) holds 264 (2 on each of 132 \
             multiprocessors, limited by registers); launch at most as many as Module::max_resident_blocks returns, and \
             give each more work",
        ),
        built(
            other(Some("filters::blur(Global<f64>)".to_owned())),
            "kernel `blur` was not launched: the kernel of this name in module `filters` is filters::blur(Global<f64>), \
             and the program launches filters::blur(Global<f32>); build the module's images from the crate that declares \
             the kernel",
        ),
        built(
            other(None),
            "kernel `blur` was not launched: the kernel of this name in module `filters` is one without a signature, and \
             the program launches filters::blur(Global<f32>); build the module's images from the crate that declares the \
             kernel",
        ),
        built(
            ErrorKind::NoSymbol {
                module: "filters",
                symbol: "WEIGHTS",
                bytes: 36,
                reason: "the image has none of that name".to_owned(),
            },
            "module `filters` has no static array `WEIGHTS` of 36 bytes: the image has none of that name",
        ),
        built(
            ErrorKind::Launch {
                kernel,
                code: 701,
                message:
                    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch"
                        .to_owned(),
            },
            "kernel `blur` was not launched: CUDA error 701: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources \
             requested for launch",
        ),
    ]
}

fn failures() -> Vec<Line> {
    vec![
        built(
            ErrorKind::Cuda {
                code: 999,
                message: "CUDA_ERROR_UNKNOWN: unknown error".to_owned(),
            },
            "CUDA error 999: CUDA_ERROR_UNKNOWN: unknown error",
        ),
        built(
            ErrorKind::DeviceLost {
                device: H200.to_owned(),
                cause: "CUDA error 700: CUDA_ERROR_ILLEGAL_ADDRESS".to_owned(),
            },
            "NVIDIA H200 (cuda:1) was lost (CUDA error 700: CUDA_ERROR_ILLEGAL_ADDRESS); its buffers are gone: restart \
             the program to use it again",
        ),
        #[cfg(feature = "cust")]
        built(
            ErrorKind::Interop {
                reason: "no context is current on this thread; make one, and keep it",
            },
            "no context is current on this thread; make one, and keep it",
        ),
        built(
            ErrorKind::OutOfHostMemory { requested: 1 << 50 },
            "the host cannot allocate 1125899906842624 bytes; free memory, or copy in parts to a slice of your own",
        ),
        built(
            ErrorKind::Simulator(SimulatorError::NoCounters {
                device: H200.to_owned(),
            }),
            "only the simulator counts what a kernel does, and this device is NVIDIA H200 (cuda:1); use \
             Device::simulator(), or Nsight Compute (docs/counters.md)",
        ),
        built(
            ErrorKind::Simulator(SimulatorError::BusyAtFork {
                device: "simulator #1".to_owned(),
            }),
            "simulator #1 was running a launch when this process forked, and that launch never completes in the child; \
             create a new device in the child, or fork between launches",
        ),
    ]
}

fn processes() -> Vec<Line> {
    let after = Duration::from_millis(1500);
    vec![
        built(
            GroupError::TooManyRanks {
                ranks: 1 << 40,
                most: 65_536,
            },
            "a group of 1099511627776 ranks: it has at most 65536",
        ),
        built(
            GroupError::PeerLost {
                rank: 3,
                reason: "connection reset by peer".to_owned(),
            },
            "rank 3 was lost (connection reset by peer); join a new group in every process",
        ),
        built(
            GroupError::PeerTimeout { rank: 3, after },
            "rank 3 did not answer within 1.5 s: it hangs, or needs a longer timeout (GroupOptions::with_timeout); join \
             a new group in every process",
        ),
        built(
            GroupError::OutOfStep {
                rank: 3,
                reason: "8 bytes instead of 4 bytes".to_owned(),
            },
            "rank 3 made another call than this process, or the same call with other sizes (8 bytes instead of 4 bytes); \
             all processes of a group must make the same calls in the same order; this group cannot be used any more: \
             drop it, and join a new one in every process",
        ),
        built(
            GroupError::Over {
                cause: "the second buffer has 1 element".to_owned(),
            },
            "an earlier call of this group failed in this process (the second buffer has 1 element); this group cannot \
             be used any more: drop it, and join a new one in every process",
        ),
        built(
            GroupError::NcclTimeout { after },
            "no answer over NCCL within 1.5 s: a rank was lost or hangs, or needs a longer timeout \
             (GroupOptions::with_timeout); join a new group in every process",
        ),
        built(
            GroupError::Nccl {
                code: 5,
                message: "invalid usage".to_owned(),
            },
            "NCCL error 5: invalid usage; join a new group in every process",
        ),
        built(
            GroupError::NoNccl {
                library: "libnccl.so.2",
                reason: "cannot open shared object file".to_owned(),
            },
            "NCCL was not found: its library libnccl.so.2 cannot be loaded (cannot open shared object file); install it \
             (on Debian and Ubuntu `apt-get install libnccl2`; elsewhere `pip install nvidia-nccl-cu12`, with its folder \
             `nvidia/nccl/lib` in LD_LIBRARY_PATH), or use GroupId::tcp",
        ),
    ]
}

fn tensor_maps() -> Vec<Line> {
    let rule = |rule, expected| built(ErrorKind::TensorMap { rule }, expected);
    vec![
        rule(
            TensorMapRule::Empty,
            "bulk copies cannot read the matrix: it has no elements",
        ),
        rule(
            TensorMapRule::Element { bytes: 16 },
            "bulk copies cannot read the matrix: its elements have 16 bytes, and must have 1, 2, 4 or 8",
        ),
        rule(
            TensorMapRule::Address { past: 4 },
            "bulk copies cannot read the matrix: its first element is 4 bytes past a multiple of 16 bytes, and must be \
             at one; start the view elsewhere, or copy it",
        ),
        rule(
            TensorMapRule::RowStride { bytes: 12 },
            "bulk copies cannot read the matrix: its rows are 12 bytes apart, and must be a multiple of 16 bytes apart; \
             pad them",
        ),
        rule(
            TensorMapRule::LongRows { bytes: 1 << 40 },
            "bulk copies cannot read the matrix: its rows are 1099511627776 bytes apart, and must be less than 2^40 \
             bytes apart",
        ),
        rule(
            TensorMapRule::Extent {
                shape: (1 << 33, 2),
            },
            "bulk copies cannot read the matrix: it is 8589934592x2, and can have at most 2^32 rows and 2^32 columns",
        ),
    ]
}

#[cfg(feature = "dlpack")]
pub fn tensors() -> Vec<Line> {
    use tilewright::TensorError;
    vec![
        built(
            ErrorKind::Tensor(TensorError::Malformed {
                reason: "it has no shape".to_owned(),
            }),
            "the tensor's description is wrong: it has no shape",
        ),
        built(
            ErrorKind::Tensor(TensorError::Element {
                expected: "f32",
                found: "float 64".to_owned(),
            }),
            "the tensor's elements are float 64, and this call needs f32",
        ),
        built(
            ErrorKind::Tensor(TensorError::Dimensions {
                needed: "a matrix has 2 dimensions",
                shape: vec![2, 3, 4],
            }),
            "a matrix has 2 dimensions, and the tensor's shape is [2, 3, 4]",
        ),
        built(
            ErrorKind::Tensor(TensorError::Strides {
                shape: vec![2, 3],
                strides: vec![6, 2],
                rule: "are not contiguous in rows or columns",
            }),
            "the elements of a tensor of shape [2, 3] with strides [6, 2] are not contiguous in rows or columns; copy \
             the tensor to contiguous memory",
        ),
        built(
            ErrorKind::Tensor(TensorError::ReadOnly),
            "the tensor is read-only",
        ),
    ]
}
