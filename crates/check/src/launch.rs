//! A launch as data.

use crate::buffer::Buffer;
use crate::element::{Element, Number};
use simt::Profile;
use std::collections::BTreeMap;
use std::time::Duration;

/// The schedules of a launch, if it does not say how many.
pub const DEFAULT_SCHEDULES: u64 = 16;

/// A kernel, its launch, and the schedules under which it is run.
///
/// ```
/// use tilewright_check::{Argument, Buffer, Contents, Element, Launch};
///
/// let ptx = "
///     .version 7.0
///     .target sm_75
///     .address_size 64
///     .visible .entry count(.param .u64 to)
///     {
///         .reg .b32 %r<3>;
///         .reg .b64 %rd<2>;
///         ld.param.u64 %rd1, [to];
///         ld.global.u32 %r1, [%rd1];
///         add.u32 %r2, %r1, 1;
///         st.global.u32 [%rd1], %r2;
///         ret;
///     }
/// ";
/// let mut launch = Launch::new("count.ptx", ptx, "count");
/// launch.block = [32, 1, 1];
/// let counter = Buffer::new(Element::U32, 1, Contents::Constant(0.into()));
/// launch.buffers.insert("counter".to_owned(), counter);
/// launch.arguments = vec![Argument::buffer("counter")];
/// let report = launch.run()?;
/// let finding = &report.findings[0];
/// assert_eq!(finding.defect.kind.to_string(), "data race");
/// assert_eq!(finding.defect.location.as_ref().unwrap().line, 10);
/// # Ok::<(), tilewright_check::CheckError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Launch {
    /// The path of the PTX, which findings name.
    pub file: String,
    /// The PTX.
    pub ptx: String,
    /// The kernel's name.
    pub entry: String,
    /// Blocks by dimension.
    pub grid: [u32; 3],
    /// Threads of a block by dimension.
    pub block: [u32; 3],
    /// Blocks of a cluster by dimension.
    pub cluster: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: usize,
    /// Whether all blocks run at the same time, and may wait for each other: `cudaLaunchCooperativeKernel`.
    pub is_cooperative: bool,
    /// The kernel's arguments, in order.
    pub arguments: Vec<Argument>,
    /// Buffers by name.
    pub buffers: BTreeMap<String, Buffer>,
    /// The first schedule. Schedule 0 switches threads only where they wait, and is the fastest.
    pub first_seed: u64,
    /// The number of schedules.
    pub schedules: u64,
    /// Whether to report an instruction by which several threads write the same value to one place.
    pub is_strict: bool,
    /// How long a block may run in one schedule.
    pub time_limit: Duration,
    /// The device whose limits apply; that of the PTX's `.target` if there is none.
    pub profile: Option<Profile>,
    /// Whether the first schedule counts requests, sectors and bank conflicts by line. It then takes several times as
    /// long.
    pub counters: bool,
}

/// An argument for a kernel's parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum Argument {
    /// The address of a buffer, and a distance from it in bytes.
    Buffer {
        /// The buffer's name.
        name: String,
        /// The distance.
        offset: i64,
    },
    /// A number. Without a type, it has the parameter's.
    Number {
        /// The number.
        value: Number,
        /// Its type.
        element: Option<Element>,
    },
    /// The fields of a structure that is passed by value, in order, each at a multiple of its size; tensor maps are at
    /// multiples of 64 bytes.
    Fields(Vec<Argument>),
    /// The shape of a tensor for bulk copies: a `CUtensorMap`.
    TensorMap(TensorShape),
}

/// A tensor in a buffer, as bulk copies see it. Dimensions are in order from the innermost one on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorShape {
    /// The buffer's name.
    pub buffer: String,
    /// Elements by dimension.
    pub sizes: Vec<u64>,
    /// Bytes from one element to the next, by dimension from the second on; those of a tensor without gaps if empty.
    pub strides: Vec<u64>,
    /// Elements of a box by dimension.
    pub box_sizes: Vec<u32>,
    /// Bytes of a row of the swizzle: 0 for none, 32, 64 or 128.
    pub swizzle: u32,
}

impl Argument {
    /// The address of a buffer.
    #[must_use]
    pub fn buffer(name: &str) -> Self {
        Self::Buffer {
            name: name.to_owned(),
            offset: 0,
        }
    }

    /// A number of the parameter's type.
    #[must_use]
    pub fn number(value: impl Into<Number>) -> Self {
        Self::Number {
            value: value.into(),
            element: None,
        }
    }
}

impl Launch {
    /// A launch of one block of one thread, without arguments.
    #[must_use]
    pub fn new(file: &str, ptx: &str, entry: &str) -> Self {
        Self {
            file: file.to_owned(),
            ptx: ptx.to_owned(),
            entry: entry.to_owned(),
            grid: [1; 3],
            block: [1; 3],
            cluster: [1; 3],
            shared_bytes: 0,
            is_cooperative: false,
            arguments: Vec::new(),
            buffers: BTreeMap::new(),
            first_seed: 0,
            schedules: DEFAULT_SCHEDULES,
            is_strict: false,
            time_limit: Duration::from_secs(10),
            profile: None,
            counters: false,
        }
    }
}
