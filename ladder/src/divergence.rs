//! The divergence ladder: a branch within a warp, and its repair.

use super::StepInfo;
use crate::kernels::KERNELS;
use tilewright::{Buffer, Device, ErrorKind, LaunchConfig, Result};
use tilewright_ladder_kernels::divergence as kernels;

/// The name of the operation in errors.
const OPERATION: &str = "ladder::divergence";

/// Multiply-adds for each element.
pub const ROUNDS: u32 = kernels::ROUNDS;

/// A step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Half of the lanes of each warp take each path.
    HalfWarp,
    /// Each warp takes one path.
    ByWarp,
}

impl Step {
    /// All steps, in the ladder's order.
    pub const ALL: [Self; 2] = [Self::HalfWarp, Self::ByWarp];

    /// Information on the step.
    #[must_use]
    pub const fn info(self) -> StepInfo {
        let (term, kernel, change) = match self {
            Self::HalfWarp => (
                "half-warp branch",
                "divergence_half_warp",
                "half of the lanes of each warp take each path",
            ),
            Self::ByWarp => (
                "branch by warp",
                "divergence_by_warp",
                "the same paths for the same elements, but each warp has one path",
            ),
        };
        StepInfo {
            term,
            kernel,
            change,
        }
    }
}

/// Writes to `y` the result of [`ROUNDS`] multiply-adds on each element of `x`, without waiting.
///
/// With w the device's warp size, elements i with i mod w < w / 2 go from v to (1 + 2^-10) v + 2^-10, the others to
/// 1.5 - v^2.
///
/// `block_threads` must be a multiple of two warps.
///
/// # Errors
/// [`ErrorKind::WrongLength`] if `y` does not have as many elements as `x`; [`ErrorKind::WrongDevice`] if one of them
/// is on another device; [`ErrorKind::LaunchConfig`] if `block_threads` is not a multiple of two warps, or the device
/// does not allow it; [`ErrorKind::NoModule`], [`ErrorKind::KernelDefect`], [`ErrorKind::DeviceLost`] or
/// [`ErrorKind::Cuda`].
pub fn launch(
    device: &Device,
    step: Step,
    x: &Buffer<f32>,
    y: &mut Buffer<f32>,
    block_threads: u32,
) -> Result<()> {
    if y.len() != x.len() {
        return Err(ErrorKind::WrongLength {
            what: "y".to_owned(),
            rule: "as many as x",
            expected: x.len(),
            found: y.len(),
        }
        .during(OPERATION));
    }
    let two_warps = 2 * device.properties().warp_threads;
    if !block_threads.is_multiple_of(two_warps) {
        return Err(ErrorKind::LaunchConfig {
            kernel: step.info().kernel,
            reason: format!(
                "its block has {block_threads} threads; multiples of {two_warps} are allowed"
            ),
        }
        .during(OPERATION));
    }
    let config = LaunchConfig::for_elements(x.len(), block_threads);
    let module = device.load(&KERNELS)?;
    match step {
        Step::HalfWarp => module.launch(kernels::divergence_half_warp, config, (x, y)),
        // SAFETY: the grid has one dimension, and blocks have an even number of warps.
        Step::ByWarp => unsafe {
            module.launch_unsafe(kernels::divergence_by_warp, config, (x, y))
        },
    }
}
