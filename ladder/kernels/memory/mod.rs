//! The memory ladder, one memory after another.
//!
//! | file | memory | what is compared |
//! |---|---|---|
//! | `arrays` | registers and local memory | an array indexed by constants, by selection, at run time |
//! | `shared` | shared memory | sizes chosen by the kernel and by the launch |
//! | `banks` | shared memory | strides of 1 to 32 words |
//! | `constants` | constant memory | one index for all lanes, and one per lane |
//! | `textures` | textures | filters and address modes, and manual interpolation |
//! | `statics` | global memory | static arrays, and buffers |
//! | `patterns` | global memory | five patterns, through L1 and L2 or L2 alone |

mod arrays;
mod banks;
mod constants;
mod patterns;
mod shared;
mod statics;
mod textures;

pub use arrays::{
    ARRAY_ELEMENTS, memory_local_array, memory_register_array, memory_selected_array,
};
pub use banks::{BANK_WORDS, BANKS, memory_bank_stride};
pub use constants::{TABLE, TABLE_ELEMENTS, memory_constant};
pub use patterns::{
    MISALIGNMENT, memory_aligned_all, memory_aligned_l2, memory_broadcast_all, memory_broadcast_l2,
    memory_misaligned_all, memory_misaligned_l2, memory_permuted_all, memory_permuted_l2,
    memory_scattered_all, memory_scattered_l2, permuted, scattered,
};
pub use shared::{PART, memory_dynamic_shared, memory_static_shared};
pub use statics::{STATIC_ELEMENTS, STATIC_U, STATIC_V, memory_add_buffers, memory_add_static};
pub use textures::{memory_interpolated, memory_texture};
