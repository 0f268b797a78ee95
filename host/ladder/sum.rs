//! The ladder of the sum, seeds 001 and 004.

use super::StepInfo;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernels::LADDER_KERNELS;
use crate::launch::LaunchConfig;
use tilewright_ladder_kernels::sum as kernels;

/// The name of the operation in errors.
const OPERATION: &str = "ladder::sum";

/// A step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Neighboured pairs (seed 001).
    Neighboured,
}

impl Step {
    /// All steps, in the ladder's order.
    pub const ALL: [Self; 1] = [Self::Neighboured];

    /// What the step is.
    #[must_use]
    pub const fn info(self) -> StepInfo {
        match self {
            Self::Neighboured => StepInfo {
                term: "neighboured",
                kernel: "sum_neighboured",
                change: "each thread adds its right neighbour, at doubling distance",
            },
        }
    }

    /// Elements that a block of `block_threads` threads adds.
    #[must_use]
    pub const fn block_elements(self, block_threads: u32) -> usize {
        match self {
            Self::Neighboured => block_threads as usize,
        }
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
/// `block_threads` threads, which the host adds, as in seed 001. It overwrites `x`.
///
/// # Errors
/// [`Error::WrongDevice`] if `x` is of another device; [`Error::LaunchConfig`] if the device does
/// not allow blocks of `block_threads` threads, or not so many of them; and those of
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
    match step {
        // SAFETY: (1) the kernel's (1): `blocks` covers `x`, and the length was checked.
        Step::Neighboured => unsafe {
            module.launch_unsafe(kernels::sum_neighboured, config, (x, partials))
        },
    }
}
