//! The memory ladder: each section compares ways to use one of the GPU's memories for the same
//! work.
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

mod global;
mod on_chip;
mod textures;

use super::StepInfo;
use crate::kernels::KERNELS;
use tilewright::{Device, ErrorKind, Module, Result};

pub use global::{add_buffers, add_static, load, read_static, write_static};
pub use on_chip::{
    DIVERGING_STEP, array_rounds, read_banks, read_table, reverse_parts, write_table,
};
pub use textures::{shift_by_hand, shift_texture};
pub use tilewright_ladder_kernels::memory::{
    ARRAY_ELEMENTS, BANKS, MISALIGNMENT, PART, STATIC_ELEMENTS, TABLE_ELEMENTS,
};

/// Threads per block, in all sections.
const BLOCK_THREADS: u32 = 256;

/// Defines the steps of a section, with their [`StepInfo`].
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

            /// Information on the step.
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
    /// The memory of a per-thread array: [`array_rounds`].
    Array:
    /// In registers: all indices are constants.
    Registers = (
        "registers", "memory_register_array",
        "every index is a constant after unrolling"
    );
    /// In registers, selected by a dynamic index.
    Selected = (
        "registers, selected", "memory_selected_array",
        "the index is known at run time, and compared with each place"
    );
    /// In local memory, for a dynamic index.
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
    /// The elements of constant memory that a warp's lanes read: [`read_table`].
    Constants:
    /// All the same.
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
    /// The elements of global memory that a warp's lanes load: [`load`].
    Pattern:
    /// In order, from a multiple of 128 bytes.
    Aligned = (
        "aligned", "memory_aligned",
        "32 elements in order, from a multiple of 128 bytes on"
    );
    /// The same elements in another order.
    Permuted = (
        "permuted", "memory_permuted",
        "the same elements in another order"
    );
    /// In order, from 16 bytes past a multiple of 128.
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
    /// L1 and L2: a cached load in CUDA C++.
    All = ("L1 and L2", "_all", "`ld.global.ca`");
    /// L2 alone: a non-cached load in CUDA C++.
    L2 = ("L2 alone", "_l2", "`ld.global.cg`");
}

fn module(device: &Device) -> Result<Module> {
    device.load(&KERNELS)
}

fn check_len(operation: &'static str, what: &str, expected: usize, found: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(ErrorKind::WrongLength {
        what: what.to_owned(),
        expected,
        found,
        rule: "one for each value that the kernel loads or stores",
    }
    .during(operation))
}
