//! The sum ladder. Its first steps are those of Cheng, Grossman, McKercher: Professional CUDA C
//! Programming, chapter 3 (PCC).

use super::StepInfo;
use crate::kernels::KERNELS;
use tilewright::{Buffer, Device, ErrorKind, LaunchConfig, Result};
use tilewright_ladder_kernels::sum as kernels;

/// The name of the operation in errors.
const OPERATION: &str = "ladder::sum";

/// The block sizes, in threads, that every step supports.
pub const BLOCK_THREADS: [u32; 5] = [64, 128, 256, 512, 1024];

/// Maximum threads of the grid of [`Step::Cooperative`]: twice as many as an H200 holds.
const MOST_THREADS: u32 = 1 << 19;

/// A step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Neighboured pairs (PCC).
    Neighboured,
    /// Neighboured pairs with less divergence (PCC).
    NeighbouredLess,
    /// Interleaved pairs (PCC).
    Interleaved,
    /// Two data blocks for each block (PCC, unrolling 2).
    Unrolled,
    /// Eight data blocks, and the last warp's rounds unrolled (PCC, unrolled warps 8).
    UnrolledWarps,
    /// [`Step::UnrolledWarps`] with a constant block size, without a loop (PCC).
    CompletelyUnrolled,
    /// Registers and warp shuffles instead of memory.
    Shuffled,
    /// Vectors, a group per block, an atomic addition per group.
    Cooperative,
    /// [`Device::reduce_sum`], which chooses its own block size.
    ReduceSum,
}

impl Step {
    /// All steps, in the ladder's order.
    pub const ALL: [Self; 9] = [
        Self::Neighboured,
        Self::NeighbouredLess,
        Self::Interleaved,
        Self::Unrolled,
        Self::UnrolledWarps,
        Self::CompletelyUnrolled,
        Self::Shuffled,
        Self::Cooperative,
        Self::ReduceSum,
    ];

    /// Information on the step.
    #[must_use]
    pub const fn info(self) -> StepInfo {
        let (term, kernel, change) = match self {
            Self::Neighboured => (
                "neighboured",
                "sum_neighboured",
                "each thread adds its right neighbour, at doubling distance",
            ),
            Self::NeighbouredLess => (
                "neighboured, less divergence",
                "sum_neighboured_less",
                "the same pairs, added by the first threads of the block: whole warps work or rest",
            ),
            Self::Interleaved => (
                "interleaved",
                "sum_interleaved",
                "partners are half of the rest apart: neighbouring lanes touch neighbouring elements",
            ),
            Self::Unrolled => (
                "unrolling 2",
                "sum_unrolled",
                "each block first adds a second data block to its own",
            ),
            Self::UnrolledWarps => (
                "unrolled warps 8",
                "sum_unrolled_warps",
                "eight data blocks; the last warp's rounds written out, with barriers of the warp",
            ),
            Self::CompletelyUnrolled => (
                "completely unrolled 8",
                "sum_completely_unrolled",
                "the block's size is a constant: no loop is left",
            ),
            Self::Shuffled => (
                "warp shuffles",
                "sum_shuffled",
                "sums stay in registers, lanes exchange them: the array is only read",
            ),
            Self::Cooperative => (
                "cooperative groups",
                "sum_cooperative",
                "16-byte loads, no more threads than the device holds, an atomic for each block",
            ),
            Self::ReduceSum => (
                "reduce_sum",
                "Device::reduce_sum",
                "four loads in flight; the last block adds the blocks' sums, in a fixed order",
            ),
        };
        StepInfo {
            term,
            kernel,
            change,
        }
    }

    /// Minimum elements that a block of `block_threads` threads adds; 0 for [`Step::ReduceSum`],
    /// which chooses itself.
    #[must_use]
    pub const fn block_elements(self, block_threads: u32) -> usize {
        let of_thread = match self {
            Self::Neighboured | Self::NeighbouredLess | Self::Interleaved => 1,
            Self::Unrolled => 2,
            Self::Cooperative => 4,
            Self::UnrolledWarps | Self::CompletelyUnrolled | Self::Shuffled => {
                kernels::UNROLLED as usize
            }
            Self::ReduceSum => 0,
        };
        of_thread * block_threads as usize
    }

    /// Blocks of `block_threads` threads that add `elements` elements: at least one, at most
    /// 2^32 - 1, which no device launches.
    fn blocks(self, elements: usize, block_threads: u32) -> u32 {
        let of_block = self.block_elements(block_threads).max(1);
        let mut blocks = elements.div_ceil(of_block).max(1);
        if self == Self::Cooperative {
            blocks = blocks.min((MOST_THREADS / block_threads.max(1)).max(1) as usize);
        }
        u32::try_from(blocks).unwrap_or(u32::MAX)
    }

    /// Whether the sum is complete on the device; otherwise the host adds partial sums.
    const fn leaves_total(self) -> bool {
        matches!(self, Self::Cooperative | Self::ReduceSum)
    }
}

/// The results of launches of one step, for one number of elements and one block size.
#[derive(Debug)]
pub struct Sums {
    /// One per block, or none.
    partials: Buffer<i32>,
    /// One, or none.
    total: Buffer<i64>,
}

impl Sums {
    /// Allocates memory for the results of `step`.
    ///
    /// # Errors
    /// Those of [`Device::zeros`].
    pub fn new(device: &Device, step: Step, elements: usize, block_threads: u32) -> Result<Self> {
        let (partials, totals) = result_lengths(step, elements, block_threads);
        Ok(Self {
            partials: device.zeros(partials)?,
            total: device.zeros(totals)?,
        })
    }

    /// Waits for a launch, and returns the sum. Partial sums are added on the host, as in PCC.
    ///
    /// # Errors
    /// Those of [`Buffer::to_vec`].
    pub fn total(&self) -> Result<i64> {
        let partials = self.partials.to_vec()?.into_iter().map(i64::from);
        Ok(partials.chain(self.total.to_vec()?).sum())
    }
}

/// The number of partial sums and totals of a step.
fn result_lengths(step: Step, elements: usize, block_threads: u32) -> (usize, usize) {
    if step.leaves_total() {
        (0, 1)
    } else {
        (step.blocks(elements, block_threads) as usize, 0)
    }
}

/// Adds the elements of `x` with one step of the ladder, in blocks of `block_threads` threads. Partial sums wrap at
/// 2^32. The steps of PCC overwrite `x`.
///
/// ```
/// use tilewright::Device;
/// use tilewright_ladder::sum::{self, Step};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// for step in Step::ALL {
///     let mut x = device.upload(&[2; 1000])?;
///     assert_eq!(sum::total(&device, step, &mut x, 128)?, 2000);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ErrorKind::WrongDevice`] if `x` is on another device; [`ErrorKind::LaunchConfig`] if `block_threads` is not one
/// of [`BLOCK_THREADS`], or the device does not allow this number of blocks; and those of [`Device::reduce_sum`].
pub fn total(device: &Device, step: Step, x: &mut Buffer<i32>, block_threads: u32) -> Result<i64> {
    let mut sums = Sums::new(device, step, x.len(), block_threads)?;
    launch(device, step, x, &mut sums, block_threads)?;
    sums.total()
}

/// Launches [`total`] without waiting. The result is in `sums`.
///
/// # Errors
/// [`ErrorKind::WrongLength`] if `sums` has another size, because it was made for another step,
/// number of elements or block size; and those of [`total`].
pub fn launch(
    device: &Device,
    step: Step,
    x: &mut Buffer<i32>,
    sums: &mut Sums,
    block_threads: u32,
) -> Result<()> {
    if !BLOCK_THREADS.contains(&block_threads) {
        return Err(ErrorKind::LaunchConfig {
            kernel: step.info().kernel,
            reason: format!("its block has {block_threads} threads; {BLOCK_THREADS:?} are allowed"),
        }
        .during(OPERATION));
    }
    let (partials, totals) = result_lengths(step, x.len(), block_threads);
    check_length(
        "the buffer of the partial sums",
        partials,
        sums.partials.len(),
    )?;
    check_length("the buffer of the total", totals, sums.total.len())?;
    let config = LaunchConfig::new(step.blocks(x.len(), block_threads), block_threads);
    let module = device.load(&KERNELS)?;
    macro_rules! leave {
        ($sums:ident: $kernel:ident($x:expr)) => {{
            let arguments = ($x, &mut sums.$sums);
            // SAFETY: the grid has one dimension, and its blocks cover `x` (`sum_cooperative`
            // accepts any). The block size is a power of two from 64, and the kernel's own if it
            // has one. `sums` has the step's results, and buffers are aligned to 256 bytes.
            unsafe { module.launch_unsafe(kernels::$kernel, config, arguments) }
        }};
    }
    match (step, block_threads) {
        (Step::Neighboured, _) => leave!(partials: sum_neighboured(x)),
        (Step::NeighbouredLess, _) => leave!(partials: sum_neighboured_less(x)),
        (Step::Interleaved, _) => leave!(partials: sum_interleaved(x)),
        (Step::Unrolled, _) => leave!(partials: sum_unrolled(x)),
        (Step::UnrolledWarps, _) => leave!(partials: sum_unrolled_warps(x)),
        (Step::CompletelyUnrolled, 64) => leave!(partials: sum_completely_unrolled_64(x)),
        (Step::CompletelyUnrolled, 128) => leave!(partials: sum_completely_unrolled_128(x)),
        (Step::CompletelyUnrolled, 256) => leave!(partials: sum_completely_unrolled_256(x)),
        (Step::CompletelyUnrolled, 512) => leave!(partials: sum_completely_unrolled_512(x)),
        (Step::CompletelyUnrolled, _) => leave!(partials: sum_completely_unrolled_1024(x)),
        (Step::Shuffled, _) => leave!(partials: sum_shuffled(&*x)),
        (Step::Cooperative, _) => {
            sums.total.fill_zero()?;
            leave!(total: sum_cooperative(&*x))
        }
        (Step::ReduceSum, _) => device.reduce_sum_into(x, &mut sums.total),
    }
}

fn check_length(what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(ErrorKind::WrongLength {
        what: what.to_owned(),
        expected,
        found,
        rule: "make them for the step and the block that they are launched with",
    }
    .during(OPERATION))
}
