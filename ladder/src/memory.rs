//! The ladder of memories: each of its sections compares two or more ways to use one of
//! the GPU's memories for the same work.
//!
//! ```
//! use tilewright::Device;
//! use tilewright_ladder::memory::{self, Shared};
//!
//! # fn main() -> tilewright::Result<()> {
//! let device = Device::simulator();
//! let x = device.upload(&[1.0, 2.0, 3.0, 4.0])?;
//! let mut y = device.zeros(4)?;
//! for shared in Shared::ALL {
//!     memory::reverse_parts(&device, shared, &x, &mut y)?;
//!     assert_eq!(y.to_vec()?, [4.0, 3.0, 2.0, 1.0]);
//! }
//! # Ok(())
//! # }
//! ```

use super::StepInfo;
use crate::kernels::KERNELS;
use tilewright::{Buffer, Device, ErrorKind, LaunchConfig, Matrix, Module, Result, Texture};
use tilewright_ladder_kernels::memory as kernels;

pub use kernels::{ARRAY_ELEMENTS, BANKS, MISALIGNMENT, PART, STATIC_ELEMENTS, TABLE_ELEMENTS};

/// Threads of a block, in all sections.
const BLOCK_THREADS: u32 = 256;

/// Defines the steps of a section, with what [`StepInfo`] says of each.
macro_rules! steps {
    ($(#[$meta:meta])* $steps:ident: $($(#[$step_meta:meta])* $step:ident = ($term:literal, $kernel:literal, $change:literal);)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $steps {
            $($(#[$step_meta])* $step,)*
        }

        impl $steps {
            /// All steps, in the section's order.
            pub const ALL: [Self; [$($term),*].len()] = [$(Self::$step),*];

            /// What the step is.
            #[must_use]
            pub const fn info(self) -> StepInfo {
                match self {
                    $(Self::$step => StepInfo { term: $term, kernel: $kernel, change: $change },)*
                }
            }
        }
    };
}

steps! {
    /// Where an array of each thread is: [`array_rounds`].
    Array:
    /// In registers: all indices are constants.
    Registers = (
        "registers", "memory_register_array",
        "every index is a constant after unrolling"
    );
    /// In registers, from which an index at run time selects.
    Selected = (
        "registers, selected", "memory_selected_array",
        "the index is known at run time, and compared with each place"
    );
    /// In local memory, for an index at run time.
    Local = (
        "local memory", "memory_local_array",
        "the index is an address: the array has a stack frame"
    );
}

steps! {
    /// How shared memory is declared: [`reverse_parts`].
    Shared:
    /// By the kernel.
    Static = (
        "static shared", "memory_static_shared",
        "the kernel declares the array"
    );
    /// By the launch.
    Dynamic = (
        "dynamic shared", "memory_dynamic_shared",
        "the launch chooses the array's size"
    );
}

steps! {
    /// Which elements of constant memory the lanes of a warp read: [`read_table`].
    Constants:
    /// The same.
    Uniform = (
        "constant, uniform", "memory_constant",
        "all lanes of a warp read one element"
    );
    /// Each its own.
    Diverging = (
        "constant, diverging", "memory_constant",
        "each lane reads its own element"
    );
}

steps! {
    /// Which elements the lanes of a warp load from global memory: [`load`].
    Pattern:
    /// In order, from a multiple of 128 bytes on.
    Aligned = (
        "aligned", "memory_aligned",
        "32 elements in order, from a multiple of 128 bytes on"
    );
    /// The same elements in another order.
    Permuted = (
        "permuted", "memory_permuted",
        "the same elements in another order"
    );
    /// In order, from 16 bytes behind a multiple of 128 on.
    Misaligned = (
        "misaligned", "memory_misaligned",
        "in order, 16 bytes further"
    );
    /// One for all.
    Broadcast = (
        "broadcast", "memory_broadcast",
        "one element for all lanes"
    );
    /// From all over the array.
    Scattered = (
        "scattered", "memory_scattered",
        "elements of the whole array"
    );
}

steps! {
    /// The caches that a load from global memory goes through.
    Caches:
    /// L1 and L2: what CUDA C++ calls a cached load.
    All = ("L1 and L2", "_all", "`ld.global.ca`");
    /// L2 alone: what CUDA C++ calls a non-cached load.
    L2 = ("L2 alone", "_l2", "`ld.global.cg`");
}

/// For each `x`: `rounds` rounds over an array of [`ARRAY_ELEMENTS`] of the thread's own, and what
/// they add up to, modulo 2^32, in `y`. With `state[k] = x + k` at first, each round does
/// `sum = 5 sum + state[k]; state[k] = sum` for each `k` in order.
///
/// # Errors
/// [`ErrorKind::WrongLength`] if `y` is not as long as `x`; [`ErrorKind::WrongDevice`],
/// [`ErrorKind::LaunchConfig`] and those of [`Module::launch`].
pub fn array_rounds(
    device: &Device,
    array: Array,
    rounds: u32,
    x: &Buffer<u32>,
    y: &mut Buffer<u32>,
) -> Result<()> {
    check_len("ladder::memory::array_rounds", x.len(), y.len())?;
    let config = LaunchConfig::for_elements(x.len(), BLOCK_THREADS);
    let module = module(device)?;
    // The kernels that take indices at run time get those that the first one has as constants.
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

/// Reverses each part of [`PART`] elements of `x`, the last one perhaps shorter, by way of shared
/// memory.
///
/// # Errors
/// Those of [`array_rounds`].
pub fn reverse_parts(
    device: &Device,
    shared: Shared,
    x: &Buffer<f32>,
    y: &mut Buffer<f32>,
) -> Result<()> {
    check_len("ladder::memory::reverse_parts", x.len(), y.len())?;
    if x.is_empty() {
        return Ok(());
    }
    let config = LaunchConfig::for_elements(x.len(), PART as u32);
    let module = module(device)?;
    // SAFETY: (1) the blocks have `PART` threads and cover `x`, none of them behind its end; `y`
    // is as long; the second kernel gets 4 bytes for each thread.
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

/// Each thread's sum of `rounds` words of shared memory, which the lanes of a warp read `stride`
/// words apart: word `i` of 1024 is `7 i`, and lane `l` reads word `l * stride + round`, modulo
/// 1024, in each round. There is a thread for each element of `y`.
///
/// # Errors
/// Those of [`array_rounds`].
pub fn read_banks(device: &Device, stride: u32, rounds: u32, y: &mut Buffer<u32>) -> Result<()> {
    let config = LaunchConfig::for_elements(y.len(), BLOCK_THREADS);
    // SAFETY: (1) the launch has one dimension.
    unsafe {
        module(device)?.launch_unsafe(kernels::memory_bank_stride, config, (stride, rounds, y))
    }
}

/// Sets the table in constant memory that [`read_table`] reads.
///
/// # Errors
/// [`ErrorKind::WrongLength`] if there are not [`TABLE_ELEMENTS`] values, and those of
/// [`Module::write_symbol`].
pub fn write_table(device: &Device, values: &[u32]) -> Result<()> {
    module(device)?.write_symbol(&kernels::TABLE, values)
}

/// Each thread's sum of `rounds` elements of the table, modulo 2^32: in each round lane `l` reads
/// element `l * step + round`, modulo [`TABLE_ELEMENTS`], where `step` is 0 or
/// [`DIVERGING_STEP`]. There is a thread for each element of `y`.
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

/// Writes the texture, after a shift along x and y, to a matrix of the same shape: row `j` and
/// column `i` get the value at (`i + 0.5 + shift.0`, `j + 0.5 + shift.1`).
///
/// # Errors
/// [`ErrorKind::ShapeMismatch`] if `y` has another shape; [`ErrorKind::TooLarge`] if there are 2^31 elements
/// or more; and those of [`Module::launch`].
pub fn shift_texture(
    device: &Device,
    texture: &Texture<2>,
    shift: (f32, f32),
    y: &mut Matrix<f32>,
) -> Result<()> {
    let [columns, rows] = texture.extent();
    let config = LaunchConfig::for_elements(y.as_buffer().len(), BLOCK_THREADS);
    let width = check_picture("ladder::memory::shift_texture", (rows, columns), y)?;
    let scale = |extent: usize| match texture.options().normalised_coordinates {
        true => 1.0 / extent as f32,
        false => 1.0,
    };
    let (scale_x, scale_y) = (scale(columns), scale(rows));
    let arguments = (texture, width, shift.0, shift.1, scale_x, scale_y, y);
    module(device)?.launch(kernels::memory_texture, config, arguments)
}

/// [`shift_texture`] by hand, of a matrix: linear between its elements, and the nearest one
/// outside.
///
/// # Errors
/// Those of [`shift_texture`].
pub fn shift_by_hand(
    device: &Device,
    x: &Matrix<f32>,
    shift: (f32, f32),
    y: &mut Matrix<f32>,
) -> Result<()> {
    let columns = check_picture("ladder::memory::shift_by_hand", x.shape(), y)?;
    if x.as_buffer().is_empty() {
        return Ok(());
    }
    let config = LaunchConfig::for_elements(x.as_buffer().len(), BLOCK_THREADS);
    let arguments = (x, columns, shift.0, shift.1, y);
    // SAFETY: (1) `x` has whole rows, at least one and fewer than 2^31 elements.
    unsafe { module(device)?.launch_unsafe(kernels::memory_interpolated, config, arguments) }
}

/// Sets the arrays of [`STATIC_ELEMENTS`] elements that [`add_static`] adds.
///
/// # Errors
/// [`ErrorKind::WrongLength`] if one of them has another length, and those of
/// [`Module::write_symbol`].
pub fn write_static(device: &Device, u: &[f32], v: &[f32]) -> Result<()> {
    let module = module(device)?;
    module.write_symbol(&kernels::STATIC_U, u)?;
    module.write_symbol(&kernels::STATIC_V, v)
}

/// Adds the module's array `v` to its array `u`.
///
/// # Errors
/// Those of [`Module::launch`].
pub fn add_static(device: &Device) -> Result<()> {
    let config = LaunchConfig::for_elements(STATIC_ELEMENTS, BLOCK_THREADS);
    module(device)?.launch(kernels::memory_add_static, config, ())
}

/// The module's array `u`.
///
/// # Errors
/// Those of [`Module::read_symbol`].
pub fn read_static(device: &Device) -> Result<Vec<f32>> {
    module(device)?.read_symbol(&kernels::STATIC_U)
}

/// Adds `v` to `u`. Both are borrowed mutably, because the kernel that does it with static arrays
/// cannot know of a static array that no thread writes it.
///
/// # Errors
/// [`ErrorKind::WrongLength`] if `v` is not as long as `u`, and those of [`Module::launch`].
pub fn add_buffers(device: &Device, u: &mut Buffer<f32>, v: &mut Buffer<f32>) -> Result<()> {
    check_len("ladder::memory::add_buffers", u.len(), v.len())?;
    let config = LaunchConfig::for_elements(u.len(), BLOCK_THREADS);
    module(device)?.launch(kernels::memory_add_buffers, config, (u, v))
}

/// Loads an element of `x` for each element of `y`: see [`Pattern::place`].
///
/// # Errors
/// [`ErrorKind::WrongLength`] if the length of `y` is not a power of two from 32 on, or `x` does not
/// have [`MISALIGNMENT`] elements more, and those of [`Module::launch`].
pub fn load(
    device: &Device,
    pattern: Pattern,
    caches: Caches,
    x: &Buffer<f32>,
    y: &mut Buffer<f32>,
) -> Result<()> {
    let operation = "ladder::memory::load";
    let elements = y.len().next_power_of_two().max(32);
    check_len(operation, elements, y.len())?;
    check_len(operation, elements + MISALIGNMENT, x.len())?;
    let module = module(device)?;
    let config = LaunchConfig::for_elements(elements, BLOCK_THREADS);
    macro_rules! launch {
        ($all:ident, $l2:ident) => {
            match caches {
                // SAFETY: (1) is what was checked.
                Caches::All => unsafe { module.launch_unsafe(kernels::$all, config, (x, y)) },
                // SAFETY: (1) as above.
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
    /// Which element is loaded for element `index` of `elements`, a power of two.
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

fn module(device: &Device) -> Result<Module> {
    device.load(&KERNELS)
}

fn check_len(operation: &'static str, expected: usize, found: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(ErrorKind::WrongLength { expected, found }.during(operation))
}

/// The number of columns, if `y` has the picture's shape and the kernels can count its elements.
fn check_picture(
    operation: &'static str,
    (rows, columns): (usize, usize),
    y: &Matrix<f32>,
) -> Result<u32> {
    if y.shape() != (rows, columns) {
        return Err(ErrorKind::ShapeMismatch {
            left: (rows, columns),
            right: y.shape(),
            rule: "the result has the shape of the operand",
        }
        .during(operation));
    }
    let is_small = rows * columns <= i32::MAX as usize;
    let columns = u32::try_from(columns).ok().filter(|_| is_small);
    columns.ok_or_else(|| {
        ErrorKind::TooLarge {
            what: format!("a picture of {rows} rows and {} columns", y.shape().1),
            remedy: "it can have fewer than 2^31 elements",
        }
        .during(operation)
    })
}
