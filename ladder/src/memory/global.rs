//! Launches on static arrays and global memory.

use super::{BLOCK_THREADS, Caches, MISALIGNMENT, Pattern, STATIC_ELEMENTS, check_len, module};
use tilewright::{Buffer, Device, LaunchConfig, Result};
use tilewright_ladder_kernels::memory as kernels;

/// Sets the arrays of [`STATIC_ELEMENTS`] elements that [`add_static`] adds.
///
/// # Errors
/// [`ErrorKind::WrongLength`](tilewright::ErrorKind::WrongLength) if one of them has another
/// length, and those of [`Module::write_symbol`](tilewright::Module::write_symbol).
pub fn write_static(device: &Device, u: &[f32], v: &[f32]) -> Result<()> {
    let module = module(device)?;
    module.write_symbol(&kernels::STATIC_U, u)?;
    module.write_symbol(&kernels::STATIC_V, v)
}

/// Adds the module's array `v` to its array `u`.
///
/// # Errors
/// Those of [`Module::launch`](tilewright::Module::launch).
pub fn add_static(device: &Device) -> Result<()> {
    let config = LaunchConfig::for_elements(STATIC_ELEMENTS, BLOCK_THREADS);
    module(device)?.launch(kernels::memory_add_static, config, ())
}

/// The module's array `u`.
///
/// # Errors
/// Those of [`Module::read_symbol`](tilewright::Module::read_symbol).
pub fn read_static(device: &Device) -> Result<Vec<f32>> {
    module(device)?.read_symbol(&kernels::STATIC_U)
}

/// Adds `v` to `u`. Both are borrowed mutably, to match the kernel with static arrays, which cannot
/// know that no thread writes one of them.
///
/// # Errors
/// [`ErrorKind::WrongLength`](tilewright::ErrorKind::WrongLength) if `v` is not as long as `u`, and
/// those of [`Module::launch`](tilewright::Module::launch).
pub fn add_buffers(device: &Device, u: &mut Buffer<f32>, v: &mut Buffer<f32>) -> Result<()> {
    check_len("ladder::memory::add_buffers", "v", u.len(), v.len())?;
    let config = LaunchConfig::for_elements(u.len(), BLOCK_THREADS);
    module(device)?.launch(kernels::memory_add_buffers, config, (u, v))
}

/// Loads an element of `x` for each element of `y`: see [`Pattern::place`].
///
/// # Errors
/// [`ErrorKind::WrongLength`](tilewright::ErrorKind::WrongLength) if the length of `y` is not a
/// power of two of at least 32, or `x` does not have [`MISALIGNMENT`] elements more, and those of
/// [`Module::launch`](tilewright::Module::launch).
pub fn load(
    device: &Device,
    pattern: Pattern,
    caches: Caches,
    x: &Buffer<f32>,
    y: &mut Buffer<f32>,
) -> Result<()> {
    let operation = "ladder::memory::load";
    let elements = y.len().next_power_of_two().max(32);
    check_len(operation, "y", elements, y.len())?;
    check_len(operation, "x", elements + MISALIGNMENT, x.len())?;
    let module = module(device)?;
    let config = LaunchConfig::for_elements(elements, BLOCK_THREADS);
    macro_rules! launch {
        ($all:ident, $l2:ident) => {
            match caches {
                // SAFETY: the lengths were checked.
                Caches::All => unsafe { module.launch_unsafe(kernels::$all, config, (x, y)) },
                // SAFETY: as above.
                Caches::L2 => unsafe { module.launch_unsafe(kernels::$l2, config, (x, y)) },
            }
        };
    }
    match pattern {
        Pattern::Aligned => launch!(memory_aligned_all, memory_aligned_l2),
        Pattern::Permuted => launch!(memory_permuted_all, memory_permuted_l2),
        Pattern::Misaligned => launch!(memory_misaligned_all, memory_misaligned_l2),
        Pattern::Broadcast => launch!(memory_broadcast_all, memory_broadcast_l2),
        Pattern::Scattered => launch!(memory_scattered_all, memory_scattered_l2),
    }
}

impl Pattern {
    /// The element that is loaded for element `index` of `elements`, a power of two.
    #[must_use]
    pub fn place(self, index: usize, elements: usize) -> usize {
        match self {
            Self::Aligned => index,
            Self::Permuted => kernels::permuted(index),
            Self::Misaligned => index + MISALIGNMENT,
            Self::Broadcast => index / 32 * 32,
            Self::Scattered => kernels::scattered(index, elements),
        }
    }
}
