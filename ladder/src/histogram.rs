//! The histogram ladder: privatisation, coarsening and coalescing.

use super::StepInfo;
use crate::kernels::KERNELS;
use tilewright::{Buffer, Device, ErrorKind, LaunchConfig, Result};
use tilewright_ladder_kernels::histogram as kernels;

/// The name of the operation in errors.
const OPERATION: &str = "ladder::histogram";

/// Counters of a histogram: one for each byte value.
pub const BINS: usize = kernels::BINS;

/// A step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// An atomic update in device memory for each element.
    Global,
    /// Private counters for each block, in shared memory.
    Privatised,
    /// 64 neighbouring elements for each thread.
    Contiguous,
    /// 64 elements for each thread, neighbours in neighbouring threads.
    Interleaved,
    /// Four loads of 16 elements for each thread.
    Vectors,
    /// One update for each run of equal elements.
    Aggregated,
}

impl Step {
    /// All steps, in the ladder's order.
    pub const ALL: [Self; 6] = [
        Self::Global,
        Self::Privatised,
        Self::Contiguous,
        Self::Interleaved,
        Self::Vectors,
        Self::Aggregated,
    ];

    /// Information on the step.
    #[must_use]
    pub const fn info(self) -> StepInfo {
        let (term, kernel, change) = match self {
            Self::Global => (
                "global atomics",
                "histogram_global",
                "each thread updates the counter of its element in device memory",
            ),
            Self::Privatised => (
                "privatisation",
                "histogram_privatised",
                "each block counts in shared memory and adds its counters up at the end",
            ),
            Self::Contiguous => (
                "coarsening, contiguous",
                "histogram_contiguous",
                "64 neighbouring elements for each thread: fewer blocks clear and add up",
            ),
            Self::Interleaved => (
                "coarsening, interleaved",
                "histogram_interleaved",
                "a thread's elements lie a block apart: neighbouring lanes read neighbours",
            ),
            Self::Vectors => (
                "vector loads",
                "histogram_vectors",
                "16 elements with each load, all loads before the first update",
            ),
            Self::Aggregated => (
                "aggregation",
                "histogram_aggregated",
                "against interleaved: one update for each run of equal elements",
            ),
        };
        StepInfo {
            term,
            kernel,
            change,
        }
    }

    /// Elements that a block of `block_threads` threads counts.
    #[must_use]
    pub const fn block_elements(self, block_threads: u32) -> usize {
        let of_thread = match self {
            Self::Global | Self::Privatised => 1,
            Self::Contiguous | Self::Interleaved | Self::Vectors | Self::Aggregated => {
                kernels::COARSENING
            }
        };
        of_thread * block_threads as usize
    }
}

/// Counts the occurrences of each byte value in `x`, with one step of the ladder in blocks of `block_threads`
/// threads. Counts wrap at 2^32.
///
/// ```
/// use tilewright::Device;
/// use tilewright_ladder::histogram::{self, Step};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let x = device.upload(b"occurrence")?;
/// for step in Step::ALL {
///     let counts = histogram::histogram(&device, step, &x, 256)?;
///     assert_eq!(counts[usize::from(b'c')], 3);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ErrorKind::WrongDevice`] if `x` is on another device; [`ErrorKind::LaunchConfig`] if the device does not allow
/// this block size or this number of blocks; and those of [`Device::reduce_sum`].
pub fn histogram(
    device: &Device,
    step: Step,
    x: &Buffer<u8>,
    block_threads: u32,
) -> Result<Vec<u32>> {
    let mut bins = device.zeros(BINS)?;
    launch(device, step, x, &mut bins, block_threads)?;
    bins.to_vec()
}

/// Launches [`histogram`]: adds the counts to `bins`, without waiting.
///
/// # Errors
/// [`ErrorKind::WrongLength`] if `bins` does not have [`BINS`] elements, and those of [`histogram`].
pub fn launch(
    device: &Device,
    step: Step,
    x: &Buffer<u8>,
    bins: &mut Buffer<u32>,
    block_threads: u32,
) -> Result<()> {
    if bins.len() != BINS {
        return Err(ErrorKind::WrongLength {
            what: "the buffer of the bins".to_owned(),
            expected: BINS,
            found: bins.len(),
            rule: "one for each bin",
        }
        .during(OPERATION));
    }
    let of_block = step.block_elements(block_threads).max(1);
    let blocks = x.len().div_ceil(of_block).max(1);
    // The launch rejects more blocks than a grid can have.
    let config = LaunchConfig::new(u32::try_from(blocks).unwrap_or(u32::MAX), block_threads);
    let module = device.load(&KERNELS)?;
    // SAFETY: the grid has one dimension, its threads cover `x`, and the length of `bins` was
    // checked. Buffers are aligned to 256 bytes.
    unsafe {
        match step {
            Step::Global => module.launch_unsafe(kernels::histogram_global, config, (x, bins)),
            Step::Privatised => {
                module.launch_unsafe(kernels::histogram_privatised, config, (x, bins))
            }
            Step::Contiguous => {
                module.launch_unsafe(kernels::histogram_contiguous, config, (x, bins))
            }
            Step::Interleaved => {
                module.launch_unsafe(kernels::histogram_interleaved, config, (x, bins))
            }
            Step::Vectors => module.launch_unsafe(kernels::histogram_vectors, config, (x, bins)),
            Step::Aggregated => {
                module.launch_unsafe(kernels::histogram_aggregated, config, (x, bins))
            }
        }
    }
}
