//! The ladder of memories, memory by memory.
//!
//! | file | memory | what is compared |
//! |---|---|---|
//! | `arrays` | registers and local memory | an array indexed by constants, by selection, at run time |
//! | `shared` | shared memory | an array of the kernel, and one of the launch |
//! | `banks` | shared memory | strides of 1 to 32 words |
//! | `constants` | constant memory | one index for all lanes, and one for each |
//! | `textures` | textures | filters and address modes, and interpolation by hand |
//! | `statics` | global memory | arrays with a name, and buffers |
//! | `patterns` | global memory | five patterns, by way of L1 and L2 or of L2 alone |

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
