//! The ladder of the sum, seeds 001 and 004.

use super::StepInfo;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernels::LADDER_KERNELS;
use crate::launch::LaunchConfig;
use crate::module::Module;
use tilewright_ladder_kernels::sum as kernels;

/// The name of the operation in errors.
const OPERATION: &str = "ladder::sum";

/// The sizes of blocks, in threads, that every step can be launched with.
pub const BLOCK_THREADS: [u32; 5] = [64, 128, 256, 512, 1024];

/// A step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Neighboured pairs (seed 001).
    Neighboured,
    /// Neighboured pairs with less divergence (seed 001).
    NeighbouredLess,
    /// Interleaved pairs (seed 001).
    Interleaved,
    /// Two data blocks for each block (seed 001, unrolling 2).
    Unrolled,
    /// Eight data blocks, and the last warp's rounds unrolled (seed 001, unrolled warps 8).
    UnrolledWarps,
    /// The same with a constant block size, without a loop (seed 001).
    CompletelyUnrolled,
    /// Registers and warp shuffles in place of memory.
    Shuffled,
}

impl Step {
    /// All steps, in the ladder's order.
    pub const ALL: [Self; 7] = [
        Self::Neighboured,
        Self::NeighbouredLess,
        Self::Interleaved,
        Self::Unrolled,
        Self::UnrolledWarps,
        Self::CompletelyUnrolled,
        Self::Shuffled,
    ];

    /// What the step is.
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
        };
        StepInfo {
            term,
            kernel,
            change,
        }
    }

    /// Elements that a block of `block_threads` threads adds.
    #[must_use]
    pub const fn block_elements(self, block_threads: u32) -> usize {
        let of_thread = match self {
            Self::Neighboured | Self::NeighbouredLess | Self::Interleaved => 1,
            Self::Unrolled => 2,
            Self::UnrolledWarps | Self::CompletelyUnrolled | Self::Shuffled => {
                kernels::UNROLLED as usize
            }
        };
        of_thread * block_threads as usize
    }

    /// Blocks of `block_threads` threads that add `elements` elements: at least one, at most
    /// 2^32 - 1, which no device launches.
    #[must_use]
    pub fn blocks(self, elements: usize, block_threads: u32) -> u32 {
        let of_block = self.block_elements(block_threads).max(1);
        let blocks = elements.div_ceil(of_block).max(1);
        u32::try_from(blocks).unwrap_or(u32::MAX)
    }
}

/// Adds the elements of `x` by one step of the ladder: a partial sum for each block of
/// `block_threads` threads, which wraps, and which the host adds, as in seed 001. Steps of seed
/// 001 overwrite `x`.
///
/// ```
/// use tilewright::Device;
/// use tilewright::ladder::sum::{self, Step};
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
/// [`Error::WrongDevice`] if `x` is of another device; [`Error::LaunchConfig`] if `block_threads`
/// is none of [`BLOCK_THREADS`], or the device does not allow so many blocks; and those of
/// [`Device::reduce_sum`].
pub fn total(device: &Device, step: Step, x: &mut Buffer<i32>, block_threads: u32) -> Result<i64> {
    let mut partials = device.zeros(step.blocks(x.len(), block_threads) as usize)?;
    launch(device, step, x, &mut partials, block_threads)?;
    Ok(partials.to_vec()?.into_iter().map(i64::from).sum())
}

/// The launch of [`total`] alone: leaves each block's sum in `partials`, without waiting.
///
/// # Errors
/// [`Error::WrongLength`] if `partials` has not an element for each of [`Step::blocks`], and those
/// of [`total`].
pub fn launch(
    device: &Device,
    step: Step,
    x: &mut Buffer<i32>,
    partials: &mut Buffer<i32>,
    block_threads: u32,
) -> Result<()> {
    if !BLOCK_THREADS.contains(&block_threads) {
        return Err(Error::LaunchConfig {
            kernel: step.info().kernel,
            reason: format!("its block has {block_threads} threads; {BLOCK_THREADS:?} are allowed"),
        });
    }
    let blocks = step.blocks(x.len(), block_threads);
    if partials.len() != blocks as usize {
        return Err(Error::WrongLength {
            operation: OPERATION,
            expected: blocks as usize,
            found: partials.len(),
        });
    }
    let config = LaunchConfig::new(blocks, block_threads);
    let module = device.load(&LADDER_KERNELS)?;
    // SAFETY: (1) the kernels' (1): the number of threads is a power of two, 64 at least; `blocks`
    // covers `x`; there are as many partial sums.
    unsafe {
        match step {
            Step::Neighboured => {
                module.launch_unsafe(kernels::sum_neighboured, config, (x, partials))
            }
            Step::NeighbouredLess => {
                module.launch_unsafe(kernels::sum_neighboured_less, config, (x, partials))
            }
            Step::Interleaved => {
                module.launch_unsafe(kernels::sum_interleaved, config, (x, partials))
            }
            Step::Unrolled => module.launch_unsafe(kernels::sum_unrolled, config, (x, partials)),
            Step::UnrolledWarps => {
                module.launch_unsafe(kernels::sum_unrolled_warps, config, (x, partials))
            }
            Step::CompletelyUnrolled => launch_completely_unrolled(&module, config, x, partials),
            Step::Shuffled => module.launch_unsafe(kernels::sum_shuffled, config, (&*x, partials)),
        }
    }
}

/// Launches the kernel that is made for the block's size.
///
/// # Safety
/// 1. The grid's blocks cover `x`, and `partials` has an element for each.
/// 2. The block has one of [`BLOCK_THREADS`].
unsafe fn launch_completely_unrolled(
    module: &Module,
    config: LaunchConfig,
    x: &mut Buffer<i32>,
    partials: &mut Buffer<i32>,
) -> Result<()> {
    macro_rules! launch {
        ($kernel:ident) => {
            // SAFETY: (1) the kernel's (1) is (1), and it is the one for these blocks by (2).
            unsafe { module.launch_unsafe(kernels::$kernel, config, (x, partials)) }
        };
    }
    match config.block.x {
        64 => launch!(sum_completely_unrolled_64),
        128 => launch!(sum_completely_unrolled_128),
        256 => launch!(sum_completely_unrolled_256),
        512 => launch!(sum_completely_unrolled_512),
        _ => launch!(sum_completely_unrolled_1024),
    }
}
