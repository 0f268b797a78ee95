//! Launches on registers, shared and constant memory.

use super::{Array, BLOCK_THREADS, Constants, PART, Shared, check_len, module};
use tilewright::{Buffer, Device, LaunchConfig, Result};
use tilewright_ladder_kernels::memory as kernels;

/// For each element of `x`, runs `rounds` rounds over a per-thread array of
/// [`ARRAY_ELEMENTS`](super::ARRAY_ELEMENTS), and writes the sum, modulo 2^32, to `y`.
///
/// Initially `state[k] = x + k`. Each round does `sum = 5 sum + state[k]; state[k] = sum` for each
/// `k` in order.
///
/// # Errors
/// [`ErrorKind::WrongLength`](tilewright::ErrorKind::WrongLength) if `y` is not as long as `x`;
/// [`ErrorKind::WrongDevice`](tilewright::ErrorKind::WrongDevice),
/// [`ErrorKind::LaunchConfig`](tilewright::ErrorKind::LaunchConfig) and those of
/// [`Module::launch`](tilewright::Module::launch).
pub fn array_rounds(
    device: &Device,
    array: Array,
    rounds: u32,
    x: &Buffer<u32>,
    y: &mut Buffer<u32>,
) -> Result<()> {
    check_len("ladder::memory::array_rounds", "y", x.len(), y.len())?;
    let config = LaunchConfig::for_elements(x.len(), BLOCK_THREADS);
    let module = module(device)?;
    // The kernels with dynamic indices get the first one's constants.
    let (first, step) = (0_u32, 1_u32);
    match array {
        Array::Registers => module.launch(kernels::memory_register_array, config, (rounds, x, y)),
        Array::Selected => {
            let arguments = (rounds, first, step, x, y);
            module.launch(kernels::memory_selected_array, config, arguments)
        }
        Array::Local => {
            let arguments = (rounds, first, step, x, y);
            module.launch(kernels::memory_local_array, config, arguments)
        }
    }
}

/// Reverses each part of [`PART`] elements of `x` in shared memory. The last part may be shorter.
///
/// # Errors
/// Those of [`array_rounds`].
pub fn reverse_parts(
    device: &Device,
    shared: Shared,
    x: &Buffer<f32>,
    y: &mut Buffer<f32>,
) -> Result<()> {
    check_len("ladder::memory::reverse_parts", "y", x.len(), y.len())?;
    if x.is_empty() {
        return Ok(());
    }
    let config = LaunchConfig::for_elements(x.len(), PART as u32);
    let module = module(device)?;
    // SAFETY: blocks have `PART` threads and cover `x`, none of them past its end, and `y` is as
    // long. The second kernel gets 4 bytes per thread.
    unsafe {
        match shared {
            Shared::Static => module.launch_unsafe(kernels::memory_static_shared, config, (x, y)),
            Shared::Dynamic => {
                let config = config.with_dynamic_shared((size_of::<f32>() * PART) as u32);
                module.launch_unsafe(kernels::memory_dynamic_shared, config, (x, y))
            }
        }
    }
}

/// Sums `rounds` words of shared memory in each thread, with lanes `stride` words apart.
///
/// Word `i` of 1024 is `7 i`, and in each round lane `l` reads word `l * stride + round`, modulo
/// 1024. There is a thread for each element of `y`.
///
/// # Errors
/// Those of [`array_rounds`].
pub fn read_banks(device: &Device, stride: u32, rounds: u32, y: &mut Buffer<u32>) -> Result<()> {
    let config = LaunchConfig::for_elements(y.len(), BLOCK_THREADS);
    // SAFETY: the launch has one dimension.
    unsafe {
        module(device)?.launch_unsafe(kernels::memory_bank_stride, config, (stride, rounds, y))
    }
}

/// Sets the table in constant memory that [`read_table`] reads.
///
/// # Errors
/// [`ErrorKind::WrongLength`](tilewright::ErrorKind::WrongLength) if there are not
/// [`TABLE_ELEMENTS`](super::TABLE_ELEMENTS) values, and those of
/// [`Module::write_symbol`](tilewright::Module::write_symbol).
pub fn write_table(device: &Device, values: &[u32]) -> Result<()> {
    module(device)?.write_symbol(&kernels::TABLE, values)
}

/// Sums `rounds` elements of the table in each thread, modulo 2^32.
///
/// In each round lane `l` reads element `l * step + round`, modulo [`TABLE_ELEMENTS`](super::TABLE_ELEMENTS), where
/// `step` is 0 or [`DIVERGING_STEP`]. There is a thread for each element of `y`.
///
/// # Errors
/// Those of [`array_rounds`].
pub fn read_table(
    device: &Device,
    constants: Constants,
    rounds: u32,
    y: &mut Buffer<u32>,
) -> Result<()> {
    let step = match constants {
        Constants::Uniform => 0_u32,
        Constants::Diverging => DIVERGING_STEP,
    };
    let config = LaunchConfig::for_elements(y.len(), BLOCK_THREADS);
    module(device)?.launch(kernels::memory_constant, config, (step, rounds, y))
}

/// Elements between neighbouring lanes in [`Constants::Diverging`].
pub const DIVERGING_STEP: u32 = 33;
